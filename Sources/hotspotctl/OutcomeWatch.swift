import ForeignText
import Glibc
import HotspotCore

/// Follows one login by the stream of states until it is clear how it ended. Opened before the login is started, so that nothing
/// is missed in between.
final class OutcomeWatch {
    private let daemon: Daemon
    private var tracker: OutcomeTracker
    private let began = ContinuousClock.now

    /// - Parameters:
    ///   - target: the interface; `nil`: the one that something happens on.
    ///   - prompt: the prompt that is about to be answered.
    init(path: String, target: String?, prompt: String?) throws(Failure) {
        daemon = try Daemon(path: path)
        try daemon.subscribe("Status")
        guard let reply = try daemon.next(within: Daemon.patience) else {
            throw Failure(.timeout, "the daemon does not answer.", hint: "journalctl -u hotspotd")
        }
        tracker = OutcomeTracker(try Daemon.read(StatusReply.self, reply).interfaces, target: target, prompt: prompt)
    }

    /// Seconds since the watch began.
    var elapsed: Double { (ContinuousClock.now - began).inSeconds }

    /// Waits for the outcome.
    func outcome(within seconds: Double) throws(Failure) -> OutcomeTracker.Outcome {
        while true {
            let rest = seconds - elapsed
            guard rest > 0, let reply = try daemon.next(within: rest) else { return .timeout }
            if let outcome = tracker.observe(try Daemon.read(StatusReply.self, reply).interfaces) { return outcome }
        }
    }
}

/// The same without a connection: states in, outcome out.
struct OutcomeTracker {
    enum Outcome: Equatable {
        case online(InterfaceStatus)
        case asks(prompt: String)
        case failed(InterfaceStatus)
        case timeout
    }

    private let before: [String: InterfaceStatus]
    private var target: String?
    private let answered: String?
    private var hasMoved = false
    private var sawPromptGone = false

    init(_ interfaces: [InterfaceStatus], target: String?, prompt: String?) {
        before = Dictionary(interfaces.map { ($0.interface, $0) }, uniquingKeysWith: { first, _ in first })
        self.target = target ?? (interfaces.count == 1 ? interfaces[0].interface : nil)
        answered = prompt
    }

    /// Takes in the next states; `nil` while it is still open.
    mutating func observe(_ interfaces: [InterfaceStatus]) -> Outcome? {
        if target == nil {
            target =
                interfaces.first { $0.state != before[$0.interface]?.state || $0.since != before[$0.interface]?.since }?.interface
        }
        guard let target else { return nil }
        guard let status = interfaces.first(where: { $0.interface == target }) else {
            guard var last = before[target] else { return nil }
            last.state = StateName.inactive.rawValue
            last.problems = [Problem("interfaceGone", "The interface \(Printable.text(target)) is gone.")]
            return .failed(last)
        }
        if status.prompt != answered { sawPromptGone = true }
        // A stream may begin with the state as it was; only what came after the call is an outcome of it.
        hasMoved = hasMoved || status.state != before[target]?.state || status.since != before[target]?.since
        switch StateName(rawValue: status.state) {
        case .authenticated, .maintaining: return hasMoved ? .online(status) : nil
        case .failure, .inactive: return hasMoved ? .failed(status) : nil
        case .presentingUI:
            guard let prompt = status.prompt, prompt != answered || sawPromptGone else { return nil }
            return .asks(prompt: prompt)
        case .evaluating, .authenticating, .loggingOff, nil: return nil
        }
    }
}
