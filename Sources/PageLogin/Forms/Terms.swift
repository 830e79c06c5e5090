import BoundHTTP
import CCrypto
import HotspotCore
import PortalPages

/// The terms of use of a portal; comparing them shows whether they have changed since the last visit.
package enum Terms: Hashable, Sendable {
    /// The terms are on a separate page; further documents may be accepted with them. `box` contains the words of the box that accepts them.
    case address(WebURL, others: [WebURL] = [], box: String = "")
    /// The terms are on the page that asks.
    case text(String)
    /// Only the fingerprint of the terms is known, because their page is gone.
    case read(String)

    /// The largest part of a terms page's text that is compared, in octets.
    private static let textLimit = 64 * 1024
    /// The longest time to fetch the terms, in milliseconds.
    private static let timeLimit = 5_000
    /// The largest number of fingerprints that are kept for one network.
    static let keptLimit = 16

    fileprivate static func joined(_ all: [String]) -> String {
        all.count == 1 ? all[0] : digest(Array(all.joined(separator: " ").utf8))
    }

    /// Returns the words of a terms page that the asking page does not contain. If these are less than half of the terms page, returns all its words.
    fileprivate static func own(_ page: HTMLPage, beside sentences: [String]) -> String {
        let own = page.pieces.filter { !sentences.contains($0) }.joined(separator: " ")
        return own.utf8.count * 2 < page.text.utf8.count ? page.text : own
    }

    fileprivate enum Content {
        case text(HTMLPage)
        case digest(String)
    }

    fileprivate static func read(_ url: WebURL, asking client: HTTPClient, of page: WebURL, in scope: Scope) -> Content? {
        guard url.host == page.host else { return .digest(fingerprint(ofAddress: url)) }
        guard let response = try? client.send(HTTPRequest(url), in: scope.limited(milliseconds: timeLimit)),
            response.status == 200
        else { return nil }
        let type = response["content-type"]?.lowercased() ?? "text/html"
        guard type.hasPrefix("text/") || type.contains("html") else { return .digest(digest(response.body)) }
        return .text(HTMLReader.read(response, textLimit: textLimit))
    }

    private static func fingerprint(ofAddress url: WebURL) -> String { digest(Array((url.origin + url.path).utf8)) }

    /// The identity of the terms if their page could not be read.
    var addressFingerprint: String? {
        guard case .address(let url, let others, _) = self else { return nil }
        return Self.joined(([url] + others).map(Self.fingerprint(ofAddress:)))
    }

    /// These terms as a session's memory keeps them.
    struct Saved: Codable, Sendable {
        var address: String?
        var others: [String]?
        var box: String?
        var fingerprint: String?
    }

    var saved: Saved {
        switch self {
        case .address(let url, let others, let box): Saved(address: url.text, others: others.map(\.text), box: box)
        case .text(let text): Saved(fingerprint: Self.fingerprint(of: text))
        case .read(let fingerprint): Saved(fingerprint: fingerprint)
        }
    }

    init?(_ saved: Saved) {
        if let url = saved.address.flatMap(WebURL.init) {
            self = .address(url, others: (saved.others ?? []).compactMap(WebURL.init), box: saved.box ?? "")
        } else if let fingerprint = saved.fingerprint {
            self = .read(fingerprint)
        } else {
            return nil
        }
    }

    /// The identity of the box's own words, if the terms do not contain them.
    var boxFingerprint: String? {
        guard case .address(_, _, let box) = self, !box.isEmpty else { return nil }
        return Self.fingerprint(of: box)
    }

    /// Returns the digest of a text's words without those that differ at each visit: times, dates, addresses and tokens. Sums, numbers of days and
    /// paragraph numbers are kept, unless they differ in a second reading of the same page.
    static func fingerprint(of text: String, and again: String? = nil) -> String {
        func words(of text: String) -> [Substring] { text.lowercased().split { $0.isWhitespace }.filter { !isVariable($0) } }
        var steady = words(of: text)
        if let again, again != text {
            let others = words(of: again)
            if others.count == steady.count { steady = zip(steady, others).filter { $0 == $1 }.map(\.0) }
        }
        return digest(Array(steady.joined(separator: " ").utf8))
    }

    private static func isVariable(_ whole: Substring) -> Bool {
        // The number in "Version 2:" is not a time of day.
        var word = whole
        while word.last?.isPunctuation == true { word.removeLast() }
        let digits = word.utf8.count { $0 >= 0x30 && $0 <= 0x39 }
        guard digits > 0 else { return false }
        // 12:05:33, 02:00:00:aa:bb:cc, 2026-07-01, 1.7.2026, 192.0.2.7
        let separators = word.utf8.count {
            [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: ".")].contains($0)
        }
        return separators >= 2 || word.contains(":") || (word.utf8.count >= 12 && digits >= 3)
    }

    private static func digest(_ octets: [UInt8]) -> String {
        var hash = [UInt8](repeating: 0, count: 32)
        SHA256(octets, octets.count, &hash)
        return Base64.encode(hash)
    }
}

