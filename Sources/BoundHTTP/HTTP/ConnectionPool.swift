import CCurl
import Glibc
import HotspotCore

/// The connections of one attempt, which its clients share: connections that a server left open, and connections that were opened
/// before a request needs them. A client checks the server's key on a kept connection as it does on a new one.
package final class ConnectionPool: Sendable {
    private struct PoolState {
        /// The sets that no transfer uses now, each with the origins that it served.
        var idle: [(set: ConnectionSet, origins: Set<String>)] = []
        /// The connections that ``connectAhead(to:link:policy:)`` opens, by host and port.
        var ready: [String: SharedWork<ReadyConnection?>] = [:]
    }

    private let state = Locked(PoolState())

    package init() {}

    /// Lends a set for one transfer, preferably one that may have a connection to this origin.
    func withSet<T>(for origin: String, _ body: (ConnectionSet) -> T) -> T {
        var (set, origins) = state.with { state in
            let index = state.idle.lastIndex { $0.origins.contains(origin) } ?? state.idle.indices.last
            return index.map { state.idle.remove(at: $0) } ?? (ConnectionSet(), [])
        }
        origins.insert(origin)
        defer { state.with { $0.idle.append((set, origins)) } }
        return body(set)
    }

    /// Starts to connect to the server of a URL. Nothing is sent; a TLS handshake begins with the first request.
    package func connectAhead(to url: WebURL, link: Link, policy: NetworkPolicy) {
        guard (try? RedirectPolicy(policy).check(url)) != nil else { return }
        state.with { state in
            guard state.ready[Self.key(url)] == nil else { return }
            state.ready[Self.key(url)] = SharedWork(deadline: .after(milliseconds: HTTPClient.connectLimit)) { scope in
                guard let connection = try? LinkTCPConnection(url.host, port: url.port, link: link, policy: policy, in: scope)
                else { return nil }
                return ReadyConnection(connection)
            }
        }
    }

    /// Hands over the connection that ``connectAhead(to:link:policy:)`` opened to a URL's server; waits while it is still being
    /// opened.
    func takeReady(for url: WebURL, in scope: Scope) -> ReadyConnection? {
        state.with { $0.ready.removeValue(forKey: Self.key(url)) }?.wait(in: scope) ?? nil
    }

    /// Closes the connections that were opened ahead of a request but not used.
    package func closeReady() { state.with { $0.ready = [:] } }

    private static func key(_ url: WebURL) -> String { "\(url.host):\(url.port)" }
}

/// The connections that libcurl keeps from one transfer to the next, and the TLS sessions that libcurl can resume.
///
/// - Note: `@unchecked Sendable` is sound because ``ConnectionPool`` lends a set to one transfer at a time, and
///   `curl_multi_wakeup` may be called from any thread.
final class ConnectionSet: @unchecked Sendable {
    let multi = curl_multi_init()
    let share = curl_share_init()

    /// The sockets of the last connections. A socket may have been closed, and its number reused: ``sockets(port:)`` compares the
    /// port.
    private var sockets: [Int32] = []
    /// The largest number of entries in ``sockets``.
    private static let limit = 16

    init() { _ = ccurl_share_tls_sessions(share) }

    func note(_ socket: Int32) { sockets = sockets.suffix(Self.limit - 1) + [socket] }

    /// Returns whether the connection with this local port has received anything before its next request is sent: octets or,
    /// usually, the end of the stream.
    func hasInput(port: Int) -> Bool {
        sockets(port: port).contains { socket in
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) != 0
        }
    }

    /// Returns the kernel's estimate of the round trip to the server of the connection with this local port, in milliseconds
    /// (`tcpi_rtt`, tcp(7)). `nil` if the kernel has no estimate.
    func roundTrip(port: Int) -> Int? {
        for socket in sockets(port: port) {
            var info = tcp_info()
            var length = socklen_t(MemoryLayout<tcp_info>.size)
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, info.tcpi_rtt > 0 else { continue }
            return Int(info.tcpi_rtt) / 1000
        }
        return nil
    }

    private func sockets(port: Int) -> [Int32] {
        sockets.filter { socket in
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutableBytes(of: &address) { octets in
                let pointer = octets.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                // The socket addresses of IPv4 and IPv6 have the port at the same place, in network order.
                return getsockname(socket, pointer, &length) == 0 && Int(octets[2]) << 8 | Int(octets[3]) == port
            }
        }
    }

    deinit {
        // Frees the connections first, because closing them uses the data that they share.
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
    }
}

/// A TCP connection for the first request to its server. It is closed with this object, unless a transfer has taken it.
final class ReadyConnection: Sendable {
    private let address: InternetAddress
    private let descriptor: Locked<Int32>
    private let made = Instant.now

    /// Milliseconds after which an unused connection is no longer trusted: a gateway may have forgotten the connection without
    /// closing it.
    private static let lifetime = 10_000

    init?(_ connection: borrowing LinkTCPConnection) {
        var own: Int32 = -1
        // Duplicates the descriptor, because `connection` closes its own descriptor at the end of its scope.
        connection.withDescriptor { own = fcntl($0, F_DUPFD_CLOEXEC, 0) }
        guard own >= 0 else { return nil }
        (address, descriptor) = (connection.address, Locked(own))
    }

    deinit {
        let left = descriptor.with { $0 }
        if left >= 0 { close(left) }
    }

    /// Hands over the descriptor. Returns `nil` if the connection is not to `address`, is too old, or has received anything, even
    /// the end of the stream: then the caller makes another connection.
    func take(for address: InternetAddress) -> Int32? {
        guard address == self.address, made.millisecondsAgo < Self.lifetime else { return nil }
        return descriptor.with { descriptor in
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard descriptor >= 0, poll(&entry, 1, 0) == 0 else { return nil }
            defer { descriptor = -1 }
            return descriptor
        }
    }
}
