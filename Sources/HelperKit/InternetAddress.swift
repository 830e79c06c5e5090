import Glibc

/// An IPv4 or IPv6 address as octets.
public struct InternetAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 octets in network order.
    public let octets: [UInt8]

    /// From octets; `nil` unless 4 or 16.
    public init?(octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// From its numeric text, a scope after `%` and brackets left out.
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

    /// From a socket address of either family.
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

    /// Four octets.
    public var isIPv4: Bool { octets.count == 4 }

    /// The numeric text.
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
    /// Bits of the network's part.
    public let length: Int

    /// A prefix.
    public init(_ address: InternetAddress, length: Int) {
        self.address = address
        self.length = min(max(length, 0), address.octets.count * 8)
    }

    /// From CIDR notation; without a length, the address alone.
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

    /// Whether an address lies within.
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
