import ArgumentParser
import ControlAPI
import HotspotCore

/// All about helpers; without a further word, which are installed.
struct Helpers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the helpers that are installed; write and test one's own.",
        subcommands: [HelpersList.self, HelpersNew.self, HelpersTest.self], defaultSubcommand: HelpersList.self)
}

/// The helpers that are installed, and how they do.
struct HelpersList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the helpers that are installed.")

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Everything that is known of each.")
    var verbose = false

    func run() throws {
        let reply = try common.connect().call("Helpers")
        if let mode = common.jsonMode { return Output.print(reply, mode) }
        Output.print(common.renderer.lines(try Daemon.read(HelpersReply.self, reply), verbose: verbose))
    }
}

extension Renderer {
    func lines(_ reply: HelpersReply, verbose: Bool) -> [String] {
        guard !reply.helpers.isEmpty else { return ["No helper is installed."] }
        let more = more(reply.omitted, "helpers")
        if verbose { return Array((reply.helpers.map(details) + (more.isEmpty ? [] : [more])).joined(separator: [""])) }
        let lines = table(
            ["NAME", "TITLE", "STATE", "PRIORITY", "NETWORKS"],
            reply.helpers.map {
                // Of a file that was refused nothing is known but its path.
                $0.isRefused
                    ? [safe($0.name), nothing, state($0), nothing, nothing]
                    : [safe($0.name, limit: 64), safe($0.displayName, limit: 64), state($0), "\($0.priority)", networks($0)]
            })
        return lines
            + reply.helpers.flatMap { helper in
                // The sentence about a file that was refused names it already.
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

    /// The first names of a list, and how many more there are.
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
            "hears of",
            helper.ssids.isEmpty
                ? helper.scanList == true ? "every network in sight" : "the network that is joined" : "its networks alone")
        if let file = helper.file { add("file", safe(file)) }
        func words(_ list: [String]) -> String { list.map { safe($0, limit: 200) }.joined(separator: ", ") }
        if let kept = helper.containment, !kept.isEmpty { add("kept in its place by", words(kept)) }
        if let missing = helper.missing, !missing.isEmpty { add("not to be had here", words(missing)) }
        if !helper.disabledFor.isEmpty {
            add("switched off for", names(helper.disabledFor.map(name), .max, more: helper.moreDisabledFor))
        }
        for given in (helper.given ?? []).prefix(5) { add("was told of", told(given)) }
        return lines
    }

    private func told(_ given: DisclosedNetworks) -> String {
        let names = given.networks.prefix(3).map { safe($0, limit: 128) }.joined(separator: "; ")
        let rest = given.count > 3 ? "; and \(given.count - 3) more" : ""
        let what = given.scanList ? "networks in sight: " : ""
        return "\(what)\(names)\(rest), \(ago(given.at))" + (given.credential ? ", with stored answers" : "")
    }
}
