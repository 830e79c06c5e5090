import BoundHTTP
import HotspotCore

/// Inspects a page's requests while answers are typed and sent. Holds back each request that would carry an answer to another origin without the
/// user's agreement.
struct AnswerGuard: Sendable {
    /// The origin of the page that the answers are meant for.
    let origin: String
    /// The answers, as they are typed.
    let answers: [String]
    /// Returns whether the user has agreed to send the answers to an address.
    let mayLead: @Sendable (WebURL) -> Bool

    /// Whether a request is held back; otherwise, whether it carries all recognisable answers, some of them (for example to check a field), or none.
    enum Ruling: Equatable { case refused(WebURL), sends, checks, other }

    /// The shortest length at which an answer is recognised, in characters. Shorter answers may occur by chance: they count only if all answers are
    /// short and all occur in the body.
    private static let telling = 4

    /// Returns what a request does.
    ///
    /// - Parameters: - request: DevTools' `Network.Request`. - isPage: whether the request loads the page.
    func ruling(_ request: JSONValue?, isPage: Bool) -> Ruling {
        guard let request, let (url, words) = request["url"]?.string.flatMap(Self.parted),
            ["http", "https"].contains(url.scheme), carriesAnswers(request, words, isPage: isPage)
        else { return .other }
        guard url.origin == origin || mayLead(url) else { return .refused(url) }
        return carriesAnswers(request, words, isPage: isPage, all: true) ? .sends : .checks
    }

    /// Returns an address, and the text of its query and path. If the address is too long for ``WebURL``, returns its origin and all text after the
    /// host.
    private static func parted(_ text: String) -> (WebURL, String)? {
        if let url = WebURL(text) { return (url, (url.query ?? "") + "\n" + url.path) }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let url = WebURL(parts[..<3].joined(separator: "/") + "/") else { return nil }
        return (url, String(parts[3]))
    }

    private func carriesAnswers(_ request: JSONValue, _ words: String, isPage: Bool, all: Bool = false) -> Bool {
        let typed = answers.map(Self.plain).filter { !$0.isEmpty }
        guard !typed.isEmpty else { return false }
        let body = request["postData"]?.string
        // A body that cannot be read may contain any answer, so it counts as carrying all of them.
        if body == nil, isPage, request["hasPostData"]?.bool == true { return true }
        let sent = Self.plain(body ?? "")
        let address = Self.plain(words)
        let long = typed.filter { $0.count >= Self.telling }
        func isSent(_ answer: String) -> Bool { sent.contains(answer) || address.contains(answer) }
        if all ? !long.isEmpty && long.allSatisfy(isSent) : long.contains(where: isSent) { return true }
        return long.isEmpty && typed.allSatisfy(sent.contains)
    }

    /// Returns a text's letters and digits in lower case, so that the encoding of an address, a form or JSON does not matter.
    private static func plain(_ text: String) -> String {
        let decoded = text.replacing("+", with: " ").removingPercentEscapes
        return String(decoded.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}

extension String {
    /// The text with its percent escapes read as UTF-8 (RFC 3986, section 2.1); invalid escapes stay.
    fileprivate var removingPercentEscapes: String {
        var octets: [UInt8] = []
        var rest = Array(utf8)[...]
        while let octet = rest.popFirst() {
            let digits = rest.prefix(2)
            if octet == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
