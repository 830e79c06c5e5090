import Glibc
import HotspotCore

/// A socket that is tied to a link and never blocks longer than its scope allows; closed with its owner.
struct LinkSocket: ~Copyable {
    let descriptor: Int32

    /// A socket bound to the link's device before anything else, or nothing. Throws ``TransferError``: `system`, `bindFailed`.
    init(_ link: Link, family: Int32, type: Int32) throws(TransferError) {
        let descriptor = socket(family, type | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw TransferError(.system, String(cString: strerror(errno))) }
        let code = BoundSocket.bind(descriptor, to: link.interface)
        guard code == 0 else {
            close(descriptor)
            throw TransferError(.bindFailed, "\(link.interface): \(String(cString: strerror(code)))")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits until the socket can be read or written. Throws ``TransferError``: `cancelled`, `timeout`.
    func wait(for events: Int32, in scope: Scope) throws(TransferError) {
        while true {
            if scope.cancellation.isCancelled { throw TransferError(.cancelled) }
            if scope.deadline.isPast { throw TransferError(.timeout) }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // A cancellation is looked for every 20 ms: the daemon's own patience with a cancelled command.
            if poll(&entry, 1, Int32(min(20, scope.deadline.millisecondsLeft))) > 0 { return }
        }
    }

    /// Whether the call that just failed is worth another try after waiting.
    static var shouldWait: Bool { errno == EAGAIN || errno == EINTR || errno == EINPROGRESS }

    /// What the last error number means for a transfer.
    static func error(_ code: Int32) -> TransferError {
        let text = String(cString: strerror(code))
        return switch code {
        case ECONNRESET, EPIPE: TransferError(.reset, text)
        case ETIMEDOUT: TransferError(.timeout, text)
        case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: TransferError(.connectFailed, text)
        case EMSGSIZE: TransferError(.tooLarge, text)
        default: TransferError(.system, text)
        }
    }

    /// The addresses of a host, as far as they may be asked: a numeric address, or a name asked of the link's own nameservers.
    static func addresses(
        of host: String, link: Link, policy: NetworkPolicy, in scope: Scope
    ) throws(TransferError) -> [InternetAddress] {
        let found: [InternetAddress]
        if let address = InternetAddress(host) {
            found = [address]
        } else {
            found = try NamePins.shared.addresses(of: host, link: link, in: scope)
        }
        let rule = policy.addressPolicy(of: link)
        let allowed = found.filter { rule.refusal(of: $0) == nil }
        guard !allowed.isEmpty else { throw TransferError(.refusedAddress, found.first.flatMap { rule.refusal(of: $0) } ?? host) }
        return allowed
    }
}
