import HelperKit
import HotspotCore

/// Any captive network with a page: a button to continue, a box for the terms, a form. It claims low, so that whoever knows the
/// portal better goes first.
struct FormHelper: Helper {
    let name = "form"
    let displayName = "Portal form"

    func evaluate(_ visit: Visit) throws -> Evaluation {
        guard let result = visit.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        guard let finding = login(visit).look(from: result) else { return Evaluation(.none, reason: "cancelled") }
        return Evaluation(.low, portal: finding.portal, needs: finding.needs, reason: finding.failure?.description)
    }

    func authenticate(_ visit: Visit) throws -> Reply { login(visit).run(from: nil, isTypedNow: false) }
    func presentUI(_ visit: Visit) throws -> Reply { login(visit).run(from: nil, isTypedNow: true) }
    func logoff(_ visit: Visit) throws -> Reply { Logoff.run(visit) }

    func maintain(_ visit: Visit) throws -> Reply {
        Maintenance.run(visit) { login(visit).look(from: $0)?.portal }
    }

    private func login(_ visit: Visit) -> FormLogin { FormLogin(kind: "form", visit: visit) }
}
