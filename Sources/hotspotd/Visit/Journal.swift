import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import Store

/// The journal of one interface: writes steps to the store, sends them to clients that monitor, and ends each attempt with a sentence.
@LoopActor final class Journal {
    private let services: Services
    /// The interface's name.
    var interface: String
    private(set) var attempt: RunningAttempt?

    init(interface: String, services: Services) {
        self.interface = interface
        self.services = services
    }

    // MARK: Attempts

    func beginAttempt(_ id: String, in network: NetworkID, label: String) {
        attempt = RunningAttempt(id: id, before: services.store.lastOutcome(network)?.word)
        services.saving("journal") {
            try services.store.beginAttempt(id, interface: interface, network: network, ssid: label, began: WallClock.now)
        }
    }

    func endAttempt(_ outcome: AttemptOutcome, _ reason: LeaveReason, in network: NetworkID, portal: Portal?) {
        guard let attempt, attempt.isOpen else { return }
        self.attempt?.outcome = outcome
        let verdict = attempt.sentence(outcome, reason, helper: attempt.helper.map(services.displayName))
        let word = attempt.word(outcome, reason)
        record("outcome", verdict, helper: attempt.helper)
        services.journalWriter.flush()
        services.saving("journal") {
            try services.store.endAttempt(
                attempt.id, ended: WallClock.now, outcome: word, helper: attempt.helper,
                portal: portal.map { Printable.text($0.origin, limit: 300) },
                portalKind: portal.map { Printable.text($0.kind, limit: 64) }, verdict: verdict)
            try services.store.setOutcome(network, StoredOutcome(word: word, time: WallClock.now))
        }
    }

    /// Changes the notes that the attempt's last sentence is made from.
    func note(_ change: (inout RunningAttempt) -> Void) { if attempt != nil { change(&attempt!) } }

    func leaveNetwork() { attempt = nil }

    // MARK: Steps

    func record(_ kind: String, _ detail: String, from: StateName? = nil, to: StateName? = nil, helper: String? = nil) {
        record(kind, detail, from: from, to: to, helper: helper, in: attempt)
    }

    /// Records a step of an attempt, even if the attempt is over.
    func record(
        _ kind: String, _ detail: String, from: StateName? = nil, to: StateName? = nil, helper: String?,
        in attempt: RunningAttempt?
    ) {
        let at = attempt.map { (EventLoop.now - $0.began).milliseconds } ?? 0
        let step = Step(
            at: at, time: WallClock.now, attempt: attempt?.id, from: from, to: to, kind: kind, helper: helper, detail: detail)
        if let attempt { services.journalWriter.add(step, to: attempt.id) }
        services.events?.stepTaken(step, on: interface)
    }

    /// Records a line of a helper or the prober, as long as the attempt's limit allows it.
    func recordTrace(_ detail: String, helper: String? = nil) {
        guard let capacity = attempt?.traceCapacity else { return record("trace", detail, helper: helper) }
        guard capacity > 0 else { return }
        let left = capacity - detail.utf8.count - 64
        attempt?.traceCapacity = left
        record("trace", left > 0 ? detail : detail + " (further lines from helpers in this attempt are left out)", helper: helper)
    }
}
