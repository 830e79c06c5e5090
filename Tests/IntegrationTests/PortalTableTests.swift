import Foundation
import Testing

/// The emulated portals of `Tests/Portals`, each played with the built helpers and the portal files.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that log in to these portals"))
struct PortalTableTests {
    private struct Row: Decodable {
        var portal: String
        var scenario: String
        var faults: [String]
    }

    /// Every scenario ends as it should: logged in with the right requests, refused with the portal's words, or handed over.
    @Test func everyRowIsAsExpected() async throws {
        let table = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Finished.run(
                            Machine.checkout.appendingPathComponent("Tests/Portals/table").path,
                            ["--bin", Machine.release.path, "--json"])
                    })
            }
        }
        let rows = try table.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        for row in rows { #expect(row.faults.isEmpty, "\(row.portal), \(row.scenario): \(row.faults.joined(separator: "; "))") }
        #expect(rows.count > 180 && table.status == 0, "\(table.output.suffix(500))")
    }
}
