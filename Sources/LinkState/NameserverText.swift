import PortalAnnouncement

/// Resolvers as other programs write them: `1.1.1.1`, `1.1.1.1:53`, `fe80::1%wlan0`, `[fe80::1]:53%wlan0#name`.
enum NameserverText {
    /// The largest number of resolvers of one link.
    static let limit = 8

    /// Returns the resolvers in `words` that can be used on this link, each once, in their order.
    static func addresses(in words: some Sequence<some StringProtocol>, on link: LinkSnapshot) -> [String] {
        var addresses: [String] = []
        for word in words where addresses.count < limit {
            if let address = address(String(word), on: link), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    /// Returns one resolver as an address without port and name; `nil` if it is not an address, or belongs to this machine or to another link.
    static func address(_ word: String, on link: LinkSnapshot) -> String? {
        // The text after `#` is the name in the resolver's certificate, for DNS over TLS.
        var text = word.prefix { $0 != "#" }
        var scope: Substring?
        if let percent = text.firstIndex(of: "%") {
            scope = text[text.index(after: percent)...].prefix { $0 != "]" }
            let rest = text[percent...].dropFirst(1 + scope!.count)
            text = text[..<percent] + rest
        }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = text[..<end].dropFirst()
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            text = text[..<colon]
        }
        guard let octets = AddressText.octets(of: text), let plain = AddressText.text(of: octets) else { return nil }
        // Leave out this machine's own forwarder: it is not on the link, and would send its queries over any link.
        let isOwn =
            octets.count == 4 ? octets[0] == 127 || octets[0] == 0 : octets.dropLast().allSatisfy { $0 == 0 } && octets[15] < 2
        guard !isOwn else { return nil }
        guard octets.count == 16, AddressText.isLinkLocal(octets) else { return plain }
        if let scope, scope != link.name, scope != String(link.index) { return nil }
        return "\(plain)%\(link.name)"
    }
}
