import EventLoop
import HotspotCore

/// What the control interface asks of the daemon. Every method answers at once or through its closure, exactly once.
@LoopActor public protocol ControlBackend: AnyObject {
    /// All managed interfaces.
    func interfaceStatus() -> [InterfaceStatus]
    /// What concerns the daemon as a whole.
    func daemonProblems() -> [Problem]
    /// The daemon's version.
    var version: String { get }
    /// Probes now.
    func check(interface: String?, _ answer: @escaping (Result<CheckAnswer, ControlError>) -> Void)
    /// The networks in sight with what is known of their claims now.
    func networks(interface: String?) throws(ControlError) -> [ScannedNetwork]
    /// Asks the helpers about the networks in sight; calls back when all have answered, or after a second.
    func refreshClaims(_ done: @escaping () -> Void)
    /// So many clients watch the list.
    func listWatchers(_ count: Int)
    /// All helpers.
    func helperStatus() -> [HelperStatus]
    /// The questions that wait.
    func pendingPrompts() -> [PendingPrompt]
    /// Takes answers to a question.
    func answer(prompt: String, answers: [String: String], remember: Bool) throws(ControlError)
    /// Asks no more in this association.
    func dismiss(prompt: String) throws(ControlError)
    /// Starts over.
    func login(interface: String?, helper: String?) throws(ControlError)
    /// Ends the session.
    func logoff(interface: String?) throws(ControlError)
    /// Switches handling on or off.
    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError)
    /// A helper, known by the token of its process, wants its session to end; `true` if that will happen.
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool
    /// The network that a helper, known by the token of its process, has to do with.
    func current(token: String) throws(ControlError) -> CurrentNetwork
    /// Forgets what is remembered of a network.
    func forget(ssid: String) throws(ControlError)
    /// An attempt, step by step.
    func explain(interface: String?, ssid: String?, attempt: String?) throws(ControlError) -> (steps: [Step], verdict: String)
    /// The last `limit` attempts, newest first; with `before` those that began before the attempt of that identifier.
    func history(ssid: String?, before: String?, limit: Int) throws(ControlError) -> [AttemptStatus]
}
