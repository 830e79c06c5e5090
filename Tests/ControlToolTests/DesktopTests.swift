import Testing

@testable import hotspotctl

/// `hotspotctl desktop` without a NetworkManager, and its arguments. `Tests/Package` tests it with a NetworkManager.
@Suite struct DesktopTests {
    private func run(_ words: String...) throws -> Tool.Exit {
        try Tool.run(
            ["desktop"] + words,
            environment: ["LANG=C.UTF-8", "PATH=/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent"])
    }

    @Test func withoutNetworkManagerNothingIsTakenOver() throws {
        #expect(try run().output == "NetworkManager does not run.\n")
        #expect(try run("status", "--json=short").output == "{\"takenOver\":false}\n")
        let refused = try run("takeover")
        #expect(refused.status == 1 && refused.errors.hasPrefix("hotspotctl: NetworkManager does not run.\n"), "\(refused)")
        #expect(try run("give-back").output == "Nothing was taken over.\n")
        #expect(!PortalCheck.isTakenOver)
        let unknown = try run("takover")
        #expect(unknown.status == 2 && unknown.errors.contains("try: hotspotctl desktop takeover"), "\(unknown)")
    }

    @Test(
        arguments: [
            (true, false, "Taken over: NetworkManager no longer checks for portals; only hotspotd does.", "give-back"),
            (true, true, "Taken over, but another program has turned NetworkManager's check on again.", "give-back"),
            (true, nil, "hotspotd has taken over the portal check; NetworkManager is not running.", "give-back"),
            (false, true, "NetworkManager also checks for portals, and the desktop may open a window for them.", "takeover"),
            (false, false, "NetworkManager does not check for portals: its check is off, or no address is set.", nil),
            (false, nil, "NetworkManager does not run.", nil),
        ] as [(Bool, Bool?, String, String?)])
    func eachStateHasItsSentence(_ takenOver: Bool, _ checks: Bool?, _ sentence: String, _ verb: String?) {
        let lines = Renderer(style: .plain, now: 0).lines(PortalCheck(takenOver: takenOver, networkManagerChecks: checks))
        #expect(
            lines == [sentence]
                + (verb.map { ["  \($0 == "give-back" ? "to undo" : "try"): sudo hotspotctl desktop \($0)"] } ?? []))
    }
}
