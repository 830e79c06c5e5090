import CNetlink
import Glibc

/// A netlink socket. libnl handles sockets, ports and generic families; this type reads the octets.
///
/// The socket is closed in `deinit` and nowhere else.
public final class NetlinkSocket: NetlinkTransport {
    /// The size of the buffer, larger than any datagram of the kernel: dumps come in pieces of at most 32 KiB (net/netlink/af_netlink.c).
    private static let bufferSize = 65_536
    /// Large enough for a burst of events. The kernel uses this memory only while messages wait.
    private static let receiveBuffer: Int32 = 512 * 1024

    private let socket: OpaquePointer
    private let socketDescriptor: Int32

    /// Opens a socket of a protocol, such as `NETLINK_ROUTE`.
    public init(protocol number: Int32) throws(NetlinkError) {
        guard let socket = nl_socket_alloc() else { throw NetlinkError(operation: "nl_socket_alloc", code: ENOMEM) }
        errno = 0
        guard nl_connect(socket, number) == 0 else {
            let code = errno
            nl_socket_free(socket)
            throw NetlinkError(operation: "opening a netlink socket", code: code == 0 ? EPROTO : code)
        }
        self.socket = socket
        socketDescriptor = nl_socket_get_fd(socket)
        // A failure is ignored: with a smaller buffer, the tables are read again more often.
        _ = nl_socket_set_buffer_size(socket, Self.receiveBuffer, 0)
    }

    deinit { nl_socket_free(socket) }

    public var descriptor: Int32? { socketDescriptor }

    /// The port that libnl chose.
    public var port: UInt32 { nl_socket_get_local_port(socket) }

    /// Subscribes to the events of a group.
    public func join(_ group: Int32) throws(NetlinkError) {
        errno = 0
        guard nl_socket_add_membership(socket, group) == 0 else {
            throw NetlinkError(operation: "joining a netlink group", code: errno == 0 ? EINVAL : errno)
        }
    }

    /// Returns the number of a generic family; `nil` if the kernel has no family with this name. Waits for the kernel's answer, so this method needs
    /// a socket that has joined no group.
    public func family(_ name: String) throws(NetlinkError) -> UInt16? {
        try Self.number { genl_ctrl_resolve(socket, name) }.flatMap { UInt16(exactly: $0) }
    }

    /// Returns the number of a group of a generic family; `nil` if there is no such group. Waits as ``family(_:)`` does.
    public func group(_ name: String, of family: String) throws(NetlinkError) -> Int32? {
        try Self.number { genl_ctrl_resolve_grp(socket, family, name) }
    }

    private static func number(_ ask: () -> Int32) throws(NetlinkError) -> Int32? {
        errno = 0
        let number = ask()
        guard number < 0 else { return number }
        // libnl also reports "not found" if it could not ask the kernel; `errno` then names the reason.
        let lacks = [ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN]
        guard number != -NLE_OBJ_NOTFOUND || lacks.contains(errno) else { return nil }
        throw NetlinkError(operation: "asking for a netlink family", code: errno == 0 ? EIO : errno)
    }

    /// Sends one message to the kernel, which handles the message before this method returns.
    public func send(_ octets: [UInt8]) throws(NetlinkError) {
        var octets = octets
        errno = 0
        guard nl_sendto(socket, &octets, octets.count) >= 0 else {
            throw NetlinkError(operation: "sending to the kernel", code: errno == 0 ? EIO : errno)
        }
    }

    /// Receives one datagram without waiting, and drops it unless the kernel sent it.
    public func receive() -> NetlinkReceived { receive(flags: Int32(MSG_DONTWAIT)) }

    private func receive(flags: Int32) -> NetlinkReceived {
        withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
            var sender = sockaddr_nl()
            var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
            let count = withUnsafeMutablePointer(to: &sender) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    // With MSG_TRUNC, the result is the real length of the datagram.
                    recvfrom(
                        socketDescriptor, buffer.baseAddress, buffer.count, flags | Int32(MSG_TRUNC), $0, &length)
                }
            }
            if count < 0 {
                switch errno {
                case EAGAIN, EINTR: return .nothing
                case ENOBUFS: return .overrun
                default: return .failed(errno)
                }
            }
            guard count > 0 else { return .failed(EPIPE) }
            guard length >= socklen_t(MemoryLayout<sockaddr_nl>.size), sender.nl_family == sa_family_t(AF_NETLINK),
                sender.nl_pid == 0
            else { return .foreign }
            guard count <= buffer.count else { return .overrun }
            return .datagram([UInt8](buffer[..<count]))
        }
    }

    /// Sends one request and returns its answers without the acknowledgement. Waits at most a second for each datagram.
    ///
    /// The kernel answers while it handles the message, so there is no wait in practice. This method needs a socket that has joined no group.
    public func ask(type: UInt16, flags: UInt16 = 0, payload: [UInt8]) throws(NetlinkError) -> [NetlinkMessage] {
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(socketDescriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let sequence = nl_socket_use_seq(socket)
        let request = NetlinkMessage(
            type: type, flags: flags | UInt16(NLM_F_REQUEST | NLM_F_ACK), sequence: sequence, port: port, payload: payload[...])
        try send(request.octets)
        var answers: [NetlinkMessage] = []
        // The loop is bounded, so that other processes cannot keep the caller here by sending messages of their own.
        for _ in 0..<1024 {
            switch receive(flags: 0) {
            case .datagram(let octets):
                for message in NetlinkMessages(datagram: octets) where message.sequence == sequence && message.port == port {
                    if let code = message.errorCode {
                        if code != 0 { throw NetlinkError(operation: "asking the kernel", code: code) }
                        return answers
                    }
                    answers.append(message)
                }
            case .foreign: continue
            case .overrun: throw NetlinkError(operation: "asking the kernel", code: ENOBUFS)
            case .nothing: throw NetlinkError(operation: "asking the kernel", code: ETIMEDOUT)
            case .failed(let code): throw NetlinkError(operation: "asking the kernel", code: code)
            }
        }
        throw NetlinkError(operation: "asking the kernel", code: ETIMEDOUT)
    }
}
