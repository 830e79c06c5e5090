// This target: the calls of the control interface, and the permission to make them. ``ControlInterface`` answers the calls.

import ControlAPI
import EventLoop
import HotspotCore

/// The part of the daemon that the control interface calls.
@LoopActor public protocol ControlBackend: AnyObject {
    func interfaceStatus() -> [InterfaceStatus]
    /// Returns the problems that concern the whole daemon.
    func daemonProblems() -> [Problem]
    var version: String { get }
    /// The path of the settings file, whether or not that file exists.
    var settingsFile: String { get }
    /// Whether every local user may see the names of networks and portals, and the history.
    var showsNamesToAll: Bool { get }
    func switchedOff() -> [SwitchedOff]
    /// Probes now, and calls back exactly once.
    func check(interface: String?, _ answer: @escaping (Result<CheckReply, ControlError>) -> Void)
    /// Returns the networks in sight with the claims that are known so far; with `all`, also the known networks that are not in
    /// sight.
    func networks(interface: String?, all: Bool) throws(ControlError) -> [ScannedNetwork]
    /// Asks the helpers, and if wanted the access points, about the networks in sight. Calls `done` exactly once: when all helpers and access points
    /// have answered, or after about two seconds at most.
    func refreshClaims(askingAccessPoints: Bool, _ done: @escaping () -> Void)
    /// Reports how many clients watch the list, and whether any of them wants to see the answers of the access points.
    func listWatchers(_ count: Int, askingAccessPoints: Bool)
    func helperStatus() -> [HelperStatus]
    func pendingPrompts() -> [PendingPrompt]
    /// Returns how a prompt ended, if it was waiting a moment ago.
    func ending(ofPrompt id: String) -> String?
    /// Answers a prompt. The parameters contain typed answers, the names of fields whose stored answers are also sent, whether to keep the answers,
    /// and whether the user was asked about keeping them.
    func answer(_ parameters: AnswerParameters) throws(ControlError)
    /// Dismisses a prompt: the daemon asks no questions on this network for 12 hours, or until the next `Login`.
    func dismiss(prompt: String) throws(ControlError)
    /// Joins a login that is already running, or asks the helper that keeps the network open whether the session is valid. Otherwise, and with
    /// `fresh`, evaluates the network again and logs in.
    func login(interface: String?, helper: String?, fresh: Bool) throws(ControlError) -> InterfaceReply
    /// Begins a login of the helper `browser`, and returns what a browser on the link needs.
    ///
    /// - Parameter anyway: whether the user agreed to open a portal in spite of a warning. If there is a warning and the user has not agreed, the
    ///   call throws `suspiciousPortal`.
    func browse(interface: String?, anyway: Bool) throws(ControlError) -> BrowseReply
    /// Begins a logoff, and returns the name of the interface.
    func logoff(interface: String?) throws(ControlError) -> String
    /// Joins a network, and calls back exactly once.
    func join(_ parameters: JoinParameters, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void)
    /// Leaves the network, and calls back exactly once.
    func leave(interface: String?, _ answer: @escaping (Result<AssociationReply, ControlError>) -> Void)
    /// Switches helpers or networks on or off. Returns whether this ended a hold.
    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError) -> Bool
    /// Ends the session of the helper whose process has this token. Returns `false` if that helper has no session on that network.
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool
    /// Returns the network of the helper whose process has this token.
    func current(token: String) throws(ControlError) -> CurrentNetwork
    func forget(ssid: String) throws(ControlError)
    func forgetEverything() throws(ControlError)
    /// Returns the stored answers without their values, and the state of the PIN: `none`, `locked` or `open`.
    func credentials(ssid: String?) throws(ControlError) -> (credentials: [CredentialStatus], pin: String)
    func addCredential(ssid: String, helper: String?, answers: [String: String]) throws(ControlError) -> CredentialStatus
    /// Removes stored answers, and returns how many were removed.
    func removeCredentials(ssid: String, helper: String?, portal: String?) throws(ControlError) -> Int
    /// Returns the values of stored answers.
    func sharedAnswers(ssid: String, helper: String?, portal: String?) throws(ControlError) -> SharedReply
    /// Uses answers that a paired laptop offered, but only for the network and portal of the offer.
    func addOffered(_ offer: OfferedParameters) throws(ControlError) -> OfferedReply
    /// - Parameter resumes: whether a login that waits only for the PIN continues with the stored answers.
    func unlock(pin: String, resumes: Bool) throws(ControlError)
    func setPIN(_ pin: String?, old: String?) throws(ControlError)
    func explain(
        interface: String?, ssid: String?, attempt: String?
    ) throws(ControlError) -> (attempt: AttemptStatus, steps: [Step], verdict: String)
    /// Returns the newest `limit` attempts, newest first; with `before`, the newest ones that began before that attempt.
    func history(ssid: String?, interface: String?, before: String?, limit: Int) throws(ControlError) -> [AttemptStatus]
}
