import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Shows notifications of this session about logins: a user's service beside the daemon, which no session bus lets in. It is the daemon's
/// own program, because that is mapped already: `hotspotd --notify`.
package enum NotifyProgram {
    /// The argument that asks for it.
    package static let option = "--notify"

    private static let defaultSocket = "/run/hotspotd/org.hotspotd.Control"
    /// How long to wait for a daemon that is not there, in seconds.
    private static let pause: UInt32 = 5

    /// Returns when the bus is gone.
    package static func run() {
        signal(SIGPIPE, SIG_IGN)
        // Terminals and browsers are on their own.
        signal(SIGCHLD, SIG_IGN)
        let path = getenv("HOTSPOTD_SOCKET").map { String(cString: $0) } ?? defaultSocket
        guard let bus = NotificationBus() else {
            print("There is no session bus.")
            exit(1)
        }
        var agent = Agent(bus)
        while agent.isConnected {
            try? agent.follow(path)
            sleep(pause)
        }
    }
}

/// Follows the status, and does what ``Notices`` decides.
struct Agent: ~Copyable {
    private let bus: NotificationBus
    private var notices = Notices()
    /// The notifications of the interfaces, by the server's numbers.
    private var shown: [String: (number: UInt32, notice: Notice)] = [:]

    init(_ bus: consuming NotificationBus) { self.bus = bus }

    var isConnected: Bool { bus.isOpen }

    /// Returns when the daemon or the bus is gone.
    mutating func follow(_ path: String) throws(VarlinkError) {
        let daemon = try BlockingConnection(path: path)
        try daemon.send(Call(method: "\(ControlContract.name).Status", more: true))
        while bus.isOpen {
            let wait = notices.next.map { min(max($0 - WallClock.now, 0), 60_000) } ?? -1
            var ends = [
                pollfd(fd: daemon.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            poll(&ends, 2, Int32(wait))
            var orders = notices.orders(at: WallClock.now)
            if ends[0].revents != 0 {
                for status in try Self.replies(of: daemon) { orders += notices.orders(for: status, at: WallClock.now) }
            }
            for order in orders { act(on: order) }
            for event in bus.events() { handle(event) }
        }
    }

    /// Returns the replies that have come, those that are buffered already as well.
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
        case .close(let interface):
            if let old = shown.removeValue(forKey: interface) { bus.close(old.number) }
        }
    }

    private mutating func handle(_ event: NotificationBus.Event) {
        switch event {
        case .closed(let number): shown = shown.filter { $0.value.number != number }
        case .invoked(let number, let key):
            guard let (interface, entry) = shown.first(where: { $0.value.number == number }),
                let action = Action(rawValue: key) ?? entry.notice.actions.first
            else { return }
            Self.start(action.words(interface))
        }
    }

    /// Starts a program of the user's session; the first words that name one that is there.
    private static func start(_ all: [[String]]) {
        for words in all {
            var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
            defer { for word in argv { free(word) } }
            var child = pid_t()
            if posix_spawnp(&child, words[0], nil, nil, &argv, environ) == 0 { return }
        }
    }
}

extension Action {
    /// The command lines that do it, the best first.
    fileprivate func words(_ interface: String) -> [[String]] {
        switch self {
        case .answer:
            [["xdg-terminal-exec"], ["x-terminal-emulator", "-e"]].map { $0 + ["hotspotctl", "answer", interface] }
        case .browse: [["hotspotctl", "browse", interface]]
        }
    }
}
