import HelperKit
import HotspotCore
import PortalCatalogue

/// Logs in to portals that text files describe (docs/portals.md). It claims *high* if two independent kinds of evidence match a file.
struct CatalogueHelper: Helper {
    let name = "catalogue"
    let displayName = "Portal file"

    private static let catalogue = PortalCatalogue()

    func prepare() { Self.catalogue.prepare() }
    func evaluate(_ command: HelperCommand) throws -> Evaluation { login(command).evaluate() }
    func authenticate(_ command: HelperCommand) throws -> Reply { login(command).run(isTypedNow: false) }
    func presentUI(_ command: HelperCommand) throws -> Reply { login(command).run(isTypedNow: true) }
    func maintain(_ command: HelperCommand) throws -> Reply { login(command).maintain() }
    func logoff(_ command: HelperCommand) throws -> Reply { login(command).logoff() }

    private func login(_ command: HelperCommand) -> PortalLogin {
        PortalLogin(command, portals: Self.catalogue)
    }
}
