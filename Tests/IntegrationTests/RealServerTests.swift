import Testing

/// Servers of real portals, with the built daemon and helpers at default settings. They are not packaged, so that they are skipped where
/// they are not installed, also in CI.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that visit these servers"))
struct RealServerTests {
    private static let visits = "Tests/Portals/servers/visits"

    @Test func nodogsplash() async throws {
        try await visit("nodogsplash", ["click", "account", "refused", "expired", "full"])
    }

    /// With FreeRADIUS.
    @Test func coovaChilli() async throws {
        try await visit(
            "coova",
            ["chap", "pap", "refused", "homepage", "json", "jsonRefused", "wispr", "wisprRefused", "secureForm", "expired"])
    }

    private func visit(_ server: String, _ names: [String]) async throws {
        let visit = try await CafeVisit.start(["--server", server], of: Self.visits, isOptional: true)
        try visit.expect(server, names.map { "\($0).done" } + ["daemon.ends", "done"])
        try visit.expectSuccess()
    }
}
