import ControlAPI
import HotspotCore

extension DaemonBackend {
    func browse(interface: String?, anyway: Bool) throws(ControlError) -> BrowseReply {
        let controller = try require(interface) { $0.desk.prompt != nil || $0.machine.state.isCaptive == true }
        if controller.machine.gateIsOpen, controller.machine.state.joined?.lastVerdict?.isOpen == true {
            throw .failed(
                code: .alreadyOnline,
                message: "\(controller.name) is already online; to check it: hotspotctl check \(controller.name)")
        }
        if !anyway, let warning = controller.warning { throw .suspiciousPortal(warning: warning) }
        if controller.desk.prompt?.helper != BrowseReply.helper {
            _ = try login(interface: controller.name, helper: BrowseReply.helper, fresh: true)
        }
        guard let link = controller.link else { throw wrongState(controller) }
        // Start at the probe's address, which a gateway redirects with fresh tokens. A gateway with an API may not redirect; start at the portal's
        // page then.
        let page = link.portalAPI == nil ? nil : controller.prober.portalPage
        return BrowseReply(
            interface: controller.name, start: page ?? link.probeURL ?? Link.usualProbe.url, addresses: link.addresses,
            gateways: link.gateways, nameservers: link.nameservers)
    }
}
