import EventLoop

/// One route of this machine, from `/proc/self/net/route` and `/proc/self/net/ipv6_route`.
struct InterfaceRoute: Hashable, Sendable {
    var interface: String
    var prefix: AddressPrefix
    /// Whether the route leads to a router instead of neighbours.
    var hasGateway: Bool

    /// RTF_GATEWAY in `linux/route.h` and `linux/ipv6_route.h`.
    private static let gatewayFlag: UInt32 = 0x2
    private static let limit = 4096
    /// The shortest prefix that does not count as a default route: some VPNs split the default route into two halves.
    private static let shortestPrefix = 8

    /// Returns the routes that lead only to a part of the Internet. Empty if a sandbox hides them.
    static func all() -> [InterfaceRoute] {
        let read = { (name: String) in FilePath.text(of: "/proc/self/net/" + name, limit: limit * 160) ?? "" }
        return parseIPv4(read("route")) + parseIPv6(read("ipv6_route"))
    }

    /// Reads the lines of `route` (proc(5)): the name, then destination, gateway, flags and, in the eighth column, the mask.
    /// Addresses are hexadecimal numbers in the machine's byte order.
    static func parseIPv4(_ text: String) -> [InterfaceRoute] {
        NetworkTable.lines(of: text, limit: limit).compactMap { fields in
            guard fields.count >= 8, let destination = UInt32(fields[1], radix: 16), let flags = UInt32(fields[3], radix: 16),
                let mask = UInt32(fields[7], radix: 16)
            else { return nil }
            let octets = withUnsafeBytes(of: destination) { Array($0) }
            guard let address = InternetAddress(octets: octets) else { return nil }
            return InterfaceRoute(String(fields[0]), AddressPrefix(address, length: mask.nonzeroBitCount), flags)
        }
    }

    /// Reads the lines of `ipv6_route`: destination and prefix length first, flags and name last.
    static func parseIPv6(_ text: String) -> [InterfaceRoute] {
        NetworkTable.lines(of: text, limit: limit).compactMap { fields in
            guard fields.count == 10, let length = Int(fields[1], radix: 16), length <= 128,
                let flags = UInt32(fields[8], radix: 16), let address = NetworkTable.address(fields[0])
            else { return nil }
            return InterfaceRoute(String(fields[9]), AddressPrefix(address, length: length), flags)
        }
    }

    private init?(_ interface: String, _ prefix: AddressPrefix, _ flags: UInt32) {
        guard prefix.length >= Self.shortestPrefix else { return nil }
        self.init(interface: interface, prefix: prefix, hasGateway: flags & Self.gatewayFlag != 0)
    }

    init(interface: String, prefix: AddressPrefix, hasGateway: Bool = false) {
        (self.interface, self.prefix, self.hasGateway) = (interface, prefix, hasGateway)
    }
}
