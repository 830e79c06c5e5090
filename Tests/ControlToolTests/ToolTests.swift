import Glibc
import HotspotCore
import Testing

@testable import hotspotctl

private let online = """
    {"interface":"wlan0","state":"authenticated","since":5,"ssid":"Cafe Aroma","helper":"form",
    "portal":"https://portal.aroma.example","secondsRemaining":6120,"nextMaintain":50700000,"problems":[]}
    """
private func status(_ interfaces: String...) -> String {
    "{\"interfaces\":[\(interfaces.joined(separator: ","))],\"version\":\"0.1\"}"
}
private func state(_ state: String, since: Int = 1, prompt: String? = nil, problems: String = "") -> String {
    let prompt = prompt.map { ",\"prompt\":\"\($0)\"" } ?? ""
    return
        "{\"interface\":\"wlan0\",\"state\":\"\(state)\",\"since\":\(since),\"ssid\":\"Hotel\",\"helper\":\"keys\"\(prompt),\"problems\":[\(problems)]}"
}
private let prompts = """
    {"prompts":[{"id":"p1","interface":"wlan0","ssid":"Hotel Lindenhof","helper":"keys","portal":"https://portal.lindenhof.example",
    "title":"Hotel Lindenhof","fields":[{"name":"room","label":"Room number","kind":"text","required":true},
    {"name":"surname","label":"Surname","kind":"password","required":true},
    {"name":"ok","label":"Accept the terms","kind":"checkbox","required":true}],
    "termsURL":"https://portal.lindenhof.example/terms","since":1}]}
    """
private let list = """
    {"networks":[
    {"ssid":"TrainNet","ssidHex":"","bssid":"02:00:00:00:00:02","interface":"wlan0","frequency":2412,"signal":-61,
     "signalStrength":0.5,"security":"open","stations":1,"lastSeen":1,"joined":false,"disabled":false,
     "claims":[{"helper":"wispr","displayName":"WISPr","confidence":"high","source":"filter","ready":false}]},
    {"ssid":"Cafe Aroma","ssidHex":"","bssid":"02:00:00:00:00:01","interface":"wlan0","frequency":2412,"signal":-48,
     "signalStrength":0.5,"security":"open","stations":1,"lastSeen":1,"joined":true,"disabled":false,
     "lastOutcome":"online 2 h, 3 days ago",
     "claims":[{"helper":"form","displayName":"Portal form","confidence":"low","source":"remembered","ready":true}]},
    {"ssid":"Off\\\\x1b[31m","ssidHex":"","bssid":"02:00:00:00:00:03","interface":"wlan0","frequency":2412,"signal":-70,
     "signalStrength":0.5,"security":"psk","stations":1,"lastSeen":1,"joined":false,"disabled":true,"claims":[]}]}
    """
private let helpers = """
    {"helpers":[{"name":"form","displayName":"Portal form","enabled":true,"disabledFor":[],"priority":10,"ssids":[],
    "activation":"socket","running":true,"strikes":0,"quarantined":false,
    "problems":[{"code":"x","message":"Something is odd.","hint":"ls"}]}]}
    """

@Suite struct ToolTests {
    private func run(
        _ script: FakeDaemon.Script, _ arguments: [String], input: String = "", check: (FakeDaemon) -> Void = { _ in }
    ) throws -> Tool.Exit {
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        let ended = try Tool.run(["--socket", daemon.path] + arguments, input: input)
        check(daemon)
        return ended
    }

    @Test func withoutADaemonItSaysHowToStartOne() throws {
        let ended = try Tool.run(["status", "--socket", "/nonexistent/hotspotd/socket"])
        #expect(ended.status == 8 && ended.output.isEmpty)
        #expect(ended.errors.contains("hotspotd is not running") && ended.errors.contains("systemctl start hotspotd"))
        let byVariable = try Tool.run([], environment: ["HOTSPOTD_SOCKET=/nonexistent/other"])
        #expect(byVariable.status == 8 && byVariable.errors.contains("/nonexistent/other"))
        #expect(byVariable.errors.contains("--socket") && byVariable.errors.contains("HOTSPOTD_SOCKET"))
    }

