import EventLoop
import Glibc
import HotspotCore

/// One address of this machine, and the interface that has it.
struct InterfaceAddress: Hashable, Sendable {
    var name: String
    var prefix: AddressPrefix

    /// Returns all addresses of this machine. A helper's sandbox refuses the netlink sockets that getifaddrs(3) needs, but allows
    /// netdevice(7)'s requests for IPv4 and `/proc/self/net/if_inet6` for IPv6. Empty if a sandbox refuses these, too; then the
    /// fixed classes of ``AddressPolicy`` and the binding to the device still apply.
    static func all() -> [InterfaceAddress] { readIPv4() + readIPv6() }

    // SIOCGIFCONF, SIOCGIFFLAGS and SIOCGIFNETMASK of linux/sockios.h.
    private static let listAddresses: UInt = 0x8912
    private static let (readFlags, readMask): (UInt, UInt) = (0x8913, 0x891B)
    private static let limit = 256

    private static func readIPv4() -> [InterfaceAddress] {
        let socket = Glibc.socket(AF_INET, LinkSocket.datagram | LinkSocket.closeOnExec, 0)
        guard socket >= 0 else { return [] }
        defer { close(socket) }
        var requests = [ifreq](repeating: ifreq(), count: limit)
        let size = MemoryLayout<ifreq>.stride
        let count = requests.withUnsafeMutableBytes { buffer -> Int in
            var list = ifconf()
            list.ifc_len = Int32(buffer.count)
            list.ifc_ifcu.ifcu_buf = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return ioctl(socket, listAddresses, &list) == 0 ? Int(list.ifc_len) / size : 0
        }
        return requests.prefix(count).compactMap { request in
            var (address, mask) = (request.ifr_ifru.ifru_addr, request)
            guard ioctl(socket, readMask, &mask) == 0, let address = InternetAddress(&address, length: 16) else { return nil }
            // The kernel may leave out the mask's address family, so this reads only the mask's octets.
            let bits = withUnsafeBytes(of: mask.ifr_ifru.ifru_netmask) { $0[4..<8].reduce(0) { $0 + $1.nonzeroBitCount } }
            // Drops the part after the colon below: `eth0:1` is a label of eth0.
            let label = withUnsafeBytes(of: request.ifr_ifrn) {
                String(decoding: $0.prefix(16).prefix { $0 != 0 }, as: UTF8.self)
            }
            return InterfaceAddress(name: String(label.prefix { $0 != ":" }), prefix: AddressPrefix(address, length: bits))
        }
    }

    /// Returns the interfaces that have no neighbours: tunnels, which are point-to-point or do not resolve addresses
    /// (netdevice(7)). An interface that cannot be read counts as having neighbours.
    static func withoutNeighbours(among names: Set<String>) -> Set<String> {
        let socket = Glibc.socket(AF_INET, LinkSocket.datagram | LinkSocket.closeOnExec, 0)
        guard socket >= 0 else { return [] }
        defer { close(socket) }
        return names.filter { name in
            var request = ifreq()
            guard name.utf8.count < Int(IFNAMSIZ) else { return false }
            withUnsafeMutableBytes(of: &request.ifr_ifrn) { $0.copyBytes(from: name.utf8) }
            guard ioctl(socket, readFlags, &request) == 0 else { return false }
            return Int(request.ifr_ifru.ifru_flags) & (IFF_POINTOPOINT | IFF_NOARP) != 0
        }
    }

    private static func readIPv6() -> [InterfaceAddress] {
        parse(FilePath.text(of: "/proc/self/net/if_inet6", limit: limit * 64) ?? "")
    }

    /// Reads the lines of `if_inet6`: address, index, prefix length, scope and flags in hexadecimal digits, name.
    static func parse(_ text: String) -> [InterfaceAddress] {
        NetworkTable.lines(of: text, limit: limit).compactMap { fields in
            guard fields.count == 6, let length = Int(fields[2], radix: 16), length <= 128,
                let address = NetworkTable.address(fields[0])
            else { return nil }
            return InterfaceAddress(name: String(fields[5]), prefix: AddressPrefix(address, length: length))
        }
    }
}

extension Link {
    /// Returns the addresses of an interface in CIDR notation.
    package static func addresses(of interface: String) -> [String] {
        InterfaceAddress.all().filter { $0.name == interface }.map { "\($0.prefix.address)/\($0.prefix.length)" }
    }
}
