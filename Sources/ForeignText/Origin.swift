import Glibc

/// The origin of a page: `http://host[:port]` or `https://host[:port]`.
///
/// People read an origin to recognise the page, and stored answers are bound to it. So it contains no path, user name or blank, and only ASCII: names
/// in other scripts are written as `xn--`, where no letter looks like another.
public enum Origin {
    /// The longest name and the longest label of a host, in octets (RFC 1035, 2.3.4).
    private static let (nameLimit, labelLimit) = (253, 63)

    /// Returns whether a text is an origin. The scheme must be in lower case, because other code compares it.
    public static func isValid(_ text: String) -> Bool {
        let octets = Array(text.utf8.prefix(nameLimit + 32))
        guard octets.count == text.utf8.count,
            let scheme = ["https://", "http://"].first(where: { octets.starts(with: $0.utf8) })
        else { return false }
        let place = octets.dropFirst(scheme.utf8.count)
        if place.first == UInt8(ascii: "[") {
            guard let end = place.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isIPv6(place[..<end].dropFirst()) && isPortOrNothing(place[end...].dropFirst())
        }
        let end = place.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        return isName(place[..<end]) && isPortOrNothing(place[end...])
    }

    /// Returns the host of an origin, without the port, and without the brackets of an IPv6 address.
    public static func host(of origin: String) -> Substring {
        let place = origin.drop { $0 != "/" }.drop { $0 == "/" }
        return place.first == "[" ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
    }

    /// Returns an origin shortened to one line. The end of an origin shows which host answers, so a long origin is cut in the middle; the end that is
    /// kept has space for the longest name that can be registered, and a port.
    public static func shortened(_ text: String) -> String {
        text.count > 120 ? "\(text.prefix(23))…\(text.suffix(96))" : text
    }

    private static func isPortOrNothing(_ octets: ArraySlice<UInt8>) -> Bool {
        if octets.isEmpty { return true }
        let digits = octets.dropFirst()
        guard octets.first == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy(isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self))
        else { return false }
        return (1...65535).contains(port)
    }

    /// Accepts a DNS name or an IPv4 address. Underscores are not allowed in host names, but occur in portals' names.
    private static func isName(_ octets: ArraySlice<UInt8>) -> Bool {
        // Allows one dot at the end, which stands for the root.
        let name = octets.last == UInt8(ascii: ".") ? octets.dropLast() : octets
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= nameLimit,
            labels.allSatisfy({ (1...labelLimit).contains($0.count) && $0.allSatisfy(isLetterOfName) })
        else { return false }
        // If the last label is a number, clients read the host as an IPv4 address, so it must be one.
        return labels.last?.allSatisfy(isDigit) == true ? isAddress(name, AF_INET) : true
    }

    private static func isIPv6(_ octets: ArraySlice<UInt8>) -> Bool {
        octets.allSatisfy { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") } && isAddress(octets, AF_INET6)
    }

    private static func isAddress(_ octets: ArraySlice<UInt8>, _ family: Int32) -> Bool {
        var address = in6_addr()
        return inet_pton(family, String(decoding: octets, as: UTF8.self), &address) == 1
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    private static func isHexDigit(_ octet: UInt8) -> Bool {
        isDigit(octet) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet | 0x20)
    }

    private static func isLetterOfName(_ octet: UInt8) -> Bool {
        isDigit(octet) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20) || octet == UInt8(ascii: "-")
            || octet == UInt8(ascii: "_")
    }
}
