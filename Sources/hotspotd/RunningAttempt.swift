import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import Store

/// The attempt that the journal is being told about.
struct RunningAttempt {
    let id: String
    let began: Instant
    var isOpen = true
    /// Who was asked to free the network, or to keep it free.
    var helper: String?
    /// Why it is that one, in the machine's words.
    var why: String?
    /// What was said last that a person should hear of.
    var lastWord: String?
    /// Octets of traces that the journal still takes for it: a helper that says much fills no disk.
    var traceRoom = 256 << 10
    /// What kept the helper from being asked at all.
    var obstacle: String?
}

extension InterfaceController {
    func beginAttempt(_ number: AttemptID) {
        guard let joined else { return }
        // The record may have come after the join, with other resolvers and the portal's API.
        if let facts = services.facts(joined.snapshot) { refresh { $0.facts = facts } }
        services.onAttempt()
        let attempt = RunningAttempt(id: "\(joined.association)-\(number.number)", began: EventLoop.now)
        self.attempt = attempt
        services.saving("journal") {
            try services.store.beginAttempt(
                attempt.id, interface: name, network: joined.network, ssid: joined.label, began: WallClock.now)
        }
    }

    func endAttempt(_ outcome: AttemptOutcome) {
        guard let attempt, attempt.isOpen, let joined else { return }
        self.attempt?.isOpen = false
        // Answers are for the login that they were given for, and for no later one.
        if outcome != .online { answers = nil }
        let took = String(Double((EventLoop.now - attempt.began).milliseconds) / 1000)
        let helper = attempt.helper
        let verdict = Self.sentence(
            outcome, helper: helper.map(services.displayName), seconds: took, why: attempt.why, lastWord: attempt.lastWord,
            obstacle: attempt.obstacle)
        record("outcome", verdict, helper: helper)
        services.journal.flush()
        services.saving("journal") {
            try services.store.endAttempt(
                attempt.id, ended: WallClock.now, outcome: outcome.rawValue, helper: helper,
                portal: portal.map { Printable.text($0.origin, limit: 300) },
                verdict: verdict)
            try services.store.setOutcome(joined.network, StoredOutcome(word: outcome.rawValue, time: WallClock.now))
        }
    }

    /// What came of it, and why: the answer to «explain».
    static func sentence(
        _ outcome: AttemptOutcome, helper: String?, seconds: String, why: String? = nil, lastWord: String? = nil,
        obstacle: String? = nil
    ) -> String {
        let who = helper ?? "nobody"
        let because = why.map { ": \($0)" } ?? ""
        let said = obstacle.map { " \($0)." } ?? lastWord.map { " It said: \($0)" } ?? ""
        return switch outcome {
        case .online: "Online by \(who) after \(seconds) s\(because)."
        case .open: "The network is open; no login was needed (\(seconds) s)."
        case .unknown: "Nobody claimed the network, and nothing tells whether it is open."
        case .unclaimedCaptive: "A portal wants a login, and no helper could do it."
        case .temporaryFailure: "\(who) could not log in for now (\(seconds) s)\(because).\(said)"
        case .failure: "\(who) could not log in, and it is not tried again by itself\(because).\(said)"
        case .expired: "The session was over.\(said)"
        case .left: "The network was left."
        case .loggedOff: "Logged off."
        case .dismissed: "The question was dismissed."
        case .superseded: "Another attempt took over."
        }
    }

    /// One step: to the journal, to who monitors.
    func record(_ kind: String, _ detail: String, from: StateName? = nil, to: StateName? = nil, helper: String? = nil) {
        record(kind, detail, from: from, to: to, helper: helper, in: attempt)
    }

    /// What a helper tells of its work, as long as the attempt has room for it.
    func recordTrace(_ detail: String, helper: String? = nil) {
        guard let room = attempt?.traceRoom else { return record("trace", detail, helper: helper) }
        guard room > 0 else { return }
        let left = room - detail.utf8.count - 64
        attempt?.traceRoom = left
        record("trace", left > 0 ? detail : detail + " (what else helpers tell of this attempt is left out)", helper: helper)
    }

    /// A step of an attempt that may be over.
    func record(
        _ kind: String, _ detail: String, from: StateName? = nil, to: StateName? = nil, helper: String?,
        in attempt: RunningAttempt?
    ) {
        let at = attempt.map { (EventLoop.now - $0.began).milliseconds } ?? 0
        let step = Step(
            at: at, time: WallClock.now, attempt: attempt?.id, from: from, to: to, kind: kind, helper: helper, detail: detail)
        if let attempt { services.journal.add(step, to: attempt.id) }
        services.onStep(name, step)
    }
}
