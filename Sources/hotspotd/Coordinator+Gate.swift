import Gate
import HotspotCore
import HotspotMachine

/// The gate: with `Gate=routes` links are withheld from ordinary programs until their machine opens them.
extension Coordinator {
    /// Takes away what an earlier daemon left, and sets the gate up if the settings want one.
    func startGate() {
        gate.wishes = { [weak self] in self?.gateWishes ?? ([:], []) }
        gate.onLeftovers = { [weak self] in self?.log.notice("the gate of an earlier daemon was taken away") }
        gate.onTrouble = { [weak self] in self?.show($0) }
        followGate()
    }

    /// The settings may say something else now.
    func followGate() {
        if settings.gate == .routes { log.info("links are closed to ordinary programs until they are free") }
        gate.follow(isWanted: settings.gate == .routes)
    }

    /// What the machines want, and the list of trusted networks: each managed link is closed, or open.
    var gateWishes: GateKeeper.Wishes {
        var closed: [Int: String] = [:]
        for controller in controllers.values
        where !controller.machine.state.leavesTrafficAlone && !isInTrustedNetwork(controller.index) {
            closed[controller.index] = controller.name
        }
        let strays = links?.links.values.filter { $0.group == Gate.group && closed[$0.index] == nil }.map(\.index) ?? []
        return (closed, Set(strays))
    }

    private func isInTrustedNetwork(_ index: Int) -> Bool {
        associations[index].map { settings.trusts($0.ssid, $0.security) } ?? false
    }

    private func show(_ trouble: GateKeeper.Trouble?) {
        switch trouble {
        case nil: withdraw(.gate)
        case .failed(let error):
            let hint = error == .notPermitted ? "run hotspotd as a service, or set [Policy] Gate=none" : "set [Policy] Gate=none"
            show(Problem(.gate, "\(error)", hint: hint))
        case .undone:
            show(
                Problem(
                    .gate,
                    "Something else on this machine keeps changing the gate's routing rules or its links' group; links may be open meanwhile.",
                    hint: "ManageForeignRoutingPolicyRules=no in networkd.conf, or set [Policy] Gate=none"))
        }
    }
}

extension MachineState {
    /// The gate is open: where the machine opens it; and in a network that the user switched off for all helpers, for nobody will ever
    /// open it there, and the user said that it is none of our business.
    var leavesTrafficAlone: Bool {
        if case .inactive(.held(_, .disabled, _)) = self { true } else { gateIsOpen }
    }
}
