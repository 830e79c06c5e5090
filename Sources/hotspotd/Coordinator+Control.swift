import ControlAPI
import ControlServer
import EventLoop
import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine
import Store

/// What clients ask of the daemon.
extension Coordinator: ControlBackend {
    var version: String { hotspotdVersion }

    func daemonProblems() -> [Problem] {
        ownProblems.values.sorted { $0.code.rawValue < $1.code.rawValue } + services.store.problems
    }

    func interfaceStatus() -> [InterfaceStatus] {
        return controllers.values.sorted { $0.name < $1.name }.map { controller in
            var status = controller.status
            if status.state == StateName.inactive.rawValue, status.ssid == nil, let association = associations[controller.index] {
                status.ssid = association.ssid.description
                status.ssidHex = association.ssid.hex
                status.bssid = association.bssid.description
                status.problems.append(Problem(.noAddress, "Joined, but there is no address yet."))
            }
            return status
        }
    }

    func check(interface: String?, _ answer: @escaping (Result<CheckReply, ControlError>) -> Void) {
        let controller: InterfaceController
        do throws(ControlError) {
            guard let found = try find(interface) else {
                return answer(.success(CheckReply(verdict: "none", detail: "No interface is managed.")))
            }
            controller = found
        } catch {
            return answer(.failure(error))
        }
        let name = controller.name
        guard let joined = controller.joined else {
            return answer(.success(CheckReply(verdict: "none", interface: name, detail: "There is no address on \(name).")))
        }
        checks.ask(controller.index, in: joined.association) { done in
            controller.askProber(fresh: true) { _ in
            } answer: { [weak controller] verdict in
                guard let verdict else {
                    return done(CheckReply(verdict: "unknown", interface: name, detail: "There is no prober to ask."))
                }
                controller?.feed(.verdictSeen(verdict.verdict))
                let word = verdict.verdict == .partial ? "online" : verdict.verdict.rawValue
                let detail = verdict.problem ?? verdict.origin.map { "portal \($0)" }
                done(CheckReply(verdict: word, interface: name, detail: detail))
            }
        } answer: {
            answer(.success($0))
        }
    }

    // MARK: Helpers and prompts

    func helperStatus() -> [HelperStatus] {
        let disabled = services.store.allDisabled
        var all = services.host.helpers.map { entry in
            let spec = entry.spec
            return HelperStatus(
                name: spec.name, displayName: spec.displayName, enabled: services.isEnabled(spec, for: nil),
                disabledFor: disabled.filter { $0.helper == spec.name }.compactMap { $0.ssid }.map { hex in
                    SSID(hex: hex)?.description ?? hex
                }.sorted(), priority: spec.priority, ssids: spec.ssids.map(\.source), activation: spec.activation.word,
                running: services.host.isRunning(spec.name), strikes: services.strikes.count(spec.name),
                quarantined: services.strikes.isQuarantined(spec.name),
                problems: helperProblems.filter { $0.subject == spec.name || $0.subject == entry.file }.prefix(8).map(\.problem)
                    + services.host.pathProblems(of: spec.name) + services.conduct(spec.name),
                file: entry.file, containment: services.host.containment(of: spec.name),
                missing: services.host.missingContainment(of: spec.name), scanList: spec.scanList,
                given: services.host.given[spec.name]?.map {
                    DisclosedNetworks(
                        networks: $0.networks, count: $0.count, scanList: $0.isScanList, credential: $0.hasCredential, at: $0.time
                    )
                })
        }
        // What was refused is shown too, with its reason; it has no name but its file's.
        let known = Set(all.map(\.name)).union(services.host.helpers.map(\.file))
        for refused in helperProblems where !known.contains(refused.subject) {
            if let index = all.firstIndex(where: { $0.name == refused.subject }) {
                if all[index].problems.count < 8 { all[index].problems.append(refused.problem) }
            } else {
                all.append(
                    HelperStatus(
                        name: refused.subject, displayName: refused.subject, enabled: false, priority: 0, ssids: [],
                        activation: "stdio", running: false, strikes: 0, quarantined: false, problems: [refused.problem]))
            }
        }
        return all
    }

    func pendingPrompts() -> [PendingPrompt] {
        controllers.values.sorted { $0.name < $1.name }.compactMap { controller in
            controller.prompt.map { shown in
                PendingPrompt(
                    id: shown.token, interface: controller.name, ssid: controller.joined?.label ?? "", helper: shown.helper,
                    portal: controller.portal.map { Printable.text($0.origin, limit: 300) }, prompt: shown.prompt,
                    since: shown.since)
            }
        }
    }

    private func find(prompt id: String) throws(ControlError) -> (InterfaceController, ShownPrompt) {
        for controller in controllers.values {
            if let shown = controller.prompt, shown.token == id { return (controller, shown) }
        }
        throw .noSuchPrompt(Printable.text(id, limit: 64))
    }

    func answer(prompt id: String, answers: [String: String], remember: Bool) throws(ControlError) {
        let (controller, shown) = try find(prompt: id)
        if let (field, message) = GivenAnswers.fault(in: answers, for: shown.prompt) {
            throw .invalidAnswer(field: field, message: message)
        }
        controller.give(answers, remember: remember, to: shown)
    }

    func dismiss(prompt id: String) throws(ControlError) {
        let (controller, shown) = try find(prompt: id)
        controller.feed(.promptDismissed(shown.id))
    }

    // MARK: Changes

    /// The named interface, or the one that has the most to say for itself; `nil` if none is managed.
    private func find(_ interface: String?) throws(ControlError) -> InterfaceController? {
        if let interface {
            guard let named = controllers.values.first(where: { $0.name == interface }) else {
                throw .noSuchInterface(Printable.text(interface, limit: 64))
            }
            return named
        }
        let sorted = controllers.values.sorted { $0.name < $1.name }
        return sorted.first { $0.joined != nil } ?? sorted.first
    }

