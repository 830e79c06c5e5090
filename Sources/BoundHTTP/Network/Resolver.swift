import CCares
import Glibc
import HotspotCore

/// Asks the link's own nameservers, over sockets that are bound to the link.
///
/// Asks for A and AAAA records together, or only for the family that the link has. After an IPv4 answer, waits only 50 ms more for IPv6 (RFC 8305, section 3), so that a
/// server that ignores AAAA queries costs little time.
struct Resolver {
    let link: Link

    /// Milliseconds until a query is repeated.
    private static let timeout = 800
    private static let tries = 4
    /// Milliseconds to wait for an IPv6 answer after the IPv4 answer.
    private static let grace = 50

    /// Returns the addresses of a name, IPv4 first. Throws ``TransferError``: `noNameserver`, `dnsFailed`, `dnsTimeout`,
    /// `bindFailed`, `refusedHere`, `cancelled`.
    func addresses(of name: String, in scope: Scope) throws(TransferError) -> [InternetAddress] {
        let servers = link.nameservers.compactMap(Self.server)
        guard !servers.isEmpty else { throw TransferError(.noNameserver) }
        _ = Self.library
        let inquiry = Inquiry(interface: link.interface)
        let retained = Unmanaged.passRetained(inquiry)
        let pointer = retained.toOpaque()
        // Runs after ares_destroy(), which still calls back for every open query.
        defer { retained.release() }
        var options = ares_options()
        options.flags = Int32(ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES)
        options.timeout = Int32(Self.timeout)
        options.tries = Int32(Self.tries)
        options.sock_state_cb = { data, socket, readable, writable in
            guard let data else { return }
            let events = (readable != 0 ? POLLIN : 0) | (writable != 0 ? POLLOUT : 0)
            Unmanaged<Inquiry>.fromOpaque(data).takeUnretainedValue().sockets[socket] = events == 0 ? nil : Int16(events)
        }
        options.sock_state_cb_data = pointer
        var channel: ares_channel?
        // "b": nameservers only. A local hosts file says nothing about this link.
        let code = "b".withCString { lookups in
            options.lookups = UnsafeMutablePointer(mutating: lookups)
            return ares_init_options(
                &channel, &options,
                ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB)
        }
        guard code == cares_success, let channel else { throw TransferError(.system, Self.text(code)) }
        defer { ares_destroy(channel) }
        ares_set_socket_configure_callback(
            channel,
            { socket, _, data in
                guard let data else { return -1 }
                let inquiry = Unmanaged<Inquiry>.fromOpaque(data).takeUnretainedValue()
                inquiry.bindError = LinkSocket.bind(socket, to: inquiry.interface)
                return inquiry.bindError == 0 ? 0 : -1
            }, pointer)
        guard ares_set_servers_ports_csv(channel, servers.joined(separator: ",")) == cares_success else {
            throw TransferError(.noNameserver, "none of the announced addresses can be read")
        }
        for family in families { ask(channel, name, family, pointer) }
        LinkSocket.begun.with { $0 += 1 }
        try run(channel, inquiry, expected: families.count, scope)
        if inquiry.couldNotSend { try trySending(in: scope) }
        return try inquiry.result()
    }

    /// The address families with which the link can reach other networks. A network with IPv6 alone has names for IPv4 servers too (DNS64), but a
    /// connection to an IPv4 address would only wait.
    private var families: [Int32] {
        let addresses = link.addresses.compactMap(AddressPrefix.init).map(\.address)
        let hasIPv6 = addresses.contains { !$0.isIPv4 && AddressPolicy.forbiddenClass(of: $0) == nil }
        let hasIPv4 = addresses.contains { $0.isIPv4 && AddressPolicy.forbiddenClass(of: $0) != "link-local" }
        return hasIPv6 ? (hasIPv4 ? [AF_INET, AF_INET6] : [AF_INET6]) : [AF_INET]
    }

    /// Sends an empty datagram to the first nameserver, because c-ares does not say why it could not send. Throws `refusedHere`
    /// if the kernel refuses to send, for example because of a VPN's kill switch.
    private func trySending(in scope: Scope) throws(TransferError) {
        guard let server = link.nameservers.first.flatMap(InternetAddress.init) else { return }
        let target = SocketAddress(server, port: 53)
        let socket = try LinkSocket(link, family: target.family, type: LinkSocket.datagram)
        let descriptor = socket.descriptor
        guard target.withPointer({ connect(descriptor, $0, $1) }) == 0 else { return }
        do throws(TransferError) { _ = try socket.send([], in: scope) } catch  where error.code == .refusedHere {
            throw error
        } catch {}
    }

