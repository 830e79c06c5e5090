import Glibc

/// The addresses of this machine.
enum Interfaces {
    struct Entry: Hashable, Sendable {
        var name: String
        var prefix: AddressPrefix
    }

    /// Asks the kernel (getifaddrs(3)). Nothing where a sandbox forbids it: the fixed classes and the binding to the device still
    /// hold then.
    static func read() -> [Entry] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var entries: [Entry] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let socketAddress = entry.ifa_addr, let address = InternetAddress(socketAddress, length: 128) else { continue }
            var length = address.octets.count * 8
            if let maskAddress = entry.ifa_netmask, let mask = InternetAddress(maskAddress, length: 128) {
                length = mask.octets.reduce(0) { $0 + $1.nonzeroBitCount }
            }
            entries.append(Entry(name: String(cString: entry.ifa_name), prefix: AddressPrefix(address, length: length)))
        }
        return entries
    }
}
