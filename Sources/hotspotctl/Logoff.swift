import ArgumentParser
import HotspotCore

/// Ends the session at the portal.
struct Logoff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Log off from the portal.",
        discussion: "The network then rests until «login», «enable», or 12 hours have passed.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        _ = try common.connect().call("Logoff", .members(["interface": interface]))
        Output.print(["Logged off; this network rests until: hotspotctl login"])
    }
}
