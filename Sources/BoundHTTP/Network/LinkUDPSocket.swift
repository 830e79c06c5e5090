import Glibc
import HotspotCore

/// A UDP socket that uses only the link of a command, like `createUDPSession` of NEHotspotHelper.
///
/// It exchanges datagrams with one address only (connect(2) on a datagram socket), blocks like ``LinkTCPConnection``, and is
/// closed with its owner.
public struct LinkUDPSocket: ~Copyable {
    /// The peer's address.
    public let address: InternetAddress
    private let socket: LinkSocket
    private let scope: Scope

    /// The longest datagram, in octets.
    public static let datagramLimit = 65_507

    /// Makes a socket for one peer and sends nothing yet. Throws ``TransferError``: `refusedURL` for a port that does not exist,
    /// `refusedAddress`, `bindFailed`; if the host is a name, also `noNameserver`, `dnsFailed` and `dnsTimeout`.
    public init(_ host: String, port: Int, link: Link, in scope: Scope = Scope()) throws(TransferError) {
        try self.init(host, port: port, link: link, policy: .strict, in: scope)
    }

    package init(_ host: String, port: Int, link: Link, policy: NetworkPolicy, in scope: Scope) throws(TransferError) {
        guard (1...65535).contains(port) else { throw TransferError(.refusedURL, "port \(port)") }
        guard let first = try LinkSocket.addresses(of: host, link: link, policy: policy, in: scope).first else {
            throw TransferError(.dnsFailed)
        }
        let target = SocketAddress(first, port: port)
        let made = try LinkSocket(link, family: target.family, type: LinkSocket.datagram)
        let descriptor = made.descriptor
        guard target.withPointer({ connect(descriptor, $0, $1) }) == 0 else { throw LinkSocket.error(errno) }
        address = first
        socket = made
        self.scope = scope
    }

    /// Sends one datagram. Throws ``TransferError``: `tooLarge`, `connectFailed` if an earlier datagram was refused, `timeout`,
    /// `cancelled`.
    public func send(_ octets: [UInt8]) throws(TransferError) {
        _ = try socket.send(octets[...], in: scope)
    }

    /// Waits for one datagram. Throws ``TransferError``: `connectFailed` if no program listens at the peer's port, `timeout`,
    /// `cancelled`.
    ///
    /// - Parameter milliseconds: the longest wait, within the scope's time.
    public func receive(waiting milliseconds: Int = Scope.commandLimit) throws(TransferError) -> [UInt8] {
        try socket.receive(upTo: Self.datagramLimit, in: scope.limited(milliseconds: milliseconds))
    }
}
