import EventLoop
import Glibc
import HotspotCore

/// Ends the connections that control groups leave behind.
///
/// A connection whose peer takes nothing stays in the kernel for many minutes after its process, with all that was to be sent. Who
/// closes in an orderly way is given a moment for it first. This needs CAP_NET_ADMIN, Linux 5.9 and CONFIG_INET_DIAG_DESTROY; without
/// one of them nothing happens.
@LoopActor final class LeftSockets {
    /// Sends a request on a socket of its own, and hands over the datagrams of the answer until told not to, or there is no more.
    typealias Exchange = (_ request: [UInt8], _ isEnough: (ArraySlice<UInt8>) -> Bool) -> Void

    /// From the end of a group: time for the last words to arrive.
    static let grace = Duration.seconds(2)
    /// What one turn of the loop may spend on it, whichever comes first.
    static let sockets = 64, share = Duration.milliseconds(3)
    /// How many datagrams of a list are read in one turn.
    static let datagrams = 64
    /// Groups that wait; what is more than these is left to the kernel.
    static let limit = 1024

    private let exchange: Exchange
    private let grace: Duration
    private var waiting: [(group: UInt64, due: Instant)] = []
    private var timer: EventSource?
    private var isUnable = false

    init(grace: Duration = LeftSockets.grace, exchange: @escaping Exchange = LeftSockets.askKernel) {
        self.grace = grace
        self.exchange = exchange
    }

    /// How many groups wait.
    var count: Int { waiting.count }

    /// A group with this number is gone, and had buffers of sockets.
    func end(ofGroup number: UInt64) {
        guard !isUnable, waiting.count < Self.limit else { return }
        waiting.append((number, EventLoop.now + grace))
        schedule()
    }

    private func schedule() {
        guard timer == nil, let first = waiting.first else { return }
        timer = try? EventLoop.shared.schedule(at: first.due, accuracy: .milliseconds(50)) { [weak self] in self?.turn() }
        // Answers and deadlines go first.
        timer?.setPriority(10)
    }

    private func turn() {
        timer = nil
        let (group, _) = waiting.removeFirst()
        if endSome(ofGroup: group) { waiting.insert((group, EventLoop.now + .milliseconds(5)), at: 0) }
        if isUnable { waiting = [] }
        schedule()
    }

    /// Ends as many as fit into a turn. Returns whether there may be more; never without having ended one.
    private func endSome(ofGroup group: UInt64) -> Bool {
        let end = EventLoop.now + Self.share
        var ended = 0
        for family in [AF_INET, AF_INET6] {
            let (found, isWhole) = list(family, ofGroup: group)
            for socket in found {
                guard destroy(socket) else { return ended > 0 && !isUnable }
                ended += 1
                if ended >= Self.sockets || EventLoop.now >= end { return true }
            }
            if !isWhole { return ended > 0 }
        }
        return false
    }

    private func list(_ family: Int32, ofGroup group: UInt64) -> (found: [SocketMessages.Found], isWhole: Bool) {
        var found: [SocketMessages.Found] = []
        var datagrams = 0
        var end: Int32?
        exchange(SocketMessages.list(family, ofGroup: group)) { datagram in
            let answer = SocketMessages.read(datagram, ofGroup: group)
            found += answer.found
            datagrams += 1
            end = answer.end
            return end != nil || found.count >= Self.sockets || datagrams >= Self.datagrams
        }
        // An older kernel knows no groups here, or nothing of this at all.
        if end == EINVAL || end == ENOENT { isUnable = true }
        return (found, end != nil)
    }

    /// Ends one. Linux before 6.11, but for later stable releases, empties a connection that belongs to no process any more and keeps
    /// it, then for ever: found by asking again, which is not done a second time.
    private func destroy(_ socket: SocketMessages.Found) -> Bool {
        let request = SocketMessages.destroy(socket)
        switch acknowledgement(of: request) {
        case ENOENT: return true
        case 0:
            isUnable = acknowledgement(of: request) == 0
            return !isUnable
        case EPERM, EOPNOTSUPP:
            isUnable = true
            return false
        default: return false
        }
    }

    private func acknowledgement(of request: [UInt8]) -> Int32? {
        var code: Int32?
        exchange(request) { datagram in
            code = SocketMessages.read(datagram, ofGroup: 0).end
            return true
        }
        return code
    }

    /// The kernel answers a request before send(2) returns, and goes on with a list at each recv(2): nothing waits.
    private nonisolated static func askKernel(_ request: [UInt8], _ isEnough: (ArraySlice<UInt8>) -> Bool) {
        // AF_NETLINK and NETLINK_SOCK_DIAG (linux/netlink.h).
        let descriptor = socket(16, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 4)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard send(descriptor, request, request.count, 0) == request.count else { return }
        var octets = [UInt8](repeating: 0, count: 32 << 10)
        while true {
            let count = recv(descriptor, &octets, octets.count, 0)
            if count <= 0 || isEnough(octets[..<count]) { return }
        }
    }
}
