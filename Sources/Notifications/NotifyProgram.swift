import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Shows notifications about logins in this session: a service of the user, because no session bus admits the daemon. It is the
/// program of the daemon (`hotspotd --notify`), whose code is already in memory.
package enum NotifyProgram {
    /// The argument that starts this program.
    package static let option = "--notify"

    private static let defaultSocket = "/run/hotspotd/org.hotspotd.Control"
    /// The wait before the next attempt to reach a daemon that is not there, in seconds.
    private static let pause: UInt32 = 5

    /// Runs until the bus is gone.
    package static func run() {
        signal(SIGPIPE, SIG_IGN)
        // A parent may have set this signal to be ignored, but this process waits for the programs that clicks start.
        signal(SIGCHLD, SIG_DFL)
        let path = getenv("HOTSPOTD_SOCKET").map { String(cString: $0) } ?? defaultSocket
        guard let bus = NotificationBus() else {
            print("There is no session bus.")
            exit(1)
        }
        var agent = Agent(bus, path)
        while agent.isConnected {
            try? agent.follow()
            agent.pause(pause)
        }
    }
}

/// Follows the status, and does what ``Notices`` decides.
struct Agent: ~Copyable {
    /// The longest time that the daemon may take to name the fields of a question, in seconds.
    private static let patience = 2

    private let bus: NotificationBus
    private let path: String
    private var notices: Notices
    /// The notifications of the interfaces, by the server's numbers.
    private var shown: [String: (number: UInt32, notice: Notice)] = [:]
    /// The programs that clicks started, by interface.
    private var programs: [String: Companion] = [:]

    init(_ bus: consuming NotificationBus, _ path: String) {
        self.bus = bus
        self.path = path
        notices = Notices { Self.prompt($0, at: path) }
    }

    var isConnected: Bool { bus.isOpen }

    /// Follows the status until the daemon or the bus is gone.
    mutating func follow() throws(VarlinkError) {
        let daemon = try BlockingConnection(path: path)
        try daemon.send(Call(method: "\(ControlContract.name).Status", more: true))
        while bus.isOpen {
            let wait = notices.next.map { min(max($0 - WallClock.now, 0), 60_000) } ?? -1
            var ends = ([daemon.descriptor, bus.descriptor] + programs.values.map(\.process)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&ends, nfds_t(ends.count), Int32(wait))
            var orders = notices.orders(at: WallClock.now)
            if ends[0].revents != 0 {
                for status in try Self.replies(of: daemon) { orders += notices.orders(for: status, at: WallClock.now) }
            }
            for order in orders + finished() { act(on: order) }
            for event in bus.events() { handle(event) }
        }
    }

    /// Waits before the next attempt to reach the daemon.
    mutating func pause(_ seconds: UInt32) {
        sleep(seconds)
        // The next status of the daemon shows what these programs did.
        _ = finished()
    }

    /// Returns the prompt of this identifier; `nil` if this user may not see it.
    private static func prompt(_ id: String, at path: String) -> PendingPrompt? {
        guard let daemon = try? BlockingConnection(path: path) else { return nil }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(daemon.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let reply = try? daemon.call("\(ControlContract.name).Prompts", ["id": .string(id)]) else { return nil }
        return (try? Coding.decode(PromptsReply.self, from: reply))?.prompts.first { $0.id == id }
    }

    /// Returns the replies that have come, including those that are already buffered.
    private static func replies(of daemon: BlockingConnection) throws(VarlinkError) -> [StatusReply] {
        var limit = timeval(tv_sec: 0, tv_usec: 1000)
        setsockopt(daemon.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var replies: [StatusReply] = []
        while true {
            do throws(VarlinkError) {
                replies.append(try Coding.decode(StatusReply.self, from: try daemon.receive(Answer.self).get()))
            } catch {
                guard case .system(_, EAGAIN) = error else { throw error }
                return replies
            }
        }
    }

    private mutating func act(on order: Notices.Order) {
        switch order {
        case .show(let notice, let interface):
            let number = bus.show(notice, replacing: shown[interface]?.number ?? 0)
            shown[interface] = number == 0 ? nil : (number, notice)
        case .close(let interface): close(interface)
        }
    }

    private mutating func close(_ interface: String) {
        if let old = shown.removeValue(forKey: interface) { bus.close(old.number) }
    }

    private mutating func handle(_ event: NotificationBus.Event) {
        switch event {
        case .closed(let number): shown = shown.filter { $0.value.number != number }
        case .invoked(let number, let key):
            guard let (interface, entry) = shown.first(where: { $0.value.number == number }),
                let action = Action(rawValue: key) ?? entry.notice.actions.first, programs[interface] == nil,
                let program = Companion(action.words(interface))
            else { return }
            programs[interface] = program
            notices.opened(on: interface)
            close(interface)
        }
    }

    /// Collects the programs that have ended, and returns the orders that follow.
    private mutating func finished() -> [Notices.Order] {
        var orders: [Notices.Order] = []
        for (interface, program) in programs {
            guard let end = program.ended() else { continue }
            programs[interface] = nil
            orders += notices.closed(
                on: interface, hasAnswered: end.status == 0, problem: end.problem, at: WallClock.now)
        }
        return orders
    }
}

extension Action {
    /// The command that the button runs.
    fileprivate func words(_ interface: String) -> [String] {
        switch self {
        case .answer: ["hotspotctl", "answer", "--dialog", interface]
        case .browse: ["hotspotctl", "browse", interface]
        case .retry: ["hotspotctl", "login", interface]
        }
    }
}
