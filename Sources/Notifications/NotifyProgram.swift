import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Shows notifications about logins in the user's session. This is a service of the user, because no session bus admits the daemon. The service
/// runs the daemon's program (`hotspotd --notify`), whose code is already in memory.
package enum NotifyProgram {
    /// The argument that starts this program.
    package static let option = "--notify"

    private static let defaultSocket = "/run/hotspotd/org.hotspotd.Control"
    /// Runs until the bus is gone.
    package static func run() {
        signal(SIGPIPE, SIG_IGN)
        // Restores the default, because this process waits for the programs that clicks start. A parent may have set the signal to be ignored.
        signal(SIGCHLD, SIG_DFL)
        let path = getenv("HOTSPOTD_SOCKET").map { String(cString: $0) } ?? defaultSocket
        guard let bus = NotificationBus() else {
            print("There is no session bus.")
            exit(1)
        }
        var agent = Agent(bus, path)
        while agent.isConnected { agent.turn() }
    }
}

/// Follows the status of the daemon and of the companion service, and does what ``Notices`` and ``NearbyNotices`` decide.
struct Agent: ~Copyable {
    /// Set by a user who wants to answer questions of paired laptops: the companion service then always looks for laptops with questions.
    private static let wish = "HOTSPOTD_NOTIFY_QUESTIONS"
    /// The longest time that the daemon may take to name the fields of a question, in seconds.
    private static let patience = 2
    /// The wait before the next attempt to reach a daemon that does not run.
    private static let pause = Duration.seconds(5)
    /// The wait from a change in the service's folder to the attempt to reach the service, so that the service listens by then.
    private static let delay = Duration.seconds(1)

    private let bus: NotificationBus
    private let path: String
    private let nearbyPath: String
    private let awaitsQuestions: Bool
    private var notices: Notices
    private var nearbyNotices = NearbyNotices()
    /// The connection with the daemon; `nil` while there is none.
    private var daemon: BlockingConnection?
    /// The time of the next attempt to reach the daemon.
    private var daemonRetry = EventLoop.now
    /// The connection with the companion service; `nil` while there is none.
    private var nearby: NearbyService?
    /// The time of the next attempt to reach the companion service; `nil` until its folder or the daemon's status changes.
    private var nearbyRetry: Instant? = EventLoop.now
    private var watch: SocketWatch
    /// The shown notifications, each with the number that the server gave it.
    private var shown: [Subject: (number: UInt32, notice: Notice)] = [:]
    /// The programs that clicks started.
    private var programs: [Subject: Companion] = [:]

    init(_ bus: consuming NotificationBus, _ path: String) {
        self.bus = bus
        self.path = path
        nearbyPath = getenv("HOTSPOTD_COMPANION_SOCKET").map { String(cString: $0) } ?? CompanionContract.socket
        awaitsQuestions = getenv(Self.wish).map { String(cString: $0) } == "yes"
        watch = SocketWatch(nearbyPath)
        notices = Notices { Self.prompt($0, at: path) }
    }

    var isConnected: Bool { bus.isOpen }

    /// Waits until something happens, and acts on it.
    mutating func turn() {
        connect()
        // poll(2) ignores a descriptor below 0.
        let fixed = [
            daemon?.descriptor ?? -1, bus.descriptor, nearby?.descriptor ?? -1, nearby == nil ? watch.descriptor : -1,
        ]
        var ends = (fixed + programs.values.map(\.process)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&ends, nfds_t(ends.count), timeout)
        // Without the daemon, the states of the interfaces are unknown, so their orders are dropped. The daemon's next status shows what has changed.
        var orders = daemon == nil ? [] : notices.orders(at: WallClock.now)
        if ends[0].revents != 0 { orders += daemonOrders() }
        if ends[2].revents != 0 { readNearby() }
        if ends[3].revents != 0 {
            watch.drain()
            nearbyRetry = nearbyRetry ?? EventLoop.now + Self.delay
        }
        let after = finished()
        if daemon != nil { orders += after }
        for order in orders + nearbyNotices.orders(at: EventLoop.now) { act(on: order) }
        for event in bus.events() { handle(event) }
    }

