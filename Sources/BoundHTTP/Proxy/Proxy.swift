import EventLoop
import Glibc
import HotspotCore

/// A SOCKS5 proxy on loopback that connects and resolves names only over one link.
package struct Proxy: Sendable {
    /// Decides whether to serve a client's connection, by the client's port and the proxy's port.
    package typealias ClientCheck = @Sendable (_ client: UInt16, _ port: UInt16) -> Bool
    /// Decides whether clients may connect to a host.
    package typealias HostCheck = @Sendable (_ host: String) -> Bool

    package let port: UInt16
    private let listener: Int32
    private let link: Link
    private let policy: NetworkPolicy
    private let mayUse: ClientCheck
    private let mayReach: HostCheck
    /// The connections of clients; `nil` once the proxy was stopped.
    private let clients = Locked<Set<Int32>?>([])

    /// The largest number of connections at a time; Chromium opens 32 to a proxy, Firefox 32 by default.
    private static let limit = 128
    /// Seconds for the handshake.
    private static let patience = 10
    /// Milliseconds for resolving a name and connecting.
    private static let connectLimit = 30_000

    /// Takes a socket that listens on loopback, such as the socket from ``listen()``. The proxy serves no connection before
    /// ``start()``. Throws ``Errno``.
    package init(
        listener: Int32, link: Link, policy: NetworkPolicy = .strict, mayUse: @escaping ClientCheck = { _, _ in true },
        mayReach: @escaping HostCheck = { _ in true }
    ) throws(Errno) {
        port = try Self.port(of: listener)
        (self.listener, self.link, self.policy) = (listener, link, policy)
        (self.mayUse, self.mayReach) = (mayUse, mayReach)
    }

    /// Returns a socket that listens on a free port of loopback. Throws ``Errno``.
    package static func listen() throws(Errno) -> Int32 {
        let listener = socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening =
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
            } == 0 && Glibc.listen(listener, SOMAXCONN) == 0
        guard isListening else { throw Errno(code: errno) }
        return listener
    }

    /// Returns the port of a socket that listens. Throws ``Errno``.
    package static func port(of listener: Int32) throws(Errno) -> UInt16 {
        guard let (_, port) = ports(of: listener) else { throw Errno(code: errno) }
        return port
    }

    private static let stream = LinkSocket.stream | LinkSocket.closeOnExec

    /// Serves connections, each on its own thread, until ``stop()``; then closes the listening socket.
    package func start() {
        Worker.startAside {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else {
                    if errno == EINVAL {
                        close(listener)
                        return
                    }
                    // Tries again later: if no descriptor is free, a connection may end meanwhile.
                    if errno != EINTR { usleep(100_000) }
                    continue
                }
                let isServed = clients.with { clients in
                    guard let count = clients?.count, count < Self.limit else { return false }
                    return clients?.insert(client).inserted ?? false
                }
                guard isServed else {
                    close(client)
                    continue
                }
                Worker.start {
                    serve(client)
                    clients.with {
                        $0?.remove(client)
                        close(client)
                    }
                }
            }
        }
    }

    /// Ends all connections, and accepts no more.
    package func stop() {
        clients.with { clients in
            guard let open = clients else { return }
            shutdown(listener, Int32(SHUT_RDWR))
            for client in open { shutdown(client, Int32(SHUT_RDWR)) }
            clients = nil
        }
    }

    /// Serves one connection to its end. Checks the client before reading anything from it.
    private func serve(_ client: Int32) {
        guard let (peer, _) = Self.ports(of: client), mayUse(peer, port) else { return }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var handshake = SocksHandshake()
        while true {
            switch handshake.next() {
            case .wait:
                var octets = [UInt8](repeating: 0, count: SocksHandshake.limit)
                let count = recv(client, &octets, octets.count, 0)
                guard count > 0 else { return }
                handshake.add(octets[..<count])
            case .answer(let octets): guard Self.send(octets, to: client) else { return }
            case .refuse(let octets):
                _ = Self.send(octets, to: client)
                return
            case .connect(let host, let port): return connect(client, to: host, port)
            }
        }
    }

    private func connect(_ client: Int32, to host: String, _ port: Int) {
        guard mayReach(host) else {
            _ = Self.send(SocksHandshake.Outcome.refusedByRule.reply, to: client)
            return
        }
        do throws(TransferError) {
            let connection = try LinkTCPConnection(
                host, port: port, link: link, policy: policy, in: Scope(deadline: .after(milliseconds: Self.connectLimit)))
            // Forgets the name, because a gateway may give false answers for all names before the login and true ones after it.
            NamePins.shared.forget(host, link: link)
            guard Self.send(SocksHandshake.Outcome.connected.reply, to: client) else { return }
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            connection.withDescriptor { Relay.run(client, $0) }
        } catch {
            NamePins.shared.forget(host, link: link)
            _ = Self.send(SocksHandshake.Outcome(error.code).reply, to: client)
        }
    }

    private static func send(_ octets: [UInt8], to client: Int32) -> Bool {
        Glibc.send(client, octets, octets.count, LinkSocket.noSignal) == octets.count
    }

    /// Returns the ports of an IPv4 socket: the port of the other end (0 if the socket is not connected), and the socket's own
    /// port.
    private static func ports(of socket: Int32) -> (peer: UInt16, own: UInt16)? {
        func port(_ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> UInt16? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(socket, $0, &length) }
            }
            return code == 0 ? UInt16(bigEndian: address.sin_port) : nil
        }
        guard let own = port({ getsockname($0, $1, $2) }) else { return nil }
        return (port({ getpeername($0, $1, $2) }) ?? 0, own)
    }
}

extension SocksHandshake.Outcome {
    /// Makes the outcome for a connection that failed with this code.
    init(_ code: TransferErrorCode) {
        switch code {
        case .refusedAddress, .refusedURL, .refusedHere: self = .refusedByRule
        case .connectFailed, .reset: self = .connectionRefused
        case .noNameserver, .dnsFailed, .dnsTimeout, .timeout: self = .hostUnreachable
        case .cancelled, .bindFailed, .tlsFailed, .clockWrong, .keyChanged, .emptyAnswer, .shortAnswer, .badAnswer, .badHeader,
            .badEncoding, .tooLarge, .tooManyRedirects, .elsewhere, .asksAnew, .notTaken, .browserEnded, .system:
            self = .failed
        }
    }
}
