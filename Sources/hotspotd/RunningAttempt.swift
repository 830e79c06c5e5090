import EventLoop
import HotspotCore
import HotspotMachine
import Store

/// The attempt that the journal currently records.
struct RunningAttempt {
    let id: String
    /// How the previous attempt on this network ended.
    let before: String?
    let began = EventLoop.now
    var outcome: AttemptOutcome?
    var isOpen: Bool { outcome == nil }
    /// The helper that was asked to log in, or to keep the session.
    var helper: String?
    /// Why this helper won the race, in the machine's words.
    var why: String?
    /// The helper's latest message, for people.
    var lastWord: String?
    /// The message of the prompt that followed the answers, in which the portal refuses them.
    var refusal: String?
    /// The reason why a helper was not asked at all, or did not answer.
    var obstacle: String?
    /// Whether the portal has not confirmed a logoff that was sent.
    var isLeftOpen = false
    /// Whether a question waits for its answer.
    var isAsking = false
    /// Whether a helper has replied to answers in this attempt.
    var hasAnswered = false
    /// Whether the network opened before the user's answers were sent.
    var isNeedless = false
    /// Whether a helper reports that it has logged in.
    var hasLoggedIn = false
    /// Whether the helper found the network open and sent nothing.
    var hasSentNothing = false
    /// Whether an earlier attempt's login in this association counts until another login is proven.
    var hasEarlierLogin = false
    /// The words of the portal's answer to a proven login.
    var said: String? {
        guard outcome == .online, hasLoggedIn, let lastWord, lastWord.hasPrefix(Reply.portalAnswered) else { return nil }
        return String(lastWord.dropFirst(Reply.portalAnswered.count))
    }
    /// The octets of traces that the journal still accepts, so that a helper cannot fill the disk.
    var traceCapacity = 256 << 10

    /// The value of ``why`` for a helper whose earlier login counts.
    static let earlierLogin = "it had logged in before"

    /// Returns the outcome of the attempt, as a word of the history.
    func word(_ outcome: AttemptOutcome, _ reason: LeaveReason = .linkLost) -> String {
        if outcome == .loggedOff, isLeftOpen { return Attempt.leftOpen }
        let opened = AttemptOutcome.opened.rawValue
        // Whether a helper keeps a session without having logged in.
        let staysOpened = before == opened && !hasLoggedIn && why == nil
        if outcome == .online, !hasEarlierLogin, hasSentNothing || isNeedless || staysOpened { return opened }
        return outcome == .left ? reason.outcome ?? outcome.rawValue : outcome.rawValue
    }

    /// Returns how the attempt ended, and why: the last line of `hotspotctl explain`.
    func sentence(_ outcome: AttemptOutcome, _ reason: LeaveReason = .linkLost, helper displayName: String?) -> String {
        let helper = displayName ?? "No helper"
        let seconds = (EventLoop.now - began).milliseconds / 1000
        // Times below a second are not shown.
        let after = seconds == 0 ? "" : " after \(seconds) s"
        let because = why.map { " (\($0))" } ?? ""
        let obstacle = obstacle.map { " \($0)." } ?? ""
        func failed(_ sentence: String) -> String {
            QuotedProblem.join(sentence + obstacle, obstacle.isEmpty ? lastWord ?? refusal : nil)
        }
        return switch outcome {
        case .online where hasEarlierLogin && (hasSentNothing || isNeedless):
            "Online: the earlier login is still valid."
        case .online where isNeedless: "Online\(after). The network opened before the answers were sent."
        case .online where hasSentNothing: "Online\(after). \(helper) found the network open and sent nothing."
        case .online where !hasLoggedIn && why == nil: "Online\(after); no new login was needed."
        case .online: "Online\(after), through \(helper)\(because)."
        case .open: "The network is open and asked for no login."
        case .opened where isAsking && hasAnswered:
            "The network opened before you answered: through earlier answers, a login in a browser, or by itself."
        case .opened where isAsking: "The network opened before you answered, perhaps through a login in a browser."
        case .opened:
            "The network is open without a helper's login: through an earlier login, a login in a browser, or by itself."
        case .found: "The network was already open when hotspotd started, so hotspotd does not know how it was opened."
        case .unknown where self.helper != nil && why != Self.earlierLogin:
            "\(helper) reports that the network is open, but the probe cannot prove it." + obstacle
        case .unknown where self.helper != nil:
            "\(helper) logged in before; the probe cannot tell whether that login is still valid." + obstacle
        case .unknown: "No helper claimed the network, and the probe cannot tell whether it is open." + obstacle
        case .unclaimedCaptive: "The portal asked for a login, but none of the helpers could log in."
        case .temporaryFailure where hasLoggedIn:
            failed("\(helper) reports a login, but the network is not open\(after); it may still open.")
        case .temporaryFailure: failed("\(helper) could not log in for now.")
        case .failure: failed("\(helper) could not log in, and hotspotd does not try again.")
        case .expired: failed("The session had ended.")
        case .left: reason.sentence
        case .loggedOff where isLeftOpen:
            failed(
                "The logoff was not confirmed: you may still be logged in. hotspotd leaves this network alone."
            )
        case .loggedOff: "Logged off."
        case .dismissed: failed("The question was dismissed.")
        case .superseded: "Another attempt replaced this one."
        }
    }
}