    /// The longest wait, in milliseconds; -1 for no limit.
    private var timeout: Int32 {
        let now = EventLoop.now
        let times = [daemon == nil ? daemonRetry : nil, nearby == nil ? nearbyRetry : nil, nearbyNotices.next]
        // Rounded up, so that the awaited time has come when poll(2) returns.
        var waits = times.compactMap { $0.map { ($0 - now).milliseconds + 1 } }
        if daemon != nil, let end = notices.next { waits.append(end - WallClock.now) }
        return waits.min().map { Int32(min(max($0, 0), 60_000)) } ?? -1
    }

    /// Connects to the daemon and to the companion service, each if the time of its next attempt has come.
    private mutating func connect() {
        let now = EventLoop.now
        if daemon == nil, daemonRetry <= now {
            daemonRetry = now + Self.pause
            if let new = try? BlockingConnection(path: path),
                (try? new.send(Call(method: "\(ControlContract.name).Status", more: true))) != nil
            {
                daemon = new
            }
        }
        if nearby == nil, let time = nearbyRetry, time <= now {
            nearbyRetry = nil
            // Watches before the attempt, so that a socket that appears after the attempt is noticed.
            watch.arm()
            nearby = NearbyService(path: nearbyPath, awaitsQuestions: awaitsQuestions)
        }
    }

    private mutating func daemonOrders() -> [Notices.Order] {
        guard let daemon else { return [] }
        // Tries the companion service again: after a change of the daemon's status, it may let this user in.
        nearbyRetry = nearbyRetry ?? EventLoop.now
        do throws(VarlinkError) {
            var orders: [Notices.Order] = []
            for message in try daemon.available() {
                let status = try Coding.decode(StatusReply.self, from: try Coding.decode(Answer.self, from: message).get())
                orders += notices.orders(for: status, at: WallClock.now)
            }
            return orders
        } catch {
            self.daemon = nil
            daemonRetry = EventLoop.now + Self.pause
            return []
        }
    }

    private mutating func readNearby() {
        guard let nearby else { return }
        do throws(VarlinkError) {
            if let status = try nearby.status() { nearbyNotices.update(status) }
        } catch {
            self.nearby = nil
            nearbyNotices.update(nil)
        }
    }

    /// Returns the prompt with this identifier; `nil` if the daemon does not return it.
    private static func prompt(_ id: String, at path: String) -> PendingPrompt? {
        guard let daemon = try? BlockingConnection(path: path) else { return nil }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(daemon.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let reply = try? daemon.call("\(ControlContract.name).Prompts", ["id": .string(id)]) else { return nil }
        return (try? Coding.decode(PromptsReply.self, from: reply))?.prompts.first { $0.id == id }
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

    /// Collects the programs that have ended, and returns the resulting orders about interfaces.
    private mutating func finished() -> [Notices.Order] {
        var orders: [Notices.Order] = []
        for (subject, program) in programs {
            guard let end = program.ended() else { continue }
            programs[subject] = nil
            switch subject {
            case .interface(let name):
                orders += notices.closed(on: name, hasAnswered: end.status == 0, problem: end.problem, at: WallClock.now)
            case .offer, .question:
                nearbyNotices.closed(
                    for: subject, hasAnswered: end.status == 0, problem: end.problem, at: EventLoop.now)
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
            // Other laptops chose these identifiers, and `CompanionStatus.checked` has checked them: a peer's ID has only hexadecimal digits.
            case (.offer(let id), _): ["companion", "accept", "--dialog", "--offer=\(id)"]
            case (.question(let id, let peer), _): ["companion", "answer", "--dialog", "--question=\(id)", peer]
            }
        return ["hotspotctl"] + arguments
    }
}
