import NetworkJoining
import EventLoop
import HotspotCore
import Wireless

/// Joining and leaving networks through the program that manages an interface.
extension LinkManager {
    /// The longest search for a network that is not in the list.
    private static let scanPatience = Duration.seconds(8)

    func interface(_ index: Int) -> ManagedInterface? { managed[index]?.controller?.interface }

    /// Finds the program that manages an interface, and keeps its name to show it to people.
    func findManager(of controller: InterfaceController, _ done: @escaping () -> Void = {}) {
        associations.findManager(of: controller.interface) { [weak self] manager in
            defer { done() }
            guard let link = self?.managed[controller.index], link.manager != manager else { return }
            link.manager = manager
            self?.services.events?.statusChanged()
        }
    }

    /// Ends the link through the program that manages it (D19).
    ///
    /// - Parameter ssid: the network that is not joined automatically for this duration, or, without a duration, until its hold is released.
    func disassociate(_ index: Int, keepingAway ssid: SSID?, for duration: Duration?) -> Bool {
        guard let interface = interface(index), association(of: index) != nil else { return false }
        let ending = ssid.map { Ending.staysAway($0, for: duration) } ?? .mayReturn
        associations.end(interface, ending) { [weak self] error in
            guard let error, let controller = self?.managed[index]?.controller else { return }
            let problem = error.problem
            controller.problems.report(
                Problem(
                    .linkKept, "hotspotd cannot leave the network. " + problem.message,
                    hint: "leave the network by hand, or set [Policy] OnFailure=keep"))
            controller.feed(.disassociationRefused)
        }
        return true
    }

    /// Makes the radios scan, and calls back when a scan ends, or after ``scanPatience``.
    func lookAround(_ indices: [Int], _ done: @escaping () -> Void) {
        var isOver = false
        let finish = {
            guard !isOver else { return }
            isOver = true
            done()
        }
        onScan.append(finish)
        EventLoop.shared.later(Self.scanPatience, finish)
        // Ignore errors: a radio that is already scanning reports the end of that scan.
        for index in indices { try? scan(on: index) }
    }

    func scanEnded() {
        let waiting = onScan
        onScan = []
        for done in waiting { done() }
    }
}

extension InterfaceController {
    var interface: ManagedInterface { ManagedInterface(index: index, name: name) }
}
