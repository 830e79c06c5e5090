import ForeignText
import Glibc
import HotspotCore

/// Replaces private data in a report. A value has the same replacement everywhere.
struct Redaction {
    enum Kind: String { case network, name, host, address, hardware = "hardware address", token }

    /// Suffixes of file and unit names: a name with such a suffix is not the name of a host.
    private static let files: Set<Substring> = [
        "service", "socket", "conf", "helper", "portal", "varlink", "txt", "lease", "leases",
    ]
    private static let ownNames = ["org.hotspotd.", "org.freedesktop.", "org.varlink."]
    private static let plainAddresses: Set = ["0.0.0.0", "1.1.1.1", "127.0.0.1", "127.0.0.53", "::", "::1"]

    /// Hosts that belong to products rather than places, as the installed portal files name them.
    private let products: [(pattern: String, glob: Glob)]
    /// The added texts and their replacements.
    private var words: [String: String] = [:]
    /// All replacements, of added texts and of recognised texts.
    private var replacements: [String: String] = [:]
    private var counts: [Kind: Int] = [:]

    /// - Parameter products: names of hosts, with `*` for the part that differs from place to place.
    init(products: [String] = []) {
        self.products = products.compactMap { pattern in Glob(pattern).map { (pattern, $0) } }
    }

    /// Adds a value that is private wherever it occurs as a word.
    mutating func add(_ value: String, as kind: Kind) {
        let value = Blanks.collapsed(value)
        guard !value.isEmpty, !value.hasPrefix("wired:") else { return }
        words[value.lowercased()] = replacement(of: value, kind)
    }

    /// Adds an SSID in its printable form, and its other spellings.
    mutating func add(network printable: String) {
        // Keeps the word "wired", which describes a network without a name.
        guard !printable.isEmpty, printable != "wired", !printable.hasPrefix("wired:") else { return }
        let replacement = replacement(of: printable, .network)
        guard let octets = Printable.octets(of: printable) else { return }
        words[printable.lowercased()] = replacement
        for spelling in [String(decoding: octets, as: UTF8.self), Hex.encode(octets)] {
            words[spelling.lowercased()] = replacement
        }
    }

    /// Returns the text without values that are known to be private, or look private.
    mutating func apply(_ text: String) -> String {
        var text = replaceWords(text)
        text = text.replacing(#/([a-z]+:\/\/)(\[[0-9A-Fa-f:.]+\]|[^\s\/?#:"'<>|│,;!\])]+)(:[0-9]+)?([\/?#][^\s"'<>|│)]*)?/#) {
            match in
            let (whole, scheme, host, port, rest) = match.output
            // A full stop after a host ends the sentence or a fully qualified name, so it is not a part of the host.
            let name = host.hasSuffix(".") ? host.dropLast() : host
            if Renderer.probeHosts.contains(name.lowercased()) { return String(whole) }
            return scheme + self.host(String(name), isSure: true) + host[name.endIndex...] + (port ?? "")
                + (rest.map { $0.count > 1 ? "/…" : $0 } ?? "")
        }
        text = text.replacing(#/[0-9A-Za-z._%+\-]+@([0-9A-Za-z.\-]+)/#) { match in
            Self.isFile(match.output.1) ? String(match.output.0) : replacement(of: String(match.output.0), .name)
        }
        // Uses simple word boundaries, because Unicode's rules see none in "wired:da:70".
        text = text.replacing(#/\b[0-9A-Fa-f]{2}([:\-][0-9A-Fa-f]{2}){5}\b/#.wordBoundaryKind(.simple)) {
            replacement(of: String($0.output.0), .hardware)
        }
        text = text.replacing(#/[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*/#) { host(String($0.output), isSure: false) }
        text = text.replacing(#/[0-9A-Za-z_\-]+(\.[0-9A-Za-z_\-]+)+/#) { host(String($0.output.0), isSure: false) }
        return text.replacing(#/[0-9A-Za-z_+\-]{12,}/#) { match in
            Self.isToken(match.output) ? replacement(of: String(match.output), .token) : String(match.output)
        }
    }

    private mutating func replacement(of value: String, _ kind: Kind) -> String {
        let key = value.lowercased()
        if let known = replacements[key] { return known }
        counts[kind, default: 0] += 1
        let replacement = "<\(kind.rawValue) \(counts[kind]!)>"
        replacements[key] = replacement
        return replacement
    }

    /// - Parameter isSure: whether the text is certainly a host; otherwise it only looks like a host or an address.
    private mutating func host(_ text: String, isSure: Bool) -> String {
        let host = text.lowercased()
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let isPublic = Renderer.probeHosts.contains(bare) || products.contains { $0.pattern == "*.\(bare)" }
        if Self.plainAddresses.contains(bare) || isPublic { return text }
        if Self.isAddress(bare) { return replacement(of: bare, .address) }
        let end = host.split(separator: ".").last ?? ""
        let looksLikeOne = host.contains(".") && end.count > 1 && (end.hasPrefix("xn--") || end.allSatisfy(\.isLetter))
        guard isSure || (looksLikeOne && !Self.isFile(host[...]) && !Self.ownNames.contains { host.hasPrefix($0) }) else {
            return text
        }
        guard let product = products.first(where: { $0.glob.matches(Array(host.utf8)) }) else {
            return replacement(of: host, .host)
        }
        return product.pattern.hasPrefix("*.") ? replacement(of: host, .host) + product.pattern.dropFirst() : text
    }

    private static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    private static func isFile(_ name: Substring) -> Bool { name.split(separator: ".").last.map(files.contains) == true }

    /// Returns whether a long word has many digits: it may be a session, a voucher, a telephone number, or a hardware address without separators.
    private static func isToken(_ word: Substring) -> Bool { word.count(where: \.isNumber) >= 4 }

    /// Replaces the added values, the longest first, ignoring case, but not within longer words.
    private func replaceWords(_ text: String) -> String {
        let characters = Array(text)
        let lower = characters.map { $0.lowercased() }
        let byFirst = Dictionary(grouping: words.map { (key: $0.map { String($0) }, value: $1) }) { $0.key[0] }
            .mapValues { $0.sorted { $0.key.count > $1.key.count } }
        func isWord(_ index: Int) -> Bool {
            characters.indices.contains(index) && (characters[index].isLetter || characters[index].isNumber)
        }
        var result = ""
        var index = 0
        while index < characters.count {
            let found = byFirst[lower[index]]?.first { entry in
                let end = index + entry.key.count
                return lower[index...].starts(with: entry.key) && !(isWord(index - 1) && isWord(index))
                    && !(isWord(end - 1) && isWord(end))
            }
            result += found?.value ?? String(characters[index])
            index += found?.key.count ?? 1
        }
        return result
    }
}
