import Glibc

/// An address and a port as the kernel takes them.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private let length: socklen_t
    let family: Int32

    init(_ address: InternetAddress, port: Int) {
        if address.isIPv4 {
            var plain = sockaddr_in()
            plain.sin_family = sa_family_t(AF_INET)
            plain.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
            withUnsafeMutableBytes(of: &plain.sin_addr) { $0.copyBytes(from: address.octets) }
            family = AF_INET
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: plain) { target.copyMemory(from: $0) } }
        } else {
            var plain = sockaddr_in6()
            plain.sin6_family = sa_family_t(AF_INET6)
            plain.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
            withUnsafeMutableBytes(of: &plain.sin6_addr) { $0.copyBytes(from: address.octets) }
            family = AF_INET6
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            withUnsafeMutableBytes(of: &storage) { target in withUnsafeBytes(of: plain) { target.copyMemory(from: $0) } }
        }
    }

    func withPointer<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
