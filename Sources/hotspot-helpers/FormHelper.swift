import HelperKit
import HotspotCore
import PageLogin

/// Logs in to any captive network whose page has a button to continue, a box for the terms, or a form. It claims *low*, so that a helper that
/// knows the portal is preferred.
struct FormHelper: Helper {
    let name = "form"
    let displayName = "Portal form"

    func evaluate(_ command: HelperCommand) throws -> Evaluation {
        guard let result = command.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        guard let page = login(command).inspect(from: result) else { return Evaluation(.none, reason: "cancelled") }
        return Evaluation(.low, portal: page.portal, needs: page.needs, reason: page.failure?.description)
    }

    func authenticate(_ command: HelperCommand) throws -> Reply { login(command).run(from: nil, isTypedNow: false) }
    func presentUI(_ command: HelperCommand) throws -> Reply { login(command).run(from: nil, isTypedNow: true) }
    func logoff(_ command: HelperCommand) throws -> Reply { PortalLogoff.run(command) }

    func maintain(_ command: HelperCommand) throws -> Reply {
        Maintenance.run(command) { login(command).inspect(from: $0)?.portal }
    }

    private func login(_ command: HelperCommand) -> FormLogin { FormLogin(kind: "form", command: command) }
}
