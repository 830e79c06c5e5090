import Answers
import ControlAPI
import ControlServer
import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import Store

/// Answers clients' calls with the daemon's parts, or passes them on to an interface.
@LoopActor final class DaemonBackend: ControlBackend {
    let services: Services
    private let problems: ProblemList
    let links: LinkManager
    let list: NetworkList
    private let helpers: HelperQueries
    private let credentialKeeper: CredentialKeeper
    private let checks = SharedCheck<CheckReply>()
    /// Called when a helper or a network was switched on or off.
    var onSwitch: () -> Void = {}
    /// Whether networks are being left only to join them again at once. Clients that watch the status must not see such a link as lost.
    var isRejoining = false

    init(services: Services, problems: ProblemList, helpers: HelperLoader, links: LinkManager, list: NetworkList) {
        self.services = services
        self.problems = problems
        self.links = links
        self.list = list
        credentialKeeper = CredentialKeeper(services: services) { links.controllers }
        self.helpers = HelperQueries(services: services, loader: helpers, links: links)
    }

    // MARK: Reading

    var version: String { hotspotdVersion }
    var settingsFile: String { services.settings.file }
    var showsNamesToAll: Bool { services.settings.namesFor == .everyone }

    func switchedOff() -> [SwitchedOff] {
        services.store.allDisabled.map { off in
            SwitchedOff(helper: off.helper, ssid: off.ssid.map { SSID(hex: $0)?.description ?? $0 })
        }.sorted { ($0.ssid ?? "", $0.helper ?? "") < ($1.ssid ?? "", $1.helper ?? "") }
    }

    func daemonProblems() -> [Problem] {
        problems.all.sorted { $0.code.rawValue < $1.code.rawValue } + services.store.problems
    }

    func interfaceStatus() -> [InterfaceStatus] {
        links.controllers.map { controller in
            var status = controller.status
            status.manager = links.managed[controller.index]?.manager
            if status.state == StateName.inactive.rawValue, status.ssid == nil {
                if let association = links.association(of: controller.index) {
                    status.ssid = association.ssid.description
                    status.ssidHex = association.ssid.hex
                    status.bssid = association.bssid.description
                    status.problems.append(Problem(.noAddress, "Joined, but there is no address yet."))
                } else if links.waitsForAddress(controller.index) {
                    status.problems.append(Problem(.noAddress, "The cable is plugged in, but there is no address yet."))
                }
            }
            let network = controller.joined?.network
            status.problems = status.problems.map { problem in
                if problem.code == .unclaimedCaptive, let network, let off = switchedOffHelper(in: network) { return off }
                if problem.code == .macChanged, let before = controller.joined?.otherHardware, links.has(before) {
                    return .otherInterface
                }
                return problem.naming(network?.key == nil ? nil : network?.label)
            }
            return status
        }
    }

    /// Returns the problem that a helper that might log in here is switched off. Names the helper that logged in here before, otherwise a helper that
    /// logs in automatically, otherwise the browser helper.
    private func switchedOffHelper(in network: NetworkID) -> Problem? {
        let remembered = services.store.remembered(network, now: WallClock.now)?.helper
        let off = services.store.allDisabled.filter { off in
            off.helper.map(services.hasHelper) == true && (off.ssid == nil || off.ssid == network.switchName)
        }
        func rank(_ helper: String) -> Int { helper == remembered ? 0 : helper == BrowseReply.helper ? 2 : 1 }
        // Name a helper's switch for all networks first: until it is on, the switch for this network has no effect.
        let first = off.min {
            (rank($0.helper ?? ""), $0.helper ?? "", $0.ssid ?? "") < (rank($1.helper ?? ""), $1.helper ?? "", $1.ssid ?? "")
        }
        guard let first, let helper = first.helper else { return nil }
        let place = first.ssid == nil ? "" : " " + (ShellWord.argument(network.label) ?? "SSID")
        let subject = helper == remembered ? "\(helper), which logged in here before," : helper
        return Problem(
            .unclaimedCaptive, "The portal asks for a login, but no enabled helper can log in; \(subject) is switched off.",
            hint: "hotspotctl enable --helper \(helper)\(place)")
    }

    func networks(interface: String?, all: Bool) throws(ControlError) -> [ScannedNetwork] {
        try list.networks(on: interface, all: all)
    }
    func refreshClaims(askingAccessPoints: Bool, _ done: @escaping () -> Void) {
        helpers.loader.catchUp()
        list.refresh(asking: askingAccessPoints, done)
    }
    func listWatchers(_ count: Int, askingAccessPoints: Bool) { list.watch(count, asking: askingAccessPoints) }
    func helperStatus() -> [HelperStatus] {
        helpers.loader.catchUp()
        return helpers.status()
    }

