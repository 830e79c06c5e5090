import ControlAPI
import ForeignText
import Glibc
import HotspotCore

/// Follows one login by the stream of states until its outcome is clear. Created before the login starts, so that no state is missed.
final class OutcomeWatch {
    private let client: ControlClient
    private var tracker: OutcomeTracker
    private let began = ContinuousClock.now

    /// - Parameters:
    ///   - target: the interface; `nil` for the first one whose state changes.
    ///   - prompt: the prompt that is about to be answered.
    init(path: String, target: String?, prompt: String?) throws(Failure) {
        client = try ControlClient(path: path)
        try client.subscribe("Status")
        guard let reply = try client.next(within: ControlClient.patience) else {
            throw Failure(.timeout, "The daemon does not answer.", hint: "journalctl -u hotspotd")
        }
        tracker = OutcomeTracker(try ControlClient.read(StatusReply.self, reply).interfaces, target: target, prompt: prompt)
    }

    /// Seconds since the watch began.
    var elapsed: Double { (ContinuousClock.now - began).inSeconds }

    func outcome(within seconds: Double) throws(Failure) -> OutcomeTracker.LoginOutcome {
        while true {
            let rest = seconds - elapsed
            guard rest > 0, let reply = try client.next(within: rest) else { return .timeout }
            if let outcome = tracker.observe(try ControlClient.read(StatusReply.self, reply).interfaces) { return outcome }
        }
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
    private var target: String?
    private let answered: String?
    private var hasMoved = false
    private var sawPromptGone = false

    init(_ interfaces: [InterfaceStatus], target: String?, prompt: String?) {
        before = Dictionary(interfaces.map { ($0.interface, $0) }, uniquingKeysWith: { first, _ in first })
        self.target = target ?? (interfaces.count == 1 ? interfaces[0].interface : nil)
        answered = prompt
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
            return .failed(last)
        }
        if status.prompt != answered { sawPromptGone = true }
        // A stream may begin with the old state, which is no outcome of this login.
        hasMoved = hasMoved || status.state != before[target]?.state || status.since != before[target]?.since
        switch StateName(rawValue: status.state) {
        case .authenticated: return hasMoved ? .online(status) : nil
        case .failure, .inactive: return hasMoved ? .failed(status) : nil
        case .presentingUI:
            guard let prompt = status.prompt, prompt != answered || sawPromptGone else { return nil }
            return .asks(prompt: prompt)
        case .evaluating, .authenticating, .maintaining, .loggingOff, nil: return nil
        }
    }
}
