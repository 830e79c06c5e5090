import Glibc

/// The user and the inode of the socket at the other end of a connection over loopback, from the kernel (sock_diag(7)).
///
/// `/proc/net/tcp` holds the same data, but is read in pieces, and misses sockets that appear or close meanwhile.
struct SocketOwner: Equatable {
    let user: uid_t
    let inode: UInt64

    /// Asks the kernel for the socket of a client's connection to a port; `nil` if there is no such socket.
    static func find(connectionFrom client: UInt16, to port: UInt16) -> SocketOwner? {
        let netlink = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), diagnosis)
        guard netlink >= 0 else { return nil }
        defer { close(netlink) }
        // An unconnected netlink socket sends to the kernel.
        let question = question(client, port)
        guard send(netlink, question, question.count, 0) == question.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 8192)
        let count = recv(netlink, &answer, answer.count, 0)
        return count > 0 ? read(answer[..<count]) : nil
    }

    // NETLINK_SOCK_DIAG of linux/netlink.h, SOCK_DIAG_BY_FAMILY of linux/sock_diag.h.
    private static let diagnosis: Int32 = 4
    private static let byFamily: UInt16 = 20

    /// Returns the octets of `nlmsghdr` and `inet_diag_req_v2` (linux/inet_diag.h) for one TCP socket.
    static func question(_ client: UInt16, _ port: UInt16) -> [UInt8] {
        let loopback: [UInt8] = [127, 0, 0, 1] + [UInt8](repeating: 0, count: 12)
        let ports = [client, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        var octets = native(UInt32(72)) + native(byFamily) + native(UInt16(1)) + native(UInt32(1)) + native(UInt32(0))
        octets += [UInt8(AF_INET), UInt8(IPPROTO_TCP), 0, 0] + native(UInt32.max)
        // Any interface, and no cookie.
        return octets + ports + loopback + loopback + native(UInt32(0)) + native(UInt64.max)
    }

    /// Reads `nlmsghdr` and `inet_diag_msg`; `nil` for an error, and for a connection whose socket is already closed.
    static func read(_ answer: ArraySlice<UInt8>) -> SocketOwner? {
        let octets = Array(answer)
        guard octets.count >= 88, number(octets, at: 4, of: UInt16.self) == byFamily else { return nil }
        let inode = number(octets, at: 84, of: UInt32.self)
        return inode == 0 ? nil : SocketOwner(user: number(octets, at: 80, of: UInt32.self), inode: UInt64(inode))
    }

    private static func native(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number, Array.init) }

    private static func number<Number: FixedWidthInteger>(_ octets: [UInt8], at offset: Int, of type: Number.Type) -> Number {
        octets.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
