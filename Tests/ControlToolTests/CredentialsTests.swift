import Testing

@testable import ControlAPI
@testable import hotspotctl

@Suite struct CredentialsTests {
    private static let hotel = """
        {"ssid":"Hotel","security":"open","helper":"form","portal":"http://p.example","fields":["room","name"],"release":"confirm"}
        """

    private func run(
        _ replies: [String: [String]], _ arguments: [String], input: String = "", check: (FakeDaemon) -> Void = { _ in }
    ) throws -> Tool.Exit {
        let daemon = try FakeDaemon(.init(replies: replies))
        defer { daemon.stop() }
        let ended = try Tool.run(["credentials"] + arguments + ["--socket", daemon.path], input: input)
        check(daemon)
        #expect(!(ended.output + ended.errors).contains("canary"))
        return ended
    }

    private func listed(_ pin: String, _ credentials: String = hotel) -> [String: [String]] {
        ["Credentials": [#"{"credentials":[\#(credentials)],"pin":"\#(pin)"}"#]]
    }

    @Test func theyAreListedAndShown() throws {
        #expect(
            try run(listed("none"), ["list"]).output == """
                NETWORK  HELPER  PORTAL            FIELDS      SENT
                Hotel    form    http://p.example  room, name  after you press Enter

                """)
        #expect(try run(listed("none"), []).output == run(listed("none"), ["list"]).output)
        let shown = try run(listed("locked"), ["show", "Hotel"]) { #expect($0.parameters("Credentials") == ["ssid": "Hotel"]) }
        #expect(shown.output.hasPrefix("\"Hotel\" (open)\n  helper: form\n  portal: http://p.example\n  fields: room, name\n"))
        #expect(shown.output.hasSuffix("The answers are locked by the PIN; to unlock them: hotspotctl credentials unlock\n"))
        for pin in ["none", "locked"] { #expect(try run(listed(pin, ""), []).output == "No answers are stored.\n") }
        for (release, words) in zip(CredentialRelease.allCases, ["automatically", "after you press Enter", "never"]) {
            let credential = Self.hotel.replacing("confirm", with: release.rawValue)
            #expect(try run(listed("none", credential), []).output.hasSuffix("  \(words)\n"))
        }
        let many = Self.hotel.replacing(#""name""#, with: (1...9).map { #""f\#($0)""# }.joined(separator: ","))
        #expect(try run(listed("none", many), ["list"]).output.contains("f7, …"))
        #expect(try run(listed("none", many), ["show", "Hotel"]).output.contains("f7, f8, f9\n"))
        let unknown = try run(listed("none", ""), ["show", "Other"])
        #expect(unknown.status == 10 && unknown.output.isEmpty)
        #expect(unknown.errors.hasPrefix("hotspotctl: No answers are stored for \"Other\".\n"), "\(unknown.errors)")
    }

    /// After a change of the portal's key, two credentials have the same origin.
    @Test func answersForAnEarlierKeyAreTold() throws {
        let earlier = Self.hotel.replacing(#""confirm""#, with: #""automatic","earlierKey":true"#)
        let lines = try run(listed("none", "\(earlier),\(Self.hotel)"), []).output.split(separator: "\n")
        #expect(
            lines[1].hasSuffix("  automatically, to the portal's earlier key") && lines[2].hasSuffix("  after you press Enter"))
    }

    @Test func thereMayBeNoPINToRemove() throws {
        let ended = try run(listed("none"), ["pin", "--remove"], input: "canary\n") { #expect(!$0.calls.contains("SetPIN")) }
        #expect(ended.status == 1 && ended.errors == "hotspotctl: There is no PIN.\n", "\(ended.errors)")
    }

    @Test(arguments: [60, 80]) func aPortalIsCutInTheMiddle(columns: Int) {
        var renderer = Renderer(style: .plain, now: 0)
        renderer.columns = columns
        let credential = CredentialStatus(
            ssid: "Hotel Lindenhof", security: "open", helper: "form", portal: "https://login.microsoftonline.com.evil.example",
            fields: ["room", "name"], release: .confirm)
        let line = renderer.lines(CredentialsReply(credentials: [credential], pin: "none"))[1]
        #expect(Renderer.width(line) <= columns && line.contains("example "), "\(line)")
        if columns == 80 { #expect(line.contains("https:…") && line.contains("evil.example"), "\(line)") }
    }

    @Test(arguments: [
        (["credentials", "unlock"], "PIN"), (["credentials", "pin"], "Current PIN"),
        (["join", "--password", "Hotel"], "Password"), (["companion", "pair", "-"], "Code"),
    ]) func noAskAsksForNoSecret(_ words: [String], _ question: String) throws {
        let daemon = try FakeDaemon(.init(replies: listed("locked")))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(words + ["--no-ask", "--socket", daemon.path], input: terminal.slave).end()
        #expect(
            ended.status == 4 && ended.errors.contains("An answer is needed: ") && ended.errors.contains(question), "\(ended)")
    }

    @Test func unlockingWithoutAPINAsksNothing() throws {
        let ended = try run(listed("none"), ["unlock"], input: "canary\n") { #expect(!$0.calls.contains("Unlock")) }
        #expect(ended.status == 1 && ended.errors.hasPrefix("hotspotctl: There is no PIN;"), "\(ended.errors)")
        // The tenth wrong PIN erased the PIN and the answers.
        let erased = try run(listed("none", ""), ["unlock"], input: "canary\n")
        #expect(
            erased.status == 1 && erased.errors == "hotspotctl: There is no PIN, and no answers are stored.\n", "\(erased.errors)"
        )
    }

    @Test(.timeLimit(.minutes(10))) func ofSeveralSetsNoneIsAskedFor() throws {
        let other = Self.hotel.replacing("form", with: "mine")
        let daemon = try FakeDaemon(.init(replies: listed("none", "\(Self.hotel),\(other)")))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(["credentials", "add", "Hotel", "--socket", daemon.path], input: terminal.slave).end()
        #expect(ended.status == 1 && ended.errors.contains("for several portals or helpers of \"Hotel\""), "\(ended.errors)")
        #expect(!daemon.calls.contains("AddCredential") && !ended.errors.contains("room:"))
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("authenticated", "hotspotctl logoff wlan0, then hotspotctl login --wait wlan0"),
            ("failure", "hotspotctl login --wait wlan0"),
        ])
    func addingNamesTheWayToTheQuestion(state: String, hint: String) throws {
        let here =
            #"{"interfaces":[{"interface":"wlan0","state":"\#(state)","since":1,"ssid":"Hotel","helper":"form","problems":[]}],"version":"1"}"#
        let daemon = try FakeDaemon(.init(replies: listed("none", "").merging(["Status": [here]]) { $1 }))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(["credentials", "add", "Hotel", "--socket", daemon.path], input: terminal.slave).end()
        #expect(ended.status == 10 && ended.errors.hasSuffix("  try: \(hint)\n"), "\(ended.errors)")
    }

    @Test func valuesComeFromStandardInputAndNeverFromTheArguments() throws {
        let replies = ["AddCredential": [#"{"credential":\#(Self.hotel)}"#]]
        let added = try run(replies, ["add", "Hotel"], input: "room=214\nname=canary\n") {
            #expect($0.parameters("AddCredential") == ["ssid": "Hotel", "answers": ["room": "214", "name": "canary"]])
        }
        #expect(added.status == 0 && added.output.hasPrefix("Stored:\n\"Hotel\" (open)\n"))
        let other = try run(replies, ["add", "Hotel", "room"], input: "name=canary\n") { #expect($0.calls.isEmpty) }
        #expect(other.status == 2)
        #expect(try run([:], ["add", "Hotel", "--room=canary"]).status == 2)
    }

    @Test func aRefusedAnswerNamesTheCommandThatWasTyped() throws {
        let refusal = #"!InvalidAnswer {"field":"rom","message":"There is no field with this name; the fields are name, room."}"#
        let ended = try run(["AddCredential": [refusal]], ["add", "Hotel 2"], input: "rom=canary\n")
        #expect(
            ended.status == 1 && ended.errors.contains("│ rom: There is no field with this name; the fields are name, room.\n"))
        #expect(ended.errors.hasSuffix("try: hotspotctl credentials add 'Hotel 2'\n"), "\(ended.errors)")
        let empty = try run(
            ["AddCredential": [#"!InvalidAnswer {"field":"","message":"No answers were given."}"#]], ["add", "Hotel"])
        #expect(empty.errors.hasPrefix("hotspotctl: No answers were given.\n"), "\(empty.errors)")
    }

    @Test(arguments: [([], "No answers are stored"), (["--helper=form"], "No such answers are stored")] as [([String], String)])
    func whereNothingIsStoredNothingIsRemoved(_ words: [String], _ sentence: String) throws {
        let ended = try run(["RemoveCredentials": [#"{"removed":0}"#]], ["remove", "Hotel"] + words)
        #expect(ended.status == 10 && ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("hotspotctl: \(sentence) for \"Hotel\".\n"), "\(ended.errors)")
    }

    @Test func theyAreRemoved() throws {
        let removed = try run(["RemoveCredentials": [#"{"removed":1}"#]], ["remove", "Hotel", "--helper=form"]) {
            #expect($0.parameters("RemoveCredentials") == ["ssid": "Hotel", "helper": "form"])
        }
        #expect(removed.output == "Removed the answers for 1 portal of \"Hotel\".\n")
    }

    @Test(arguments: [
        (3, "Wrong PIN.\n"), (2, "Wrong PIN. After 2 more wrong PINs, the stored answers are erased.\n"),
        (0, "This was the tenth wrong PIN. The stored answers and the PIN have been erased.\n"),
    ]) func aWrongPINSaysHowManyAreLeft(left: Int, words: String) throws {
        let replies = listed("locked").merging(["Unlock": [#"!WrongPIN {"left":\#(left)}"#]]) { $1 }
        let ended = try run(replies, ["unlock"], input: "canary\n") {
            #expect($0.parameters("Unlock") == ["pin": "canary"])
        }
        #expect(ended.status == 1 && ended.errors.hasSuffix(words), "\(ended.errors)")
    }

    @Test func aPINIsSetChangedAndRemoved() throws {
        for (state, words, input, sent) in [
            ("none", [], "canary\n", #"{"pin":"canary"}"#),
            ("open", [], "old-canary\ncanary\n", #"{"pin":"canary","old":"old-canary"}"#),
            ("locked", ["--remove"], "old-canary\n", #"{"old":"old-canary"}"#),
        ] {
            let ended = try run(listed(state).merging(["SetPIN": ["{}"]]) { $1 }, ["pin"] + words, input: input) {
                #expect($0.parameters("SetPIN") == FakeDaemon.value(sent))
            }
            #expect(ended.status == 0, "\(ended.errors)")
        }
        #expect(try run(listed("open"), ["pin"], input: "canary\n").status == 2, "two lines are needed")
    }
}
