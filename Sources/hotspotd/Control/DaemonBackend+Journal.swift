import ControlAPI
import ForeignText
import HotspotCore
import Store

/// Answers clients' calls about the journal.
extension DaemonBackend {
    func explain(
        interface: String?, ssid: String?, attempt: String?
    ) throws(ControlError) -> (attempt: AttemptStatus, steps: [Step], verdict: String) {
        services.journalWriter.flush()
        let shown = links.controllers.filter { interface == nil || $0.name == interface }.filter { $0.joined != nil }
            .max { $0.since < $1.since }
        // Prefer the joined network: an earlier attempt in another network does not describe it.
        let network = ssid ?? shown?.joined?.label
        let found: Attempt?
        if let attempt {
            found = services.store.attempt(attempt)
            if found == nil { throw noAttempt(attempt) }
        } else if let network {
            let present = ssid == nil ? shown?.journal.attempt.flatMap { services.store.attempt($0.id) } : nil
            found = present ?? services.store.lastAttempt(ssid: network)
        } else if let interface {
            found = services.store.lastAttempt(interface: interface)
        } else {
            found = services.store.attempts(limit: 1).first
        }
        guard let found else {
            if let ssid, !isKnown(ssid) { throw unknown(ssid) }
            if let interface { _ = try find(interface) }
            let place = network.map { " in \"\(Printable.text($0, limit: 128))\"" } ?? interface.map { " on \($0)" } ?? ""
            throw .failed(code: .noAttempt, message: "No attempts\(place) are kept.")
        }
        return (AttemptStatus(found), services.store.steps(found.id), found.verdict ?? "This attempt is still running.")
    }

    private func noAttempt(_ id: String) -> ControlError {
        .failed(
            code: .noAttempt,
            message: "The journal does not contain attempt \(Printable.text(id, limit: 64)), or no longer contains it.")
    }

    func history(
        ssid: String?, interface: String?, before: String?, limit: Int
    ) throws(ControlError) -> [AttemptStatus] {
        if let before, services.store.attempt(before) == nil {
            throw noAttempt(before)
        }
        let attempts = services.store.attempts(ssid: ssid, interface: interface, before: before, limit: limit)
        if attempts.isEmpty, before == nil {
            if let ssid, !isKnown(ssid) { throw unknown(ssid) }
            if let interface { _ = try find(interface) }
        }
        return attempts.map { attempt in
            var status = AttemptStatus(attempt)
            // The journal names an attempt's helper only at the end; until then, the status does.
            if attempt.ended == nil {
                status.helper = links.controllers.first { $0.journal.attempt?.id == attempt.id }?.status.helper ?? status.helper
            }
            return status
        }
    }
}

extension AttemptStatus {
    fileprivate init(_ attempt: Attempt) {
        // If the network opened without a helper's login, name no helper, even if a helper asked a question.
        let helper = attempt.outcome == AttemptOutcome.opened.rawValue ? nil : attempt.helper
        self.init(
            id: attempt.id, interface: attempt.interface, ssid: attempt.ssid, began: attempt.began, ended: attempt.ended,
            helper: helper, portal: attempt.portal, portalKind: attempt.portalKind, outcome: attempt.outcome,
            routine: attempt.isRoutine ? true : nil)
    }
}