    /// Returns an address, with or without a port, in the form that c-ares reads. Leaves out the scope of an IPv6 address,
    /// because the socket is bound to the device.
    private static func server(_ text: String) -> String? {
        guard text.utf8.count < 64 else { return nil }
        if let address = InternetAddress(text) { return address.description }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), port > 0, port < 65536
        else {
            return nil
        }
        guard let address = InternetAddress(String(text[..<colon])) else { return nil }
        return address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    private func ask(_ channel: ares_channel, _ name: String, _ family: Int32, _ pointer: UnsafeMutableRawPointer) {
        var hints = ares_addrinfo_hints()
        hints.ai_family = family
        // Sorting would open sockets that are not bound to the link.
        hints.ai_flags = Int32(ARES_AI_NOSORT)
        ares_getaddrinfo(
            channel, name, nil, &hints,
            { data, status, _, answer in
                defer { ares_freeaddrinfo(answer) }
                guard let data else { return }
                Unmanaged<Inquiry>.fromOpaque(data).takeUnretainedValue().answered(status, answer)
            }, pointer)
    }

    private func run(_ channel: ares_channel, _ inquiry: Inquiry, expected: Int, _ scope: Scope) throws(TransferError) {
        var ipv6Until: Instant?
        while inquiry.answers < expected {
            if inquiry.addresses.contains(where: \.isIPv4) {
                if ipv6Until == nil { ipv6Until = .after(milliseconds: Self.grace) }
                if ipv6Until?.isPast == true { return }
            }
            if scope.cancellation.isCancelled { throw TransferError(.cancelled) }
            if scope.deadline.isPast { throw TransferError(.dnsTimeout) }
            var polls = inquiry.sockets.map { pollfd(fd: $0.key, events: $0.value, revents: 0) }
            var longest = timeval(tv_sec: 0, tv_usec: 20_000)
            var next = timeval()
            let wait =
                ares_timeout(channel, &longest, &next).map { Int($0.pointee.tv_sec) * 1000 + Int($0.pointee.tv_usec) / 1000 }
                ?? 20
            poll(&polls, nfds_t(polls.count), Int32(min(wait, 20) + 1))
            var isQuiet = true
            for entry in polls where entry.revents != 0 {
                isQuiet = false
                let reads = Int32(entry.revents) & (POLLIN | POLLERR | POLLHUP) != 0
                let writes = Int32(entry.revents) & POLLOUT != 0
                ares_process_fd(channel, reads ? entry.fd : ARES_SOCKET_BAD, writes ? entry.fd : ARES_SOCKET_BAD)
            }
            if isQuiet { ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD) }
        }
    }

    fileprivate static func text(_ code: Int32) -> String { ares_strerror(code).map { String(cString: $0) } ?? "code \(code)" }

    private static let library: Int32 = ares_library_init(ARES_LIB_INIT_ALL)

    /// Initialises the library before the first query.
    static func warmUp() { _ = library }

    /// The answers so far. Used on one thread only: c-ares calls back from within its own functions.
    private final class Inquiry {
        let interface: String
        var bindError: Int32 = 0
        var answers = 0
        var addresses: [InternetAddress] = []
        /// The events that c-ares waits for at its sockets, as in poll(2).
        var sockets: [ares_socket_t: Int16] = [:]
        private var failure: Int32 = 0

        init(interface: String) { self.interface = interface }

        /// Whether no server accepted the query.
        var couldNotSend: Bool { addresses.isEmpty && failure == cares_refused }

        func answered(_ status: Int32, _ answer: UnsafeMutablePointer<ares_addrinfo>?) {
            answers += 1
            if status != cares_success {
                // The destruction of the channel is not an answer. Keeps the first of two failures: usually the failure of the
                // IPv4 query, which says more.
                if failure == 0, status != cares_destroyed { failure = status }
                return
            }
            var node = answer?.pointee.nodes
            while let current = node?.pointee, addresses.count < 8 {
                if let socketAddress = current.ai_addr,
                    let address = InternetAddress(socketAddress, length: Int(current.ai_addrlen)), !addresses.contains(address)
                {
                    addresses.append(address)
                }
                node = current.ai_next
            }
        }

        func result() throws(TransferError) -> [InternetAddress] {
            if !addresses.isEmpty { return addresses.filter(\.isIPv4) + addresses.filter { !$0.isIPv4 } }
            if bindError != 0 { throw TransferError(.bindFailed, String(cString: strerror(bindError))) }
            switch failure {
            case cares_timeout, cares_refused: throw TransferError(.dnsTimeout, Resolver.text(failure))
            default: throw TransferError(.dnsFailed, Resolver.text(failure))
            }
        }
    }
}