    func check(interface: String?, _ answer: @escaping (Result<CheckReply, ControlError>) -> Void) {
        let settings = services.settings
        let answer = { (result: Result<CheckReply, ControlError>) in answer(result.map { $0.naming(settings) }) }
        let found: InterfaceController?
        do throws(ControlError) { found = try interface == nil ? mostUsed : find(interface) } catch {
            return answer(.failure(error))
        }
        guard let controller = found else {
            return answer(.success(CheckReply(verdict: "none", detail: "hotspotd does not watch any interface.")))
        }
        if interface == nil, let link = links.preferredUnwatched {
            let detail = "Programs use \(link.name), which hotspotd does not watch. To probe another interface, name it."
            return answer(.success(CheckReply(verdict: "unknown", interface: link.name, detail: detail)))
        }
        let name = controller.name
        guard let joined = controller.joined else {
            return answer(.success(CheckReply(verdict: "none", interface: name, detail: "There is no address on \(name).")))
        }
        checks.ask(controller.index, in: joined.association) { done in
            controller.check { verdict in
                var reply =
                    verdict?.checkReply(on: name)
                    ?? CheckReply(
                        verdict: "unknown", interface: name,
                        detail: "There is no probe result: the prober is missing or failed, or the network was left.")
                if reply.verdict != "online", let obstacle = controller.obstacle { reply.detail = obstacle.message }
                done(reply)
            }
        } answer: {
            answer(.success($0))
        }
    }

    // MARK: Prompts

    func pendingPrompts() -> [PendingPrompt] {
        links.controllers.compactMap { controller in
            controller.desk.prompt.map { shown in
                var pending = PendingPrompt(
                    id: shown.token, interface: controller.name, ssid: controller.joined?.label ?? "", helper: shown.helper,
                    portal: controller.commands.shownPortal.map { Printable.text($0.origin, limit: 300) },
                    prompt: shown.prompt, since: shown.since)
                (pending.warning, pending.note) = (shown.warning, shown.note)
                pending.stored = shown.stored.isEmpty ? nil : shown.stored
                pending.remember = controller.desk.remember(for: shown).rawValue
                pending.locked = shown.isLocked ? true : nil
                return pending
            }
        }
    }

    func ending(ofPrompt id: String) -> String? {
        links.controllers.lazy.compactMap { $0.desk.answers.last }.first { $0.token == id }?.sentence
    }

    private func find(prompt id: String) throws(ControlError) -> (InterfaceController, ShownPrompt) {
        for controller in links.controllers {
            if let shown = controller.desk.prompt, shown.token == id { return (controller, shown) }
        }
        throw .noSuchPrompt(Printable.text(id, limit: 64), reason: ending(ofPrompt: id))
    }

    func answer(_ parameters: AnswerParameters) throws(ControlError) {
        let (controller, shown) = try find(prompt: parameters.id)
        if parameters.from != nil, let warning = shown.warning { throw .suspiciousPortal(warning: warning) }
        let (typed, stored) = (parameters.answers, parameters.stored ?? [])
        let answers = try controller.desk.complete(typed, stored: stored, for: shown)
        if let (field, message) = Answer.fault(in: answers, for: shown.prompt) {
            throw .invalidAnswer(field: field, message: message)
        }
        credentialKeeper.note(shown)
        controller.answer(
            shown, answers, stored: Set(stored).subtracting(typed.keys), remember: parameters.remember,
            confirmed: parameters.confirmed ?? false, from: parameters.from.map(Self.laptop))
    }

    /// A paired laptop's name as people read it.
    private static func laptop(_ name: String) -> String { Printable.shown(Blanks.collapsed(name), limit: 64) }

    func dismiss(prompt id: String) throws(ControlError) {
        let (controller, shown) = try find(prompt: id)
        controller.dismiss(shown)
    }

    // MARK: Stored answers

    func credentials(ssid: String?) throws(ControlError) -> (credentials: [CredentialStatus], pin: String) {
        let found = try credentialKeeper.list(ssid)
        if let ssid, found.isEmpty, !isKnown(ssid) { throw unknown(ssid) }
        return (found, credentialKeeper.pinWord)
    }
    func addCredential(ssid: String, helper: String?, answers: [String: String]) throws(ControlError) -> CredentialStatus {
        guard isKnown(ssid) else { throw unknown(ssid) }
        return try credentialKeeper.add(ssid, helper: helper, answers)
    }
    func removeCredentials(ssid: String, helper: String?, portal: String?) throws(ControlError) -> Int {
        try credentialKeeper.remove(ssid, helper: helper, portal: portal)
    }
    func sharedAnswers(ssid: String, helper: String?, portal: String?) throws(ControlError) -> SharedReply {
        guard isKnown(ssid) else { throw unknown(ssid) }
        return try credentialKeeper.shared(ssid, helper: helper, portal: portal)
    }
    func addOffered(_ offer: OfferedParameters) throws(ControlError) -> OfferedReply {
        try credentialKeeper.addOffered(offer, from: Self.laptop(offer.from))
    }
    func unlock(pin: String, resumes: Bool) throws(ControlError) { try credentialKeeper.unlock(pin, resumes: resumes) }
    func setPIN(_ pin: String?, old: String?) throws(ControlError) { try credentialKeeper.setPIN(pin, old: old) }

