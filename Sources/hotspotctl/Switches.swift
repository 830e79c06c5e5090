import ArgumentParser
import ControlAPI
import HotspotCore

/// What «enable» and «disable» take.
struct SwitchArguments: ParsableArguments {
    @Option(help: "Only this helper.", completion: Complete.helpers)
    var helper: String?

    @Argument(help: "The network as «list» shows it, or wired:ADDRESS; without it every network.", completion: Complete.networks)
    var network: String?

    func validate() throws {
        guard helper != nil || network != nil else { throw ValidationError("Name a network, a helper with --helper, or both.") }
        if let network { try NetworkName.validate(network) }
    }

    func set(_ enabled: Bool, _ common: CommonOptions) throws {
        var members = JSONValue.members(["helper": helper, "ssid": network]).object ?? [:]
        members["enabled"] = .bool(enabled)
        let connection = try common.connect()
        _ = try connection.call("SetEnabled", .object(members))
        let renderer = common.renderer
        let who = helper.map { "\(renderer.safe($0, limit: 64)) is" } ?? "All helpers are"
        let place = network.map { " for \(renderer.name($0))" } ?? ""
        var lines = ["\(who) switched \(enabled ? "on" : "off")\(place)."]
        if helper == nil, let network, let reply = try? connection.call("Helpers"),
            let known = try? Daemon.read(HelpersReply.self, reply), known.helpers.contains(where: { $0.name == network })
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
    /// A malformed one is a wrong usage, said before anything is asked of the daemon.
    static func validate(_ text: String) throws {
        if text.hasPrefix("wired:"), HardwareAddress(String(text.dropFirst(6))) != nil { return }
        guard let ssid = SSID(printable: text), !ssid.octets.isEmpty else {
            throw ValidationError(
                "A network is named as «hotspotctl list» shows it: \\xNN for an octet, at most 32 octets in all.")
        }
    }
}
