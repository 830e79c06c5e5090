import Foundation
import Testing

/// The café, run once for each mode: every line of its results is asserted.
@Suite(
    .serialized, .enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that serve in the café"))
struct CafeTests {
    private struct Line: Decodable {
        var name: String?
        var ok: Bool?
        var detail: String?
    }

    private func visit(mode: String, expected: [String]) throws {
        let scratch = try Scratch()
        let results = scratch.path + "/results.jsonl"
        let run = try Finished.run(
            Machine.checkout.appendingPathComponent("Tests/Cafe/cafe").path,
            ["--bin", Machine.release.path, "--mode", mode, "--results", results],
            environment: ProcessInfo.processInfo.environment.filter {
                ["HOTSPOTD_CAFE_CACHE", "XDG_CACHE_HOME", "CI"].contains($0.key)
            })
        print(run.output)
        if run.status == 77, !Machine.isCI {
            // It said in one line what this machine lacks.
            try Test.cancel("\(run.output.split(separator: "\n").last ?? "something is missing")")
        }
        let lines = try String(contentsOfFile: results, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        let held = lines.filter { $0.name != nil && $0.ok != nil }
        for line in held { #expect(line.ok == true, "\(line.name!): \(line.detail ?? "")") }
        for name in expected { #expect(held.contains { $0.name == name }, "\(name) was not even tried") }
        #expect(run.status == 0)
    }

    /// Above the radio, over cables, in seconds.
    @Test func overCables() throws {
        try visit(
            mode: "veth",
            expected: [
                "silent.authenticated", "silent.page", "question.answered", "question.page", "return.maintained", "logoff.states",
                "logoff.atThePortal", "wispr.storedAccount", "secrets.nowhereInTheClear",
            ])
    }

    /// Everything, with simulated radios in the virtual laptop.
    @Test func overTheAir() throws {
        try visit(
            mode: "radio",
            expected: [
                "list.names", "list.security", "list.claims", "join.states", "silent.authenticated", "silent.page",
                "question.answered",
                "question.page", "return.maintained", "return.faster", "logoff.states", "logoff.atThePortal",
                "wispr.storedAccount", "secrets.nowhereInTheClear",
            ])
    }
}
