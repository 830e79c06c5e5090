import HotspotCore
import LinkState

/// The gate: with `Gate=routes` links are withheld from ordinary programs until their machine opens them.
extension Coordinator {
    /// Takes away what an earlier daemon left, and sets the gate up if the settings want one. Also after they changed.
    func startGate() {
        stopGate()
        do throws(GateError) {
            guard settings.gate == .routes else {
                return takeAwayLeftovers()
            }
            gate = try Gate()
            log.info("links are closed to ordinary programs until they are free")
        } catch {
            showGate(error)
        }
        refreshGate()
    }

    private func takeAwayLeftovers() {
        do throws(GateError) {
            if try Gate.restore() { log.notice("the gate of an earlier daemon was taken away") }
        } catch {
            log.warning("what an earlier daemon left of its gate could not be taken away: \(error)")
        }
    }

    /// Everything is open, and the rules are as they were.
    func stopGate() {
        work { gate throws(GateError) in try gate.stop() }
        gate = nil
        withdraw("gate")
    }

    func setGate(open: Bool, _ index: Int, _ name: String) {
        work { gate throws(GateError) in try gate.set(open: open, link: index, name: name) }
    }

    func renameGate(_ index: Int, _ name: String) {
        work { gate throws(GateError) in try gate.renamed(link: index, to: name) }
    }

    /// Links, addresses or routes changed. What could not be closed is tried again.
    func refreshGate() {
        work { gate throws(GateError) in
            try gate.linksChanged()
            for controller in controllers.values where !controller.machine.gateIsOpen {
                try gate.set(open: false, link: controller.index, name: controller.name)
            }
            withdraw("gate")
        }
    }

    private func work(_ body: (Gate) throws(GateError) -> Void) {
        guard let gate else { return }
        do throws(GateError) {
            try body(gate)
        } catch {
            showGate(error)
        }
    }

    private func showGate(_ error: GateError) {
        let hint = error == .notPermitted ? "run hotspotd as a service, or set [Policy] Gate=none" : "set [Policy] Gate=none"
        show(Problem("gate", "\(error)", hint: hint))
    }
}