/// The terms of use, and the page that asks for consent to them.
package struct ShownTerms: Sendable {
    let terms: Terms
    let page: WebURL
    /// The page's texts.
    let sentences: [String]

    package init(_ terms: Terms, of page: HTMLPage, at url: WebURL) {
        (self.terms, self.page, sentences) = (terms, url, page.sentences)
    }

    /// Returns the identity of these terms: a SHA-256 in base64 of their words, and a second SHA-256 without the words of the page's head and foot
    /// and of the page that asks, such as a train's speed. Terms on another host are not fetched before the login; their address is their identity.
    /// `nil` if the terms cannot be read now.
    ///
    /// - Parameter twice: whether the terms are fetched twice, to leave out words that change from one moment to the next, such as a counter.
    func fingerprints(asking client: HTTPClient, twice: Bool = false, in scope: Scope) -> [String]? {
        switch terms {
        case .text(let text): return [Terms.fingerprint(of: text)]
        case .read(let fingerprint): return [fingerprint]
        case .address(let url, let others, _):
            var (whole, own): ([String], [String]) = ([], [])
            for url in [url] + others {
                guard let one = Terms.read(url, asking: client, of: page, in: scope) else { return nil }
                switch one {
                case .digest(let digest):
                    whole.append(digest)
                    own.append(digest)
                case .text(let text):
                    var again: HTMLPage?
                    // The page that asks for consent was read before, so one more reading suffices.
                    if twice, url != page, case .text(let second) = Terms.read(url, asking: client, of: page, in: scope) {
                        again = second
                    }
                    whole.append(Terms.fingerprint(of: text.text, and: again?.text))
                    own.append(
                        Terms.fingerprint(
                            of: Terms.own(text, beside: sentences), and: again.map { Terms.own($0, beside: sentences) }))
                }
            }
            return own == whole ? [Terms.joined(whole)] : [Terms.joined(whole), Terms.joined(own)]
        }
    }
}

/// The terms that the user accepted, and the terms that are shown now. Changed terms need new consent.
struct AcceptedTerms: Sendable {
    private var accepted: [String]
    private var shown: [String]
    /// Whether the answered prompt showed terms, so that earlier consent does not count for these terms.
    let mustBeAccepted: Bool
    /// The sentence about terms that have changed since the user accepted them.
    private(set) var change: String?

    /// Whether the user accepted terms at this portal.
    var hasAccepted: Bool { !accepted.isEmpty }

    init(_ memory: SessionMemory, isTypedNow: Bool) {
        accepted = memory.terms ?? []
        shown = isTypedNow ? memory.shownTerms ?? [] : []
        mustBeAccepted = !shown.isEmpty
    }

    /// Returns whether these terms, or the words of their box, differ from the accepted terms. Terms that were never seen, or cannot be read now,
    /// count as unchanged, so the consent applies.
    mutating func haveChanged(_ current: ShownTerms?, _ client: HTTPClient, _ scope: Scope) -> Bool {
        guard let current, !accepted.isEmpty else { return false }
        let (terms, box) = (current.terms, current.terms.boxFingerprint)
        func index(of fingerprints: [String]?) -> Int? {
            accepted.firstIndex { mark in
                let parts = mark.split(separator: " ").map(String.init)
                // A memory of an earlier version does not contain the box.
                return (fingerprints?.contains(parts[0]) ?? true) && (box == nil || parts.count < 2 || parts[1] == box)
            }
        }
        var fingerprints = current.fingerprints(asking: client, in: scope)
        var match = index(of: fingerprints)
        if match == nil, let steady = current.fingerprints(asking: client, twice: true, in: scope) {
            (fingerprints, match) = (steady, index(of: steady))
        }
        if let match {
            if fingerprints != nil, box != nil {
                accepted[match] = Self.mark(String(accepted[match].prefix { $0 != " " }), box)
            }
            return false
        }
        let address = terms.addressFingerprint
        let wasUnread = address.map { fingerprints?.contains($0) == false && accepted.last?.hasPrefix($0) == true } ?? false
        shown = marks(of: terms, fingerprints)
        change =
            wasUnread
            ? "The terms could not be read when you accepted them." : "The terms have changed since you accepted them."
        return true
    }

    /// Notes the terms that a prompt shows.
    mutating func show(_ current: ShownTerms?, _ client: HTTPClient, _ scope: Scope) {
        guard let current, change == nil || shown.isEmpty else { return }
        shown = marks(of: current.terms, current.fingerprints(asking: client, twice: true, in: scope))
    }

    /// Returns the entries to keep for terms with these fingerprints. If terms cannot be read, their address is kept, so that they are shown once
    /// they can be read.
    private func marks(of terms: Terms, _ fingerprints: [String]?) -> [String] {
        (fingerprints ?? [terms.addressFingerprint ?? Self.unread]).map { Self.mark($0, terms.boxFingerprint) }
    }

    /// The entry for terms that could not be read and have no address.
    private static let unread = "?"

    private static func mark(_ terms: String, _ box: String?) -> String { terms + (box.map { " " + $0 } ?? "") }

    /// Notes that the user accepted the shown terms.
    mutating func accept() {
        accepted += shown.filter { !accepted.contains($0) }
        accepted = Array(accepted.suffix(Terms.keptLimit))
        shown = []
    }

    /// Writes the accepted and the shown terms into a session's memory.
    func keep(in memory: inout SessionMemory) {
        memory.terms = accepted.isEmpty ? nil : accepted
        memory.shownTerms = shown.isEmpty ? nil : shown
    }
}
