import ArgumentParser
import ControlAPI
import HotspotCore

struct HistoryVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show past attempts, newest first.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "Only this network.", completion: Complete.networks)
    var network: String?

    @Option(name: .long, help: "Only attempts before this one; a page has 200, and at most 1,000 are kept.")
    var before: String?

    func run() throws {
        let reply = try common.connect().call("History", .members(["ssid": network, "before": before]))
        try common.show(reply) { (renderer, reply: HistoryReply) in renderer.lines(reply) }
    }
}

extension Renderer {
    func lines(_ reply: HistoryReply) -> [String] {
        guard let oldest = reply.attempts.last else { return ["Nothing has happened yet."] }
        let lines = table(
            ["WHEN", "INTERFACE", "NETWORK", "HELPER", "OUTCOME", "TOOK", "ATTEMPT"],
            reply.attempts.map { attempt in
                let took = attempt.ended.map {
                    tenths(Double($0.subtractingReportingOverflow(attempt.began).partialValue) / 1000)
                }
                return [
                    ago(attempt.began), safe(attempt.interface, limit: 32), name(attempt.ssid),
                    attempt.helper.map { safe($0, limit: 64) } ?? nothing, safe(attempt.outcome, limit: 100), took ?? nothing,
                    safe(attempt.id, limit: 64),
                ]
            })
        guard reply.more == true else { return lines }
        return lines + ["Older attempts: hotspotctl history --before=\(safe(oldest.id, limit: 64))"]
    }
}
