import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import Store

/// Answers calls about helpers, and calls by helpers.
@LoopActor struct HelperQueries {
    let services: Services
    let loader: HelperLoader
    let links: LinkManager

    /// Returns the state of every helper, for `hotspotctl helpers`.
    func status() -> [HelperStatus] {
        let (host, strikes) = (services.host, services.strikes)
        let disabled = services.store.allDisabled
        let refusals = Dictionary(grouping: loader.fileProblems, by: \.subject)
        var all = host.helpers.map { entry in
            let spec = entry.spec
            return HelperStatus(
                name: spec.name, displayName: spec.displayName, enabled: services.isEnabled(spec, for: nil),
                disabledFor: disabled.filter { $0.helper == spec.name }.compactMap { $0.ssid }.map { hex in
                    SSID(hex: hex)?.description ?? hex
                }.sorted(), priority: spec.priority, ssids: spec.ssids.map(\.source), activation: spec.activation.word,
                running: host.isRunning(spec.name), strikes: strikes.count(spec.name),
                quarantined: strikes.isQuarantined(spec.name),
                problems: [spec.name, entry.file].flatMap { refusals[$0] ?? [] }.prefix(8).map(\.problem)
                    + host.pathProblems(of: spec.name)
                    + services.conduct(spec.name).map { $0.naming(nil) },
                file: entry.file, containment: host.isSandboxed(spec.name) ? ["sandboxed"] : [],
                missing: host.missingContainment(of: spec.name), scanList: spec.scanList,
                browser: spec.browses ? host.browsers.path(for: spec.name) : nil,
                given: host.given[spec.name]?.map {
                    DisclosedNetworks(
                        networks: $0.networks, count: $0.count, scanList: $0.isScanList, credential: $0.hasCredential, at: $0.time
                    )
                })
        }
        // List refused files too, with the reason. A file from which no name could be read is listed by its path.
        var listed = Set(all.map(\.name)).union(host.helpers.map(\.file))
        for subject in loader.fileProblems.map(\.subject) where listed.insert(subject).inserted {
            all.append(
                HelperStatus(
                    name: subject, displayName: subject, enabled: false, priority: 0, ssids: [], activation: "stdio",
                    running: false, strikes: 0, quarantined: false, problems: refusals[subject]?.prefix(8).map(\.problem) ?? []))
        }
        return all
    }

    // MARK: Requests by helpers, each identified by the token of its process (D17, behaviours 71, 72, 79, 80)

    /// Ends the session of the helper with this token; `false` if it has none on that network.
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool {
        let names = try helpers(token)
        guard let controller = links.controller(named: interface), let joined = controller.joined,
            joined.ssid.hex == ssidHex.lowercased(),
            let helper = names.first(where: { controller.machine.acceptsLogoff(by: .helper($0)) })
        else { return false }
        controller.feed(.logoffRequested(by: .helper(helper)))
        return true
    }

    func current(token: String) throws(ControlError) -> CurrentNetwork {
        let names = try helpers(token)
        // Tell a helper with an `SSID=` list only about the networks in that list, as its commands do.
        let known = links.controllers.filter { controller in
            controller.joined != nil && controller.machine.candidates.contains { names.contains($0.name) }
        }
        func isChosen(_ controller: InterfaceController) -> Bool {
            controller.machine.state.chosenHelper.map(names.contains) ?? false
        }
        guard let controller = known.first(where: isChosen) ?? known.first else { return CurrentNetwork() }
        return CurrentNetwork(
            interface: controller.name, ssidHex: controller.joined?.ssid.hex, chosenHelper: isChosen(controller))
    }

    /// Returns the helpers with this token. Helpers in the same process share its token, and each other's rights.
    private func helpers(_ token: String) throws(ControlError) -> [String] {
        let names = services.host.helperNames(forToken: token)
        guard !names.isEmpty else { throw .notPermitted("This token belongs to no running helper.") }
        return names
    }
}
