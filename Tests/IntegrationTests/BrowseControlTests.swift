import Foundation
import HotspotCore
import Testing
import Varlink

/// The method Browse of the built daemon: whose login it begins, and what its caller learns.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct BrowseControlTests {
    /// A helper that claims every network and hands the login over.
    private static let handsOver = """
        call = receive()
        method = call["method"].rsplit(".", 1)[1]
        with open(NOTES, "a") as file: file.write(method + " ")
        if method == "Evaluate": answer(confidence="low")
        elif method == "Authenticate": answer(reply={"result": "uiRequired", "prompt": {"title": "Portal", "fields": []}})
        else: answer(reply={"result": "success"})
        """

    private func daemon(_ names: String...) throws -> CabledDaemon {
        try CabledDaemon { daemon in
            for (rank, name) in names.enumerated() {
                let notes = "\(daemon.scratch.path)/notes"
                try daemon.add(
                    name, "ReadWritePaths=\(notes)\nPriority=\(50 - rank)",
                    python: "NOTES = \"\(notes)/\(name)\"\n" + Self.handsOver)
            }
        }
    }

    @Test func itsLoginTakesThePlaceOfAnotherHandOver() throws {
        let daemon = try daemon("form", "browser")
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "presentingUI") { $0?["helper"] == "form" }
        let reply = try daemon.call("Browse")
        #expect(reply["interface"] == "hot1" && reply["start"] == .string(Link.usualProbe.url))
        #expect(reply["addresses"]?.array?.contains("192.0.1.2/24") == true && reply["gateways"] == ["192.0.1.1"])
        #expect(reply["nameservers"] == ["192.0.2.53"])
        try daemon.wait("hot1", "presentingUI") { $0?["helper"] == "browser" }
        #expect(try daemon.prompts().map { $0["helper"] } == ["browser"])

        // The prompt of the login waits: a second window is for the same login.
        let attempts = try daemon.outcomes()
        #expect(try daemon.call("Browse", ["interface": "hot1"]) == reply)
        #expect(try daemon.outcomes() == attempts && daemon.told("browser") == "Evaluate Evaluate Authenticate ")

        try daemon.answerPrompt()
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "browser" }
    }

    /// Returns the error of a call of Browse, with its code or warning.
    private func error(_ daemon: CabledDaemon, _ parameters: JSONValue) -> String? {
        do throws(VarlinkError) {
            _ = try BlockingConnection(path: daemon.socket).call("org.hotspotd.Control.Browse", parameters)
            return nil
        } catch {
            guard case .reply(let name, let parameters) = error else { return "\(error)" }
            return "\(name) \(parameters["code"]?.string ?? parameters["warning"]?.string ?? "")"
        }
    }

    /// A helper that recognises a trap, and one that hands the login over.
    @Test func aTrapIsOpenedOnlyAfterAYes() throws {
        let leaves = """
            call = receive()
            if call["method"].endswith(".Evaluate"): answer(confidence="low")
            else: answer(reply={"result": "unsupportedNetwork", "reason": "A trap.", "imitates": "PayPal"})
            """
        let daemon = try CabledDaemon { daemon in
            let notes = "\(daemon.scratch.path)/notes"
            try daemon.add("form", "ReadWritePaths=\(notes)\nPriority=50", python: leaves)
            try daemon.add(
                "browser", "ReadWritePaths=\(notes)\nPriority=49", python: "NOTES = \"\(notes)/browser\"\n" + Self.handsOver)
        }
        try daemon.plug("hot1", 1)
        let warning = "This portal asks for your PayPal account, but it does not belong to PayPal."
        try daemon.wait("hot1", "presentingUI") { $0?["helper"] == "browser" && $0?["warning"] == .string(warning) }
        #expect(try daemon.prompts().map { $0["warning"] } == [.string(warning)])
        #expect(error(daemon, [:]) == "org.hotspotd.Control.SuspiciousPortal \(warning)")
        #expect(try daemon.call("Browse", ["anyway": true])["interface"] == "hot1")
        try daemon.answerPrompt()
        try daemon.wait("hot1", "authenticated") { $0?["warning"] == nil }
    }

    @Test func withoutNetworkOrHelperItSaysSo() throws {
        let daemon = try daemon("form")
        func error(_ parameters: JSONValue = [:]) -> String? { self.error(daemon, parameters) }
        #expect(error() == "org.hotspotd.Control.Failed noInterface")
        #expect(error(["interface": "nope"]) == "org.hotspotd.Control.NoSuchInterface ")
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "presentingUI")
        #expect(error() == "org.hotspotd.Control.NoSuchHelper ")
    }
}
