import Foundation
import HotspotCore
import Testing

/// `hotspotctl report` and `doctor` of the built daemon.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct ReportProcessTests {
    private func ctl(_ daemon: CabledDaemon, _ words: String...) throws -> Finished {
        let tool = Machine.release.appendingPathComponent("hotspotctl").path
        return try Finished.run(
            "/usr/bin/nsenter", daemon.inside + [tool] + words + ["--socket", daemon.socket],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "USER": "erika"])
    }

    @Test func aReportAfterALoginHasNothingPrivate() throws {
        let canary = "canary-4711"
        let trace =
            "POST http://portal.lindenhof.example/in?sid=9f86d081884c7d65 → 302; \(canary), 9f86d081884c7d65 from 192.0.1.2"
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: [
                "Authenticate": RulesProcessTests.asks,
                "PresentUI": [
                    "portal": ["origin": "http://portal.lindenhof.example", "kind": "form"], "trace": [.string(trace)],
                    "reason": "Dear Mrs Brandt, enjoy your stay.",
                ],
            ])
        try daemon.plug("hot1", 1)
        var id = ""
        try daemon.eventually("there is a prompt") {
            id = try daemon.prompts().first?["id"]?.string ?? ""
            return !id.isEmpty
        }
        let asked = try ctl(daemon, "doctor")
        #expect(asked.status == 1 && asked.output.hasSuffix("try: hotspotctl answer\n"), "\(asked.output)")
        try daemon.call("Answer", ["id": .string(id), "answers": ["room": .string(canary)], "remember": false])
        try daemon.wait("hot1", "authenticated")
        // The story contains the words that the report has to leave out.
        let story = "\(try daemon.call("Explain"))"
        #expect(story.contains("portal.lindenhof.example") && story.contains("192.0.1.2"), "\(story)")
        let report = try ctl(daemon, "report", "-", "--settings", daemon.scratch.path + "/hotspotd.conf")
        #expect(report.status == 0 && report.output.contains("POST http://<host 1>/… → 302"), "\(report.output)")
        #expect(report.output.contains("TimeoutSec=120") && report.output.contains("clerk"), "\(report.output)")
        for secret in [canary, "lindenhof", "9f86d081884c7d65", "192.0.1.", "02:00:00:00", "Brandt", "erika", "192.0.2.53"] {
            #expect(!report.output.contains(secret), "\(secret) in \(report.output)")
        }
    }
}
