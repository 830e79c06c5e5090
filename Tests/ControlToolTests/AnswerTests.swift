import Glibc
import HotspotCore
import Testing

@testable import hotspotctl

private func status(_ state: String, since: Int, prompt: String? = nil, answers: String? = nil) -> String {
    let prompt =
        (prompt.map { ",\"prompt\":\"\($0)\"" } ?? ",\"captive\":false") + (answers.map { ",\"answers\":\"\($0)\"" } ?? "")
    return
        "{\"version\":\"1\",\"interfaces\":[{\"interface\":\"wlan0\",\"state\":\"\(state)\",\"since\":\(since),\"ssid\":\"Hotel\",\"helper\":\"keys\"\(prompt),\"problems\":[]}]}"
}

private func prompt(_ id: String, _ fields: String) -> String {
    """
    {"prompts":[{"id":"\(id)","interface":"wlan0","ssid":"Hotel","helper":"keys","portal":"https://p.example","title":"Hotel",
    "termsURL":"https://p.example/terms","since":1,"fields":[\(fields)]}]}
    """
}

private let first = prompt(
    "p1",
    """
    {"name":"room","label":"Room number","kind":"text","required":true},
    {"name":"pass","label":"Surname","kind":"password","required":true},
    {"name":"ok","label":"Accept the terms","kind":"checkbox","required":true}
    """)
