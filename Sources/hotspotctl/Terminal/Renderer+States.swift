import ControlAPI
import HotspotCore

extension Renderer {
    /// Returns a state in words for people.
    func words(_ state: String) -> String {
        switch StateName(rawValue: state) {
        case .inactive: "idle"
        case .evaluating: "asking the helpers"
        case .authenticating: "logging in"
        case .presentingUI: "waiting for your answer"
        case .authenticated: "connected"
        case .maintaining: "checking the session"
        case .loggingOff: "logging off"
        case .failure: "not logged in"
        case nil: safe(state, limit: 32)
        }
    }

    /// Returns an interface's state in words, with its sign and tone. Only a probe proves "online".
    func condition(_ status: InterfaceStatus) -> (sign: String, tone: Tone, words: String) {
        func has(_ code: ProblemCode) -> Bool { status.problems.contains { $0.code == code } }
        let busy = sign("◐", "~")
        let words = words(status.state)
        switch StateName(rawValue: status.state) {
        case .authenticated where status.captive == false, .maintaining where status.captive == false:
            return has(.httpsBlocked) ? (busy, .busy, "limited") : (sign("●", "*"), .good, "online")
        case .authenticated: return (busy, .busy, status.captive == nil ? "connected, not verified" : "behind a portal")
        case .presentingUI where status.prompt != nil: return ("?", .busy, words)
        case .presentingUI: return (busy, .busy, self.words(StateName.authenticating.rawValue))
        case .authenticating where status.nextLogin != nil: return (busy, .busy, "waiting to log in")
        case .evaluating, .authenticating, .maintaining, .loggingOff: return (busy, .busy, words)
        case .failure: return (sign("×", "x"), .bad, words)
        case .inactive:
            let words =
                has(.held) || has(.logoffUnconfirmed)
                ? status.captive == false ? "left alone; open at the last check" : "left alone"
                : has(.noAddress) ? "waiting for an address" : status.ssid == nil ? "not connected" : words
            return (sign("○", "o"), .faint, words)
        case nil: return (sign("○", "o"), .faint, words)
        }
    }

    /// Returns the outcome of an attempt in words for people.
    func outcome(_ word: String) -> String {
        switch AttemptOutcome(rawValue: word) {
        case .online: "online"
        case .open: "no login needed"
        case .opened: "open without a helper's login"
        case .found: "found open"
        case .unknown: "not verified"
        case .unclaimedCaptive: "not logged in"
        case .temporaryFailure: "failed for now"
        case .failure: "failed"
        case .expired: "session over"
        case .left: "left"
        case .loggedOff: "logged off"
        case .dismissed: "dismissed"
        case .superseded: "restarted"
        // Outcomes that only the journal has.
        case nil where word == "interrupted": "interrupted: hotspotd ended"
        case nil where word == "switchedOff": "switched off"
        case nil where word == "forgotten": "forgotten"
        case nil where word == "leftOpen": "left alone"
        case nil where word == "running": "under way"
        case nil: safe(word, limit: 100)
        }
    }
}
