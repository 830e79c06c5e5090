/// A checked announcement of a portal's API (RFC 8910): the API's address, or the statement that there is no portal. Refuses any other octets that a
/// network may announce.
public enum PortalAPIAddress: Hashable, Sendable {
    case url(String)
    /// The network announced that it has no captive portal.
    case unrestricted

    /// The longest address, in octets: in DHCP, one octet holds the length of an option.
    static let limit = 255
    private static let unrestrictedName = "urn:ietf:params:capport:unrestricted"

    /// Returns `nil` unless the octets are the name that means "no portal", or an `https` address with a host and without a
    /// user name. Only visible ASCII characters are allowed.
    public init?(_ octets: some Collection<UInt8>) {
        guard (1...Self.limit).contains(octets.count), octets.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let text = String(decoding: octets, as: UTF8.self)
        // RFC 8910, 2 defines the name that means "no portal". Upper and lower case are equal in the scheme and in the
        // namespace of a URN.
        if text.lowercased() == Self.unrestrictedName {
            self = .unrestricted
            return
        }
        guard text.lowercased().hasPrefix("https://") else { return nil }
        let authority = text.utf8.dropFirst(8).prefix { !"/?#".utf8.contains($0) }
        guard Self.isHost(authority), !text.utf8.contains(where: "\\\"<>^`{|}".utf8.contains) else { return nil }
        self = .url(text)
    }

    /// The address as it was announced; only the name that means "no portal" is written in its usual case.
    public var text: String {
        switch self {
        case .url(let url): url
        case .unrestricted: Self.unrestrictedName
        }
    }

    /// Returns whether the text is a host name or address with an optional port, and without a user name.
    private static func isHost(_ authority: Substring.UTF8View) -> Bool {
        var host = Array(authority)
        if let colon = host.lastIndex(of: UInt8(ascii: ":")), host.last != UInt8(ascii: "]") {
            let port = host[(colon + 1)...]
            guard let number = UInt16(String(decoding: port, as: UTF8.self)), number > 0, port.first != UInt8(ascii: "+") else {
                return false
            }
            host = Array(host[..<colon])
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            return AddressText.octets(of: String(decoding: host.dropFirst().dropLast(), as: UTF8.self))?.count == 16
        }
        return !host.isEmpty
            && host.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
