import ArgumentParser
import ControlAPI
import HotspotCore

struct HelpersVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "helpers", abstract: "Show the installed helpers; write and test your own.",
        subcommands: [HelpersList.self, HelpersNew.self, HelpersTest.self], defaultSubcommand: HelpersList.self)
}

struct HelpersList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the installed helpers.")

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Show everything known about each helper.")
    var verbose = false

    func run() throws {
        let client = try common.connect()
        let reply = try client.call("Helpers")
        try common.show(reply) { (renderer, reply: HelpersReply) in
            // A problem that prevents all helpers from starting is shown once, with the command that helps.
            let problems = (try? client.call("Status", as: StatusReply.self))?.problems ?? []
            return problems.filter { $0.code == .sandboxUnavailable }.flatMap(renderer.lines)
                + renderer.lines(reply, verbose: verbose)
        }
    }
}

extension Renderer {
    func lines(_ reply: HelpersReply, verbose: Bool) -> [String] {
        guard !reply.helpers.isEmpty else { return ["No helper is installed."] }
        let more = more(reply.omitted, "helpers")
        if verbose { return Array((reply.helpers.map(details) + (more.isEmpty ? [] : [more])).joined(separator: [""])) }
        let lines = table(
            [
                Column(heading: "NAME"), Column(heading: "TITLE", least: 8, leaves: 2), Column(heading: "STATE"),
                Column(heading: "PRIORITY", leaves: 1), Column(heading: "NETWORKS", least: 8),
            ],
            reply.helpers.map {
                // Shows only the path of a refused file, because nothing else is known.
                $0.isRefused
                    ? [safe($0.name), nothing, state($0), nothing, nothing]
                    : [safe($0.name, limit: 64), safe($0.displayName, limit: 64), state($0), "\($0.priority)", networks($0)]
            })
        let off = reply.helpers.filter { !$0.disabledFor.isEmpty }.map {
            "  \(safe($0.name, limit: 64)) is off for: \(names($0.disabledFor.map(quoted), 8, more: $0.moreDisabledFor))"
        }
        return lines + off
            + reply.helpers.flatMap { helper in
                // The sentence about a refused file already contains its path.
                let owner = helper.isRefused ? nil : helper.name
                return helper.problems.flatMap { self.lines($0, of: owner) }
            } + more
    }

    private func state(_ helper: HelperStatus) -> String {
        if helper.isRefused { return tone("broken", .bad) }
        if !helper.enabled { return "off" }
        if helper.quarantined { return tone("quarantined", .bad) }
        return helper.running ? tone("running", .good) : "ready"
    }

    private func networks(_ helper: HelperStatus) -> String {
        helper.ssids.isEmpty ? "any" : names(helper.ssids, 3, more: helper.moreSSIDs)
    }

    /// Returns the first names of a list, and the number of further names.
    private func names(_ all: [String], _ limit: Int, more: Int?) -> String {
        let rest = max(0, all.count - limit) + max(0, more ?? 0)
        return (all.prefix(limit).map { safe($0, limit: 256) } + (rest > 0 ? ["+\(rest)"] : [])).joined(separator: "; ")
    }

    private func details(_ helper: HelperStatus) -> [String] {
        let title = helper.isRefused ? "" : ": \(safe(helper.displayName, limit: 64))"
        var lines = [tone(safe(helper.name, limit: helper.isRefused ? 1024 : 64), .strong) + title]
        lines += helper.problems.flatMap(self.lines)
        func add(_ label: String, _ value: String) { lines.append("  \(label): \(value)") }
        add("state", state(helper))
        if helper.isRefused { return lines }
        if helper.strikes > 0 { add("missed deadlines or crashes in a row", "\(helper.strikes)") }
        if let version = helper.version { add("version", safe(version, limit: 64)) }
        add("reached by", safe(helper.activation, limit: 16))
        add("priority", "\(helper.priority)")
        add("networks", helper.ssids.isEmpty ? "any" : names(helper.ssids, .max, more: helper.moreSSIDs))
        add(
            "may see",
            helper.ssids.isEmpty
                ? helper.scanList == true ? "every network in sight" : "the joined network" : "its networks only")
        if let file = helper.file { add("file", safe(file)) }
        if let reasons = helper.missing, !reasons.isEmpty {
            add("sandbox", "no: " + reasons.map { safe($0, limit: 200) }.joined(separator: ", "))
        } else if helper.containment?.isEmpty == false {
            add("sandbox", "yes")
        }
        if let browser = helper.browser {
            add("browser for scripts", browser.isEmpty ? "none is installed (apt install chromium)" : safe(browser))
        }
        if !helper.disabledFor.isEmpty {
            add("switched off for", names(helper.disabledFor.map(quoted), .max, more: helper.moreDisabledFor))
        }
        let given = helper.given ?? []
        for networks in given.prefix(5) { add("received since hotspotd started", disclosure(networks)) }
        if given.count > 5 {
            add("received as well", "\(given.count - 5) more, recorded with each attempt: hotspotctl history")
        }
        return lines
    }

    private func disclosure(_ disclosed: DisclosedNetworks) -> String {
        let names = disclosed.networks.prefix(3).map { safe($0, limit: 128) }.joined(separator: "; ")
        let rest = disclosed.count > 3 ? "; and \(disclosed.count - 3) more" : ""
        let what = disclosed.scanList ? "networks in sight: " : ""
        return "\(what)\(names)\(rest), \(ago(disclosed.at))"
            + (disclosed.credential ? "; with stored answers, then or earlier" : "")
    }
}
