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
    /// A connection that does not end is tried again, as long as another one with the same four numbers may stand in its place
    /// (TIME_WAIT, 60 s).
    static let tries = 24, pause = Duration.seconds(5)
    /// A kernel that refused so many, and has not ended one yet, cannot. A single refusal may mean the connection: it is in TIME_WAIT now.
    static let refusals = 16

    private struct Waiting {
        let group: UInt64
        var due: Instant
        var tries = 0
    }

    private enum Pass {
        /// There may be more, and some were ended.
        case more
        /// There are some that could not be ended.
        case left
        case done
    }

    private let exchange: Exchange
    private let grace: Duration, pause: Duration
    private var waiting: [Waiting] = []
    private var timer: EventSource?
    private var isUnable = false
    private var refused = 0
    /// The kernel has ended one: it can.
    private var isAble = false

    init(
        grace: Duration = LeftSockets.grace, pause: Duration = LeftSockets.pause,
        exchange: @escaping Exchange = LeftSockets.askKernel
    ) {
        self.grace = grace
        self.pause = pause
        self.exchange = exchange
    }

    /// How many groups wait.
    var count: Int { waiting.count }

    /// A group with this number is gone, and had buffers of sockets.
    func end(ofGroup number: UInt64) {
        guard !isUnable, waiting.count < Self.limit else { return }
        insert(Waiting(group: number, due: EventLoop.now + grace))
        schedule()
    }

    /// Whether connections of a group that waits are there still, for which it is worth to wait until it is due.
    var hasFresh: Bool {
        waiting.contains { waiting in
            waiting.tries == 0 && [AF_INET, AF_INET6].contains { !list($0, ofGroup: waiting.group).found.isEmpty }
        }
    }

    /// In the order in which they are due.
    private func insert(_ new: Waiting) {
        waiting.insert(new, at: waiting.firstIndex { $0.due > new.due } ?? waiting.endIndex)
    }

    /// For the one that is due next, which may be another one than before.
    private func schedule() {
        guard let first = waiting.first else { return timer = nil }
        timer = try? EventLoop.shared.schedule(at: first.due, accuracy: .milliseconds(50)) { [weak self] in self?.turn() }
        // Answers and deadlines go first.
        timer?.setPriority(10)
    }

    private func turn() {
        timer = nil
        var next = waiting.removeFirst()
        switch endSome(ofGroup: next.group) {
        case .more:
            next.due = EventLoop.now + .milliseconds(5)
            insert(next)
        case .left where next.tries < Self.tries:
            next.tries += 1
            next.due = EventLoop.now + pause
            insert(next)
        case .left, .done: break
        }
        if isUnable { waiting = [] }
        schedule()
    }

    /// Ends as many as fit into a turn.
    private func endSome(ofGroup group: UInt64) -> Pass {
        let end = EventLoop.now + Self.share
        var ended = 0, left = 0
        var isCut = false
        for family in [AF_INET, AF_INET6] where !isCut {
            let (found, isWhole) = list(family, ofGroup: group)
            isCut = !isWhole
            for socket in found {
                if destroy(socket) { ended += 1 } else { left += 1 }
                if isUnable { return .done }
                guard ended + left < Self.sockets, EventLoop.now < end else {
                    isCut = true
                    break
                }
            }
        }
        if isCut, ended > 0 { return .more }
        return left > 0 ? .left : .done
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

    /// Ends one; `false` if it is still there. Linux before 6.11, but for later stable releases, empties a connection that belongs to
    /// no process any more and keeps it, then for ever: found by asking again, which is not done a second time.
    ///
    /// The kernel looks for it by its four numbers. Where another one with these is found first (they may differ by device), that one is
    /// none of ours, and this one is not told of: ENOENT does not mean that it is gone.
    private func destroy(_ socket: SocketMessages.Found) -> Bool {
        let request = SocketMessages.destroy(socket)
        switch acknowledgement(of: request) {
        case 0:
            isUnable = acknowledgement(of: request) == 0
            isAble = !isUnable
            return isAble
        case EPERM: isUnable = true
        // A kernel that cannot, or what took its place can not be ended.
        case EOPNOTSUPP:
            refused += 1
            isUnable = !isAble && refused >= Self.refusals
        default: break
        }
        return false
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