    private func require(_ interface: String?) throws(ControlError) -> InterfaceController {
        guard let controller = try find(interface) else {
            throw .failed(
                code: .noInterface, message: "No interface is managed; see Match= and ManageEthernet= in the settings.")
        }
        return controller
    }

    func login(interface: String?, helper: String?) throws(ControlError) {
        let controller = try require(interface)
        guard let joined = controller.joined else {
            throw .failed(code: .noAddress, message: "\(controller.name) is in no network, or has no address yet.")
        }
        if let helper {
            guard services.host.helpers.contains(where: { $0.spec.name == helper }) else {
                throw .noSuchHelper(Printable.text(helper, limit: 64))
            }
            guard controller.machine.candidates.contains(where: { $0.name == helper }) else {
                throw .failed(
                    code: .notCandidate, message: "\(helper) is switched off here, or its SSID= does not have \(joined.label).")
            }
        }
        guard controller.machine.acceptsLogin else {
            throw .wrongState(interface: controller.name, state: controller.machine.state.name.rawValue)
        }
        if services.store.isDisabled(helper: nil, ssid: joined.network.switchName) {
            throw .failed(
                code: .disabled,
                message: "Handling is switched off for \(joined.label); hotspotctl enable SSID switches it on.")
        }
        controller.feed(.loginRequested(helper: helper))
    }

    func logoff(interface: String?) throws(ControlError) {
        let controller = try require(interface)
        guard controller.machine.acceptsLogoff(by: .user) else {
            throw .wrongState(interface: controller.name, state: controller.machine.state.name.rawValue)
        }
        controller.feed(.logoffRequested(by: .user))
    }

    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError) {
        if let helper, !services.host.helpers.contains(where: { $0.spec.name == helper }) {
            throw .noSuchHelper(Printable.text(helper, limit: 64))
        }
        let switchName = try ssid.map { text throws(ControlError) in try Self.switchName(text) }
        do {
            // Who wants a network handled again wants it now: what held it goes in the same breath.
            try services.store.setEnabled(
                helper: helper, ssid: switchName, enabled: enabled, releasingHolds: enabled && helper == nil)
        } catch {
            throw .failed(code: .notSaved, message: "\(error)")
        }
        updateCandidates()
        control?.listChanged()
        guard helper == nil else { return }
        for controller in controllers.values where controller.joined?.network.switchName == switchName {
            if enabled { controller.feed(.released) } else { rejoin(controller, "switched off") }
        }
    }

    /// The network as it is, joined afresh: what is stored of it has changed.
    private func rejoin(_ controller: InterfaceController, _ why: String) {
        guard let joined = controller.joined else { return }
        controller.leave("\(joined.label): \(why)")
        controller.join(joined)
    }

    func forget(ssid: String) throws(ControlError) {
        let wired = NetworkID(key: ssid)
        let name = SSID(printable: ssid)
        let found: Bool
        do {
            found =
                if let wired {
                    try services.store.forget(wired)
                } else if let name {
                    try services.store.forget(name)
                } else {
                    false
                }
        } catch {
            throw .failed(code: .notSaved, message: "\(error)")
        }
        guard found else { throw .noSuchNetwork(Printable.text(ssid, limit: 128)) }
        // What is remembered would otherwise be written again at the session's next success.
        for controller in controllers.values {
            guard let joined = controller.joined else { continue }
            let isForgotten = wired.map { joined.network == $0 } ?? (joined.security != .wired && joined.ssid == name)
            if isForgotten { rejoin(controller, "forgotten") }
        }
        control?.listChanged()
    }

    private static func switchName(_ text: String) throws(ControlError) -> String {
        if let wired = NetworkID(key: text), let name = wired.switchName { return name }
        guard let ssid = SSID(printable: text) else { throw .noSuchNetwork(Printable.text(text, limit: 128)) }
        return ssid.hex
    }

    // MARK: The journal

    func explain(interface: String?, ssid: String?, attempt: String?) throws(ControlError) -> (steps: [Step], verdict: String) {
        services.journal.flush()
        let found: Attempt?
        if let attempt {
            found = services.store.attempt(attempt)
        } else if let ssid {
            found = services.store.lastAttempt(ssid: ssid)
        } else if let interface {
            found = services.store.lastAttempt(interface: interface)
        } else {
            found = services.store.attempts(limit: 1).first
        }
        guard let found else {
            if let ssid { throw .noSuchNetwork(Printable.text(ssid, limit: 128)) }
            if let interface { throw .noSuchInterface(Printable.text(interface, limit: 64)) }
            throw .failed(code: .noAttempt, message: "Nothing has been tried yet.")
        }
        return (services.store.steps(found.id), found.verdict ?? "This attempt is still running.")
    }

    func history(ssid: String?, before: String?, limit: Int) throws(ControlError) -> [AttemptStatus] {
        if let before, services.store.attempt(before) == nil {
            throw .failed(
                code: .noAttempt,
                message:
                    "The journal has no attempt \(Printable.text(before, limit: 64)), or none any more; begin with the newest.")
        }
        return services.store.attempts(ssid: ssid, before: before, limit: limit).map { attempt in
            AttemptStatus(
                id: attempt.id, interface: attempt.interface, ssid: attempt.ssid, began: attempt.began, ended: attempt.ended,
                helper: attempt.helper, portal: attempt.portal, outcome: attempt.outcome, routine: attempt.isRoutine ? true : nil)
        }
    }
}
