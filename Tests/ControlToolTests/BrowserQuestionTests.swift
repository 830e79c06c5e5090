import Testing

@testable import hotspotctl

/// A question without fields: the login is done in a browser.
@Suite struct BrowserQuestionTests {
    private static func status(_ state: String, since: Int, prompt: String? = nil) -> String {
        let rest = prompt.map { #""prompt":"\#($0)","handsOver":true"# } ?? #""captive":false"#
        return
            #"{"version":"1","interfaces":[{"interface":"wlan0","state":"\#(state)","since":\#(since),"ssid":"Hotel","problems":[],\#(rest)}]}"#
    }

    private static let question = """
        {"prompts":[{"id":"p1","interface":"wlan0","ssid":"Hotel","helper":"form","portal":"https://p.example","title":"Hotel",
        "message":"This page needs a browser.","since":1,"fields":[]}]}
        """
    private static let gone = #"{"prompts":[],"gone":"The network opened, perhaps through a login in a browser."}"#
    private static let waiting = status("presentingUI", since: 1, prompt: "p1")

    /// Types an answer on the terminal. Returns the end of `hotspotctl answer`, and the calls.
    private func answer(_ word: String, _ verdict: String, prompts: [String]) throws -> (ended: Tool.Exit, calls: [String]) {
        let daemon = try FakeDaemon(
            .init(
                replies: ["Prompts": prompts, "Check": [#"{"verdict":"\#(verdict)"}"#], "Answer": ["{}"]],
                status: [[Self.waiting, Self.status("authenticated", since: 2)]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors(
            "  │ This page needs a browser.\n  To log in: hotspotctl browse wlan0\n  Have you logged in with a browser? [y/N] ")
        terminal.type(word)
        return (tool.end(), daemon.calls)
    }

    private static let hint =
        "  try: hotspotctl browse wlan0; to read the page again: hotspotctl login --wait wlan0; or hotspotctl answer --dismiss wlan0\n"

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [("captive", "The portal is still there"), ("none", "The network is not open yet (none)")])
    func aYesIsProbedAtOnce(verdict: String, words: String) throws {
        let (ended, calls) = try answer("y\n", verdict, prompts: [Self.question])
        #expect(
            ended.status == 4 && ended.errors.hasSuffix("hotspotctl: \(words); hotspotd keeps the question.\n" + Self.hint),
            "\(ended)")
        #expect(calls.contains("Check") && !calls.contains("Answer"))
    }

    @Test(.timeLimit(.minutes(10))) func anOpenNetworkIsTheAnswer() throws {
        let (ended, calls) = try answer("y\n", "online", prompts: [Self.question, Self.gone])
        #expect(ended.status == 0 && ended.output.hasPrefix("Online") && !calls.contains("Answer"), "\(ended)")
    }

    /// A fresh login on an open network (D26), and a machine without a prober: the probe decides nothing, so the user's answer counts.
    @Test(.timeLimit(.minutes(10)), arguments: ["online", "unknown"])
    func whereTheProbeDecidesNothingTheAnswerDoes(verdict: String) throws {
        let (ended, calls) = try answer("y\n", verdict, prompts: [Self.question])
        #expect(ended.status == 0 && ended.output.hasPrefix("Online") && calls.contains("Answer"), "\(ended)")
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["n\n", "\n"]) func aNoLeavesTheQuestion(word: String) throws {
        let (ended, calls) = try answer(word, "captive", prompts: [Self.question])
        let words = "hotspotctl: The login needs a browser; hotspotd keeps the question.\n"
        #expect(ended.status == 4 && ended.errors.hasSuffix(words + Self.hint), "\(ended)")
        #expect(!calls.contains("Check") && !calls.contains("Answer"))
    }

    @Test(.timeLimit(.minutes(10))) func aWarningStandsBeforeTheWayIn() throws {
        let warning = "This portal asks for your Telegram account, but it does not belong to Telegram."
        let question = Self.question.replacing(#""since""#, with: #""warning":"\#(warning)","since""#)
        let waiting = Self.waiting.replacing(#""problems""#, with: #""warning":"\#(warning)","problems""#)
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [question], "Status": [waiting]], status: [[waiting]]))
        defer { daemon.stop() }
        let listed = try Tool.run(["prompts", "--socket", daemon.path]).output
        #expect(listed.contains("  ! \(warning)\n") && !listed.contains("to log in"))
        let ways = "  to leave it alone: hotspotctl answer --dismiss wlan0\n  to open it anyway: hotspotctl browse wlan0;"
        #expect(listed.contains(ways))
        #expect(
            try Tool.run(["status", "--socket", daemon.path]).output.hasSuffix(
                "  ! \(warning)\n  to leave it alone: hotspotctl answer --dismiss\n  to open it anyway: hotspotctl browse\n"))
        let ended = try Tool.run(["answer", "--socket", daemon.path])
        #expect(ended.status == 4 && ended.errors.contains("hotspotctl: \(warning)\n"), "\(ended)")
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("  To open it anyway: hotspotctl browse wlan0\n  Have you logged in with a browser? [y/N] ")
        terminal.type("n\n")
        #expect(tool.end().errors.contains("  ! \(warning)\n"))
    }

    @Test func withoutATerminalTheBrowserIsNamed() throws {
        let daemon = try FakeDaemon(
            .init(replies: ["Prompts": [Self.question], "Status": [Self.waiting], "Login": ["{}"]], status: [[Self.waiting]]))
        defer { daemon.stop() }
        let listed = try Tool.run(["prompts", "--socket", daemon.path])
        let ways = "when you are done: hotspotctl answer p1; to read the page again: hotspotctl login --wait wlan0\n"
        #expect(listed.output.hasSuffix("  to log in: hotspotctl browse wlan0; \(ways)"))
        #expect(try Tool.run(["status", "--socket", daemon.path]).output.hasSuffix("  to log in: hotspotctl browse\n"))
        let ended = try Tool.run(["answer", "--socket", daemon.path])
        #expect(
            ended.status == 4
                && ended.errors.hasSuffix("hotspotctl: This login needs a browser.\n  try: hotspotctl browse wlan0\n"), "\(ended)"
        )
    }
}
