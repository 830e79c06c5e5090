import ControlAPI
import ControlServer
import EventLoop
import ForeignText
import HotspotCore
import Store

/// Switches helpers and networks off and on, and forgets networks.
extension DaemonBackend {
    @discardableResult
    func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(ControlError) -> Bool {
        if let helper { try requireHelper(helper) }
        let switchName = try ssid.map { text throws(ControlError) in try Self.switchName(text) }
        // Refuse an unknown name: otherwise, after a misspelling, the network would stay off, and the user would read that it is on.
        if enabled, let ssid, !isKnown(ssid) { throw unknown(ssid) }
        // A user who switches a network on wants hotspotd to act now, so its holds are released as well.
        let releasesHolds = enabled && helper == nil
        let isHeld = releasesHolds && switchName.map(services.store.records(now: WallClock.now).holds) ?? false
        do {
            try services.store.setEnabled(
                helper: helper, ssid: switchName, enabled: enabled, releasingHolds: releasesHolds)
        } catch {
            throw .untilTheEnd(error)
        }
        let here = links.controllers.filter { ssid == nil || $0.joined?.network.switchName == switchName }
        // Leave the networks before `onSwitch` removes their helpers; otherwise the machine would look for other helpers.
        if !enabled, helper == nil { try rejoin(here, .switchedOff) }
        onSwitch()
        services.events?.networkListChanged()
        if releasesHolds, let name = switchName.flatMap(SSID.init(hex:)) { links.associations.release(name) }
        if enabled { for controller in here { controller.switchedOn(helper: helper) } }
        return isHeld
    }

    /// Leaves these networks, changes the stored records, and joins the networks again. A session that continued would write the old records again.
    private func rejoin(
        _ controllers: [InterfaceController], _ reason: LeaveReason, _ change: () throws -> Void = {}
    ) throws(ControlError) {
        let here = controllers.compactMap { controller in controller.joined.map { (controller, $0) } }
        isRejoining = true
        for (controller, joined) in here { controller.leave("\(joined.label) is left and joined again", as: reason) }
        services.journalWriter.flush()
        defer {
            for (controller, joined) in here { controller.join(joined, because: reason.cause) }
            isRejoining = false
            services.events?.statusChanged()
            services.events?.networkListChanged()
        }
        do { try change() } catch { throw .untilTheEnd(error) }
    }

    func forget(ssid: String) throws(ControlError) {
        if ssid == NetworkID.anonymous.label, links.controllers.contains(where: { $0.joined?.network == .anonymous }) {
            throw .failed(
                code: .forgotten,
                message:
                    "hotspotd stores nothing about a wired network with an unknown gateway, except its history; to erase that, use --everything."
            )
        }
        let wired = NetworkID(key: ssid)
        let name = SSID(printable: ssid)
        let here = links.controllers.filter { controller in
            guard let joined = controller.joined else { return false }
            return wired.map { joined.network == $0 } ?? (joined.security != .wired && joined.ssid == name)
        }
        var isKnown = !here.isEmpty
        let isForgotten = { (network: NetworkID) in wired.map { network == $0 } ?? (network.label == name?.description) }
        try forget(here, isForgotten) {
            let store = services.store
            if try wired.map(store.forget) ?? name.map(store.forget) ?? false { isKnown = true }
        }
        if let label = wired?.label ?? name?.description { services.host.forgetGiven(of: label) }
        guard !isKnown else { return }
        if let name = try? Self.switchName(ssid), services.store.isDisabled(helper: nil, ssid: name) {
            let network = ShellWord.argument(ssid).map { " \($0)" } ?? ""
            throw .failed(
                code: .forgotten,
                message:
                    "Only the off switch is stored for this network; to switch it on: hotspotctl enable\(network)")
        }
        throw unknown(ssid)
    }

    /// Changes the stored records of these interfaces' networks. A helper's session continues; networks without a session are left and joined again.
    ///
    /// - Parameter isForgotten: returns whether a network's records are erased.
    private func forget(
        _ here: [InterfaceController], _ isForgotten: (NetworkID) -> Bool = { _ in true }, _ change: () throws -> Void
    ) throws(ControlError) {
        try rejoin(here.filter { !$0.machine.state.isKeptFree }, .forgotten) {
            // Include interfaces that lost their link, because their login may still wait for its proof.
            let lost = links.controllers.filter { $0.joined == nil && $0.lostNetwork.map(isForgotten) ?? false }
            for controller in here + lost { controller.forgetStored() }
            try change()
        }
    }

    func forgetEverything() throws(ControlError) {
        services.host.forgetGiven()
        try forget(links.controllers, { _ in true }) {
            defer { services.vault.guardCredentials(by: services.store.pin?.lock) }
            try services.store.forgetEverything()
        }
    }

    /// Returns whether the network is in sight, joined, or stored.
    func isKnown(_ text: String) -> Bool {
        guard let name = try? Self.switchName(text) else { return false }
        return links.controllers.contains { $0.joined?.network.switchName == name }
            || services.store.switches.all.contains { $0.ssid == name }
            || services.store.records(now: WallClock.now).has(name: name)
            || (try? list.networks(on: nil))?.contains { $0.ssidHex == name } == true
    }

    /// Returns the error about an unknown network, with the most similar known name.
    func unknown(_ ssid: String) -> ControlError {
        let listed = (try? list.networks(on: nil, all: true))?.map(\.ssid) ?? []
        let nearest = Nearest.word(to: ssid, in: listed + switchedOff().compactMap(\.ssid))
        return .noSuchNetwork(Printable.text(ssid, limit: 128), nearest: nearest)
    }

    static func switchName(_ text: String) throws(ControlError) -> String {
        if let wired = NetworkID(key: text), let name = wired.switchName { return name }
        guard let ssid = SSID(printable: text) else { throw .noSuchNetwork(Printable.text(text, limit: 128)) }
        return ssid.hex
    }
}

extension ControlError {
    /// Returns the error for a change that has taken effect but could not be saved.
    static func untilTheEnd(_ error: any Error) -> ControlError {
        guard case StoreError.notSaved(let reason) = error else { return .failed(code: .notSaved, message: "\(error)") }
        return .failed(
            code: .notSaved, message: "This change lasts only until hotspotd ends, because it cannot be saved now: \(reason).")
    }
}
