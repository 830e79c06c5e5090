import HelperKit
import HotspotCore

/// Gateways that speak WISPr 1.0: user name and password, posted to the address that their redirect names.
struct WISPrHelper: Helper {
    let name = "wispr"
    let displayName = "WISPr"

    func evaluate(_ visit: Visit) throws -> Evaluation {
        guard let result = visit.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        switch WISPrLogin(visit).find(result) {
        case .found(let portal):
            return Evaluation(.high, portal: portal, needs: WISPrLogin.fields, session: WISPrLogin.session(of: portal))
        case .unusable(let reason), .absent(let reason): return Evaluation(.none, reason: reason)
        }
    }

    func authenticate(_ visit: Visit) throws -> Reply { WISPrLogin(visit).run(isTypedNow: false) }
    func presentUI(_ visit: Visit) throws -> Reply { WISPrLogin(visit).run(isTypedNow: true) }
    func logoff(_ visit: Visit) throws -> Reply { Logoff.run(visit) }

    func maintain(_ visit: Visit) throws -> Reply {
        Maintenance.run(visit) { result in
            if case .found(let portal) = WISPrLogin(visit).find(result) { portal } else { nil }
        }
    }
}
