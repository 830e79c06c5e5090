import ControlAPI
import ForeignText
import Glibc
import HotspotCore

/// Follows one login through the stream of states until its outcome is clear. Create the watch before the login starts, or before the user is
/// asked, so that it misses no state.
final class OutcomeWatch {
    private let client: ControlClient
    private var tracker: OutcomeTracker
    private var decided: OutcomeTracker.LoginOutcome?
    private var began = ContinuousClock.now
    /// The interfaces, from the last reply.
    private(set) var interfaces: [InterfaceStatus]

    /// - Parameters: - target: the interface; `nil` for the first one whose state changes. - prompt: the prompt that is about to be answered.
    init(path: String, target: String?, prompt: String?) throws(Failure) {
        client = try ControlClient(path: path)
        try client.subscribe("Status")
        guard let reply = try client.next(within: ControlClient.patience) else {
            throw Failure(.timeout, "The daemon does not answer.", hint: Failure.log(of: path))
        }
        interfaces = try ControlClient.read(StatusReply.self, reply).interfaces
        tracker = OutcomeTracker(interfaces, target: target, prompt: prompt)
        if tracker.isPromptGone { decided = tracker.observe(interfaces) }
    }

    /// Seconds since the watch began.
    var elapsed: Double { (ContinuousClock.now - began).inSeconds }

    /// Restarts ``elapsed``: the login begins now, on `interface` unless that is `nil`. With `joining`, the login is already running.
    func loginBegins(on interface: String?, joining: Bool = false) {
        began = .now
        tracker.setTarget(interface, joining: joining)
        // The running login may already have asked its question.
        if joining { decided = tracker.observe(interfaces) }
    }

    /// Seconds within which a lost link may come back: some access points drop a client after its login and let it in again.
    private static let returnTime = 10.0

    /// Seconds without output after which hotspotctl prints what it waits for. Later, people begin to press keys.
    private static let silentTime = 1.5

    /// Waits for the outcome, at most `seconds`. If the link is lost, waits up to ``returnTime`` for it to return.
    ///
    /// - Parameters: - isShown: whether to print what the login waits for, and for how long at most. - isSaid: whether hotspotctl has already printed
    ///   that it waits.
    func outcome(
        within seconds: Double, isShown: Bool = false, isSaid: Bool = false
    ) throws(Failure) -> OutcomeTracker.LoginOutcome {
        let end = ContinuousClock.now + .seconds(seconds)
        var returnEnd: ContinuousClock.Instant?
        var wordAt = isShown && seconds > Self.silentTime ? ContinuousClock.now + .seconds(Self.silentTime) : nil
        var (isSaid, said) = (isSaid, Awaited?.none)
        while true {
            if let decided { return decided }
            if let left = tracker.left, returnEnd == nil, seconds > 0 {
                returnEnd = min(end, .now + .seconds(Self.returnTime))
                Output.error(["\(Renderer.safe(left.interface, limit: 32)) left its network; waiting for it to come back."])
            } else if tracker.left == nil {
                returnEnd = nil
            }
            guard let reply = try client.next(within: ((wordAt ?? returnEnd ?? end) - ContinuousClock.now).inSeconds) else {
                guard wordAt == nil else {
                    wordAt = nil
                    if tracker.left == nil, let status = interfaces.first(where: { $0.interface == tracker.target }) {
                        let words = status.waiting(now: Int(time(nil)) * 1000)
                        if words != nil || !isSaid { Output.error([words ?? "Waiting for the outcome."]) }
                        (isSaid, said) = (true, status.awaited)
                    }
                    continue
                }
                return tracker.left.map { .failed($0) } ?? .timeout
            }
            try observe(reply)
            let awaited = interfaces.first { $0.interface == tracker.target }?.awaited
            if isShown, seconds > 0, wordAt == nil, awaited != nil, awaited != said {
                wordAt = min(end, .now + .seconds(Self.silentTime))
            }
        }
    }

    /// Whether the interface has left its network and not come back, according to the states so far.
    var hasLeft: Bool { tracker.left != nil }

    /// Whether the prompt has ended, according to the states so far.
    var isPromptGone: Bool { tracker.isPromptGone }

