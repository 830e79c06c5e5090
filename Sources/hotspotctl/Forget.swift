import ArgumentParser
import HotspotCore

/// Forgets a network.
struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget what is remembered of a network: choice, answers, consent, pins.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The network as «list» shows it, or wired:ADDRESS.", completion: Complete.networks)
    var network: String

    func validate() throws { try NetworkName.validate(network) }

    func run() throws {
        _ = try common.connect().call("Forget", .members(["ssid": network]))
        Output.print(["Forgot \(common.renderer.name(network))."])
    }
}
