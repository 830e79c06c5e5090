import HelperKit
import HotspotCore
import PageLogin

/// Logs in at gateways that speak WISPr 1.0, with user name and password.
struct WISPrHelper: Helper {
    let name = "wispr"
    let displayName = "WISPr"

    func evaluate(_ command: HelperCommand) throws -> Evaluation {
        guard let result = command.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        do throws(WISPrLogin.Unusable) {
            let portal = try WISPrLogin(command).detect(result)
            return Evaluation(.high, portal: portal, needs: WISPrLogin.fields, session: WISPrLogin.session(of: portal))
        } catch {
            return Evaluation(.none, reason: error.reason)
        }
    }

    func authenticate(_ command: HelperCommand) throws -> Reply { WISPrLogin(command).run(isTypedNow: false) }
    func presentUI(_ command: HelperCommand) throws -> Reply { WISPrLogin(command).run(isTypedNow: true) }
    func logoff(_ command: HelperCommand) throws -> Reply { PortalLogoff.run(command) }

    func maintain(_ command: HelperCommand) throws -> Reply {
        Maintenance.run(command) { try? WISPrLogin(command).detect($0) }
    }
}
