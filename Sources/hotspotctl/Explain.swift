import ArgumentParser
import ControlAPI
import HotspotCore

struct ExplainVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show what happened at the last login, step by step, and why.")

    @OptionGroup var common: CommonOptions

    @Option(help: "This attempt, as 'history' names it.")
    var attempt: String?

    @Argument(help: "An interface or a network; without it the last attempt.", completion: Complete.networks)
    var subject: String?

    func run() throws {
        let client = try common.connect()
        var parameters: [String: String?] = ["attempt": attempt]
        if let subject {
            let interfaces = try client.call("Status", as: StatusReply.self).interfaces
            parameters[interfaces.contains { $0.interface == subject } ? "interface" : "ssid"] = subject
        }
        try common.show(try client.call("Explain", .members(parameters))) { (renderer, story: ExplainReply) in
            renderer.lines(story)
        }
    }
}

extension Renderer {
    func lines(_ story: ExplainReply) -> [String] {
        guard !story.steps.isEmpty else {
            return [story.verdict.isEmpty ? "Nothing has happened yet." : safe(story.verdict, limit: 8192)]
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
