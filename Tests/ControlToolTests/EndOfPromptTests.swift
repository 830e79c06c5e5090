import Glibc
import Testing

@testable import hotspotctl

/// A question that ends while hotspotctl asks it on the terminal.
@Suite struct EndOfPromptTests {
    private static func status(_ state: String, since: Int, prompt: String? = nil) -> String {
        let rest = prompt.map { #""prompt":"\#($0)""# } ?? #""captive":false"#
        return
            #"{"version":"1","interfaces":[{"interface":"wlan0","state":"\#(state)","since":\#(since),"ssid":"Hotel","problems":[],\#(rest)}]}"#
    }

    private static func question(_ id: String, _ fields: String, _ members: String = #""since":1"#) -> String {
        """
        {"prompts":[{"id":"\(id)","interface":"wlan0","ssid":"Hotel","helper":"keys","portal":"http://p.example","title":"Hotel",
        \(members),"fields":[\(fields)]}]}
        """
    }

    private static let room = #"{"name":"room","label":"Room","kind":"text","required":true}"#
    private static let surname = #"{"name":"name","label":"Surname","kind":"password","required":true}"#
    private static let terms = #"{"name":"ok","label":"Accept the terms","kind":"checkbox","required":true}"#
    private static let waiting = status("presentingUI", since: 1, prompt: "p1")

    private static func gone(_ words: String) -> String { #"{"prompts":[],"gone":"\#(words)"}"# }

    @Test(.timeLimit(.minutes(10)), arguments: [("Room", room), ("Surname (not shown)", surname)])
    func aLoginElsewhereEndsTheQuestion(label: String, field: String) throws {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [Self.question("p1", field)]],
                status: [[Self.waiting, Self.status("authenticated", since: 2)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("\(label): ")
        terminal.type("half a secret")
        daemon.act()
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.hasPrefix("Online"), "\(ended)")
        #expect(ended.errors.hasSuffix("\(label): \n") && !daemon.calls.contains("Answer"))
        let echoes = terminal.echoes
        #expect(echoes)
        // The shell then reads only the text that is typed afterwards.
        terminal.type("ls\n")
        var line = [UInt8](repeating: 0, count: 64)
        let count = read(terminal.slave, &line, line.count)
        #expect(String(decoding: line.prefix(max(0, count)), as: UTF8.self) == "ls\n")
    }

    @Test(.timeLimit(.minutes(10))) func anEndWithoutALoginIsNamed() throws {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [Self.question("p1", Self.room), Self.gone("It was dismissed.")]],
                status: [[Self.waiting, Self.status("inactive", since: 2)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        daemon.act()
        let ended = tool.end()
        #expect(
            ended.status == 1
                && ended.errors.hasSuffix(
                    "Room: \nIt was dismissed.\nhotspotctl: The login failed: wlan0 is idle.\n  try: hotspotctl explain\n"),
            "\(ended)")
    }

    private static func refusal(_ why: String) -> String { #"!NoSuchPrompt {"id":"p1","reason":"\#(why)"}"# }

    /// The question ends while the answer is on its way: the user learns why, and the login's outcome counts.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("The network opened.", status("authenticated", since: 2), 0, ""),
            (
                "The network was left.", status("inactive", since: 2).replacing(#""ssid":"Hotel","#, with: ""), 1,
                "wlan0 left its network; waiting for it to come back.\nhotspotctl: wlan0 left its network.\n"
            ),
        ]) func anEnterMayCrossTheEndOfItsQuestion(why: String, end: String, code: Int32, rest: String) throws
    {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [Self.question("p1", Self.room)], "Answer": [Self.refusal(why)]],
                status: [[Self.waiting, end]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--wait=2", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        terminal.type("12\n")
        let ended = tool.end()
        #expect(ended.status == code && ended.errors.contains("\(why) Nothing was sent.\n\(rest)"), "\(ended)")
        #expect(ended.output.hasPrefix("Online") == (code == 0))
    }

    @Test(.timeLimit(.minutes(10))) func aQuestionThatIsAskedAnewIsAskedHere() throws {
        let again = Self.status("presentingUI", since: 1, prompt: "p2")
        let daemon = try FakeDaemon(
            .init(
                replies: [
                    "Prompts": ["p1", "p2"].map { Self.question($0, Self.room) },
                    "Answer": [Self.refusal("The stored answers changed meanwhile."), "{}"],
                ], status: [[Self.waiting, again], [again, Self.status("authenticated", since: 2)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        terminal.type("12\n")
        tool.waitForErrors(
            "changed meanwhile. Nothing was sent.\n\"Hotel\" asks (http://p.example):\n  ! Not encrypted.\n  │ Room: ")
        terminal.type("12\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.hasPrefix("Online"), "\(ended)")
    }

    /// The same without a terminal.
    @Test(.timeLimit(.minutes(10))) func aLoginsQuestionMayBeGoneBeforeItIsRead() throws {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Login": [#"{"interface":"wlan0"}"#], "Prompts": [Self.gone("The network opened.")]],
                status: [
                    [Self.status("failure", since: 0), Self.waiting], [Self.status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let ended = try Tool.run(["login", "--wait", "--socket", daemon.path])
        #expect(ended.status == 0 && ended.output.contains("\nOnline") && ended.errors.isEmpty, "\(ended)")
    }

    @Test(.timeLimit(.minutes(10))) func aQuestionThatIsGoneAlreadyEndsAtOnce() throws {
        let daemon = try FakeDaemon(
            .init(replies: ["Prompts": [Self.question("p1", Self.room)]], status: [[Self.status("authenticated", since: 2)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(["answer", "--socket", daemon.path], input: terminal.slave).end()
        #expect(ended.status == 0 && ended.output.hasPrefix("Online"), "\(ended)")
    }

    @Test(.timeLimit(.minutes(10))) func aLoginElsewhereIsToldAndWhatBecameOfTheAnswers() throws {
        let opened = Self.status("authenticated", since: 2)
            .replacing(#""ssid""#, with: #""outcome":"opened","answers":"Your answers were not saved.","said":"Enjoy","ssid""#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [Self.question("p1", Self.room)]], status: [[opened]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(["answer", "--socket", daemon.path], input: terminal.slave).end()
        #expect(ended.output.hasPrefix("Online") && ended.status == 0, "\(ended)")
        #expect(ended.output.hasSuffix("Online; no helper logged in. Your answers were not saved.\n  │ Enjoy\n"), "\(ended)")
    }

    /// Once the daemon has the PIN, it sends the stored answers itself.
    @Test(.timeLimit(.minutes(10))) func thePINMayBeAllThatIsNeeded() throws {
        let locked = Self.question("p1", Self.room, #""since":1,"locked":true"#)
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [locked, Self.gone("The PIN was typed; the stored answers are sent.")], "Unlock": ["{}"]],
                status: [[Self.waiting, Self.status("authenticating", since: 2), Self.status("authenticated", since: 3)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("to type the answers instead): ")
        terminal.type("4711\n")
        tool.waitForErrors("The PIN was typed; the stored answers are sent.\n")
        daemon.act()
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.hasPrefix("Online") && !ended.errors.contains("Room"), "\(ended)")
        #expect(!daemon.calls.contains("Answer"))
    }

    // MARK: - The next question of the same portal

    /// After a typo, hotspotctl asks again. Only then are the answers and the consent of a moment ago the defaults.
    @Test(.timeLimit(.minutes(10))) func theSecondQuestionIsShorter() throws {
        let daemon = try FakeDaemon(
            .init(
                replies: [
                    "Prompts": ["p1", "p2"].map { Self.question($0, "\(Self.room),\(Self.terms)") }, "Answer": ["{}"],
                ],
                status: [
                    [Self.waiting, Self.status("presentingUI", since: 1, prompt: "p2")],
                    [Self.status("presentingUI", since: 1, prompt: "p2"), Self.status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        terminal.type("1\n")
        tool.waitForErrors("Accept the terms? [y/n] ")
        terminal.type("y\n")
        tool.waitForErrors("[y/n] \"Hotel\" asks (http://p.example):\n  ! Not encrypted.\n  │ Room: ")
        terminal.type("2\n")
        tool.waitForErrors("Accept the terms? [Y/n] ")
        terminal.type("\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.errors.ranges(of: "people nearby").count == 1, "\(ended)")
        #expect(!ended.output.contains("Codes"))
    }

    /// The input ends at the first question, or after a form was sent.
    @Test(.timeLimit(.minutes(10)), arguments: [1, 2]) func whatWasSentIsNotDenied(questions: Int) throws {
        let again = Self.status("presentingUI", since: 1, prompt: "p2")
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": ["p1", "p2"].map { Self.question($0, Self.room) }, "Answer": ["{}"]],
                status: [[Self.waiting, again], [again]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        if questions == 2 {
            terminal.type("12\n")
            tool.waitForErrors("Not encrypted.\n  │ Room: ")
        }
        terminal.type("\u{4}")
        let ended = tool.end()
        let words = "The input ended before the answer. Nothing \(questions == 2 ? "more " : "")was sent.\n"
        #expect(ended.status == 4 && ended.errors.hasSuffix(words), "\(ended)")
    }

    /// Enter means yes only to what the user agreed to a moment ago.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (terms, #""since":1,"terms":"No noise after eleven.""#), (terms, #""since":1,"termsURL":"http://p.example/new""#),
            (longTerms("eleven"), #""since":1"#),
        ]) func changedTermsWantAYesOfTheirOwn(box: String, members: String) throws
    {
        let first = Self.question("p1", "\(Self.room),\(box == Self.terms ? box : Self.longTerms("ten"))")
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [first, Self.question("p2", "\(Self.room),\(box)", members)], "Answer": ["{}"]],
                status: [
                    [Self.waiting, Self.status("presentingUI", since: 1, prompt: "p2")],
                    [Self.status("presentingUI", since: 1, prompt: "p2"), Self.status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        for answer in ["1\n", "2\n"] {
            tool.waitForErrors(answer == "1\n" ? "Room: " : "Not encrypted.")
            terminal.type(answer)
            tool.waitForErrors("[y/n] ")
            terminal.type("y\n")
        }
        let ended = tool.end()
        #expect(ended.status == 0 && ended.errors.ranges(of: "[y/n]").count == 2 && !ended.errors.contains("[Y/n]"), "\(ended)")
    }

    /// A checkbox's label that differs from another label only beyond the part that is shown.
    private static func longTerms(_ hour: String) -> String {
        let words = String(repeating: "I accept the terms of the house. ", count: 10)
        return #"{"name":"ok","label":"\#(words)No noise after \#(hour).","kind":"checkbox","required":true}"#
    }

    @Test(.timeLimit(.minutes(10))) func aCodeIsNotKeptAndTheEndSaysSo() throws {
        let code = #"{"name":"code","label":"Voucher","kind":"code","required":true}"#
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [Self.question("p1", code)], "Answer": ["{}"]],
                status: [[Self.waiting, Self.status("authenticated", since: 2)]]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--socket", daemon.path], input: "code=123\n")
        #expect(ended.status == 0 && ended.output.hasSuffix(". Codes are not kept.\n"), "\(ended)")
    }
}
