import Foundation
import HotspotCore
import Testing

/// The numbered behaviours that concern the outside, at the built daemon with both sets of rules. The tests assert the order of events;
/// the deadline is short, and yet long enough for a program in Python to begin.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct RulesProcessTests {
    enum Rules: String, CaseIterable { case `default`, strict }

    static let prompt: JSONValue = [
        "title": "Which room?", "fields": [["name": "room", "label": "Room", "kind": "text", "required": false]],
    ]
    static let asks: JSONValue = ["result": "uiRequired", "prompt": prompt]

    private func settings(_ rules: Rules, _ commands: String = "TimeoutSec=3") -> String {
        "[Policy]\nRules=\(rules.rawValue)\n[Commands]\n\(commands)"
    }

    /// Joins again. Returns whether a login begins by itself, that is, whether auto-join is kept.
    private func joinsByItself(_ daemon: CabledDaemon) throws -> Bool {
        let asked = try daemon.methods().count
        try daemon.rejoin()
        var isHeld = false
        try daemon.eventually("it begins or is held") {
            isHeld = try daemon.problems().contains { ["held", "logoffUnconfirmed"].contains($0) }
            return try isHeld || daemon.methods().count > asked
        }
        #expect(try !isHeld || (daemon.methods().count == asked && daemon.state() == "inactive"))
        return !isHeld
    }

    @Test("37 Low and silence: chosen after the grace; strict waits for the deadline", arguments: Rules.allCases)
    func silentRival(rules: Rules) throws {
        let commands = rules == .strict ? "TimeoutSec=3" : "TimeoutSec=300\nLowGraceSec=0.2"
        let daemon = try CabledDaemon(settings: settings(rules, commands)) { daemon in
            try daemon.add(
                "low", python: "call = receive(); answer(confidence='low') if 'Eval' in call['method'] else time.sleep(1000)")
            try daemon.add("mute", python: "receive(); time.sleep(1000)")
        }
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticating")
        #expect(try daemon.status("hot1")?["helper"] == "low")
        let chosen = try #require(try daemon.steps().first { $0["to"] == "authenticating" }?["at"]?.integer)
        // The journal's clock is read a little after the machine's.
        if rules == .strict { #expect(chosen >= 2000) }
    }

    @Test("44 The join is the system's, and after a login the user's (D22)") func autoJoined() throws {
        let daemon = try CabledDaemon(plan: [:])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        let login = try Finished.run(
            Machine.release.appendingPathComponent("hotspotctl").path,
            ["--socket", daemon.socket, "login", "--fresh", "--wait", "60", "hot1"])
        // There is no prober, which the exit status tells a script.
        #expect(login.status == 1 && login.output.contains("could not verify"), "\(login.output)")
        let calls = try daemon.calls().map {
            ($0["method"]?.string ?? "") + " \($0["parameters"]?["network"]?["autoJoined"]?.bool ?? false)"
        }
        #expect(
            calls == [
                "org.hotspotd.Helper.Evaluate true", "org.hotspotd.Helper.Authenticate true",
                "org.hotspotd.Helper.Evaluate false", "org.hotspotd.Helper.Authenticate false",
            ])
    }

    @Test(
        "54 Silence in authenticate: tried again in ours, and auto-join off in strict, which is shown", arguments: Rules.allCases)
    func silentAuthenticate(rules: Rules) throws {
        let daemon = try CabledDaemon(settings: settings(rules), plan: ["Authenticate": ["silent": true]])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "failure")
        #expect(try daemon.problems().contains("helperTimeout"))
        #expect(try daemon.outcomes().first == (rules == .strict ? "failure" : "temporaryFailure"))
        let sent = try #require(try daemon.steps().first { $0["detail"] == "authenticate" }?["at"]?.integer)
        let failed = try #require(try daemon.steps().first { $0["to"] == "failure" }?["at"]?.integer)
        #expect(failed - sent >= 2000, "the deadline counts from the command")
        #expect(try joinsByItself(daemon) == (rules == .default))
        if rules == .strict {
            // D14: the network is held until the user wants it.
            try daemon.plan([:])
            try daemon.call("SetEnabled", ["ssid": "wired:02:00:00:00:00:01", "enabled": true])
            try daemon.wait("hot1", "authenticated")
        }
    }

    @Test("55 An answer after the deadline is ignored, and the journal has it") func lateAnswer() throws {
        let daemon = try CabledDaemon(settings: settings(.default)) { daemon in
            try daemon.file("late", "[Helper]\nName=late\nSocket=\(daemon.scratch.path)/late\n")
            // A helper that someone else runs and the daemon does not end. It answers as soon as it reads that the command was cancelled.
            try daemon.accompany(
                """
                import json, socket
                door = socket.socket(socket.AF_UNIX)
                door.bind("\(daemon.scratch.path)/late")
                door.listen()
                print("ready", flush=True)
                while True:
                    line = door.accept()[0]
                    data = b""
                    while not data.endswith(b"\\0"): data += line.recv(65536) or b"\\0"
                    if len(data) < 2: continue
                    answer = {"confidence": "high"} if b"Evaluate" in data else {"reply": {"result": "success"}}
                    if b"Authenticate" in data:
                        while line.recv(65536): pass
                    try: line.sendall(json.dumps({"parameters": answer}).encode() + b"\\0")
                    except OSError: pass
                    line.close()
                """)
        }
        try daemon.plug("hot1", 1)
        let failed = try daemon.wait("hot1", "failure")
        func ignored() throws -> JSONValue? {
            for attempt in try daemon.call("History")["attempts"]?.array ?? [] {
                let steps = try daemon.call("Explain", ["attempt": attempt["id"] ?? ""])["steps"]?.array ?? []
                if let step = steps.first(where: { $0["kind"] == "ignored" }) { return step }
            }
            return nil
        }
        try daemon.eventually("the late answer is journalled") { try ignored() != nil }
        let step = try ignored()
        #expect(
            step?["helper"] == "late" && step?["detail"]?.string?.hasPrefix("authenticate: ignored 1 ") == true,
            "\(String(describing: step))")
        #expect(try daemon.outcomes().allSatisfy { $0 != "online" })
        if let now = try daemon.status("hot1"), now["state"] == "failure" { #expect(now["since"] == failed?["since"]) }
    }

    @Test("57, 58 A prompt has no deadline, and the helper is asked when the user has answered", arguments: Rules.allCases)
    func promptWaits(rules: Rules) throws {
        let daemon = try CabledDaemon(
            settings: settings(rules), plan: ["Authenticate": Self.asks, "Authenticate hot2": ["silent": true]])
        try daemon.plug("hot1", 1)
        let asking = try daemon.wait("hot1", "presentingUI")
        let prompt = try daemon.prompts()
        // Another interface is the clock: its command begins after the prompt, and misses its deadline.
        try daemon.plug("hot2", 2)
        try daemon.wait("hot2", "failure")
        #expect(try daemon.status("hot1") == asking && daemon.prompts() == prompt)
        #expect(try !daemon.methods().contains("PresentUI"))
        try daemon.answerPrompt()
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.methods().filter { $0 == "PresentUI" }.count == 1 && daemon.prompts() == [])
    }

    @Test("7, 8, 62 When the cable goes, the prompt is withdrawn, and no helper hears of it") func promptWithdrawn() throws {
        let daemon = try CabledDaemon(plan: ["Authenticate": Self.asks])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "presentingUI")
        let id = try #require(try daemon.prompts().first?["id"])
        try daemon.unplug("hot1")
        try daemon.wait("hot1", "inactive")
        #expect(try daemon.prompts() == [] && daemon.methods() == ["Evaluate", "Authenticate"])
        #expect(throws: (any Error).self) { try daemon.call("Answer", ["id": id, "answers": [:], "remember": false]) }
        // Auto-join is unchanged (9).
        #expect(try joinsByItself(daemon))
    }

    /// The result of an answer to presentUI, and whether a login begins by itself afterwards.
    struct Answer: CustomTestStringConvertible {
        var rules: Rules
        var result: String
        var outcome: String
        var staysOn: Bool
        var testDescription: String { "\(rules) \(result)" }
    }

    static let answers = [
        Answer(rules: .default, result: "temporaryFailure", outcome: "temporaryFailure", staysOn: true),
        Answer(rules: .strict, result: "temporaryFailure", outcome: "temporaryFailure", staysOn: true),
        Answer(rules: .default, result: "failure", outcome: "failure", staysOn: false),
        Answer(rules: .strict, result: "failure", outcome: "failure", staysOn: false),
        Answer(rules: .default, result: "fish", outcome: "failure", staysOn: false),
        Answer(rules: .strict, result: "fish", outcome: "failure", staysOn: false),
        Answer(rules: .strict, result: "uiRequired", outcome: "failure", staysOn: false),
    ]

    @Test(
        "61 presentUI: temporaryFailure keeps auto-join; failure, strictly uiRequired, and unknown words end it",
        arguments: answers)
    func presentUI(answer: Answer) throws {
        let daemon = try CabledDaemon(
            settings: settings(answer.rules, "TimeoutSec=120"),
            plan: ["Authenticate": Self.asks, "PresentUI": ["result": .string(answer.result), "prompt": Self.prompt]])
        try daemon.plug("hot1", 1)
        try daemon.answerPrompt()
        try daemon.wait("hot1", "failure")
        #expect(try daemon.outcomes().first == answer.outcome)
        #expect(try daemon.prompts() == [] && !daemon.problems().isEmpty)
        #expect(try joinsByItself(daemon) == answer.staysOn)
    }

    @Test("61 presentUI: in ours a further uiRequired is the next question (D2)") func nextQuestion() throws {
        let daemon = try CabledDaemon(
            settings: settings(.default, "TimeoutSec=120"), plan: ["Authenticate": Self.asks, "PresentUI": Self.asks])
        try daemon.plug("hot1", 1)
        let first = try daemon.answerPrompt()
        try daemon.eventually("the next question is asked") { try daemon.prompts().contains { $0["id"]?.string != first } }
        try daemon.plan([:])
        try daemon.answerPrompt(besides: [first])
        try daemon.wait("hot1", "authenticated")
    }

    @Test("D21 Three mishaps in presentUI: the same prompt twice more, then a temporary failure", arguments: Rules.allCases)
    func mishaps(rules: Rules) throws {
        let daemon = try CabledDaemon(
            settings: settings(rules), plan: ["Authenticate": Self.asks, "PresentUI": ["silent": true]])
        try daemon.plug("hot1", 1)
        var answered: [String] = []
        for time in 1...3 {
            answered.append(try daemon.answerPrompt(besides: answered))
            guard time < 3 else { break }
            try daemon.eventually("the prompt is back") {
                try daemon.prompts().contains { !answered.contains($0["id"]?.string ?? "") }
            }
            #expect(try daemon.prompts().first?["title"] == "Which room?" && daemon.problems().contains("helperTimeout"))
            #expect(daemon.state() == "presentingUI")
        }
        try daemon.wait("hot1", "failure")
        #expect(try daemon.outcomes().first == "temporaryFailure" && daemon.prompts() == [])
        #expect(try daemon.methods() == ["Evaluate", "Authenticate", "PresentUI", "PresentUI", "PresentUI"])
        #expect(try joinsByItself(daemon))
    }

    @Test(
        "69 Silence in maintain: evaluated anew, the helper among the candidates, auto-join as it was", arguments: Rules.allCases)
    func silentMaintain(rules: Rules) throws {
        let daemon = try CabledDaemon(
            settings: settings(rules, "TimeoutSec=8\nMaintainIntervalSec=0.5"), plan: ["Maintain": ["silent": true]])
        try daemon.plug("hot1", 1)
        try daemon.eventually("it logs in again") { try daemon.methods().count >= 5 }
        #expect(try Array(daemon.methods().prefix(5)) == ["Evaluate", "Authenticate", "Maintain", "Evaluate", "Authenticate"])
        let calls = try daemon.calls()
        #expect(calls[2]["parameters"]?["network"]?["justJoined"] == false)
        // There was one join all the time: the link was kept.
        #expect(Set(calls.map { $0["parameters"]?["link"]?["association"] }).count == 1)
        try daemon.plan([:])
        try daemon.wait("hot1", "authenticated")
        #expect(try !daemon.problems().contains("held"))
        #expect(try joinsByItself(daemon))
    }

    @Test(
        "D23 A session that ends at once is renewed after a pause, and at once when the user wants it", arguments: Rules.allCases)
    func pace(rules: Rules) throws {
        let daemon = try CabledDaemon(
            settings: settings(rules, "TimeoutSec=30"),
            plan: [
                "Authenticate": ["result": "success", "session": ["secondsRemaining": 1]],
                "Maintain": ["result": "authenticationRequired"],
            ])
        try daemon.plug("hot1", 1)
        let paused = try daemon.wait("hot1", "authenticating") { status in
            status?["problems"]?.array?.contains { $0["code"] == "loginPaused" } == true
        }
        #expect(paused?["helper"] == "clerk")
        // The status says when the next login is due: ten seconds after the last login's end, which was not after this state began.
        let (since, due) = (paused?["since"]?.integer ?? 0, paused?["nextLogin"]?.integer ?? 0)
        #expect(due > since && due <= since + 10_000, "\(since) \(due)")
        #expect(try daemon.methods() == ["Evaluate", "Authenticate", "Maintain"])
        try daemon.call("Login")
        try daemon.eventually("the user is not kept waiting") { try daemon.methods().count >= 5 }
        #expect(try daemon.methods().dropFirst(3).prefix(2) == ["Evaluate", "Authenticate"])
        // The login that the user took over had begun and waited: it did not ask the helper.
        #expect(try daemon.outcomes().prefix(3) == ["online", "expired", "superseded"])
    }

    @Test("73 Silence in logoff: ended at the deadline as by any answer, and held", arguments: Rules.allCases)
    func silentLogoff(rules: Rules) throws {
        let daemon = try CabledDaemon(settings: settings(rules), plan: ["Logoff": ["silent": true]])
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        try daemon.call("Logoff", ["interface": "hot1"])
        #expect(daemon.state() == "loggingOff")
        try daemon.wait("hot1", "inactive")
        #expect(try daemon.problems().contains("logoffUnconfirmed") && daemon.methods().last == "Logoff")
        // 74: the choice stays, and its helper is asked as the remembered one after the hold.
        #expect(try !joinsByItself(daemon))
    }
}
