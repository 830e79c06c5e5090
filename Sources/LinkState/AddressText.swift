import Glibc

/// Addresses as octets and as text.
enum AddressText {
    /// Returns the text of four or sixteen octets; `nil` for any other number.
    static func text(of octets: [UInt8]) -> String? {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(octets.count == 4 ? AF_INET : AF_INET6, octets, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the four or sixteen octets of an address without a scope; `nil` for any other text.
    static func octets(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return nil }
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var octets = [UInt8](repeating: 0, count: size)
            if inet_pton(family, String(text), &octets) == 1 { return octets }
        }
        return nil
    }

    /// Returns whether an address is link-local: 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291, 2.5.6).
    static func isLinkLocal(_ octets: [UInt8]) -> Bool {
        octets.count == 4 ? octets.starts(with: [169, 254]) : octets.first == 0xFE && octets[1] & 0xC0 == 0x80
    }
}

/// Resolvers as other programs write them: `1.1.1.1`, `1.1.1.1:53`, `fe80::1%wlan0`, `[fe80::1]:53%wlan0#name`.
enum NameserverText {
    /// The most resolvers that one link has.
    static let limit = 8

    /// Returns the resolvers in `words` that can be used on this link, each once, in their order.
    static func addresses(in words: some Sequence<some StringProtocol>, on link: LinkSnapshot) -> [String] {
        var addresses: [String] = []
        for word in words where addresses.count < limit {
            if let address = address(String(word), on: link), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    /// Returns one resolver as an address without port and name; `nil` if it is not an address, or is one of this machine or of another
    /// link.
    static func address(_ word: String, on link: LinkSnapshot) -> String? {
        // Behind it is the name in its certificate, for DNS over TLS.
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
        // This machine's own forwarder is not on the link, and would use any link.
        let isOwn =
            octets.count == 4 ? octets[0] == 127 || octets[0] == 0 : octets.dropLast().allSatisfy { $0 == 0 } && octets[15] < 2
        guard !isOwn else { return nil }
        guard octets.count == 16, AddressText.isLinkLocal(octets) else { return plain }
        if let scope, scope != link.name, scope != String(link.index) { return nil }
        return "\(plain)%\(link.name)"
    }
}
