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

/// Follows the status of the daemon and of the companion service, and does what ``Notices`` and ``NearbyNotices`` decide.
struct Agent: ~Copyable {
    /// Set by a user who wants to be asked the questions of paired laptops: the service then looks for such laptops all the time.
    private static let wish = "HOTSPOTD_NOTIFY_QUESTIONS"
    /// The longest time that the daemon may take to name the fields of a question, in seconds.
    private static let patience = 2

    private let bus: NotificationBus
    private let path: String
    private let nearbyPath: String
    private let awaitsQuestions: Bool
    private var notices: Notices
    private var nearbyNotices = NearbyNotices()
    /// The connection with the companion service; `nil` while it is off.
    private var nearby: BlockingConnection?
    /// The notifications, by the server's numbers.
    private var shown: [Subject: (number: UInt32, notice: Notice)] = [:]
    /// The programs that clicks started.
    private var programs: [Subject: Companion] = [:]

    init(_ bus: consuming NotificationBus, _ path: String) {
        self.bus = bus
        self.path = path
        nearbyPath = getenv("HOTSPOTD_COMPANION_SOCKET").map { String(cString: $0) } ?? CompanionContract.socket
        awaitsQuestions = getenv(Self.wish).map { String(cString: $0) } == "yes"
        notices = Notices { Self.prompt($0, at: path) }
    }

    var isConnected: Bool { bus.isOpen }

    /// Follows the status until the daemon or the bus is gone.
    mutating func follow() throws(VarlinkError) {
        let daemon = try BlockingConnection(path: path)
        try daemon.send(Call(method: "\(ControlContract.name).Status", more: true))
        followNearby()
        while bus.isOpen {
            let wait = notices.next.map { min(max($0 - WallClock.now, 0), 60_000) } ?? -1
            // poll(2) ignores a descriptor below 0.
            var ends = ([daemon.descriptor, bus.descriptor, nearby?.descriptor ?? -1] + programs.values.map(\.process)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&ends, nfds_t(ends.count), Int32(wait))
            var orders = notices.orders(at: WallClock.now)
            if ends[0].revents != 0 {
                for status in try Self.replies(of: daemon, as: StatusReply.self) {
                    orders += notices.orders(for: status, at: WallClock.now)
                }
                // The service may have been switched on since.
                followNearby()
            }
            if ends[2].revents != 0 { orders += nearbyOrders() }
            for order in orders + finished() { act(on: order) }
            for event in bus.events() { handle(event) }
        }
    }

    /// Connects to the companion service, if it runs.
    private mutating func followNearby() {
        guard nearby == nil, let service = try? BlockingConnection(path: nearbyPath) else { return }
        let wishes = CompanionStatusParameters(awaitsQuestions: awaitsQuestions ? true : nil)
        let call = Call(method: "\(CompanionContract.name).Status", parameters: Coding.value(wishes), more: true)
        if (try? service.send(call)) != nil { nearby = service }
    }

    private mutating func nearbyOrders() -> [Notices.Order] {
        guard let nearby else { return [] }
        do throws(VarlinkError) {
            return try Self.replies(of: nearby, as: CompanionStatus.self).flatMap { nearbyNotices.orders(for: $0) }
        } catch {
            self.nearby = nil
            return nearbyNotices.orders(for: nil)
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
    private static func replies<T: Decodable>(of daemon: BlockingConnection, as type: T.Type) throws(VarlinkError) -> [T] {
        var limit = timeval(tv_sec: 0, tv_usec: 1000)
        setsockopt(daemon.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var replies: [T] = []
        while true {
            do throws(VarlinkError) {
                replies.append(try Coding.decode(type, from: try daemon.receive(Answer.self).get()))
            } catch {
                guard case .system(_, EAGAIN) = error else { throw error }
                return replies
            }
        }
    }

    private mutating func act(on order: Notices.Order) {
        switch order {
        case .show(let notice, let subject):
            let number = bus.show(notice, replacing: shown[subject]?.number ?? 0)
            shown[subject] = number == 0 ? nil : (number, notice)
        case .close(let subject): close(subject)
        }
    }

    private mutating func close(_ subject: Subject) {
        if let old = shown.removeValue(forKey: subject) { bus.close(old.number) }
    }

    private mutating func handle(_ event: NotificationBus.Event) {
        switch event {
        case .closed(let number): shown = shown.filter { $0.value.number != number }
        case .invoked(let number, let key):
            guard let (subject, entry) = shown.first(where: { $0.value.number == number }),
                let action = Action(rawValue: key) ?? entry.notice.actions.first(where: \.isDefault), programs[subject] == nil,
                let program = Companion(action.words(subject))
            else { return }
            programs[subject] = program
            switch subject {
            case .interface(let name): notices.opened(on: name)
            case .offer, .question: nearbyNotices.opened(for: subject)
            }
            close(subject)
        }
    }

    /// Collects the programs that have ended, and returns the orders that follow.
    private mutating func finished() -> [Notices.Order] {
        var orders: [Notices.Order] = []
        for (subject, program) in programs {
            guard let end = program.ended() else { continue }
            programs[subject] = nil
            switch subject {
            case .interface(let name):
                orders += notices.closed(on: name, hasAnswered: end.status == 0, problem: end.problem, at: WallClock.now)
            case .offer, .question:
                orders += nearbyNotices.closed(for: subject, hasAnswered: end.status == 0, problem: end.problem)
            }
        }
        return orders
    }
}

extension Action {
    /// The command that the button runs.
    func words(_ subject: Subject) -> [String] {
        let arguments =
            switch (subject, self) {
            case (.interface(let name), .browse): ["browse", name]
            case (.interface(let name), .retry): ["login", name]
            case (.interface(let name), .answer), (.interface(let name), .accept): ["answer", "--dialog", name]
            // The yes is for this offer alone.
            case (.offer(let id), _): ["companion", "accept", "--dialog", "--yes", "--offer", id]
            case (.question(let id, let peer), _): ["companion", "answer", "--dialog", "--question", id, peer]
            }
        return ["hotspotctl"] + arguments
    }
}
