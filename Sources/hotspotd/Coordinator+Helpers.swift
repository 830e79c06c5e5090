import ControlAPI
import ControlServer
import HotspotCore
import HotspotMachine

/// What helpers ask of the daemon, by the token of their process (D17, behaviours 71, 72, 79, 80).
extension Coordinator {
    func requestLogoff(token: String, interface: String, ssidHex: String) throws(ControlError) -> Bool {
        let names = try helpers(token)
        guard let controller = controllers.values.first(where: { $0.name == interface }), let joined = controller.joined,
            joined.ssid.hex == ssidHex.lowercased(),
            let helper = names.first(where: { controller.machine.acceptsLogoff(by: .helper($0)) })
        else { return false }
        controller.feed(.logoffRequested(by: .helper(helper)))
        return true
    }

    func current(token: String) throws(ControlError) -> CurrentNetwork {
        let names = try helpers(token)
        // A helper with an `SSID=` list never learns of other networks, here as little as in its commands.
        let known = controllers.values.filter { controller in
            controller.joined != nil && controller.machine.candidates.contains { names.contains($0.name) }
        }.sorted { $0.name < $1.name }
        func isChosen(_ controller: InterfaceController) -> Bool {
            controller.machine.state.chosenHelper.map(names.contains) ?? false
        }
        guard let controller = known.first(where: isChosen) ?? known.first else { return CurrentNetwork() }
        return CurrentNetwork(
            interface: controller.name, ssidHex: controller.joined?.ssid.hex, chosenHelper: isChosen(controller))
    }

    /// Who holds the token. Helpers that share a process share its token, and what one of them may do the others may.
    private func helpers(_ token: String) throws(ControlError) -> [String] {
        let names = services.host.helperNames(forToken: token)
        guard !names.isEmpty else { throw .notPermitted("This token belongs to no helper that runs.") }
        return names
    }
}