    @Test func versionIsPrinted() throws {
        let ended = try Tool.run(["--version"])
        #expect(ended.status == 0 && ended.output == "hotspotctl \(hotspotdVersion)\n")
    }

    @Test(arguments: [
        (["lsit"], "try: hotspotctl list"), (["anwser", "x"], "try: hotspotctl answer"),
        (["helpers", "tset"], "try: hotspotctl helpers test"),
        (["nonsense"], "there are status, list,"),
    ]) func anUnknownCommandGetsASuggestion(_ arguments: [String], _ words: String) throws {
        let ended = try Tool.run(arguments)
        #expect(ended.status == 2 && ended.errors.contains(words), "\(ended.errors)")
    }

    @Test func withoutAnInterfaceThereIsNoneToLogInOn() throws {
        let ended = try run(
            .init(replies: ["Login": [#"!Failed {"code":"noInterface","message":"No interface is managed."}"#]]), ["login"])
        #expect(ended.status == 10 && ended.errors.contains("No interface is managed."))
    }

    @Test func aRefusedHelperShowsOnlyItsPathAndReason() throws {
        let broken = """
            {"helpers":[{"name":"/etc/hotspotd/helpers/x.helper","displayName":"/etc/hotspotd/helpers/x.helper","enabled":false,
            "disabledFor":[],"priority":0,"ssids":[],"activation":"stdio","running":false,"strikes":0,"quarantined":false,
            "problems":[{"code":"helperFileInvalid","message":"SSDI= is unknown."}]}]}
            """
        let ended = try run(.init(replies: ["Helpers": [broken]]), ["helpers"])
        #expect(ended.output.contains("/etc/hotspotd/helpers/x.helper  –      broken  –         –\n"), "\(ended.output)")
        #expect(ended.output.contains("! SSDI= is unknown."))
        let verbose = try run(.init(replies: ["Helpers": [broken]]), ["helpers", "--verbose"]).output
        #expect(verbose.contains("state: broken") && !verbose.contains("priority") && !verbose.contains("stdio"))
    }

    @Test(arguments: [
        ["--nonsense"], ["nonsense"], ["list", "--json=xml"], ["enable"], ["forget"], ["forget", "bad\\x1"],
        ["answer", "a", "b"],
        ["login", "--wait=-1"], ["forget", String(repeating: "a", count: 33)],
    ]) func wrongUsageExitsWithTwo(arguments: [String]) throws {
        let ended = try Tool.run(arguments + ["--socket", "/nonexistent/socket"])
        #expect(ended.status == 2 && ended.output.isEmpty && !ended.errors.isEmpty)
    }

    @Test func helpIsNoError() throws {
        let ended = try Tool.run(["--help"])
        #expect(ended.status == 0 && ended.output.contains("explain") && ended.errors.isEmpty)
        let completion = try Tool.run(["--generate-completion-script", "bash"])
        #expect(completion.status == 0 && completion.output.contains("hotspotctl"))
    }

    @Test func theBareCommandIsTheStatus() throws {
        let ended = try run(.init(replies: ["Status": [status(online)], "Helpers": [helpers]]), [])
        #expect(ended.status == 0 && ended.errors.isEmpty)
        #expect(
            ended.output == """
                ● wlan0  authenticated  Cafe Aroma via Portal form, 1 h 42 min left
                  portal https://portal.aroma.example, renewed at 14:05 without you

                """)
    }

    @Test func jsonIsTheReplyAsItCame() throws {
        let script = FakeDaemon.Script(replies: ["Status": [status(online)]])
        let short = try run(script, ["--json=short"])
        #expect(short.status == 0)
        #expect(short.output.hasSuffix("\n") && short.output.count(where: { $0 == "\n" }) == 1)
        #expect(FakeDaemon.value(short.output) == FakeDaemon.value(status(online)))
        let pretty = try run(script, ["status", "--json"])
        #expect(pretty.output.count(where: { $0 == "\n" }) > 5)
        #expect(FakeDaemon.value(pretty.output) == FakeDaemon.value(status(online)))
        #expect(try run(script, ["status", "-j"]).output == short.output)
    }

    @Test func theListIsATable() throws {
        let ended = try run(.init(replies: ["List": [list]]), ["list"])
        #expect(ended.status == 0)
        #expect(
            ended.output == """
                  SSID         SIGNAL    SECURITY  HELPER             READY  LAST TIME
                ● Cafe Aroma   ▂▄▆█ -48  open      Portal form (low)  yes    online 2 h, 3 days ago
                  TrainNet     ▂▄▆_ -61  open      WISPr (high)       no     –
                  Off\\x1b[31m  ▂▄__ -70  WPA2      switched off       –      –

                """)
        let bare = try run(.init(replies: ["List": [list]]), ["--no-legend", "list"])
        #expect(!bare.output.contains("SSID") && bare.output.hasPrefix("● Cafe"))
    }

    @Test func withoutALocaleItIsASCII() throws {
        let daemon = try FakeDaemon(.init(replies: ["List": [list]]))
        defer { daemon.stop() }
        let ended = try Tool.run(["list", "--socket", daemon.path], environment: [])
        #expect(ended.status == 0 && ended.output.utf8.allSatisfy { $0 < 128 })
        #expect(ended.output.contains("* Cafe Aroma"))
    }

    @Test func watchingGoesOnUntilTheDaemonEnds() throws {
        let ended = try run(.init(streams: ["List": [list, list]]), ["list", "--watch", "--json=short"])
        #expect(ended.output.split(separator: "\n").count == 2)
        #expect(ended.status == 8)
    }

    @Test func monitorHasALineForEachStep() throws {
        let steps = [
            #"{"interface":"wlan0","step":{"at":0,"time":1000,"from":"evaluating","to":"authenticating","kind":"transition","helper":"form","detail":"high"}}"#,
            #"{"interface":"wlan0","step":{"at":9,"time":2000,"kind":"problem","detail":"a\nb"}}"#,
        ]
        let ended = try run(.init(streams: ["Monitor": steps]), ["monitor"])
        #expect(
            ended.output == """
                00:00:01  wlan0  evaluating → authenticating  form  high
                00:00:02  wlan0  problem  a\\x0ab

                """)
    }

    @Test func explainShowsTheStepsAndTheVerdict() throws {
        let story =
            #"{"steps":[{"at":0,"from":"inactive","to":"evaluating","kind":"transition","detail":"joined"},{"at":1234,"kind":"answer","helper":"form","detail":"low"}],"verdict":"form was the only claim."}"#
        let script = FakeDaemon.Script(replies: ["Explain": [story], "Status": [status(online)]])
        let ended = try run(script, ["explain", "wlan0"]) { daemon in
            #expect(daemon.parameters("Explain") == ["interface": "wlan0"])
        }
        #expect(
            ended.output == """
                  0.000 s  inactive → evaluating  joined
                  1.234 s  answer  form  low
                form was the only claim.

                """)
        _ = try run(script, ["explain", "Cafe"]) { #expect($0.parameters("Explain") == ["ssid": "Cafe"]) }
    }

    @Test(arguments: [("online", Int32(0)), ("captive", 1), ("limited", 1), ("none", 1), ("unknown", 1)])
    func checkIsOneWordAndOneStatus(word: String, code: Int32) throws {
        let ended = try run(.init(replies: ["Check": ["{\"verdict\":\"\(word)\",\"interface\":\"wlan0\"}"]]), ["check"])
        #expect(ended == Tool.Exit(status: code, signal: 0, output: word + "\n", errors: ""))
    }

    @Test(arguments: [
        ("NoSuchNetwork", #"{"ssid":"Cafe"}"#, Int32(10)), ("NoSuchHelper", #"{"helper":"x"}"#, 10),
        ("NoSuchInterface", #"{"interface":"x"}"#, 10), ("NoSuchPrompt", #"{"id":"x"}"#, 10),
        ("NotPermitted", #"{"message":"root only"}"#, 1), ("WrongState", #"{"interface":"wlan0","state":"inactive"}"#, 1),
        ("Failed", #"{"code":"x","message":"It broke."}"#, 1), ("Novel", "{}", 1),
        ("org.varlink.service.MethodNotFound", "{}", 1),
    ]) func errorsOfTheInterfaceBecomeSentences(name: String, parameters: String, code: Int32) throws {
        let ended = try run(.init(replies: ["Forget": ["!\(name) \(parameters)"]]), ["forget", "Cafe"])
        #expect(ended.status == code && ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("hotspotctl: "))
        if name != "Novel" { #expect(!ended.errors.contains(name)) }
    }

    @Test func aHostileErrorCannotCommandTheTerminal() throws {
        let ended = try run(
            .init(replies: ["Forget": [#"!Failed {"code":"x","message":"\u001b]0;owned\u0007"}"#]]), ["forget", "a"])
        #expect(!ended.errors.contains("\u{1B}") && ended.errors.contains("\\x1b"))
    }

    @Test func switchesReportTheChange() throws {
        let on = try run(.init(replies: ["SetEnabled": ["{}"]]), ["enable", "Cafe"]) {
            #expect($0.parameters("SetEnabled") == ["ssid": "Cafe", "enabled": true])
        }
        #expect(on.output == "All helpers are switched on for Cafe.\n")
        let off = try run(.init(replies: ["SetEnabled": ["{}"]]), ["disable", "--helper", "form"]) {
            #expect($0.parameters("SetEnabled") == ["helper": "form", "enabled": false])
        }
        #expect(off.output == "form is switched off.\n")
    }

    @Test func helpersShowTheirProblems() throws {
        let ended = try run(.init(replies: ["Helpers": [helpers]]), ["helpers"])
        #expect(ended.output.contains("form  Portal form  running  10        any"))
        #expect(ended.output.contains("  ! form: Something is odd.\n    try: ls\n"))
        #expect(try run(.init(replies: ["Helpers": [helpers]]), ["helpers", "--verbose"]).output.contains("reached by: socket"))
    }

    @Test func historyIsATable() throws {
        let past =
            #"{"attempts":[{"id":"a1","interface":"wlan0","ssid":"Cafe","began":1000,"ended":2300,"helper":"form","outcome":"online"}]}"#
        let ended = try run(.init(replies: ["History": [past]]), ["history", "Cafe"]) {
            #expect($0.parameters("History") == ["ssid": "Cafe"])
        }
        #expect(ended.output.contains("wlan0      Cafe     form    online   1.3 s  a1"))
    }

    @Test func loginWaitsForTheOutcome() throws {
        var script = FakeDaemon.Script(replies: ["Login": ["{}"], "Prompts": [prompts]])
        script.status = [
            [status(state("failure")), status(state("evaluating", since: 2)), status(state("authenticated", since: 3))]
        ]
        let ended = try run(script, ["login", "--wait"])
        #expect(ended.status == 0 && ended.output.hasPrefix("Online after "))
        script.status = [[status(state("failure")), status(state("presentingUI", since: 3, prompt: "p1"))]]
        let asks = try run(script, ["login", "--wait=30"])
        #expect(asks.status == 4 && asks.errors.contains("Room number (room: text, required)"))
        #expect(asks.errors.contains("try: hotspotctl answer"))
        let problem = #"{"code":"x","message":"The code is wrong.","hint":"hotspotctl forget Hotel"}"#
        script.status = [[status(state("inactive")), status(state("failure", since: 4, problems: problem))]]
        let failed = try run(script, ["login", "--wait", "wlan0"])
        #expect(failed.status == 1 && failed.errors == "hotspotctl: The code is wrong.\n  try: hotspotctl forget Hotel\n")
        script.status = [[status(state("failure")), status(state("evaluating", since: 2))]]
        #expect(try run(script, ["login", "--wait=0.2"]).status == 3)
        let started = try run(script, ["login"]) { #expect($0.calls == ["Login"]) }
        #expect(started.status == 0)
    }
}
