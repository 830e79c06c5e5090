import Foundation
import HotspotCore
import Testing
import Varlink

/// Answers that come too late, twice, from the wrong user, or to a daemon that is killed: each caller learns what was kept.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct AnswerFateTests {
    private static let portal: JSONValue = ["origin": "http://192.0.1.1", "kind": "form"]
    private static let asks: JSONValue = [
        "result": "uiRequired", "portal": portal,
        "prompt": ["title": "Room?", "fields": [["name": "room", "label": "Room", "kind": "text", "required": true]]],
    ]
    private static let canary = "canary-4711"

    private func daemon() throws -> CabledDaemon {
        let daemon = try CabledDaemon(
            settings: "[Commands]\nTimeoutSec=120",
            plan: [
                "Authenticate": Self.asks, "Maintain": ["result": "authenticationRequired", "portal": Self.portal],
                "PresentUI": ["hold": true, "portal": Self.portal],
            ])
        try daemon.plug("hot1", 1)
        return daemon
    }

    private func prompt(_ daemon: CabledDaemon) throws -> String {
        var id = ""
        try daemon.eventually("there is a prompt") {
            id = try daemon.prompts().first?["id"]?.string ?? ""
            return !id.isEmpty
        }
        return id
    }

    /// Answers with hotspotctl, perhaps as another user, without waiting for the outcome.
    private func answer(_ daemon: CabledDaemon, _ id: String, _ room: String = canary, user: Int? = nil) throws -> Finished {
        let tool = Machine.release.appendingPathComponent("hotspotctl").path
        let words = ["--socket", daemon.socket, "answer", id, "--wait=0"]
        let run = try user.map {
            try Finished.run(
                "/usr/bin/setpriv", ["--reuid=\($0)", "--regid=\($0)", "--clear-groups", tool] + words, input: "room=\(room)\n")
        }
        return try run ?? Finished.run(tool, words, input: "room=\(room)\n")
    }

    private func stored(_ daemon: CabledDaemon) throws -> Int {
        try daemon.call("Credentials")["credentials"]?.array?.count ?? 0
    }

    @Test("Of two terminals the first one's answer is sent, and the other says so") func twoTerminals() throws {
        let daemon = try daemon()
        let id = try prompt(daemon)
        #expect(try answer(daemon, id, "1").status == 0)
        let second = try answer(daemon, id)
        #expect(second.status == 10 && second.output.contains("The question was already answered, perhaps in another terminal."))
        // Another terminal had shown the question before it was answered.
        #expect(
            throws: VarlinkError.reply(
                name: "org.hotspotd.Control.NoSuchPrompt",
                parameters: ["id": .string(id), "reason": "The question was already answered, perhaps in another terminal."])
        ) { try daemon.call("Answer", ["id": .string(id), "answers": ["room": "2"], "remember": true]) }
        try daemon.letGo("PresentUI")
        try daemon.wait("hot1", "authenticated") {
            $0?["answers"]?.string?.hasPrefix("Your answers are kept for this portal") == true
        }
        #expect(try daemon.calls().last?["parameters"]?["answers"] == ["room": "1"])
        #expect(try stored(daemon) == 1)
    }

    @Test("After the link is gone, and after a dismissal, nothing is sent and nothing is kept", arguments: [true, false])
    func tooLate(isDismissed: Bool) throws {
        let daemon = try daemon()
        let id = try prompt(daemon)
        if isDismissed { try daemon.call("Dismiss", ["id": .string(id)]) } else { try daemon.unplug("hot1") }
        try daemon.wait("hot1", "inactive")
        let late = try answer(daemon, id)
        #expect(late.status == 10 && late.output.contains(isDismissed ? "was dismissed" : "The network was left"))
        #expect(!late.output.contains(Self.canary))
        #expect(try stored(daemon) == 0 && !daemon.methods().contains("PresentUI"))
    }

    /// The network is left and joined again in one call: no client sees the link as lost.
    @Test("A network that is forgotten or switched off under a question is not left", arguments: [true, false])
    func underTheQuestion(isForgotten: Bool) throws {
        let daemon = try daemon()
        let id = try prompt(daemon)
        let network = try #require(daemon.status("hot1")?["ssid"])
        let watcher = try BlockingConnection(path: daemon.socket)
        try watcher.send(Call(method: "org.hotspotd.Control.Status", parameters: [:], more: true))
        _ = try watcher.receive(Varlink.Answer.self)
        if isForgotten {
            try daemon.call("Forget", ["ssid": network])
        } else {
            try daemon.call("SetEnabled", ["ssid": network, "enabled": false])
        }
        var status: JSONValue?
        repeat {
            status = try watcher.receive(Varlink.Answer.self).get()["interfaces"]?.array?.first
            #expect(status?["ssid"] == network)
        } while isForgotten ? status?["prompt"] == nil || status?["prompt"] == .string(id) : status?["state"] != "inactive"
        let late = try answer(daemon, id)
        let words = isForgotten ? "The network was forgotten." : "hotspotd was switched off for this network."
        #expect(late.status == 10 && late.output.contains("has ended. \(words)"), "\(late.output)")
    }

    @Test("A link that goes after the answer takes it along, and the status says so") func gone() throws {
        let daemon = try daemon()
        #expect(try answer(daemon, try prompt(daemon)).status == 0)
        try daemon.eventually("it is sent") { try daemon.methods().last == "PresentUI" }
        try daemon.unplug("hot1")
        try daemon.wait("hot1", "inactive") {
            $0?["answers"] == "Your answers were not saved, because no login with them has been proven."
        }
        #expect(try stored(daemon) == 0)
    }

    @Test("Another user's answer is refused, and so is one with a control character") func refused() throws {
        let daemon = try daemon()
        let id = try prompt(daemon)
        chmod(daemon.scratch.path, 0o755)
        let other = try answer(daemon, id, user: 65534)
        // The question is not shown to this user, so hotspotctl read nothing from the input.
        #expect(other.status == 1 && other.output.contains("Only these users may see and answer the question"), "\(other.output)")
        let odd = try answer(daemon, id, Self.canary + "\u{1B}[2J")
        #expect(odd.status == 1 && odd.output.contains("Nothing was sent or kept."))
        #expect(!(other.output + odd.output).contains(Self.canary))
        #expect(try prompt(daemon) == id && stored(daemon) == 0)
    }

    @Test("A daemon that is killed at any moment of a guess gives none back, and the tenth erases") func killedGuesses() throws {
        let daemon = try daemon()
        #expect(try answer(daemon, try prompt(daemon)).status == 0)
        try daemon.letGo("PresentUI")
        try daemon.wait("hot1", "authenticated")
        #expect(try stored(daemon) == 1)
        try daemon.call("SetPIN", ["pin": "4711"])
        var left = 10
        for round in 0..<20 {
            // Does not wait for a reply: the daemon is killed before the count, between the count and the check, or after the check.
            let connection = try BlockingConnection(path: daemon.socket)
            try connection.send(Call(method: "org.hotspotd.Control.Unlock", parameters: ["pin": "0000"]))
            usleep(UInt32(round % 5) * 4000)
            daemon.kill()
            try daemon.start()
            let now: Int
            do throws(VarlinkError) {
                _ = try BlockingConnection(path: daemon.socket).call("org.hotspotd.Control.Unlock", ["pin": "0000"])
                throw VarlinkError.closed
            } catch {
                guard case .reply("org.hotspotd.Control.WrongPIN", let parameters) = error else { throw error }
                now = parameters["left"]?.integer ?? -1
            }
            #expect(now < left, "a guess came back")
            left = now
            if left == 0 { break }
        }
        #expect(left == 0)
        #expect(try daemon.call("Credentials") == ["credentials": [], "pin": "none"])
    }
}
