import ArgumentParser
import ControlAPI
import HotspotCore

struct EnableVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Switch a helper or a network on again.",
        discussion: """
            A login that failed meanwhile is tried again at once. If hotspotd was leaving the network alone, for example after \
            a logoff, it no longer does.
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    func run() throws { try switches.set(true, common) }
}

struct DisableVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Switch off a helper, or hotspotd on a network.",
        discussion: "'status' and 'list --all' show switched-off networks; 'helpers' shows switched-off helpers.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    @Flag(help: "Accept a network that hotspotd does not know yet.")
    var yes = false

    func run() throws {
        if let network = switches.network, !yes { try checkNetwork(network) }
        try switches.set(false, common)
    }

    /// Throws if the network is unknown: its name may be mistyped, or belong to something else.
    private func checkNetwork(_ network: String) throws(Failure) {
        let client = try common.connect()
        do {
            _ = try client.call("History", .members(["ssid": network]))
        } catch {
            guard case .noSuchNetwork = error.refusal else { throw error }
            let yes = "hotspotctl disable --yes \(common.renderer.argument(network))"
            throw try switches.other(error, "disable", client, common.renderer)
                ?? Failure(
                    .notFound, error.message, hint: "hotspotctl list --all; for a network that you will join later: \(yes)")
        }
    }
}

struct ForgetVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget everything stored about a network: its helper, answers, accepted terms, keys and history.",
        discussion: "Switched-off networks stay off; --everything also switches them on again.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Forget all networks.")
    var everything = false

    @Argument(help: "The network as 'list' shows it, or wired:ADDRESS.", completion: Complete.networks)
    var network: String?

    func validate() throws {
        guard everything != (network != nil) else { throw ValidationError("Name a network, or use --everything.") }
        if let network { try NetworkName.validate(network) }
    }

    func run() throws {
        let client = try common.connect()
        // Reads the holds first, because forgetting a network also ends its hold.
        let status = try? client.call("Status", as: StatusReply.self)
        let held = status?.interfaces.filter { interface in
            interface.problems.contains { $0.code == .held }
                && status?.off?.contains { $0.helper == nil && $0.ssid == interface.ssid } != true
        }
        let released = "is no longer left alone; hotspotd may log in at once"
        guard let network else {
            let before = try? client.call("Credentials", as: CredentialsReply.self)
            _ = try client.call("ForgetEverything")
            let pin = before?.pin == "none" ? "" : ", and the PIN"
            let networks = (held ?? []).compactMap(\.ssid).map { "\(common.renderer.quoted($0)) \(released)." }
            return Output.print(["Forgot all networks, their history and all answers\(pin)."] + networks)
        }
        _ = try client.call("Forget", .members(["ssid": network]))
        let rest = held?.contains { $0.ssid == network } == true ? "; it \(released)" : ""
        Output.print(["Forgot \(common.renderer.quoted(network)) and its history\(rest)."])
    }
}

/// The arguments of `enable` and `disable`.
struct SwitchArguments: ParsableArguments {
    @Option(help: "Only this helper.", completion: Complete.helpers)
    var helper: String?

    @Argument(
        help: "The network as 'list' shows it, or wired:ADDRESS; without it, --helper applies to all networks.",
        completion: Complete.networks)
    var network: String?

    func validate() throws {
        guard helper != nil || network != nil else { throw ValidationError("Name a network, a helper with --helper, or both.") }
        if let network { try NetworkName.validate(network) }
    }

    /// Returns whether this switch affects any of the command's helpers and networks.
    private func concerns(_ off: SwitchedOff) -> Bool {
        guard let network else { return off.helper == helper }
        return (helper == nil || off.helper == nil || off.helper == helper)
            && (off.ssid == nil || off.ssid == NetworkName.shown(network))
    }

    /// Returns whether this switch affects all of the command's helpers and networks.
    private func isWithin(_ off: SwitchedOff) -> Bool {
        (off.helper == nil || off.helper == helper) && (off.ssid == nil || network != nil)
    }

    /// Returns the failure for a name that no network has but, for example, an interface has. The hint is the command for that.
    func other(
        _ error: Failure, _ verb: String, _ client: ControlClient, _ renderer: Renderer
    ) throws(Failure) -> Failure? {
        guard let network, case .noSuchNetwork = error.refusal else { return nil }
        var (kinds, hints): ([String], [String]) = ([], [])
        if helper == nil, try client.call("Helpers", as: HelpersReply.self).helpers.contains(where: { $0.name == network }) {
            kinds.append("a helper")
            hints.append("hotspotctl \(verb) --helper \(renderer.safe(network, limit: 64))")
        }
        let interfaces = try client.call("Status", as: StatusReply.self).interfaces
        if let status = interfaces.first(where: { $0.interface == network }) {
            kinds.append("an interface")
            if let ssid = status.ssid, !ssid.isEmpty {
                let option = helper.map { "--helper \(renderer.safe($0, limit: 64)) " } ?? ""
                hints.append("for its network: hotspotctl \(verb) \(option)\(renderer.argument(ssid))")
            }
        }
        if kinds.isEmpty { return nil }
        var failure = Failure.noSuchNetwork(network, "; that is \(kinds.joined(separator: " and "))", nearest: nil)
        if !hints.isEmpty { failure.hint = hints.joined(separator: "; ") }
        return failure
    }

    /// Returns whether the command concerns all helpers of a network in which one of them is logged in.
    private func hasSession(_ client: ControlClient) -> Bool {
        guard helper == nil, let network else { return false }
        let interfaces = (try? client.call("Status", as: StatusReply.self))?.interfaces ?? []
        return interfaces.contains {
            $0.ssid == NetworkName.shown(network) && $0.helper != nil && $0.state == StateName.authenticated.rawValue
        }
    }

    func set(_ enabled: Bool, _ common: CommonOptions) throws {
        let client = try common.connect()
        let renderer = common.renderer
        let keepsSession = !enabled && hasSession(client)
        let reply: SwitchReply
        do throws(Failure) {
            let parameters = SwitchParameters(helper: helper, ssid: network, enabled: enabled)
            reply = try ControlClient.read(SwitchReply.self, try client.call("SetEnabled", parameters))
        } catch {
            throw try other(error, enabled ? "enable" : "disable", client, renderer) ?? error
        }
        let off = enabled ? (try? client.call("Status", as: StatusReply.self))?.off?.filter(concerns) ?? [] : []
        if let whole = off.first(where: isWithin) {
            let subject = helper.map { renderer.safe($0, limit: 64) } ?? "Every helper"
            let what = whole.helper == nil ? "hotspotd is switched off there" : "it is switched off for all networks"
            throw Failure(.failed, "\(subject) stays switched off: \(what).", hint: renderer.enabling(whole))
        }
        if enabled, let helper, let reply = try? client.call("Helpers", as: HelpersReply.self),
            reply.helpers.contains(where: { $0.name == helper && !$0.enabled })
        {
            throw Failure(
                .failed, "\(renderer.safe(helper, limit: 64)) stays switched off, because of Enabled=no in its file.",
                hint: "hotspotctl helpers")
        }
        let all = off.contains { $0.helper != nil && helper == nil } ? "All other helpers are" : "All helpers are"
        let subject = helper.map { "\(renderer.safe($0, limit: 64)) is" } ?? all
        let place = network.map { " for \(renderer.quoted($0))" } ?? ""
        var lines = ["\(subject) switched \(enabled ? "on" : "off")\(place)."] + renderer.switchedOff(off)
        if keepsSession { lines.append("Its session was not ended: the portal may still keep you logged in.") }
        if reply.released == true { lines.append("The network is no longer left alone.") }
        if enabled, helper == nil, let network, let reply = try? client.call("Helpers", as: HelpersReply.self),
            reply.helpers.contains(where: { $0.name == network })
        {
            lines.append(
                "This is a network. For the helper with this name: hotspotctl enable --helper \(renderer.safe(network, limit: 64))"
            )
        }
        Output.print(lines)
    }
}

/// Names of networks as the user types them.
enum NetworkName {
    /// Returns a name in the form in which the daemon shows it.
    static func shown(_ text: String) -> String {
        NetworkID(key: text)?.label ?? SSID(printable: text)?.description ?? text
    }

    /// Rejects a malformed name as wrong usage, before contacting the daemon.
    static func validate(_ text: String) throws {
        if text.hasPrefix("wired:"), HardwareAddress(String(text.dropFirst(6))) != nil { return }
        guard let ssid = SSID(printable: text), !ssid.octets.isEmpty else {
            throw ValidationError(
                "Name a network as 'hotspotctl list' shows it: \\xNN for an octet, at most 32 octets in all.")
        }
    }
}
