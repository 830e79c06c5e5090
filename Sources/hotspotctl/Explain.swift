import ArgumentParser
import ControlAPI
import HotspotCore

/// What happened, and why.
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what happened the last time, step by step, and why.")

    @OptionGroup var common: CommonOptions

    @Option(help: "This attempt, as «history» names it.")
    var attempt: String?

    @Argument(help: "An interface or a network; without it the last attempt of all.", completion: Complete.networks)
    var what: String?

    func run() throws {
        let daemon = try common.connect()
        var parameters: [String: String?] = ["attempt": attempt]
        if let what {
            let interfaces = try daemon.call("Status", as: StatusReply.self).interfaces
            parameters[interfaces.contains { $0.interface == what } ? "interface" : "ssid"] = what
        }
        let reply = try daemon.call("Explain", .members(parameters))
        if let mode = common.jsonMode { return Output.print(reply, mode) }
        Output.print(common.renderer.lines(try Daemon.read(ExplainReply.self, reply)))
    }
}

extension Renderer {
    func lines(_ story: ExplainReply) -> [String] {
        guard !story.steps.isEmpty else {
            return [story.verdict.isEmpty ? "Nothing happened yet." : safe(story.verdict, limit: 8192)]
        }
        let offsets = story.steps.map { offset($0.at) }
        let width = offsets.map(\.count).max() ?? 0
        var lines: [String] = []
        if let first = story.steps[0].time {
            lines.append(tone("Began at \(clock(first, seconds: true)), \(ago(first)).", .faint))
        }
        for (step, offset) in zip(story.steps, offsets) {
            lines.append("  \(String(repeating: " ", count: width - offset.count))\(offset) s  \(line(step))")
        }
        if !story.verdict.isEmpty { lines.append(safe(story.verdict, limit: 8192)) }
        return lines
    }
}
