import CCurl
import Glibc
import HotspotCore

/// A socket that is bound to a link and never blocks longer than its scope allows; closed with its owner.
package struct LinkSocket: ~Copyable {
    let descriptor: Int32

    // These constants need the import of CCurl: CCurl and Glibc both declare them, and the compiler attributes them to the module
    // that it loads first.
    package static let stream = Int32(SOCK_STREAM.rawValue)
    static let datagram = Int32(SOCK_DGRAM.rawValue)
    package static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
    static let noSignal = Int32(MSG_NOSIGNAL)

    /// The number of requests and DNS queries of this process that have sent their first packet.
    package static let begun = Locked(0)

    /// Makes a socket that is bound to the link's device before anything else. Throws ``TransferError``: `system`, `bindFailed`.
    init(_ link: Link, family: Int32, type: Int32) throws(TransferError) {
        let descriptor = socket(family, type | Self.closeOnExec | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw TransferError(.system, String(cString: strerror(errno))) }
        let code = Self.bind(descriptor, to: link.interface)
        guard code == 0 else {
            close(descriptor)
            throw TransferError(.bindFailed, "\(link.interface): \(String(cString: strerror(code)))")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Binds a socket to an interface, so that no packet leaves by another link (SO_BINDTODEVICE, socket(7)). Returns 0 or the
    /// error number; do not use a socket that could not be bound. Since Linux 5.7, binding a socket for the first time needs no
    /// privilege.
    static func bind(_ socket: Int32, to interface: String) -> Int32 {
        let name = Array(interface.utf8)
        guard !name.isEmpty, name.count < Int(IFNAMSIZ), !name.contains(0) else { return ENODEV }
        guard setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count)) == 0 else { return errno }
        return 0
    }

    /// Waits for the socket to become readable or writable. Throws ``TransferError``: `cancelled`, `timeout`.
    func wait(for events: Int32, in scope: Scope) throws(TransferError) {
        while true {
            if scope.cancellation.isCancelled { throw TransferError(.cancelled) }
            if scope.deadline.isPast { throw TransferError(.timeout) }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // Looks for a cancellation every 20 ms, because the daemon sends SIGTERM 20 ms after cancelling.
            if poll(&entry, 1, Int32(min(20, scope.deadline.millisecondsLeft))) > 0 { return }
        }
    }

    /// Sends octets and returns how many the kernel took. Throws ``TransferError``: `cancelled`, `timeout`, and the errors of
    /// ``error(_:)``.
    func send(_ octets: ArraySlice<UInt8>, in scope: Scope) throws(TransferError) -> Int {
        while true {
            let count = octets.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count >= 0 { return count }
            guard Self.shouldWait else { throw Self.error(errno) }
            try wait(for: POLLOUT, in: scope)
        }
    }

    /// Waits for octets and returns at most `limit`. Throws ``TransferError``: `cancelled`, `timeout`, and the errors of
    /// ``error(_:)``.
    func receive(upTo limit: Int, in scope: Scope) throws(TransferError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &octets, octets.count, 0)
            if count >= 0 { return Array(octets[..<count]) }
            guard Self.shouldWait else { throw Self.error(errno) }
            try wait(for: POLLIN, in: scope)
        }
    }

    /// Whether to wait and then repeat the call that just failed.
    static var shouldWait: Bool { errno == EAGAIN || errno == EINTR || errno == EINPROGRESS }

    /// Returns the transfer error for an error number of the system.
    static func error(_ code: Int32) -> TransferError {
        let text = String(cString: strerror(code))
        return switch code {
        case ECONNRESET, EPIPE: TransferError(.reset, text)
        case ETIMEDOUT: TransferError(.timeout, text)
        case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: TransferError(.connectFailed, text)
        case EPERM: TransferError(.refusedHere, text)
        case EMSGSIZE: TransferError(.tooLarge, text)
        default: TransferError(.system, text)
        }
    }

    /// Returns a host's addresses that the policy allows. If the host is a name, the link's own nameservers resolve it. Throws
    /// ``TransferError``: `refusedAddress` if the policy refuses all addresses, and the failures of ``Resolver``.
    static func addresses(
        of host: String, link: Link, policy: NetworkPolicy, in scope: Scope
    ) throws(TransferError) -> [InternetAddress] {
        let addresses: [InternetAddress]
        if let address = InternetAddress(host) {
            addresses = [address]
        } else {
            addresses = try NamePins.shared.addresses(of: host, link: link, in: scope)
        }
        let rule = policy.addressPolicy(of: link)
        let allowed = addresses.filter { rule.refusal(of: $0) == nil }
        guard !allowed.isEmpty else {
            throw TransferError(.refusedAddress, addresses.first.flatMap { rule.refusal(of: $0) } ?? host)
        }
        return allowed
    }
}

/// An address and a port in the kernel's form.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private let length: socklen_t
    let family: Int32

    init(_ address: InternetAddress, port: Int) {
        family = address.isIPv4 ? AF_INET : AF_INET6
        let (size, offset) =
            address.isIPv4
            ? (MemoryLayout<sockaddr_in>.size, MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 4)
            : (MemoryLayout<sockaddr_in6>.size, MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8)
        length = socklen_t(size)
        let head = [sa_family_t(family), UInt16(truncatingIfNeeded: port).bigEndian]
        withUnsafeMutableBytes(of: &storage) { octets in
            // Both structures begin with the family and the port.
            head.withUnsafeBytes { octets.copyMemory(from: $0) }
            octets[offset...].copyBytes(from: address.octets)
        }
    }

    func withPointer<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