    /// Returns why the prompt can no longer be answered; `nil` while it waits.
    func endOfPrompt() -> Failure? {
        do throws(Failure) {
            while !isPromptGone, let reply = try client.next(within: 0) { try observe(reply) }
            return isPromptGone ? Failure(.notFound, "The portal no longer asks this question.", hint: "hotspotctl status") : nil
        } catch {
            return error
        }
    }

    private func observe(_ reply: JSONValue) throws(Failure) {
        interfaces = try ControlClient.read(StatusReply.self, reply).interfaces
        decided = tracker.observe(interfaces)
    }
}

/// Decides the outcome of a login from the states of the interfaces.
struct OutcomeTracker {
    enum LoginOutcome: Equatable {
        case online(InterfaceStatus)
        case asks(prompt: String)
        case failed(InterfaceStatus)
        case timeout
    }

    private let before: [String: InterfaceStatus]
    private(set) var target: String?
    /// A prompt that does not count as an outcome of this login: the prompt that is being answered, or one from before the login.
    private var answered: String?
    private var hasMoved = false
    private(set) var isPromptGone = false
    /// The status after the interface left its network; `nil` once the interface is in a network again.
    private(set) var left: InterfaceStatus?

    init(_ interfaces: [InterfaceStatus], target: String?, prompt: String?) {
        before = Dictionary(interfaces.map { ($0.interface, $0) }, uniquingKeysWith: { first, _ in first })
        self.target = target ?? (interfaces.count == 1 ? interfaces[0].interface : nil)
        answered = prompt
        // The prompt may have ended since it was read. Then the current state already counts as an outcome.
        if let prompt, let status = self.target.flatMap({ before[$0] }), status.prompt != prompt {
            (isPromptGone, hasMoved) = (true, true)
        }
    }

    /// Follows this interface from now on; `nil` keeps the current target. For a new login, a question that was asked before it is not an outcome.
    mutating func setTarget(_ interface: String?, joining: Bool = false) {
        target = interface ?? target
        if joining { return }
        answered = answered ?? target.flatMap { before[$0]?.prompt }
    }

    /// Reads the next states; returns `nil` while the outcome is open.
    mutating func observe(_ interfaces: [InterfaceStatus]) -> LoginOutcome? {
        if target == nil {
            target =
                interfaces.first { $0.state != before[$0.interface]?.state || $0.since != before[$0.interface]?.since }?.interface
        }
        guard let target else { return nil }
        guard let status = interfaces.first(where: { $0.interface == target }) else {
            guard var last = before[target] else { return nil }
            last.state = StateName.inactive.rawValue
            last.problems = [Problem(.interfaceGone, "The interface \(Printable.text(target)) is gone.")]
            isPromptGone = true
            return .failed(last)
        }
        if status.prompt != answered { isPromptGone = true }
        // A stream may begin with the old state, which is not an outcome of this login.
        hasMoved = hasMoved || status.state != before[target]?.state || status.since != before[target]?.since
        if let network = before[target]?.ssid {
            if status.ssid == nil, status.problems.isEmpty {
                left = status
                return nil
            }
            // If the interface comes back in another network, the login has failed.
            if let left, status.ssid != network { return .failed(left) }
            left = nil
        }
        switch StateName(rawValue: status.state) {
        case .authenticated: return hasMoved ? .online(status) : nil
        case .failure, .inactive: return hasMoved ? .failed(status) : nil
        case .presentingUI:
            guard let prompt = status.prompt, prompt != answered || isPromptGone else { return nil }
            return .asks(prompt: prompt)
        case .evaluating, .authenticating, .maintaining, .loggingOff, nil: return nil
        }
    }
}

extension InterfaceStatus {
    fileprivate var awaited: Awaited? { awaits.flatMap(Awaited.init) }

    /// Returns a sentence with the event that a login waits for and the longest wait; `nil` if the daemon does not report such an event.
    ///
    /// - Parameter now: milliseconds of Unix time.
    func waiting(now: Int) -> String? {
        func seconds(to moment: Int) -> Int { max(1, moment.subtractingReportingOverflow(now).partialValue / 1000) }
        if state == StateName.authenticating.rawValue, let nextLogin {
            return "Waiting \(seconds(to: nextLogin)) s before the next login."
        }
        let limit = awaitsUntil.map { ", up to \(seconds(to: $0)) s" } ?? ""
        return switch awaited {
        case .portal: "Waiting for the portal's answer\(limit)."
        case .open: "Waiting for the network to open\(limit)."
        case nil: nil
        }
    }
}
