import HelperKit
import HotspotCore

/// Networks that announce a captive portal API (RFC 8910, RFC 8908): the API tells where the page is and how long a session lasts.
struct PortalAPIHelper: Helper {
    let name = "portal-api"
    let displayName = "Portal API"

    func evaluate(_ visit: Visit) throws -> Evaluation {
        guard visit.link.portalAPI != nil else { return Evaluation(.none, reason: "The network announces no portal API.") }
        guard let document = visit.portalAPI() else { return Evaluation(.none, reason: "The portal API gives no usable answer.") }
        guard document.captive, let page = document.portalURL else {
            return Evaluation(.none, reason: "The portal API says: not captive.")
        }
        guard let finding = login(visit).look(at: page) else { return Evaluation(.none, reason: "cancelled") }
        guard finding.canAct else {
            return Evaluation(
                .none, portal: finding.portal, reason: finding.failure?.description ?? "The portal's page has no form.")
        }
        return Evaluation(.high, portal: finding.portal, needs: finding.needs)
    }

    func authenticate(_ visit: Visit) throws -> Reply { run(visit, isTypedNow: false) }
    func presentUI(_ visit: Visit) throws -> Reply { run(visit, isTypedNow: true) }
    func logoff(_ visit: Visit) throws -> Reply { Logoff.run(visit) }

    func maintain(_ visit: Visit) throws -> Reply {
        Maintenance.run(visit) { result in
            if let page = visit.portalAPI()?.portalURL { return login(visit).look(at: page)?.portal }
            return login(visit).look(from: result)?.portal
        }
    }

    /// Without a word from the API, the way over the probe is as good.
    private func run(_ visit: Visit, isTypedNow: Bool) -> Reply {
        let document = visit.portalAPI()
        var reply = login(visit).run(from: document.flatMap { $0.captive ? $0.portalURL : nil }, isTypedNow: isTypedNow)
        if reply.result == .success {
            reply.session?.canExtend = document?.canExtend
            reply.session?.venueURL = document?.venueURL?.text
        }
        return reply
    }

    private func login(_ visit: Visit) -> FormLogin { FormLogin(kind: "portal-api", visit: visit) }
}
