import HotspotMachine
import Store

/// Why an interface leaves its network, for the history.
enum LeaveReason {
    case linkLost, switchedOff, forgotten
    /// The next daemon continues the association.
    case daemonEnds

    /// The cause of the transition; `nil` if the machine names it.
    var cause: String? {
        switch self {
        case .linkLost: nil
        case .switchedOff: "hotspotd was switched off for this network"
        case .forgotten: "the network was forgotten"
        case .daemonEnds: "hotspotd was stopped"
        }
    }

    /// The outcome of an attempt that this reason interrupts; `nil` if the machine decides it.
    var outcome: String? {
        switch self {
        case .linkLost: nil
        case .switchedOff: Attempt.switchedOff
        case .forgotten: Attempt.forgotten
        case .daemonEnds: Attempt.interrupted
        }
    }

    /// The last sentence of an attempt that this reason interrupts.
    var sentence: String {
        switch self {
        case .linkLost: "The network was left."
        case .switchedOff: "hotspotd was switched off for this network."
        case .forgotten: "The network was forgotten."
        case .daemonEnds: "hotspotd was stopped before this attempt ended."
        }
    }

    /// Returns why a prompt ended without an answer, judged by the actions of the same turn.
    func endOfPrompt(in turn: [Action]) -> String {
        for case .endAttempt(_, let outcome) in turn {
            switch outcome {
            case .online: return "The network opened, through the earlier login."
            case .open, .opened, .found: return "The network opened, perhaps through a login in a browser."
            case .left: return sentence
            case .superseded: return "Another login began."
            case .unknown, .unclaimedCaptive, .temporaryFailure, .failure, .expired, .loggedOff, .dismissed: break
            }
        }
        return "An answer is no longer needed."
    }
}