    // MARK: Login and logoff

    /// The interface with the preferred default route, which programs use; if there is none, any interface.
    var mostUsed: InterfaceController? {
        func metric(_ controller: InterfaceController) -> UInt32 { controller.joined?.snapshot.routeMetric ?? .max }
        let joined = links.controllers.filter { $0.joined != nil }
        return joined.min { metric($0) < metric($1) } ?? links.controllers.first
    }

    /// Returns the interface with this name. Without a name, prefers an interface with a question, then one in a network. `nil` if no interface is
    /// managed.
    func find(_ interface: String?) throws(ControlError) -> InterfaceController? {
        if let interface {
            if let named = links.controller(named: interface) { return named }
            throw .noSuchInterface(Printable.text(interface, limit: 64))
        }
        let all = links.controllers
        return all.first { $0.desk.prompt != nil } ?? all.first { $0.joined != nil } ?? all.first
    }

    /// Returns the interface with this name. Without a name, returns the only interface in a network; if there are several, the only one on which the
    /// call can act.
    func require(
        _ interface: String?, thatCan act: (InterfaceController) -> Bool
    ) throws(ControlError) -> InterfaceController {
        let joined = links.controllers.filter { $0.joined != nil }
        if interface == nil, joined.count > 1 {
            let able = joined.filter(act)
            if able.count == 1 { return able[0] }
            let names = joined.map(\.name).sorted().prefix(8).joined(separator: ", ")
            throw .failed(code: .severalInterfaces, message: "Several interfaces are in a network; name one: \(names).")
        }
        if let controller = try find(interface) { return controller }
        throw .failed(
            code: .noInterface, message: "hotspotd does not watch any interface; see Match= and ManageEthernet= in the settings.")
    }

    func requireHelper(_ name: String) throws(ControlError) {
        if !services.hasHelper(name) { throw .noSuchHelper(Printable.text(name, limit: 64)) }
    }

    private func requireSwitchedOn(_ joined: Joined) throws(ControlError) {
        guard services.store.isDisabled(helper: nil, ssid: joined.network.switchName) else { return }
        throw .failed(
            code: .disabled,
            message: "hotspotd is switched off for \"\(joined.label)\"; to switch it on: hotspotctl enable "
                + (ShellWord.argument(joined.label) ?? joined.label))
    }

    func login(interface: String?, helper: String?, fresh: Bool) throws(ControlError) -> InterfaceReply {
        let controller = try require(interface) { $0.waitsForLogin }
        guard let joined = controller.joined else {
            throw .failed(code: .noAddress, message: "\(controller.name) is not in a network, or has no address yet.")
        }
        try requireSwitchedOn(joined)
        if let helper {
            helpers.loader.catchUp()
            if !services.hasHelper(helper), let problem = helpers.loader.problem(of: helper) {
                let remedy = problem.hint.map { "; to fix it: \($0)" } ?? ""
                throw .failed(code: problem.code, message: "\(helper) cannot be used: \(problem.message)\(remedy)")
            }
            try requireHelper(helper)
            guard controller.machine.candidates.contains(where: { $0.name == helper }) else {
                throw .failed(code: .notCandidate, message: services.exclusion(of: helper, from: joined))
            }
        }
        guard controller.machine.acceptsLogin else { throw wrongState(controller) }
        let helper = helper ?? (fresh ? nil : controller.returning)
        let isUnderWay = controller.machine.joinsLogin(by: helper, fresh: fresh)
        controller.feed(.loginRequested(helper: helper, fresh: fresh))
        return InterfaceReply(interface: controller.name, underWay: isUnderWay ? true : nil)
    }

    func logoff(interface: String?) throws(ControlError) -> String {
        let controller = try require(interface) { $0.machine.acceptsLogoff(by: .user) || $0.machine.switchedOffOwner != nil }
        if let owner = controller.machine.switchedOffOwner {
            let problem = controller.switchedOff(owner)
            throw .failed(code: problem.code, message: problem.message + (problem.hint.map { " To log off: \($0)" } ?? ""))
        }
        guard controller.machine.acceptsLogoff(by: .user) else {
            if let joined = controller.joined { try requireSwitchedOn(joined) }
            throw wrongState(controller)
        }
        controller.feed(.logoffRequested(by: .user))
        return controller.name
    }

    func wrongState(_ controller: InterfaceController) -> ControlError {
        .wrongState(
            interface: controller.name, state: controller.machine.state.name.rawValue, asks: controller.desk.prompt != nil)
    }

    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool {
        try helpers.requestLogoff(token: token, interface: interface, ssidHex: ssidHex)
    }

    func current(token: String) throws(ControlError) -> CurrentNetwork { try helpers.current(token: token) }
}

extension Problem {
    /// The problem if the last login on this network used another interface of this computer, which still has the same hardware address.
    fileprivate static let otherInterface = Problem(
        .macChanged, "The last login here used another interface, so the portal will see a new device.")
}
