import Glibc

/// An IPv4 or IPv6 address as octets.
public struct InternetAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 octets in network order.
    public let octets: [UInt8]

    /// Makes an address from its octets; `nil` unless there are 4 or 16.
    public init?(octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// Parses the numeric text; brackets and a scope after `%` are ignored. `nil` if the text is not an address.
    public init?(_ text: String) {
        var text = text[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let percent = text.firstIndex(of: "%") { text = text[..<percent] }
        var octets = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &octets) == 1 {
            self.octets = Array(octets[..<4])
        } else if inet_pton(AF_INET6, String(text), &octets) == 1 {
            self.octets = octets
        } else {
            return nil
        }
    }

    /// Reads a socket address of either family; `nil` if the family or `length`, in octets, does not fit.
    public init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            octets = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr, Array.init)
            }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            octets = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr, Array.init)
            }
        default: return nil
        }
    }

    /// Whether the address is an IPv4 address.
    public var isIPv4: Bool { octets.count == 4 }

    /// The numeric text (inet_ntop(3)).
    public var description: String {
        var text = [CChar](repeating: 0, count: 64)
        inet_ntop(isIPv4 ? AF_INET : AF_INET6, octets, &text, 64)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An address with the length of its network's part, such as `192.0.2.7/24`.
public struct AddressPrefix: Hashable, Sendable {
    /// The address as given, host part included.
    public let address: InternetAddress
    /// Length of the network's part, in bits.
    public let length: Int

    /// Makes a prefix; `length`, in bits, is limited to the length of the address.
    public init(_ address: InternetAddress, length: Int) {
        self.address = address
        self.length = min(max(length, 0), address.octets.count * 8)
    }

    /// Parses CIDR notation; an address without a length is a prefix of that address alone. `nil` if the text cannot be read.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let address = InternetAddress(String(first)) else { return nil }
        guard parts.count == 2 else {
            self.init(address, length: 128)
            return
        }
        guard let length = Int(parts[1]), length >= 0, length <= address.octets.count * 8 else { return nil }
        self.init(address, length: length)
    }

    /// Returns whether an address lies within the prefix; an address of the other family never does.
    public func contains(_ other: InternetAddress) -> Bool {
        guard other.octets.count == address.octets.count else { return false }
        for index in 0..<other.octets.count {
            let bits = min(max(length - index * 8, 0), 8)
            if bits == 0 { return true }
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if other.octets[index] & mask != address.octets[index] & mask { return false }
        }
        return true
    }
}
