import HelperKit
import HotspotCore
import PageLogin

/// A hotspot helper: it fills in the form on the portal's page with the user's answers and sends it.
@main struct Main: Helper {
    let name = "aroma"
    let displayName = "Aroma portal"

    static func main() { HelperService([Main()], version: "1").run() }

    func filterScanList(_ networks: [Network]) -> [Annotation] {
        networks.filter { !$0.security.isSecured }
            .map { Annotation(ssidHex: $0.ssidHex, security: $0.security, confidence: .high) }
    }

    func evaluate(_ command: HelperCommand) -> Evaluation {
        guard let result = command.probe(), result.verdict == .captive, let page = login(command).inspect(from: result) else {
            return Evaluation(.none)
        }
        return Evaluation(.high, portal: page.portal, needs: page.needs)
    }

    func authenticate(_ command: HelperCommand) -> Reply { login(command).run(from: nil, isTypedNow: false) }
    func presentUI(_ command: HelperCommand) -> Reply { login(command).run(from: nil, isTypedNow: true) }
    func maintain(_ command: HelperCommand) -> Reply { Maintenance.run(command) { login(command).inspect(from: $0)?.portal } }
    func logoff(_ command: HelperCommand) -> Reply { PortalLogoff.run(command) }

    /// PageLogin handles pages, forms, terms and cookies. For requests of your own, use `command.client()`; for TCP and UDP, `command.connect` and
    /// `command.datagrams`. All of them use only this link.
    private func login(_ command: HelperCommand) -> FormLogin { FormLogin(kind: name, command: command) }
}
