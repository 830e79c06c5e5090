import Glibc
import HotspotCore
import Testing

@testable import hotspotctl

private let online = """
    {"interface":"wlan0","state":"authenticated","since":5,"ssid":"Cafe Aroma","helper":"form",
    "portal":"https://portal.aroma.example","captive":false,"secondsRemaining":6120,"nextMaintain":50700000,"problems":[]}
    """
private func status(_ interfaces: String...) -> String {
    "{\"interfaces\":[\(interfaces.joined(separator: ","))],\"version\":\"0.1\"}"
}
private func state(_ state: String, since: Int = 1, prompt: String? = nil, problems: String = "") -> String {
    let prompt = prompt.map { ",\"prompt\":\"\($0)\"" } ?? ",\"captive\":false"
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
     "lastOutcome":"online",
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
        #expect(ended.errors.contains("hotspotd is not running: no program") && ended.errors.contains("systemctl start hotspotd"))
        let byVariable = try Tool.run([], environment: ["HOTSPOTD_SOCKET=/nonexistent/other"])
        #expect(byVariable.status == 8 && byVariable.errors.contains("/nonexistent/other"))
        #expect(byVariable.errors.contains("--socket") && byVariable.errors.contains("HOTSPOTD_SOCKET"))
    }

    @Test func versionIsPrinted() throws {
        let ended = try Tool.run(["--version"])
        // The commit follows, if the build knew it.
        #expect(ended.status == 0 && ended.output.contains(#/^hotspotctl [0-9.]+( \([0-9a-f]+(-dirty)?\))?\n$/#), "\(ended)")
        #expect(ended.output.contains(" \(hotspotdVersion)"), "\(ended)")
    }

    @Test(arguments: [
        (["lsit"], "try: hotspotctl list"), (["anwser", "x"], "try: hotspotctl answer"),
        (["helpers", "tset"], "try: hotspotctl helpers test"), (["portals", "chek"], "try: hotspotctl portals check"),
        (["nonsense"], "the commands are status, list,"),
    ]) func anUnknownCommandGetsASuggestion(_ arguments: [String], _ words: String) throws {
        let ended = try Tool.run(arguments)
        #expect(ended.status == 2 && ended.errors.contains(words), "\(ended.errors)")
    }

    @Test func withoutAnInterfaceThereIsNoneToLogInOn() throws {
        let ended = try run(
            .init(replies: ["Login": [#"!Failed {"code":"noInterface","message":"hotspotd does not watch any interface."}"#]]),
            ["login"])
        #expect(ended.status == 10 && ended.errors.contains("hotspotd does not watch any interface."))
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

    @Test func aComputerThatAllowsNoSandboxIsOneLineAboveItsHelpers() throws {
        let problem =
            #"{"code":"sandboxUnavailable","message":"No helper can be started: it is forbidden.","hint":"sudo allow it"}"#
        let status = #"{"interfaces":[],"problems":["# + problem + #",{"code":"gate","message":"Else."}]}"#
        let ended = try run(.init(replies: ["Helpers": [helpers], "Status": [status]]), ["helpers"])
        let lines = ended.output.split(separator: "\n").prefix(3)
        #expect(
            lines[0] == "  ! No helper can be started: it is forbidden." && lines[1] == "    try: sudo allow it",
            "\(ended.output)")
        #expect(lines[2].hasPrefix("NAME") && !ended.output.contains("Else."), "\(ended.output)")
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
                ● wlan0  online  "Cafe Aroma" via Portal form, 1 h 42 min left
                  portal https://portal.aroma.example, next check at 14:05

                """)
    }

    /// Every write to this device fails with ENOSPC.
    @Test func outputThatCannotBeWrittenHasItsCause() throws {
        let daemon = try FakeDaemon(.init(replies: ["Status": [status(online)], "Helpers": [helpers]]))
        defer { daemon.stop() }
        let (nothing, full) = (open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/full", O_WRONLY | O_CLOEXEC))
        defer { [nothing, full].forEach { close($0) } }
        let ended = try Tool(["--socket", daemon.path], input: nothing, output: full).end()
        #expect(ended.status == 1)
        #expect(ended.errors == "hotspotctl: The output cannot be written: No space left on device.\n")
    }

    @Test func theStatusShowsWhatIsOffAndWhatIsWithheld() throws {
        let off = #""off":[{"helper":"form"},{"ssid":"Cafe Aroma"},{"helper":"form","ssid":"x'y"}],"withheld":true,"version""#
        let reply = status(online).replacing("\"version\"", with: off)
        let ended = try run(.init(replies: ["Status": [reply], "Helpers": [helpers]]), [])
        #expect(
            ended.output.hasSuffix(
                """
                Switched off: Portal form; to switch on: hotspotctl enable --helper form
                Switched off: all helpers for "Cafe Aroma"; to switch on: hotspotctl enable 'Cafe Aroma'
                Switched off: Portal form for "x'y"; to switch on: hotspotctl enable --helper form 'x'\\''y'
                Only these users may see names and portals: root, the group hotspotd, and the user in front of the machine.

                """), "\(ended.output)")
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

    /// On a first visit, no helper has claimed the network before.
    @Test func theListShowsTheHelperOfThePresentLogin() throws {
        let first = list.replacing(
            #""claims":[{"helper":"form","displayName":"Portal form","confidence":"low","source":"remembered","ready":true}]"#,
            with: #""claims":[]"#)
        let script = FakeDaemon.Script(replies: ["List": [first], "Status": [status(online)]])
        #expect(try run(script, ["list"]).output.contains(/Cafe Aroma .* open +form +/))
    }

    @Test func theListIsATable() throws {
        let ended = try run(.init(replies: ["List": [list]]), ["list"])
        #expect(ended.status == 0)
        #expect(
            ended.output == """
                  SSID         SIGNAL    SECURITY  HELPER             READY  LAST TIME
                ● Cafe Aroma   ▂▄▆█ -48  open      form (remembered)  yes    online
                  TrainNet     ▂▄▆_ -61  open      wispr (high)       no     –
                  Off\\x1b[31m  ▂▄__ -70  WPA2      switched off       –      –

                """)
        let off = status(online).replacing(
            "\"version\"", with: #""off":[{"ssid":"Home"},{"helper":"form","ssid":"x"}],"version""#)
        let all = try run(.init(replies: ["List": [list], "Status": [off]]), ["list", "--all"])
        #expect(all.output.hasPrefix(ended.output) && all.output.contains("\n  Home "), "\(all.output)")
        #expect(all.output.split(separator: "\n").count == 5)
        let one = status(online).replacing(
            "\"version\"", with: #""off":[{"helper":"wispr","ssid":"Cafe Aroma"},{"helper":"form"}],"version""#)
        let switched = try run(.init(replies: ["List": [list], "Status": [one]]), ["list"])
        #expect(switched.output.contains("  form (remembered), wispr (off)  yes "), "\(switched.output)")
        // An installed helper that is switched off everywhere claims nothing.
        let unclaimed = list.replacing(#/"claims":\[[^\]]*\]/#, with: #""claims":[]"#)
        for words in [["list"], ["list", "--all"]] {
            let gone = try run(.init(replies: ["List": [unclaimed], "Status": [one]]), words)
            #expect(gone.output.contains("  form (off), wispr (off)  "), "\(gone.output)")
        }
        #expect(try run(.init(replies: ["List": [list], "Status": [off]]), ["list"]).output == ended.output)
        let bare = try run(.init(replies: ["List": [list]]), ["--no-legend", "list"])
        #expect(!bare.output.contains("SSID") && bare.output.hasPrefix("● Cafe"))
    }

    @Test func announcementsAreMarksAndOnRequestWords() throws {
        let words =
            #""announced":{"additionalStep":true,"anqp":true,"consortia":["5a03ba0000"],"domains":["a.org"],"#
            + #""internet":true,"#
            + #""loginOrigin":"https://p.example","loginURL":"https://p.example/x","networkType":"free","openRoaming":true,"#
            + #""venueNames":["Hotel\\x0aOnline","Foyer"]},"ssid":"TrainNet""#
        let announced = list.replacing(#""ssid":"TrainNet""#, with: words)
        let script = FakeDaemon.Script(replies: ["List": [announced]])
        let short = try run(script, ["list"]).output
        #expect(
            short == """
                  SSID         SIGNAL    SECURITY  HELPER             READY  LAST TIME  ANNOUNCES
                ● Cafe Aroma   ▂▄▆█ -48  open      form (remembered)  yes    online     –
                  TrainNet     ▂▄▆_ -61  open      wispr (high)       no     –          login expected, OpenRoaming
                  Off\\x1b[31m  ▂▄__ -70  WPA2      switched off       –      –          –

                """)
        let long = try run(script, ["list", "--verbose"]).output
        #expect(
            long == short + """

                "TrainNet" announces (not verified): login expected, OpenRoaming, free public network, Internet, consortia 5a03ba0000
                  │ login: https://p.example/x
                  │ venue: Hotel\\x0aOnline, Foyer
                  │ domains: a.org

                """)
        let passpoint = list.replacing(#""ssid":"TrainNet""#, with: #""announced":{"passpoint":true},"ssid":"TrainNet""#)
        #expect(try run(.init(replies: ["List": [passpoint]]), ["list"]).output.contains(" –          Passpoint\n"))
        let plain = FakeDaemon.Script(replies: ["List": [list]])
        #expect(try run(plain, ["list", "--verbose"]).output == run(plain, ["list"]).output)
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
        // Without a terminal, each line begins with the time.
        let other = list.replacing("Cafe Aroma", with: "Cafe Bistro")
        let lines = try run(.init(streams: ["List": [list, list, other]]), ["list", "--watch"]).output.split(separator: "\n")
        #expect(lines.count == 8 && lines[5].contains("● Cafe Bistro"), "\(lines)")
        for line in lines { #expect(line.contains(#/^\d\d:\d\d:\d\d  /#), "\(line)") }
    }

    /// The list is redrawn in place, with one line for each network.
    @Test(.timeLimit(.minutes(10))) func watchingATerminalRedrawsIt() throws {
        let daemon = try FakeDaemon(.init(streams: ["List": [list, list]]))
        defer { daemon.stop() }
        let terminal = try Terminal(columns: 60)
        #expect(
            try Tool(["list", "--watch", "--socket", daemon.path], input: terminal.slave, output: terminal.slave).end().status
                == 8)
        let screens = terminal.shown.split(separator: "\u{1B}[H\u{1B}[J")
        #expect(screens.count == 2 && screens[0] == screens[1])
        let lines = screens[0].split(separator: "\r\n")
        #expect(lines.count == 4)
        for line in lines { #expect(Renderer.width(String(line)) <= 60 && !line.hasPrefix("    "), "\(line)") }
        #expect(lines[1].contains("Cafe Aroma") && lines[1].contains("▂▄▆█ -48"), "\(lines)")
    }

    @Test(arguments: [(["--jsn"], "'--json'?\n"), (["list", "--wacth"], "'--watch'?\n")])
    func aMistypedOptionGetsASuggestion(_ arguments: [String], _ words: String) throws {
        let ended = try Tool.run(arguments)
        #expect(ended.status == 2 && ended.errors.contains(words), "\(ended.errors)")
    }

    @Test func monitorHasALineForEachStep() throws {
        let steps = [
            #"{"interface":"wlan0","step":{"at":0,"time":1000,"from":"evaluating","to":"authenticating","kind":"transition","helper":"form","detail":"high"}}"#,
            #"{"interface":"wlan0","step":{"at":9,"time":2000,"kind":"problem","detail":"a\nb"}}"#,
        ]
        let script = FakeDaemon.Script(replies: ["Status": [status(online)]], streams: ["Monitor": steps])
        let lines = try run(script, ["monitor"]).output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].contains(#/^\d\d:\d\d:\d\d  wlan0  online  "Cafe Aroma"$/#), "\(lines)")
        #expect(
            lines.dropFirst() == [
                "00:00:01  wlan0  asking the helpers → logging in  form  high", "00:00:02  wlan0  problem  a  │ b",
            ])
        let json = try run(script, ["monitor", "--json=short"]).output
        let objects = json.split(separator: "\n")
        #expect(objects.count == 3 && objects[0].contains(#""interfaces":[{"#), "\(json)")
        #expect(objects[1].contains(#""to":"authenticating""#), "\(json)")
    }

    @Test func explainShowsTheStepsAndTheVerdict() throws {
        let story =
            #"{"steps":[{"at":0,"from":"inactive","to":"evaluating","kind":"transition","detail":"joined"},{"at":1234,"kind":"answer","helper":"form","detail":"low"}],"verdict":"form was the only claim."}"#
        let script = FakeDaemon.Script(replies: ["Explain": [story], "Status": [status(online)]])
        let ended = try run(script, ["explain", "wlan0", "--verbose"]) { daemon in
            #expect(daemon.parameters("Explain") == ["interface": "wlan0"])
        }
        #expect(
            ended.output == """
                The last attempt.
                  0.000 s  idle → asking the helpers  joined
                  1.234 s  answer  form  │ low
                form was the only claim.

                """)
        let short = try run(script, ["explain"]).output
        #expect(!short.contains("answer") && short.contains("asking the helpers"))
        // The suggested command shows the same attempt.
        for (words, place) in [
            (["wlan0"], " wlan0"), (["Cafe 2"], " 'Cafe 2'"), (["--attempt", "a-1"], " --attempt a-1"), ([], ""),
        ] {
            let output = try run(script, ["explain"] + words).output
            #expect(output.contains("details: hotspotctl explain --verbose\(place)\n"), "\(output)")
        }
        _ = try run(script, ["explain", "Cafe"]) { #expect($0.parameters("Explain") == ["ssid": "Cafe"]) }
        let named = story.replacing(
            #""verdict""#, with: #""attempt":{"id":"a","interface":"wlan0","ssid":"Cafe","began":1,"outcome":"online"},"verdict""#
        )
        #expect(
            try run(.init(replies: ["Explain": [named]]), ["explain"]).output.hasPrefix("\"Cafe\" on wlan0: the last attempt"))
        let nothing = #"!Failed {"code":"noAttempt","message":"No attempts are recorded."}"#
        let none = try run(.init(replies: ["Explain": [nothing]]), ["explain"])
        #expect(none.status == 10 && none.errors.hasSuffix("  try: hotspotctl status\n"), "\(none.errors)")
        let refusal = #"!Failed {"code":"noAttempt","message":"The journal does not contain attempt x, or none any more."}"#
        let unknown = try run(.init(replies: ["Explain": [refusal]]), ["explain", "--attempt", "x"])
        #expect(unknown.status == 10 && unknown.errors.contains("does not contain attempt x"), "\(unknown.errors)")
    }

    @Test(arguments: [("online", Int32(0)), ("captive", 1), ("limited", 1), ("none", 1), ("unknown", 1)])
    func checkIsOneWordAndOneStatus(word: String, code: Int32) throws {
        let ended = try run(.init(replies: ["Check": ["{\"verdict\":\"\(word)\",\"interface\":\"wlan0\"}"]]), ["check"])
        #expect(ended == Tool.Exit(status: code, signal: 0, output: word + "\n", errors: ""))
    }

    @Test func aVerboseCheckNamesTheHosts() throws {
        let reply =
            #"{"verdict":"limited","interface":"wlan0","detail":"httpsBlocked","requests":["GET http://a.example → 204 in 9 ms"]}"#
        let ended = try run(.init(replies: ["Check": [reply]]), ["check", "--verbose"])
        #expect(ended.status == 1)
        let sentence = "Plain HTTP reaches the Internet, but HTTPS does not."
        #expect(
            ended.output.hasPrefix(
                "limited\n  on wlan0\n  │ \(sentence)\n  │ GET http://a.example → 204 in 9 ms\nHosts contacted"))
        for (word, result, sentence) in [
            ("noAnswer", "204", "Nothing answered."),
            ("status502", "502", "A server answered 502; it is neither the Internet nor a portal."),
            (
                "reset", "reset: The server broke the connection off in between.",
                "The server broke the connection off in between."
            ),
            ("portal http://p.example", "302", "portal http://p.example"),
        ] {
            let said = try run(
                .init(replies: ["Check": [reply.replacing("httpsBlocked", with: word).replacing("→ 204", with: "→ \(result)")]]),
                ["check", "--verbose"])
            #expect(said.output.hasPrefix("limited\n  on wlan0\n  │ \(sentence)\n"), "\(said.output)")
        }
        #expect(ended.output.contains("[Probe]") && ended.output.contains("nmcheck.gnome.org"))
        for (members, hosts) in [
            (#""url":"http://a.example/""#, "http://a.example/;"),
            (#""url":"http://a.example/","httpsURL":"https://b.example/""#, "http://a.example/ and https://b.example/;"),
            (#""httpsURL":"https://b.example/""#, "1.1.1.1 and https://b.example/;"),
        ] {
            let own = reply.replacing(#""interface""#, with: "\(members),\"interface\"")
            let said = try run(.init(replies: ["Check": [own]]), ["check", "--verbose"]).output
            #expect(
                said.contains("\nHosts contacted by your settings, until one answer is clear: ") && said.contains(hosts),
                "\(said)")
            #expect(said.contains("gnome") == !members.contains(#""url""#) && !said.contains("www.gstatic.com"), "\(said)")
        }
    }

    /// In each state without a session to end, the error gives the reason and a command that helps.
    @Test(arguments: StateName.allCases) func aRefusedLogoffSaysWhy(state: StateName) throws {
        let ended = try run(
            .init(replies: ["Logoff": [#"!WrongState {"interface":"wlan0","state":"\#(state.rawValue)"}"#]]), ["logoff"])
        #expect(ended.status == 1 && ended.errors.hasPrefix("hotspotctl: There is no session to end on wlan0: "))
        #expect(ended.errors.contains("\n  try: hotspotctl "), "\(ended.errors)")
        let hint = ended.errors.split(separator: "try: ").last ?? ""
        #expect(hint.contains("status") || hint.ranges(of: " wlan0").count == hint.ranges(of: "hotspotctl").count, "\(hint)")
        #expect(!ended.errors.contains("presentingUI") && !ended.errors.contains("authenticat"), "\(ended.errors)")
    }

    @Test(arguments: [
        (true, "the login still waits for your answer.\n  try: hotspotctl answer --dismiss wlan0\n"),
        (false, "the login is still running.\n  try: hotspotctl login --wait wlan0, then hotspotctl logoff wlan0\n"),
    ]) func aLogoffDuringALoginSaysWhatWaits(asks: Bool, words: String) throws {
        let refusal = #"!WrongState {"interface":"wlan0","state":"presentingUI"\#(asks ? #","asks":true"# : "")}"#
        let ended = try run(.init(replies: ["Logoff": [refusal]]), ["logoff"])
        #expect(ended.status == 1 && ended.errors.hasSuffix(words), "\(ended)")
    }

    @Test(arguments: [
        ["lsit"], ["--nonsense"], ["nonsense"], ["enable"], ["forget"], ["forget", "Cafe", "--everything"],
        ["login", "--wait=-1"],
        ["list", "--json=xml"], ["status", "--socket", "/nonexistent/socket"],
    ]) func errorsHaveOneVoice(arguments: [String]) throws {
        let errors = try Tool.run(arguments).errors
        #expect(errors.contains(#/^hotspotctl: [A-Z-][^\n]*[.?]\n(  try: [^\n]+\n)?$/#), "\(errors)")
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
        #expect(on.output == "All helpers are switched on for \"Cafe\".\n")
        let released = try run(.init(replies: ["SetEnabled": [#"{"released":true}"#]]), ["enable", "Cafe"]).output
        #expect(released.hasSuffix(".\nThe network is no longer left alone.\n"), "\(released)")
        let everywhere = try run(.init(replies: ["SetEnabled": ["{}"]]), ["disable", "--helper", "form"]) {
            #expect($0.parameters("SetEnabled") == ["helper": "form", "enabled": false])
        }
        #expect(everywhere.output == "form is switched off.\n")
        let known = try run(.init(replies: ["SetEnabled": ["{}"], "History": [#"{"attempts":[]}"#]]), ["disable", "Cafe"]) {
            #expect($0.calls.filter { $0 != "Status" } == ["History", "SetEnabled"])
        }
        #expect(known.output == "All helpers are switched off for \"Cafe\".\n")
        let status =
            #"{"version":"1","interfaces":[{"interface":"w","state":"authenticated","since":1,"ssid":"Cafe","helper":"form","problems":[]}]}"#
        let online = try run(
            .init(replies: ["SetEnabled": ["{}"], "History": [#"{"attempts":[]}"#], "Status": [status]]), ["disable", "Cafe"])
        #expect(
            online.output.hasSuffix("\nIts session was not ended: the portal may still keep you logged in.\n"),
            "\(online)")
    }

    /// There are switches for a helper, for a network, and for a helper in one network.
    @Test(arguments: [
        (
            ["Cafe"], #"{"helper":"form","ssid":"Cafe"},{"helper":"wispr","ssid":"Home"}"#, Int32(0),
            "All other helpers are switched on for \"Cafe\".\n"
                + "Switched off: form for \"Cafe\"; to switch on: hotspotctl enable --helper form Cafe\n"
        ),
        (
            ["--helper", "form", "Cafe"], #"{"helper":"form"}"#, 1,
            "hotspotctl: form stays switched off: it is switched off for all networks.\n  try: hotspotctl enable --helper form\n"
        ),
        (
            ["--helper", "form", "Cafe"], #"{"ssid":"Cafe"}"#, 1,
            "hotspotctl: form stays switched off: hotspotd is switched off there.\n  try: hotspotctl enable Cafe\n"
        ),
        (
            ["--helper", "form"], #"{"helper":"form","ssid":"Cafe"},{"ssid":"Home"}"#, 0,
            "form is switched on.\nSwitched off: form for \"Cafe\"; to switch on: hotspotctl enable --helper form Cafe\n"
        ),
    ]) func whatStaysSwitchedOffIsSaid(words: [String], off: String, code: Int32, said: String) throws {
        let rest = status(online).replacing("\"version\"", with: "\"off\":[\(off)],\"version\"")
        let ended = try run(.init(replies: ["SetEnabled": ["{}"], "Status": [rest]]), ["enable"] + words)
        #expect(ended.status == code && ended.output + ended.errors == said, "\(ended)")
    }

    @Test(arguments: [
        ("Coffe", "in sight or remembered.\n"), ("wlan0", "that is an interface.\n"),
        ("Cafe 2", "for a network that you will join later: hotspotctl disable --yes 'Cafe 2'\n"),
        ("form", "try: hotspotctl disable --helper form\n"),
    ]) func disablingSomethingUnknownWantsAYes(name: String, words: String) throws {
        let script = FakeDaemon.Script(replies: [
            "SetEnabled": ["{}"], "History": [#"!NoSuchNetwork {"ssid":"\#(name)"}"#], "Status": [status(online)],
            "Helpers": [helpers],
        ])
        let ended = try run(script, ["disable", name]) { #expect(!$0.calls.contains("SetEnabled")) }
        #expect(ended.status == 10 && ended.errors.contains(words), "\(ended.errors)")
        #expect(try run(script, ["disable", name, "--yes"]).status == 0)
    }

    /// A name that is a helper's, an interface's, or both leads to the command that was meant.
    @Test(arguments: ["enable", "disable"]) func aNameOfSomethingElseIsToldWithItsCommand(verb: String) throws {
        for (name, option, interface, words) in [
            (
                "form", nil, "wlan0",
                #""form" is in sight or remembered; that is a helper.\#n  try: hotspotctl \#(verb) --helper form\#n"#
            ),
            (
                "wlan0", nil, "wlan0",
                #""wlan0" is in sight or remembered; that is an interface.\#n  try: for its network: hotspotctl \#(verb) Hotel\#n"#
            ),
            (
                "form", nil, "form",
                "that is a helper and an interface.\n  try: hotspotctl \(verb) --helper form; for its network: hotspotctl \(verb) Hotel\n"
            ),
            ("wlan0", "form", "wlan0", "an interface.\n  try: for its network: hotspotctl \(verb) --helper form Hotel\n"),
        ] as [(String, String?, String, String)] {
            let refusal = #"!NoSuchNetwork {"ssid":"\#(name)","nearest":"Hotel"}"#
            let here = status(state("failure")).replacing("wlan0", with: interface)
            let script = FakeDaemon.Script(replies: [
                "SetEnabled": [refusal], "History": [refusal], "Status": [here], "Helpers": [helpers],
            ])
            let ended = try run(script, [verb] + (option.map { ["--helper", $0] } ?? []) + [name])
            #expect(ended.status == 10 && ended.errors.hasSuffix(words), "\(ended)")
        }
    }

    /// The suggested command contains the real name of the network, quoted for the shell.
    @Test func aMisspeltNetworkGetsTheNearestName() throws {
        let refusal = #"!NoSuchNetwork {"ssid":"Cafe Arma","nearest":"Cafe Aroma"}"#
        let script = FakeDaemon.Script(replies: [
            "SetEnabled": [refusal], "History": [refusal], "Forget": [refusal], "Status": [status(online)], "Helpers": [helpers],
        ])
        for words in [["enable"], ["disable"], ["forget"], ["history"]] {
            let ended = try run(script, words + ["Cafe Arma"])
            #expect(ended.status == 10 && ended.output.isEmpty)
            #expect(
                ended.errors.contains(#""Cafe Arma" is in sight or remembered; did you mean "Cafe Aroma"."#), "\(ended)")
        }
    }

    @Test func aNameThatLooksLikeAnOptionIsSwitchedOnByTheCommandShown() throws {
        let off = status(online).replacing("\"version\"", with: #""off":[{"ssid":"-j"}],"version""#)
        let shown = try run(.init(replies: ["Status": [off]]), []).output
        #expect(shown.contains("to switch on: hotspotctl enable -- -j\n"), "\(shown)")
        let done = try run(.init(replies: ["SetEnabled": ["{}"]]), ["enable", "--", "-j"]) {
            #expect($0.parameters("SetEnabled") == ["ssid": "-j", "enabled": true])
        }
        #expect(done.status == 0)
    }

    /// The portal may have closed since the last probe, so the network's state is reported only after the new probe.
    @Test func aFreshLoginSaysNothingOfTheLastLook() throws {
        let open = online.replacing(#""helper":"form","#, with: "")
        let login = #"{"interface":"wlan0"}"#
        let ended = try run(.init(replies: ["Status": [status(open)], "Login": [login]]), ["login", "--fresh"]) {
            #expect($0.parameters("Login") == ["fresh": true])
        }
        #expect(ended.status == 0 && !ended.output.contains("start over"), "\(ended)")
        let story = #"{"steps":[{"at":0,"kind":"command","helper":"form","detail":"evaluate"}],"verdict":"v"}"#
        func state(_ since: Int) -> String {
            #"{"interface":"wlan0","state":"authenticated","since":\#(since),"ssid":"Hotel","captive":false,"problems":[]}"#
        }
        let script = FakeDaemon.Script(
            replies: ["Login": [login], "Explain": [story], "Status": [status(open)]],
            status: [[status(state(1)), status(state(2))]])
        let waited = try run(script, ["login", "--fresh", "--wait"])
        #expect(
            waited.status == 0
                && waited.output.hasSuffix("The network asked for no login; there is no login to repeat.\n"), "\(waited)")
    }

    /// If no helper had to do anything, the session continues.
    @Test func aFreshLoginThatTheNetworkDidNotAskForSaysSo() throws {
        let fresh = ["login", "--fresh", "--wait"]
        for (sent, words, arguments) in [
            ("evaluate, just joined", "The network asked for no login; to end the session first: hotspotctl logoff\n", fresh),
            ("maintain", "The earlier login is still valid; no new one was needed.\n", ["login", "--wait"]),
            ("authenticate", "Online.\n", fresh),
        ] {
            let story = #"{"steps":[{"at":0,"kind":"command","helper":"form","detail":"\#(sent)"}],"verdict":"v"}"#
            let script = FakeDaemon.Script(
                replies: ["Login": ["{}"], "Explain": [story], "Status": [status(online)]],
                status: [[status(state("authenticated")), status(state("authenticated", since: 2))]])
            let ended = try run(script, arguments)
            #expect(ended.status == 0 && ended.output.hasSuffix(words), "\(ended)")
        }
    }

    /// Earlier versions of the help contained these untrue sentences.
    @Test func theHelpSaysWhatIsSo() throws {
        for (words, untrue) in [
            (["answer"], "ticks"), (["disable"], "without it every"), (["credentials", "add"], "as 'show' lists them"),
        ] {
            #expect(try !Tool.run(words + ["--help"]).output.split(separator: /\s+/).joined(separator: " ").contains(untrue))
        }
    }

    @Test func aLoginThatFailedForNowSaysWhenItIsTriedAgain() throws {
        var script = FakeDaemon.Script(replies: ["Login": ["{}"]])
        let problem = #"{"code":"stillCaptive","message":"The portal is still there."}"#
        let failed = state("failure", since: 4, problems: problem)
        let later = failed.replacing(#""since":4"#, with: #""since":4,"nextLogin":50700000"#)
        for (reply, words) in [(failed, "there.\n"), (later, "there. hotspotd tries again at 14:05:00.\n")] {
            script.status = [[status(state("inactive")), status(reply)]]
            #expect(try run(script, ["login", "--wait"]).errors.contains(words))
        }
        #expect(
            try run(.init(replies: ["Status": [status(later)]]), []).output.contains(
                "  tries again at 14:05:00; to start now: hotspotctl login\n"))
    }

    @Test func forgettingErasesOneOrAll() throws {
        let script = FakeDaemon.Script(replies: ["Forget": ["{}"], "ForgetEverything": ["{}"]])
        #expect(try run(script, ["forget", "Cafe"]).output == "Forgot \"Cafe\" and its history.\n")
        let held = FakeDaemon.Script(
            replies: [
                "Forget": ["{}"], "Status": [status(state("inactive", problems: #"{"code":"held","message":"Left alone."}"#))],
            ])
        #expect(
            try run(held, ["forget", "Hotel"]).output
                == "Forgot \"Hotel\" and its history; it is no longer left alone; hotspotd may log in at once.\n")
        var all = held
        all.replies["ForgetEverything"] = ["{}"]
        for (pin, words) in [("none", ""), ("open", ", and the PIN"), ("locked", ", and the PIN")] {
            all.replies["Credentials"] = [#"{"credentials":[],"pin":"\#(pin)"}"#]
            #expect(
                try run(all, ["forget", "--everything"]).output
                    == "Forgot all networks, their history and all answers\(words).\n\"Hotel\" is no longer left alone; hotspotd may log in at once.\n"
            )
        }
    }

    @Test func helpersShowTheirProblems() throws {
        let ended = try run(.init(replies: ["Helpers": [helpers]]), ["helpers"])
        #expect(ended.output.contains("form  Portal form  running  10        any"))
        #expect(ended.output.contains("  ! form: Something is odd.\n    try: ls\n"))
        #expect(try run(.init(replies: ["Helpers": [helpers]]), ["helpers", "--verbose"]).output.contains("reached by: socket"))
        let off = helpers.replacing(#""disabledFor":[]"#, with: #""disabledFor":["Cafe"]"#)
        #expect(try run(.init(replies: ["Helpers": [off]]), ["helpers"]).output.contains("\n  form is off for: \"Cafe\"\n"))
    }

    @Test func historyIsATable() throws {
        let past =
            #"{"attempts":[{"id":"a1","interface":"wlan0","ssid":"Cafe","began":1000,"ended":2300,"helper":"form","outcome":"temporaryFailure"}]}"#
        let script = FakeDaemon.Script(replies: ["History": [past], "Status": [status(online)]])
        let ended = try run(script, ["history", "Cafe"]) { #expect($0.parameters("History") == ["ssid": "Cafe"]) }
        #expect(ended.output.contains("wlan0      Cafe     form    failed for now  1.3 s  a1"))
        _ = try run(script, ["history", "wlan0"]) { #expect($0.parameters("History") == ["interface": "wlan0"]) }
        let cut = past.replacing("temporaryFailure", with: "interrupted")
        #expect(
            try run(.init(replies: ["History": [cut]]), ["history"]).output.contains("  interrupted: hotspotd ended  1.3 s  a1"))
        let unknown = FakeDaemon.Script(replies: ["History": [#"!NoSuchNetwork {"ssid":"x"}"#], "Status": [status(online)]])
        #expect(try run(unknown, ["history", "x"]).status == 10)
    }

    @Test func loginWaitsForTheOutcome() throws {
        var script = FakeDaemon.Script(replies: ["Login": ["{}"], "Prompts": [prompts]])
        script.status = [
            [status(state("failure")), status(state("evaluating", since: 2)), status(state("authenticated", since: 3))]
        ]
        let ended = try run(script, ["login", "--wait"])
        #expect(ended.status == 0 && ended.output.hasPrefix("Waiting for the outcome.\nOnline"))
        script.status = [[status(state("failure")), status(state("presentingUI", since: 3, prompt: "p1"))]]
        let asks = try run(script, ["login", "--wait=30"])
        #expect(asks.status == 4 && asks.errors.contains("Room number (room: text)"))
        #expect(asks.errors.contains("try: hotspotctl answer"))
        let unproven = status(state("authenticated", since: 3)).replacing(",\"captive\":false", with: "")
        script.status = [[status(state("failure")), status(state("maintaining", since: 2)), unproven]]
        let connected = try run(script, ["login", "--wait"])
        let unverified = "hotspotctl: hotspotd could not verify that wlan0 is online."
        #expect(connected.status == 1 && connected.errors == unverified + "\n  try: hotspotctl check\n")
        let silent = #""problems":[{"code":"internetLimited","message":"Nothing answers."}]"#
        script.status = [[status(state("failure")), unproven.replacing(#""problems":[]"#, with: silent)]]
        #expect(try run(script, ["login", "--wait"]).errors.hasPrefix(unverified + " Nothing answers.\n"))
        script.status = [[status(state("failure")), unproven.replacing(#""since":3"#, with: #""since":3,"captive":true"#)]]
        #expect(try run(script, ["login", "--wait"]).errors.hasPrefix("hotspotctl: wlan0 is behind a portal.\n"))
        let problem = #"{"code":"x","message":"The code is wrong.","hint":"hotspotctl forget Hotel"}"#
        script.status = [[status(state("inactive")), status(state("failure", since: 4, problems: problem))]]
        let failed = try run(script, ["login", "--wait", "wlan0"])
        #expect(failed.status == 1 && failed.errors == "hotspotctl: The code is wrong.\n  try: hotspotctl forget Hotel\n")
        script.status = [[status(state("failure")), status(state("evaluating", since: 2))]]
        #expect(try run(script, ["login", "--wait=0.2"]).status == 3)
        let started = try run(script, ["login"]) { #expect($0.calls == ["Login"]) }
        #expect(started.status == 0)
        script.status = [
            [status(state("evaluating")), status(state("inactive", since: 2)).replacing(#""ssid":"Hotel","#, with: "")]
        ]
        let left = try run(script, ["login", "--wait=1"])
        let waiting = "wlan0 left its network; waiting for it to come back.\n"
        #expect(left.status == 1 && left.errors.hasPrefix("\(waiting)hotspotctl: wlan0 left its network.\n"))
    }

    /// The login's question waits already, or appears later.
    @Test func aLoginThatIsUnderWayIsJoined() throws {
        var script = FakeDaemon.Script(
            replies: ["Login": [#"{"interface":"wlan0","underWay":true}"#], "Prompts": [prompts]])
        let asks = status(state("presentingUI", since: 3, prompt: "p1"))
        for states in [[asks], [status(state("evaluating")), asks]] {
            script.status = [states]
            let ended = try run(script, ["login", "--wait=30"])
            #expect(ended.status == 4 && ended.errors.contains("Room number (room: text)"), "\(ended)")
            #expect(ended.output == "A login is already running on wlan0; waiting until it ends or has a question.\n")
        }
        script.status = [[status(state("presentingUI", since: 3)), status(state("authenticated", since: 4))]]
        #expect(try run(script, ["login", "--wait"]).output.contains("\nOnline"))
        #expect(
            try run(script, ["login"]).output
                == "A login is already running on wlan0; "
                + "to answer or wait: hotspotctl login --wait wlan0\n")
    }
}
