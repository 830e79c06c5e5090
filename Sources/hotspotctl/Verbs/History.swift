import ArgumentParser
import ControlAPI
import HotspotCore

struct HistoryVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show past attempts, newest first.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "Only this network or interface.", completion: Complete.networks)
    var subject: String?

    @Option(
        name: .long, help: "Show only attempts before the attempt with this ID. A page shows 200; hotspotd keeps at most 1,000.")
    var before: String?

    func run() throws {
        let client = try common.connect()
        var parameters = try client.place(subject)
        parameters["before"] = before
        try common.show(try client.call("History", .members(parameters))) { (renderer, reply: HistoryReply) in
            renderer.lines(reply, before: before)
        }
    }
}

extension Renderer {
    func lines(_ reply: HistoryReply, before: String? = nil) -> [String] {
        guard let oldest = reply.attempts.last else {
            return [before == nil ? "No attempts are recorded." : "No earlier attempts are recorded."]
        }
        let lines = table(
            [
                Column(heading: "WHEN", least: 8), Column(heading: "INTERFACE", leaves: 2), Column(heading: "NETWORK"),
                Column(heading: "HELPER", least: 6, leaves: 4), Column(heading: "OUTCOME"), Column(heading: "TOOK", leaves: 1),
                // People copy the ID, so the column is shown whole or not at all.
                Column(heading: "ATTEMPT", leaves: 3),
            ],
            reply.attempts.map { attempt in
                let took = attempt.ended.map {
                    tenths(Double($0.subtractingReportingOverflow(attempt.began).partialValue) / 1000)
                }
                return [
                    ago(attempt.began), safe(attempt.interface, limit: 32), name(attempt.ssid),
                    attempt.helper.map { portalName(attempt.portalKind, by: $0) ?? safe($0, limit: 64) } ?? nothing,
                    outcome(attempt.outcome), took ?? nothing,
                    safe(attempt.id, limit: 64),
                ]
            })
        guard reply.more == true else { return lines }
        return lines + ["Older attempts: hotspotctl history --before=\(safe(oldest.id, limit: 64))"]
    }
}