private let second = prompt("p2", #"{"name":"sms","label":"Code","kind":"code","required":true}"#)

private let onlineAtOnce = [
    status("presentingUI", since: 1, prompt: "p1"), status("presentingUI", since: 1),
    status("authenticated", since: 2, answers: "Your answers are kept for this portal."),
]

@Suite struct AnswerTests {
    private let lines = "room=214\npass=geheim=1\nok=yes\n"

    @Test func linesFromAPipeAreAnswers() throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--socket", daemon.path], input: lines)
        #expect(ended.status == 0 && ended.errors.isEmpty)
        #expect(ended.output.hasPrefix("Online"))
        #expect(ended.output.hasSuffix(". Your answers are kept for this portal.\n"), "what the daemon says became of them")
        #expect(
            daemon.parameters("Answer")
                == [
                    "id": "p1", "answers": ["room": "214", "pass": "geheim=1", "ok": "yes"], "stored": [], "remember": true,
                    "confirmed": false,
                ])
        // The watch begins before the answer is sent; otherwise the login's outcome could be missed.
        #expect(daemon.calls == ["Prompts", "Status", "Answer"])
    }

    @Test func aLoginThatFailsSaysWhatBecameOfTheAnswers() throws {
        let gone = [status("presentingUI", since: 1, prompt: "p1"), status("inactive", since: 2, answers: "Nothing is kept.")]
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": ["{}"]], status: [gone]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--socket", daemon.path], input: lines)
        #expect(ended.status == 1 && ended.errors.contains("Nothing is kept.\n"), "\(ended.errors)")
    }

    @Test(arguments: [
        (
            #"!NoSuchPrompt {"id":"p1","reason":"It was answered already."}"#, Int32(10),
            "The prompt 'p1' has ended. It was answered already."
        ),
        (#"!NotPermitted {"message":"This needs root."}"#, 1, "This needs root."),
        (
            #"!InvalidAnswer {"field":"room","message":"An answer must not contain control characters."}"#, 1,
            "This answer is not valid."
        ),
    ]) func anAnswerThatIsRefusedSaysThatNothingIsKept(reply: String, code: Int32, words: String) throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": [reply]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--wait=0", "--socket", daemon.path], input: lines)
        #expect(
            ended.status == code && ended.errors.contains("\(words) Nothing was sent or kept.\n"),
            "\(ended.errors)")
        #expect(!ended.errors.contains("geheim"))
        // With a pipe, the hint names the question, so that the suggested command works.
        #expect(!reply.hasPrefix("!InvalidAnswer") || ended.errors.contains("try: hotspotctl answer p1\n"))
    }

    // MARK: - Stored answers

    private static func offered(_ members: String) -> String {
        first.replacing(#""required":true},"#, with: #""required":true,"value":"214"},"#, maxReplacements: 1)
            .replacing(#""since":1"#, with: #""since":1,\#(members)"#)
    }

    private static let stored = offered(#""stored":["room","pass"],"remember":"always""#)

    @Test func withAPipeStoredAnswersAreSentOnRequestOnly() throws {
        for (words, code) in [([], Int32(4)), (["--stored"], 0)] {
            let daemon = try FakeDaemon(.init(replies: ["Prompts": [Self.stored], "Answer": ["{}"]], status: [onlineAtOnce]))
            defer { daemon.stop() }
            let ended = try Tool.run(["answer", "p1", "--socket", daemon.path] + words, input: "ok=yes\nroom=5\n")
            #expect(ended.status == code, "\(ended.errors)")
            if code == 4 { #expect(ended.errors.contains("(pass: password, stored)")) }
            let sent = daemon.parameters("Answer")
            #expect(sent?["stored"] == (code == 0 ? ["pass"] : nil))
            if code == 0 { #expect(sent?["answers"] == ["room": "5", "ok": "yes"]) }
        }
    }

    @Test func theOwnYesForAPortalIsSentAsSuch() throws {
        for (remember, words, sent) in [
            ("always", [], [true, false]), ("ask", [], [true, false]), ("ask", ["--remember"], [true, true]),
            ("ask", ["--no-remember"], [false, false]), ("always", ["--no-remember"], [false, false]),
        ] {
            let prompt = Self.offered(#""remember":"\#(remember)""#)
            let daemon = try FakeDaemon(.init(replies: ["Prompts": [prompt], "Answer": ["{}"]], status: [onlineAtOnce]))
            defer { daemon.stop() }
            #expect(try Tool.run(["answer", "p1", "--socket", daemon.path] + words, input: lines).status == 0)
            let parameters = daemon.parameters("Answer")
            #expect([parameters?["remember"]?.bool, parameters?["confirmed"]?.bool] == sent, "\(remember) \(words)")
        }
    }

    @Test func aWarningStandsInFrontAndAPipeMustNameThePrompt() throws {
        let warned = Self.offered(#""warning":"Another portal.","remember":"ask""#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [warned], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        #expect(
            try Tool.run(["prompts", "--socket", daemon.path]).output
                .hasPrefix("\"Hotel\" asks (https://p.example):\n  ! Another portal.\n  │ "))
        let byHelper = try Tool.run(["answer", "--helper=keys", "--socket", daemon.path], input: lines)
        #expect(
            byHelper.status == 4 && byHelper.errors.contains("name the prompt by its ID.") && !daemon.calls.contains("Answer"))
        #expect(try Tool.run(["answer", "p1", "--socket", daemon.path], input: lines).status == 0)
    }

    @Test(arguments: [
        ("", Int32(4)), ("room=214\n", 4), ("nonsense\n", 2), ("room=1\nroom=2\n", 2), ("other=1\n", 2), ("ok=perhaps\n", 2),
    ]) func missingAndWrongAnswersAreReportedAndNotSent(input: String, code: Int32) throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": ["{}"]]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--no-ask", "--socket", daemon.path], input: input)
        #expect(ended.status == code)
        #expect(!daemon.calls.contains("Answer"))
        if code == 4 { #expect(ended.errors.contains("Surname (pass: password)")) }
    }

    /// A portal could choose field names that fit answers meant for another portal.
    @Test func withAPipeThePromptOrTheHelperIsNamed() throws {
        func answer(_ words: [String]) throws -> (status: Int32, isSent: Bool, errors: String) {
            let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": ["{}"]], status: [onlineAtOnce]))
            defer { daemon.stop() }
            let ended = try Tool.run(["answer", "--socket", daemon.path] + words, input: "room=214\npass=canary-88\nok=yes\n")
            #expect(!(ended.output + ended.errors).contains("canary-88"))
            return (ended.status, daemon.calls.contains("Answer"), ended.errors)
        }
        let unnamed = try answer([])
        #expect(unnamed.status == 4 && !unnamed.isSent)
        for words in ["Room number (room: text)", "With piped input, name the prompt by its ID, or use --helper=keys"] {
            #expect(unnamed.errors.contains(words), "\(unnamed.errors)")
        }
        for words in [["p1"], ["--helper=keys"], ["p1", "--helper=keys"]] { #expect(try answer(words).isSent, "\(words)") }
        for words in [["--helper=other"], ["p1", "--helper=other"]] {
            let other = try answer(words)
            #expect(other.status == 10 && !other.isSent, "\(words): \(other.errors)")
        }
    }

    @Test func noPromptAndTooManyPrompts() throws {
        let none = try FakeDaemon(.init(replies: ["Prompts": [#"{"prompts":[]}"#]]))
        defer { none.stop() }
        #expect(try Tool.run(["answer", "--socket", none.path]).status == 10)
        let unknown = try Tool.run(["answer", "p9", "--socket", none.path])
        #expect(unknown.status == 10 && unknown.errors.hasPrefix("hotspotctl: There is no prompt 'p9'.\n"), "\(unknown)")
        #expect(try Tool.run(["prompts", "--socket", none.path]).output == "No question waits for an answer.\n")
    }

    @Test func aFurtherQuestionIsShownAndExitsWithFour() throws {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [first, second], "Answer": ["{}"]],
                status: [[status("presentingUI", since: 1, prompt: "p1"), status("presentingUI", since: 1, prompt: "p2")]]))
        defer { daemon.stop() }
        let ended = try Tool.run(["answer", "p1", "--socket", daemon.path], input: lines)
        #expect(ended.status == 4)
        #expect(ended.errors.contains("Code (sms: code)") && ended.errors.contains("hotspotctl answer p2"))
    }

    @Test func aUserWithoutPermissionIsToldWhoHasIt() throws {
        let withheld =
            #"{"prompts":[{"id":"p1","interface":"wlan0","ssid":"Hotel","helper":"keys","title":"","since":1,"fields":[],"withheld":true}]}"#
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [withheld]]))
        defer { daemon.stop() }
        let shown = try Tool.run(["prompts", "--socket", daemon.path]).output
        #expect(
            shown.hasPrefix("\"Hotel\" asks:\n  Only these users may see and answer the question: root, ")
                && !shown.contains("to answer"))
        let ended = try Tool.run(["answer", "p1", "--socket", daemon.path], input: "")
        #expect(ended.status == 1 && ended.errors.contains("root, the group hotspotd") && !daemon.calls.contains("Answer"))
    }

    @Test func omittedPromptsAreCountedAndReachedByName() throws {
        let many = first.replacing("]}]}", with: "]}],\"omitted\":3}")
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [many]]))
        defer { daemon.stop() }
        #expect(
            try Tool.run(["prompts", "--socket", daemon.path]).output.contains(
                "\n\n3 more questions; their IDs for hotspotctl answer: hotspotctl status"))
        #expect(try Tool.run(["answer", "--socket", daemon.path]).status == 2, "which one is not clear")
        let named = try FakeDaemon(.init(replies: ["Prompts": [first], "Dismiss": ["{}"]]))
        defer { named.stop() }
        #expect(try Tool.run(["answer", "p1", "--dismiss", "--socket", named.path]).status == 0)
        #expect(named.parameters("Prompts") == ["id": "p1"])
    }

    @Test func dismissIsItsOwnCall() throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Dismiss": ["{}"]]))
        defer { daemon.stop() }
        #expect(try Tool.run(["answer", "--dismiss", "--socket", daemon.path]).status == 0)
        #expect(daemon.parameters("Dismiss") == ["id": "p1"])
    }

    // MARK: - On a terminal

    @Test(.timeLimit(.minutes(10))) func aTerminalIsAskedAndSecretsAreNotShown() throws {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [first, second], "Answer": ["{}"]],
                status: [
                    [status("presentingUI", since: 1, prompt: "p1"), status("presentingUI", since: 1, prompt: "p2")],
                    [status("presentingUI", since: 1, prompt: "p2"), status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("\"Hotel\" asks (https://p.example):\n  │ Terms: https://p.example/terms\n  │ Room number: ")
        terminal.type("214\n")
        // For a password, the echo is off before the question appears: typed text is neither visible nor lost.
        tool.waitForErrors("Surname (not shown): ")
        let echoesSurname = terminal.echoes
        #expect(!echoesSurname)
        terminal.type("geheim\n")
        tool.waitForErrors("Accept the terms? [y/n] ")
        let echoes = terminal.echoes
        #expect(echoes)
        terminal.type("y\n")
        tool.waitForErrors("Code: ")
        // A code is copied from paper, so the typed text stays visible.
        let echoesCode = terminal.echoes
        #expect(echoesCode)
        terminal.type("998877\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.hasPrefix("Online"))
        #expect(ended.output.hasSuffix(". Codes are not kept.\n"), "\(ended.output)")
        let shown = terminal.shown
        #expect(shown.contains("214") && !shown.contains("geheim") && shown.contains("998877"))
        let echoesAgain = terminal.echoes
        #expect(echoesAgain)
        #expect(daemon.parameters("Answer")?["answers"] == ["room": "214", "pass": "geheim", "ok": "yes"])
    }

    @Test(.timeLimit(.minutes(10))) func enterSendsWhatIsStoredAfterThePINAndTheYes() throws {
        let locked = first.replacing(#""since":1"#, with: #""since":1,"locked":true"#)
        let open = Self.offered(#""stored":["room","pass"],"remember":"ask""#)
        let daemon = try FakeDaemon(
            .init(
                replies: [
                    "Prompts": [locked, open], "Unlock": [#"!WrongPIN {"left":2}"#, "{}"], "Answer": ["{}"],
                ], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("to type the answers instead): ")
        terminal.type("canary-1\n")
        tool.waitForErrors(
            "After 2 more wrong PINs, the stored answers are erased.\nPIN: ")
        terminal.type("canary-2\n")
        tool.waitForErrors("Room number [214]: ")
        terminal.type("5\n")
        tool.waitForErrors("Surname [•••] (not shown): ")
        terminal.type("\n")
        tool.waitForErrors("[y/n] ")
        terminal.type("y\n")
        tool.waitForErrors("Remember these answers for this portal? [y/N] ")
        terminal.type("y\n")
        #expect(tool.end().status == 0)
        #expect(
            daemon.parameters("Answer")
                == [
                    "id": "p1", "answers": ["room": "5", "ok": "yes"], "stored": ["pass"], "remember": true, "confirmed": true,
                ])
        #expect(daemon.parameters("Unlock") == ["pin": "canary-1"] && !terminal.shown.contains("canary"))
    }

    /// Stored answers to optional fields can be left out.
    @Test(.timeLimit(.minutes(10))) func aDefaultCanBeLeftOut() throws {
        let asked = Self.offered(#""stored":["room","pass"]"#).replacing(#""required":true"#, with: #""required":false"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        for (question, answer) in [
            ("Room number [214] (- for none): ", "-"), ("Surname [•••] (- for none) (not shown): ", "-"), ("[y/N] ", "y"),
        ] {
            tool.waitForErrors(question)
            terminal.type(answer + "\n")
        }
        #expect(tool.end().status == 0)
        let sent = daemon.parameters("Answer")
        // An empty answer is sent as an empty text; the stored answer must not replace it.
        #expect(sent?["answers"] == ["room": "", "pass": "", "ok": "yes"] && (sent?["stored"]?.array ?? []).isEmpty)
    }

    /// A user who types the stored answer is not asked whether to remember it.
    @Test(.timeLimit(.minutes(10))) func theStoredAnswerTypedAgainIsTheStoredOne() throws {
        let asked = Self.offered(#""stored":["room","pass"],"remember":"ask""#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        for (question, answer) in [("Room number [214]: ", "214"), ("Surname [•••] (not shown): ", ""), ("[y/n] ", "y")] {
            tool.waitForErrors(question)
            terminal.type(answer + "\n")
        }
        #expect(tool.end().status == 0)
        #expect(
            daemon.parameters("Answer")?["stored"] == ["room", "pass"] && daemon.parameters("Answer")?["answers"] == ["ok": "yes"]
        )
    }

    /// A portal's texts as the daemon passes them on, in each place where hotspotctl shows them.
    @Test(.timeLimit(.minutes(10))) func textOfOthersIsEscapedOnceOnATerminal() throws {
        let evil = #"京\u001b[2J\u202e\u0000\n\\x1b"#
        // Escapes that the text already contains, such as those in the journal's sentences, stay unchanged.
        let shown = #"京\x1b[2J\xe2\x80\xae\x00\x0a\x1b"#
        let asked = prompt("p1", #"{"name":"a","label":"\#(evil)","kind":"choice","required":true,"choices":["\#(evil)","b"]}"#)
            .replacing(#""title":"Hotel""#, with: #""title":"\#(evil)","message":"\#(evil)","terms":"\#(evil)""#)
        let daemon = try FakeDaemon(
            .init(replies: ["Prompts": [asked], "Answer": ["!InvalidAnswer {\"field\":\"\(evil)\",\"message\":\"\(evil)\"}"]]))
        defer { daemon.stop() }
        let terminal = try Terminal(columns: 200)
        let tool = try Tool(["answer", "--wait=0", "--socket", daemon.path], input: terminal.slave, errors: terminal.slave)
        let question = "  │ \(shown) [1-2]: "
        let before = terminal.read(until: question)
        #expect(
            before
                == "\"Hotel\" asks (https://p.example):\r\n  │ \(shown)\r\n  │ \(shown)\r\n  │ Terms: \(shown)\r\n  │ Terms: https://p.example/terms\r\n  │   1) \(shown)\r\n  │   2) b\r\n"
                + question)
        terminal.type("1\n")
        let after = terminal.read(until: "hotspotctl answer")
        // Apart from hotspotctl's own sentence, an error's line feeds are escaped too.
        #expect(
            after.contains(
                "hotspotctl: This answer is not valid. Nothing was sent or kept.\r\n  │ \(shown): \(shown)\r\n"
            ),
            "\(after)")
        #expect(tool.end().status == 1)
        #expect(daemon.parameters("Answer")?["answers"]?["a"]?.string == "京\u{1B}[2J\u{202E}\0\n\\x1b", "the choice itself")
        let json = try Tool.run(["prompts", "--json=pretty", "--socket", daemon.path]).output
        #expect(FakeDaemon.value(json)["prompts"]?.array?.first?["title"]?.string == "京\u{1B}[2J\u{202E}\0\n\\x1b")
        #expect(!json.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n") || $0.value == 0x202E })
        let listed = try Tool.run(["prompts", "--socket", daemon.path]).output
        #expect(listed.contains("  │ \(shown) (a: choice, one of \"\(shown)\", \"b\")\n"))
    }

    /// A portal cannot pad its texts with blanks so that a part looks like a line of another program.
    @Test(.timeLimit(.minutes(10)), arguments: [UInt16(40), 80]) func noTextOfOthersBeginsALine(columns: UInt16) throws {
        let forged = "Online after 0.1 s. [sudo] password for root:"
        let filled = "x" + String(repeating: " ", count: 77) + forged
        let dotted =
            String(repeating: ".", count: Int(columns) - 4) + " " + forged + String(repeating: "\u{1F511}", count: 60) + forged
        let asked = prompt(
            "p1",
            #"{"name":"a","label":" \u3000","kind":"password","required":true},{"name":"","label":"","kind":"text","required":true}"#
                + #",{"name":"c","label":"\#(dotted)","kind":"text","required":true}"#
        ).replacing(#""title":"Hotel""#, with: #""title":"\#(dotted)","message":"\#(filled)","terms":"\#(filled)\#(dotted)""#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]]))
        defer { daemon.stop() }
        let terminal = try Terminal(columns: columns)
        let tool = try Tool(["answer", "--wait=0", "--socket", daemon.path], input: terminal.slave, errors: terminal.slave)
        var screen = terminal.read(until: "\n  │ a (not shown): ")
        terminal.type("x\n")
        screen += terminal.read(until: "\n  │ field 2: ")
        terminal.type("y\n")
        // The label is shortened.
        screen += terminal.read(until: "…: ")
        terminal.type("z\n")
        #expect(tool.end().status == 0)
        let lines = screen.split(whereSeparator: \.isNewline)
        #expect(lines.first == "\"Hotel\" asks (https://p.example):" && lines.count > 10)
        for line in lines.dropFirst() { #expect(line.hasPrefix("  ") && Renderer.width(String(line)) <= columns, "\(line)") }
        #expect(lines.contains { $0.hasPrefix("  │ x Online after 0.1 s.") })
        #expect(lines.count { $0.hasPrefix("  │ ") } > 3, "every line of it has the bar")
    }

    @Test(.timeLimit(.minutes(10))) func anInterruptRestoresTheEcho() throws {
        let asked = prompt("p1", #"{"name":"key","label":"Key","kind":"password","required":true}"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Key (not shown): ")
        let echoesKey = terminal.echoes
        #expect(!echoesKey)
        kill(tool.pid, SIGINT)
        let ended = tool.end()
        #expect(ended.signal == SIGINT, "\(ended)")
        let echoes = terminal.echoes
        #expect(echoes)
        #expect(!daemon.calls.contains("Answer"))
    }

    /// The user pressed Enter before the question appeared.
    @Test(.timeLimit(.minutes(10))) func anEmptyLineAtTheTermsIsAskedAgain() throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room number: ")
        terminal.type("214\n")
        tool.waitForErrors("Surname (not shown): ")
        terminal.type("geheim\n")
        tool.waitForErrors("? [y/n] ")
        terminal.type("\n")
        tool.waitForErrors("nothing is sent unless you answer y.\n  │ Accept the terms? [y/n] ")
        terminal.type("y\n")
        #expect(tool.end().status == 0)
        #expect(daemon.parameters("Answer")?["answers"] == ["room": "214", "pass": "geheim", "ok": "yes"])
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func whatIsNeitherYesNorNoIsAskedAgain(isNeeded: Bool) throws {
        let terms = prompt("p1", #"{"name":"ok","label":"Terms","kind":"checkbox","required":\#(isNeeded)}"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [terms], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors(isNeeded ? "? [y/n] " : "? [y/N] ")
        terminal.type("maybe\n")
        tool.waitForErrors("Please answer y or n.\n")
        terminal.type("y\n")
        let ended = tool.end()
        #expect(ended.status == 0 && !ended.errors.contains("unless you answer y"), "\(ended)")
        #expect(daemon.parameters("Answer")?["answers"] == ["ok": "yes"])
    }

    /// If the page does not say whether the answer is required, a second Enter leaves it empty. On a pipe, an empty line does.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func anUnmarkedFieldIsLeftEmpty(isTerminal: Bool) throws {
        let asked = prompt("p1", #"{"name":"mail","label":"E-mail","kind":"email","required":true,"assumed":true}"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]], status: [onlineAtOnce]))
        defer { daemon.stop() }
        let ended: Tool.Exit
        if isTerminal {
            let terminal = try Terminal()
            let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
            tool.waitForErrors("E-mail: ")
            terminal.type("\n")
            tool.waitForErrors(
                "  The page does not say whether this field is required; press Enter again to leave it empty.\n  │ E-mail: ")
            terminal.type("\n")
            ended = tool.end()
        } else {
            ended = try Tool.run(["answer", "p1", "--stdin", "--socket", daemon.path], input: "mail=\n")
        }
        #expect(ended.status == 0, "\(ended)")
        #expect(daemon.parameters("Answer")?["answers"] == ["mail": ""])
    }

    /// Keys pressed before a question appeared do not answer it. With defaults, two Enters would send something.
    @Test(.timeLimit(.minutes(10))) func whatIsTypedBeforeAQuestionIsNoAnswer() throws {
        let field = { (value: String) in #"{"name":"room","label":"Room","kind":"text","required":true,"value":"\#(value)"}"# }
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [prompt("p1", field("1")), prompt("p2", field("2"))], "Answer": ["{}"]],
                status: [
                    [status("presentingUI", since: 1, prompt: "p1"), status("presentingUI", since: 1, prompt: "p2")],
                    [status("presentingUI", since: 1, prompt: "p2"), status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        terminal.type("before\n")
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room [1]: ")
        // The lines after the answer arrive before the second question appears.
        terminal.type("214\n\nbehind\n")
        tool.waitForErrors("Room [2]: ")
        terminal.type("215\n")
        #expect(tool.end().status == 0)
        #expect(daemon.allParameters("Answer").map { $0["answers"] } == [["room": "214"], ["room": "215"]])
    }

    @Test(.timeLimit(.minutes(10))) func aNoAtTheTermsSendsNothing() throws {
        let terms = prompt("p1", #"{"name":"ok","label":"Terms","kind":"checkbox","required":true}"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [terms], "Answer": ["{}"]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("? [y/n] ")
        terminal.type("n\n")
        let ended = tool.end()
        #expect(
            ended.status == 1
                && ended.errors.contains("The portal requires a yes, so you are not logged in. Nothing was sent.\n"),
            "\(ended)")
        #expect(!daemon.calls.contains("Answer"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true]) func theEndOfTheInputHasALineOfItsOwn(isSecret: Bool) throws {
        let asked = prompt("p1", #"{"name":"a","label":"L","kind":"\#(isSecret ? "password" : "text")","required":true}"#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [asked], "Answer": ["{}"]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors(isSecret ? "L (not shown): " : "L: ")
        terminal.type("\u{4}")
        let ended = tool.end()
        #expect(
            ended.status == 4 && ended.errors.contains(": \nhotspotctl: The input ended before the answer"), "\(ended.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func theWarningStandsOnce() throws {
        let plain = { (text: String) in text.replacing(#""portal":"https:"#, with: #""portal":"http:"#) }
        let again = prompt("p2", #"{"name":"room","label":"Room","kind":"text","required":true}"#)
        let asked = prompt("p1", #"{"name":"room","label":"Room","kind":"text","required":true}"#)
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": [plain(asked), plain(again)], "Answer": ["{}"]],
                status: [
                    [status("presentingUI", since: 1, prompt: "p1"), status("presentingUI", since: 1, prompt: "p2")],
                    [status("presentingUI", since: 1, prompt: "p2"), status("authenticated", since: 2)],
                ]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Room: ")
        terminal.type("1\n")
        tool.waitForErrors(
            "\"Hotel\" asks (http://p.example):\n  ! Not encrypted.\n  │ Terms: https://p.example/terms\n  │ Room: ")
        terminal.type("2\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.errors.ranges(of: "people nearby").count == 1, "\(ended.errors)")
    }

    /// With `--wait`, hotspotctl asks the question. With `--no-ask`, it only prints the question and ends with status 4.
    @Test(.timeLimit(.minutes(10))) func aLoginThatWaitsAsksOnTheTerminal() throws {
        let script = FakeDaemon.Script(
            replies: ["Login": ["{}"], "Prompts": [second], "Answer": ["{}"]],
            status: [
                [status("failure", since: 1), status("presentingUI", since: 2, prompt: "p2")],
                [status("presentingUI", since: 2, prompt: "p2"), status("authenticated", since: 3)],
            ])
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["login", "--wait", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("Code: ")
        terminal.type("998877\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.contains("\nOnline"), "\(ended)")
        #expect(daemon.calls == ["Status", "Login", "Prompts", "Status", "Answer"])
        let silent = try FakeDaemon(script)
        defer { silent.stop() }
        let refused = try Tool(["login", "--wait", "--no-ask", "--socket", silent.path], input: terminal.slave).end()
        #expect(refused.status == 4 && refused.errors.contains("Code (sms: code)"))
    }

    @Test func noAskPrintsTheQuestion() throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [first]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let ended = try Tool(["answer", "--no-ask", "--socket", daemon.path], input: terminal.slave).end()
        #expect(ended.status == 4 && ended.errors.contains("Room number (room: text)"))
    }
}
