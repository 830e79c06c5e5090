// This target: the calls of the control interface, and the permission to make them. ``ControlInterface`` answers.

import ControlAPI
import EventLoop
import HotspotCore

/// The daemon as the control interface calls it.
@LoopActor public protocol ControlBackend: AnyObject {
    func interfaceStatus() -> [InterfaceStatus]
    /// Returns the problems of the daemon as a whole.
    func daemonProblems() -> [Problem]
    var version: String { get }
    /// The path of the settings that were read.
    var settingsFile: String { get }
    /// The names of networks and portals, and the history, are for every local user.
    var showsNamesToAll: Bool { get }
    func switchedOff() -> [SwitchedOff]
    /// Probes now, and calls back exactly once.
    func check(interface: String?, _ answer: @escaping (Result<CheckReply, ControlError>) -> Void)
    /// Returns the networks in sight with the claims known so far; all: also those that are known and not in sight.
    func networks(interface: String?, all: Bool) throws(ControlError) -> [ScannedNetwork]
    /// Asks the helpers about the networks in sight, or the access points as well; calls back exactly once: when all have answered, or
    /// after about a second.
    func refreshClaims(askingAccessPoints: Bool, _ done: @escaping () -> Void)
    /// Reports how many clients watch the list, and whether one of them wants to see the access points' answers.
    func listWatchers(_ count: Int, askingAccessPoints: Bool)
    func helperStatus() -> [HelperStatus]
    func pendingPrompts() -> [PendingPrompt]
    /// Returns what became of a prompt that waited a moment ago.
    func ending(ofPrompt id: String) -> String?
    /// Answers a prompt: typed answers, the fields whose stored answer is sent as well, whether to keep them, and whether the user was asked
    /// about that.
    func answer(_ parameters: AnswerParameters) throws(ControlError)
    /// Asks no more in this association.
    func dismiss(prompt: String) throws(ControlError)
    /// Joins a login that is under way, or asks the helper that keeps the network open whether it does; otherwise, or fresh, evaluates the
    /// network again, and logs in.
    func login(interface: String?, helper: String?, fresh: Bool) throws(ControlError) -> InterfaceReply
    /// Begins a login by the helper `browser`, and returns what a browser on the link needs.
    ///
    /// - Parameter anyway: the user agreed to open a portal with a warning, which is refused otherwise (`suspiciousPortal`).
    func browse(interface: String?, anyway: Bool) throws(ControlError) -> BrowseReply
    /// Returns the interface's name.
    func logoff(interface: String?) throws(ControlError) -> String
    /// Joins a network, and calls back exactly once.
    func join(_ parameters: JoinParameters, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void)
    /// Leaves the network, and calls back exactly once.
    func leave(interface: String?, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void)
    /// Returns whether a network was left alone, and no longer is.
    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError) -> Bool
    /// Ends the session of the helper whose process has this token. `false` if there is none to end.
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool
    /// Returns the network of the helper whose process has this token.
    func current(token: String) throws(ControlError) -> CurrentNetwork
    func forget(ssid: String) throws(ControlError)
    func forgetEverything() throws(ControlError)
    /// Returns stored answers without their values, and the word for the PIN's state.
    func credentials(ssid: String?) throws(ControlError) -> (credentials: [CredentialStatus], pin: String)
    func addCredential(ssid: String, helper: String?, answers: [String: String]) throws(ControlError) -> CredentialStatus
    /// Returns how many were removed.
    func removeCredentials(ssid: String, helper: String?, portal: String?) throws(ControlError) -> Int
    /// Returns the values of stored answers.
    func sharedAnswers(ssid: String, helper: String?, portal: String?) throws(ControlError) -> SharedReply
    /// Uses answers that a paired laptop offered, at their own network and portal alone.
    func addOffered(_ offer: OfferedParameters) throws(ControlError) -> OfferedReply
    func unlock(pin: String) throws(ControlError)
    func setPIN(_ pin: String?, old: String?) throws(ControlError)
    func explain(
        interface: String?, ssid: String?, attempt: String?
    ) throws(ControlError) -> (attempt: AttemptStatus, steps: [Step], verdict: String)
    /// Returns the last `limit` attempts, newest first; with `before` the last ones that began before that attempt.
    func history(ssid: String?, interface: String?, before: String?, limit: Int) throws(ControlError) -> [AttemptStatus]
}
