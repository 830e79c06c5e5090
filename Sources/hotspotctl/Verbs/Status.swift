import ArgumentParser
import ControlAPI
import ForeignText
import HotspotCore

struct StatusVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show every interface: its state, its problems, its session.")

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Show the known facts about each link, and their sources.")
    var verbose = false

    func run() throws {
        let client = try common.connect()
        let reply = try client.call("Status")
        if let mode = common.jsonMode { return Output.print(reply, mode) }
        let status = try ControlClient.read(StatusReply.self, reply)
        // If the display names cannot be read, the helpers' names are shown.
        let helpers = (try? client.call("Helpers", as: HelpersReply.self))?.helpers ?? []
        let names = Dictionary(helpers.map { ($0.name, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        Output.print(common.renderer.lines(status, helperNames: names, verbose: verbose))
    }
}

extension InterfaceStatus {
    /// Whether the network opened without a helper's login, for example after a login in a browser.
    var wasOpened: Bool { outcome == AttemptOutcome.opened.rawValue && captive == false }
}

extension Renderer {
    func lines(_ status: StatusReply, helperNames: [String: String] = [:], verbose: Bool = false) -> [String] {
        let own = (status.problems ?? []).flatMap(self.lines)
        let off = switchedOff(status.off ?? [], helperNames)
        guard !status.interfaces.isEmpty else {
            return ["hotspotd is running, but has no interface to watch."] + own + off
        }
        let width = status.interfaces.map { Self.width(safe($0.interface)) }.max() ?? 0
        let withheld = status.withheld == true ? ["Only these users may see names and portals: \(Self.permitted)."] : []
        let interfaces = status.interfaces.flatMap { interface in
            lines(interface, among: status.interfaces, helperNames, width) + (verbose ? details(interface) : [])
        }
        return own + interfaces + more(status.omitted, "interfaces") + off
            + withheld
    }

    private func lines(
        _ status: InterfaceStatus, among all: [InterfaceStatus], _ helperNames: [String: String], _ width: Int
    ) -> [String] {
        func named(_ command: String) -> String { self.command(command, for: status, among: all) }
        let (sign, tone, words) = condition(status)
        let interface = safe(status.interface, limit: 32)
        let padding = String(repeating: " ", count: max(0, width - Self.width(interface)))
        var first = "\(self.tone(sign, tone)) \(interface)\(padding)  \(self.tone(words, tone))"
        if let text = sentence(status, helperNames) { first += "  " + text }
        var lines = [first]
        if let moment = status.nextLogin { lines.append("  \(tries(at: moment)); to start now: \(named("hotspotctl login"))") }
        // The line above already reports the pause.
        lines += status.problems.filter { status.nextLogin == nil || $0.code != .loginPaused }
            .flatMap { self.lines(Problem($0.code, $0.message, hint: $0.hint.map(named))) }
        if let warning = status.warning { lines.append("  \(self.tone("!", .bad)) \(safe(warning, limit: 600))") }
        if let reason = status.reason { lines.append("  \(bar) \(safe(reason))") }
        if status.prompt != nil {
            if status.warning != nil { lines.append("  to leave it alone: \(named("hotspotctl answer --dismiss"))") }
            lines.append(
                status.handsOver == true
                    ? "  \(entry(status.warning)): \(named("hotspotctl browse"))" : "  to answer: \(named("hotspotctl answer"))")
        }
        var details: [String] = []
        if let portal = status.portal { details.append("portal \(origin(portal))") }
        if let moment = status.nextMaintain, moment > 0 {
            details.append("next check at \(clock(moment))")
        }
        if !details.isEmpty { lines.append("  " + details.joined(separator: ", ")) }
        return lines
    }

    /// Returns the known facts about a link, each with its source.
    private func details(_ status: InterfaceStatus) -> [String] {
        let manager = status.manager.map { ["  managed by \(safe($0, limit: 64))"] } ?? []
        guard let link = status.link else { return manager }
        func line(_ name: String, _ values: [String], from source: String?) -> [String] {
            let words = values.map { safe($0, limit: 300) }.joined(separator: ", ")
            return values.isEmpty ? [] : ["  \(name) \(words)" + (source.map { " (from \(safe($0, limit: 64)))" } ?? "")]
        }
        return manager + line("address", link.addresses, from: nil) + line("gateway", link.gateways, from: nil)
            + line("resolvers", link.nameservers, from: link.nameserversFrom)
            + line("portal API", link.portalAPI.map { [$0] } ?? [], from: link.portalAPIFrom)
    }

    /// Returns the command; if there are several interfaces, with the name of this interface.
    func command(_ command: String, for status: InterfaceStatus, among all: [InterfaceStatus]) -> String {
        guard all.count > 1 else { return command }
        switch command {
        case "hotspotctl answer", "hotspotctl answer --dismiss",
            "hotspotctl login", "hotspotctl login --wait", "hotspotctl logoff", "hotspotctl browse",
            "hotspotctl check", "hotspotctl check --verbose", "hotspotctl explain":
            return "\(command) \(argument(status.interface))"
        default: return command
        }
    }

    /// Returns when an automatic login starts, or is tried again.
    func tries(at moment: Int) -> String {
        let isSoon = moment.subtractingReportingOverflow(now).partialValue < 120_000
        return "tries again at \(clock(moment, seconds: isSoon))"
    }

    private func sentence(_ status: InterfaceStatus, _ helperNames: [String: String]) -> String? {
        guard let ssid = status.ssid else { return nil }
        var text = ssid.isEmpty ? "wired" : quoted(ssid)
        if let helper = status.helper {
            text +=
                status.wasOpened
                ? ", open without a helper's login"
                : " via " + (portalName(status.portalKind, by: helper) ?? helperName(helper, helperNames))
        } else if status.state == StateName.authenticated.rawValue, status.captive == false {
            text +=
                status.outcome == AttemptOutcome.found.rawValue
                ? ", already open when hotspotd started"
                : status.portal == nil ? ", no login needed" : ", open without a helper's login"
        }
        if let seconds = status.secondsRemaining { text += ", \(duration(seconds: seconds)) left" }
        if let octets = status.bytesRemaining { text += ", \(self.octets(octets)) left" }
        return text
    }

    /// Returns the name that a portal file gives to the portal where this helper logged in.
    func portalName(_ kind: String?, by helper: String) -> String? {
        portals.name(of: kind, by: helper).map { safe($0, limit: 64) }
    }

    private func helperName(_ helper: String, _ names: [String: String]) -> String { safe(names[helper] ?? helper, limit: 64) }

    /// Returns a name as the last argument of a command that people copy.
    func argument(_ name: String) -> String { ShellWord.argument(name) ?? safe(name, limit: 128) }

    /// Returns the helpers and networks that the user switched off, each with the command that switches it on.
    func switchedOff(_ all: [SwitchedOff], _ helperNames: [String: String] = [:]) -> [String] {
        all.map { off in
            let helper = off.helper.map { helperName($0, helperNames) } ?? "all helpers"
            return "Switched off: \(helper)\(off.ssid.map { " for \(quoted($0))" } ?? ""); to switch on: \(enabling(off))"
        }
    }

    /// Returns the command that switches a helper or network on.
    func enabling(_ off: SwitchedOff) -> String {
        "hotspotctl enable" + (off.helper.map { " --helper \(safe($0, limit: 64))" } ?? "")
            + (off.ssid.map { " \(argument($0))" } ?? "")
    }
}
