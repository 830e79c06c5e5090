import HelperKit
import HotspotCore
import PageLogin

/// Logs in to networks that announce a captive portal API (RFC 8910, RFC 8908). The API names the login page and the length of the
/// session.
struct PortalAPIHelper: Helper {
    let name = "portal-api"
    let displayName = "Portal API"

    func evaluate(_ command: HelperCommand) throws -> Evaluation {
        guard command.link.portalAPI != nil else { return Evaluation(.none, reason: "The network announces no portal API.") }
        guard let document = command.portalAPI() else {
            return Evaluation(.none, reason: "The portal API gives no usable answer.")
        }
        guard document.captive, let page = document.portalURL else {
            return Evaluation(.none, reason: "The portal API reports that the network is not captive.")
        }
        guard let inspection = login(command).inspect(at: page) else { return Evaluation(.none, reason: "cancelled") }
        guard inspection.canAct else {
            return Evaluation(
                .none, portal: inspection.portal, reason: inspection.failure?.description ?? "The portal's page contains no form."
            )
        }
        return Evaluation(.high, portal: inspection.portal, needs: inspection.needs)
    }

    func authenticate(_ command: HelperCommand) throws -> Reply { run(command, isTypedNow: false) }
    func presentUI(_ command: HelperCommand) throws -> Reply { run(command, isTypedNow: true) }
    func logoff(_ command: HelperCommand) throws -> Reply { PortalLogoff.run(command) }

    func maintain(_ command: HelperCommand) throws -> Reply {
        Maintenance.run(command) { result in
            if let page = command.portalAPI()?.portalURL { return login(command).inspect(at: page)?.portal }
            return login(command).inspect(from: result)?.portal
        }
    }

    /// Logs in at the page that the API names. If the API does not answer, or reports no captivity, uses the page that the probe
    /// found.
    private func run(_ command: HelperCommand, isTypedNow: Bool) -> Reply {
        let document = command.portalAPI()
        var reply = login(command).run(from: document.flatMap { $0.captive ? $0.portalURL : nil }, isTypedNow: isTypedNow)
        if reply.result == .success {
            reply.session?.canExtend = document?.canExtend
            reply.session?.venueURL = document?.venueURL?.text
        }
        return reply
    }

    private func login(_ command: HelperCommand) -> FormLogin { FormLogin(kind: "portal-api", command: command) }
}
