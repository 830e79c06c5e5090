import FoundationEssentials
import Glibc

/// The addresses of this machine.
enum Interfaces {
    struct Entry: Hashable, Sendable {
        var name: String
        var prefix: AddressPrefix
    }

    /// Asks the kernel. Helpers have no netlink, which would also tell them of networks that are not their business, and with it no
    /// getifaddrs(3): IPv4 is asked for as in netdevice(7), IPv6 stands in `/proc/self/net/if_inet6`. Nothing where a sandbox forbids
    /// both: the fixed classes and the binding to the device still hold then.
    static func read() -> [Entry] { readIPv4() + readIPv6() }

    // linux/sockios.h.
    private static let listAddresses: UInt = 0x8912
    private static let readMask: UInt = 0x891B
    private static let limit = 256

    private static func readIPv4() -> [Entry] {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return [] }
        defer { close(socket) }
        var requests = [ifreq](repeating: ifreq(), count: limit)
        let size = MemoryLayout<ifreq>.stride
        let count = requests.withUnsafeMutableBytes { room -> Int in
            var list = ifconf()
            list.ifc_len = Int32(room.count)
            list.ifc_ifcu.ifcu_buf = room.baseAddress?.assumingMemoryBound(to: CChar.self)
            return ioctl(socket, listAddresses, &list) == 0 ? Int(list.ifc_len) / size : 0
        }
        return requests.prefix(count).compactMap { request in
            var (address, mask) = (request.ifr_ifru.ifru_addr, request)
            guard ioctl(socket, readMask, &mask) == 0, let address = InternetAddress(&address, length: 16) else { return nil }
            // A mask's family may be left out.
            let bits = withUnsafeBytes(of: mask.ifr_ifru.ifru_netmask) { $0[4..<8].reduce(0) { $0 + $1.nonzeroBitCount } }
            // `eth0:1` is a label of eth0.
            let label = withUnsafeBytes(of: request.ifr_ifrn) {
                String(decoding: $0.prefix(16).prefix { $0 != 0 }, as: UTF8.self)
            }
            return Entry(name: String(label.prefix { $0 != ":" }), prefix: AddressPrefix(address, length: bits))
        }
    }

    private static func readIPv6() -> [Entry] {
        guard let text = try? String(contentsOfFile: "/proc/self/net/if_inet6", encoding: .utf8) else { return [] }
        return entries(text)
    }

    /// Lines of `if_inet6`: address, index, prefix length, scope and flags in hexadecimal digits, name.
    static func entries(_ text: String) -> [Entry] {
        text.split(separator: "\n").prefix(limit).compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count == 6, fields[0].utf8.count == 32, let length = Int(fields[2], radix: 16), length <= 128 else {
                return nil
            }
            let groups = stride(from: 0, to: 32, by: 4).map { fields[0].dropFirst($0).prefix(4) }
            guard let address = InternetAddress(groups.joined(separator: ":")) else { return nil }
            return Entry(name: String(fields[5]), prefix: AddressPrefix(address, length: length))
        }
    }
}
