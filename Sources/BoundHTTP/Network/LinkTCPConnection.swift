import Glibc
import HotspotCore

/// A TCP connection that uses only the link of a command, like `createTCPConnection` of NEHotspotHelper.
///
/// Every call blocks until it is done, the scope's deadline is reached, or the command is cancelled. The link's own nameservers
/// resolve host names, and ``AddressPolicy`` checks the addresses. The connection is closed with its owner.
public struct LinkTCPConnection: ~Copyable {
    /// The address at the other end.
    public let address: InternetAddress
    private let socket: LinkSocket
    private let scope: Scope
    /// Milliseconds for an address before the next one is tried: the kernel has then sent its request three times.
    private static let patience = 4000

    /// Connects. Throws ``TransferError``: `refusedURL` for a port that does not exist, `refusedAddress`, `bindFailed`,
    /// `connectFailed`, `timeout`, `cancelled`; if the host is a name, also `noNameserver`, `dnsFailed` and `dnsTimeout`.
    ///
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: 1 to 65535.
    public init(_ host: String, port: Int, link: Link, in scope: Scope = Scope()) throws(TransferError) {
        try self.init(host, port: port, link: link, policy: .strict, in: scope)
    }

    package init(_ host: String, port: Int, link: Link, policy: NetworkPolicy, in scope: Scope) throws(TransferError) {
        guard (1...65535).contains(port) else { throw TransferError(.refusedURL, "port \(port)") }
        let addresses = try LinkSocket.addresses(of: host, link: link, policy: policy, in: scope)
        var failure = TransferError(.connectFailed)
        for address in addresses {
            let target = SocketAddress(address, port: port)
            let socket = try LinkSocket(link, family: target.family, type: LinkSocket.stream)
            let limited = address == addresses.last ? scope : scope.limited(milliseconds: Self.patience)
            do throws(TransferError) {
                try Self.connect(socket, target, limited)
            } catch {
                if error.code == .cancelled || scope.deadline.isPast { throw error }
                failure = error
                continue
            }
            self.address = address
            self.socket = socket
            self.scope = scope
            return
        }
        throw failure
    }

    private static func connect(_ socket: borrowing LinkSocket, _ target: SocketAddress, _ scope: Scope) throws(TransferError) {
        let descriptor = socket.descriptor
        if target.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return }
        guard LinkSocket.shouldWait else { throw LinkSocket.error(errno) }
        try socket.wait(for: POLLOUT, in: scope)
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        if code != 0 { throw LinkSocket.error(code) }
    }

    /// Sends all octets. Throws ``TransferError``: `reset`, `timeout`, `cancelled`.
    public func send(_ octets: [UInt8]) throws(TransferError) {
        var rest = octets[...]
        while !rest.isEmpty { rest = rest.dropFirst(try socket.send(rest, in: scope)) }
    }

    /// Waits for octets and returns the octets that have come, at most `limit`; empty when the other end sends no more. Throws
    /// ``TransferError``: `reset`, `timeout`, `cancelled`.
    public func receive(upTo limit: Int = 65536) throws(TransferError) -> [UInt8] {
        try socket.receive(upTo: max(1, min(limit, 1 << 20)), in: scope)
    }

    /// Lends the socket, which does not block, to a function that relays octets.
    package func withDescriptor(_ body: (Int32) -> Void) { body(socket.descriptor) }

    /// Ends the sending direction; the other end can still answer.
    public func finishSending() { shutdown(socket.descriptor, Int32(SHUT_WR)) }
}
