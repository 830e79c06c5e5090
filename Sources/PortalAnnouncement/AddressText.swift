// This target: the messages in which a network announces its portal's API (RFC 8910), and the requests for these messages, as
// values.

import Glibc

/// Addresses as octets and as text.
public enum AddressText {
    /// Returns the text of four or sixteen octets; `nil` for any other number.
    public static func text(of octets: [UInt8]) -> String? {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(octets.count == 4 ? AF_INET : AF_INET6, octets, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the four or sixteen octets of an address without a scope; `nil` for any other text.
    public static func octets(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return nil }
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var octets = [UInt8](repeating: 0, count: size)
            if inet_pton(family, String(text), &octets) == 1 { return octets }
        }
        return nil
    }

    /// Returns whether an address is link-local: 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291, 2.5.6).
    public static func isLinkLocal(_ octets: [UInt8]) -> Bool {
        octets.count == 4 ? octets.starts(with: [169, 254]) : octets.first == 0xFE && octets[1] & 0xC0 == 0x80
    }
}
