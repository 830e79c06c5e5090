import ArgumentParser
import ControlAPI
import HotspotCore

struct EnableVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Switch a helper or a network on again.",
        discussion: "Also releases a network that is held after a failure.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    func run() throws { try switches.set(true, common) }
}

struct DisableVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Switch a helper off, or leave a network alone.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    func run() throws { try switches.set(false, common) }
}

struct ForgetVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget everything stored about a network: its helper, answers, accepted terms and keys.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The network as 'list' shows it, or wired:ADDRESS.", completion: Complete.networks)
    var network: String

    func validate() throws { try NetworkName.validate(network) }

    func run() throws {
        _ = try common.connect().call("Forget", .members(["ssid": network]))
        Output.print(["Forgot \(common.renderer.name(network))."])
    }
}

/// The arguments of `enable` and `disable`.
struct SwitchArguments: ParsableArguments {
    @Option(help: "Only this helper.", completion: Complete.helpers)
    var helper: String?

    @Argument(help: "The network as 'list' shows it, or wired:ADDRESS; without it every network.", completion: Complete.networks)
    var network: String?

    func validate() throws {
        guard helper != nil || network != nil else { throw ValidationError("Name a network, a helper with --helper, or both.") }
        if let network { try NetworkName.validate(network) }
    }

    func set(_ enabled: Bool, _ common: CommonOptions) throws {
        var members = JSONValue.members(["helper": helper, "ssid": network]).object ?? [:]
        members["enabled"] = .bool(enabled)
        let client = try common.connect()
        _ = try client.call("SetEnabled", .object(members))
        let renderer = common.renderer
        let subject = helper.map { "\(renderer.safe($0, limit: 64)) is" } ?? "All helpers are"
        let place = network.map { " for \(renderer.name($0))" } ?? ""
        var lines = ["\(subject) switched \(enabled ? "on" : "off")\(place)."]
        if helper == nil, let network, let reply = try? client.call("Helpers", as: HelpersReply.self),
            reply.helpers.contains(where: { $0.name == network })
        {
            let verb = enabled ? "enable" : "disable"
            lines.append(
                "This is a network. The helper of that name: hotspotctl \(verb) --helper \(renderer.safe(network, limit: 64))")
        }
        Output.print(lines)
    }
}

/// Names of networks as the user types them.
enum NetworkName {
    /// Rejects a malformed name as wrong usage, before the daemon is asked anything.
    static func validate(_ text: String) throws {
        if text.hasPrefix("wired:"), HardwareAddress(String(text.dropFirst(6))) != nil { return }
        guard let ssid = SSID(printable: text), !ssid.octets.isEmpty else {
            throw ValidationError(
                "Name a network as 'hotspotctl list' shows it: \\xNN for an octet, at most 32 octets in all.")
        }
    }
}
