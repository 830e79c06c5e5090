import ForeignText
import HelperKit
import HotspotCore
import PageLogin

/// How much a value reveals about an answer.
enum Taint: Int, Comparable, Sendable, Codable {
    case none
    /// The value contains an answer that is not secret.
    case answer
    /// The value contains the digest of a secret answer, from which a short answer can be guessed.
    case digest
    /// The value contains a secret answer, perhaps encoded.
    case secret

    static func < (one: Taint, other: Taint) -> Bool { one.rawValue < other.rawValue }
}

/// Octets, and how much they reveal.
struct Tainted: Hashable, Sendable {
    var octets: [UInt8] = []
    var taint = Taint.none
    var text: String { StreamSafe.text(String(decoding: octets, as: UTF8.self)) }
}

/// The values of a login: the user's answers, the kept values, and the portal's answers.
struct PortalValues: Sendable {
    /// The longest value, in octets.
    static let limit = 16 * 1024

    /// The portal's answers so far, the newest at the end.
    private(set) var hops: [HTTPResponse]
    /// The last page.
    private(set) var page: HTMLPage
    var answers: [String: String] = [:]
    /// The answers that are secret.
    var secrets: Set<String> = []
    var kept: [String: Tainted] = [:]
    let address: String
    let probe: String
    private let clock: @Sendable () -> Int
    private let letters: @Sendable (Int) -> String

    /// - Parameters:
    ///   - hops: the answers up to the portal's page, at least one.
    ///   - clock: returns the Unix time in milliseconds.
    ///   - letters: returns this number of random letters and digits.
    init(
        hops: [HTTPResponse], page: HTMLPage, link: Link, clock: @escaping @Sendable () -> Int,
        letters: @escaping @Sendable (Int) -> String
    ) {
        (self.hops, self.page, self.clock, self.letters) = (hops, page, clock, letters)
        address = link.addresses.first { !$0.contains(":") }.map { String($0.prefix { $0 != "/" }) } ?? ""
        probe = link.probeURL ?? ""
    }

    var last: HTTPResponse { hops[hops.count - 1] }

    /// Stores an answer with the redirects before it; keeps only the last 24 answers.
    mutating func add(_ chain: RedirectChain) {
        hops = Array((hops + chain.hops).suffix(24))
        page = chain.page
    }

    /// Stores an empty answer with status 0 for an address, because the request to it failed.
    mutating func addLost(_ url: WebURL) {
        hops.append(HTTPResponse(url: url, status: 0))
    }

    func holds(_ conditions: [Condition]) -> Bool {
        conditions.allSatisfy { $0.holds(value(of: $0.value).octets) }
    }

    func text(of template: Template) -> String { value(of: template).text }

    /// Returns the template's octets, at most ``limit``; each value is passed through `escape`.
    func value(of template: Template, escape: ([UInt8]) -> [UInt8] = { $0 }) -> Tainted {
        var result = Tainted()
        for piece in template.pieces {
            switch piece {
            case .text(let octets): result.octets += octets
            case .value(let expression):
                let value = value(of: expression)
                result.octets += escape(Array(value.octets.prefix(Self.limit))).prefix(Self.limit)
                result.taint = max(result.taint, value.taint)
            }
        }
        result.octets = Array(result.octets.prefix(Self.limit))
        return result
    }

    private func value(of expression: Template.Expression) -> Tainted {
        var value = value(of: expression.source)
        for function in expression.functions {
            var taint = value.taint
            if function.isDigest { taint = min(taint, .digest) }
            for name in function.names {
                taint = max(taint, min(kept[name]?.taint ?? .none, function.isDigest ? .digest : .secret))
            }
            // Limits each result, because each of several functions in a row may double the value.
            let octets = function.apply(value.octets) { kept[$0]?.octets ?? [] }.prefix(HTTPRequest.pageLimit)
            value = Tainted(octets: Array(octets), taint: taint)
        }
        return value
    }

    private func value(of source: Source) -> Tainted {
        switch source {
        case .answer(let name):
            let answer = answers[name] ?? ""
            let taint: Taint = answer.isEmpty ? .none : secrets.contains(name) ? .secret : .answer
            return Tainted(octets: Array(answer.utf8), taint: taint)
        case .value(let name): return kept[name] ?? Tainted()
        case .text(let text): return plain(text)
        case .url: return plain(last.url.text)
        case .origin: return plain(last.url.origin)
        case .host: return plain(last.url.host)
        case .path: return plain(last.url.path)
        case .query(let name):
            let found = hops.reversed().lazy.compactMap { PercentEncoding.pair(name, of: ($0.url.query ?? "").utf8) }.first
            return Tainted(octets: found ?? [])
        case .input(let name):
            let control = page.forms.lazy.flatMap(\.controls).first { $0.name == name }
            let chosen = control.map { control in control.options.first(where: \.isSelected)?.value ?? control.value }
            return plain(chosen ?? "")
        case .field(let name): return plain(FormEngine.questions(on: page).contains { $0.name == name } ? "yes" : "")
        case .action(let form): return plain(page.form(named: form)?.action ?? "")
        case .link(let glob): return plain(page.link(glob)?.reference ?? "")
        case .title: return plain(page.title ?? "")
        case .body: return Tainted(octets: last.body)
        case .json(let path): return plain(path.text(in: last.body) { kept[$0]?.text ?? "" } ?? "")
        case .cookie(let name): return plain(cookie(name))
        case .header(let name): return plain(last[name] ?? "")
        case .status: return plain(String(last.status))
        case .phrase: return plain(last.phrase)
        case .address: return plain(address)
        case .probe: return plain(probe)
        case .time: return plain(String(clock() / 1000))
        case .milliseconds: return plain(String(clock()))
        case .random(let count): return plain(letters(count))
        }
    }

    private func plain(_ text: String) -> Tainted { Tainted(octets: Array(text.utf8)) }

    private func cookie(_ name: String) -> String {
        for hop in hops.reversed() {
            for header in hop.headers.reversed() where header.name == "set-cookie" && header.value.hasPrefix(name + "=") {
                return String(header.value.dropFirst(name.count + 1).prefix { $0 != ";" })
            }
        }
        return ""
    }
}

extension HTMLPage {
    /// Returns the form with this id, name or class, or with a control of this name.
    func form(named name: String) -> HTMLForm? {
        let name = name.lowercased()
        return forms.first { $0.hints.split(separator: " ").contains { $0 == name } }
            ?? forms.first { $0.controls.contains { $0.name.lowercased() == name } }
    }

    /// Returns the first link whose address or text matches.
    func link(_ glob: Glob) -> Hyperlink? {
        links.first { glob.matches(Array($0.reference.utf8)) || glob.matches(Array($0.text.utf8)) }
    }
}
