import Foundation
import Testing

/// The portals of `Tests/Portals/scripted`, which need a browser, each played with the built helpers and the real Chromium.
@Suite(
    .enabled(
        if: Machine.runs(Machine.hasRelease && Machine.has("chromium")),
        "make build makes the release binaries, and make deps installs the Chromium, that log in to these portals"))
struct ScriptedPortalTests {
    private struct Row: Decodable {
        var portal: String
        var scenario: String
        var faults: [String]
    }

    /// Browsers mostly wait for pages that come to rest, so several run at once.
    private static let shares = 3

    /// Every scenario ends as it should, and leaves nothing behind: logged in, refused with the portal's words, or handed over.
    @Test func everyRowIsAsExpected() async throws {
        let tables = try await withThrowingTaskGroup(of: Finished.self) { group in
            for share in 1...Self.shares { group.addTask { try await Self.play(share) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let rows = try tables.flatMap { $0.output.split(separator: "\n") }.filter { $0.hasPrefix("{") }
            .map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        for row in rows { #expect(row.faults.isEmpty, "\(row.portal), \(row.scenario): \(row.faults.joined(separator: "; "))") }
        for table in tables { #expect(table.status == 0, "\(table.output.suffix(500))") }
        #expect(rows.count > 90)
        #expect(Set(rows.map(\.portal)).count > 30)
    }

    private static func play(_ share: Int) async throws -> Finished {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Finished.run(
                            Machine.checkout.appendingPathComponent("Tests/Portals/table").path,
                            ["--scripted", "--bin", Machine.release.path, "--json", "--share", "\(share)/\(shares)"])
                    })
            }
        }
    }
}
