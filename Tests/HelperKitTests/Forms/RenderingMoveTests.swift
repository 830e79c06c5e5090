import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// The pages that a browser has to render, and the moves on the rendered pages.
@Suite struct RenderingMoveTests {
    private let live = Portal(origin: "http://portal.test", pin: nil, kind: "form", title: "Inn")
    private let url = WebURL("http://portal.test/page")!
    private static let login = "<form method=post><input name=room aria-label='Room number'><button>Connect</button></form>"
    private static let shell = "<title>Inn</title><script src=/main.js></script><div id=root></div>"

    private func command(_ answers: [String: String] = [:]) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(), portal: live,
            answers: answers)
    }

    private func steps(_ body: String, _ answers: [String: String] = [:]) -> FormSteps {
        FormSteps(
            command(answers), on: page(body, url: url.text), at: url, portal: live, isTypedNow: !answers.isEmpty)
    }

    /// Returns the rule of a page that a browser has to render; `nil` for other pages.
    private func rule(_ body: String) -> String? {
        var steps = steps(body)
        guard case .render(let rule, let other) = steps.next() else { return nil }
        if case .render = other { Issue.record("the other move asks a browser as well") }
        return rule.needsScripts ? rule.number : nil
    }

    @Test(arguments: [
        shell, "<script src=/a.js></script><h1>Get online</h1><p>Welcome to our house, and to its free network.</p>", "",
    ])
    func pagesThatNeedTheirScriptsAreRendered(_ body: String) { #expect(rule(body) != nil) }

    @Test(arguments: [
        login, "<script src=/a.js></script>" + login, "<h1>You are connected</h1>",
        "<p>This network is closed today. Please come again tomorrow, from nine to five.</p>",
    ])
    func pagesThatDoNotAreNot(_ body: String) { #expect(rule(body) == nil) }

    /// The rules themselves say which rulings wait for scripts.
    @Test func theMoveIsRenderedExactlyIfItsRuleNeedsScripts() {
        let bodies = [
            Self.shell, Self.login, "", "<p>Closed.</p>", "<script>x()</script><p>Closed.</p>", "<a href=/next>Continue</a>",
        ]
        for body in bodies {
            let command = command()
            var attempt = FormAttempt(command, at: live, agreed: [], mustAcceptTerms: false, isTypedNow: false)
            let move = attempt.move(on: page(body, url: url.text), at: url)
            let isRendered = if case .render = move { true } else { false }
            #expect(isRendered == attempt.rule?.needsScripts, "\(body)")
        }
    }

    /// A script led to another portal before anything was sent: the login is at the other portal.
    @Test func beforeAnAnswerIsSentThePageMayBeAnotherPortals() {
        var steps = steps(Self.shell)
        guard case .render = steps.next() else {
            Issue.record("not rendered")
            return
        }
        let answer = response(200, "<title>Cloud</title>" + Self.login, url: "https://cloud.test/in", pin: "key")
        steps.show(RedirectChain(answer))
        #expect(steps.live == Portal(origin: "https://cloud.test", pin: "key", kind: "form", title: "Cloud"))
        #expect(steps.formPage.text == "https://cloud.test/in" && !steps.hasSent)
        guard case .ask(let prompt, _, _) = steps.next() else {
            Issue.record("not asked")
            return
        }
        #expect(prompt.fields.map(\.name) == ["room"])
    }

    /// Answers stay with the portal that they were sent to, and the page is the next one of this login.
    @Test func afterAnAnswerWasSentThePortalIsTheSame() {
        var steps = steps(Self.login, ["room": "9"])
        let move = steps.next()
        guard case .submit = move else {
            Issue.record("not sent")
            return
        }
        steps.begin(move, acceptingTerms: false)
        #expect(steps.hasSent)
        let answer = response(
            200, "<form method=post><input name=code aria-label=Code><button>Connect</button></form>", url: url.text)
        steps.show(RedirectChain(answer))
        #expect(steps.live.origin == "http://portal.test" && steps.hasSent)
        guard case .ask(let prompt, _, _) = steps.next() else {
            Issue.record("not asked")
            return
        }
        #expect(prompt.fields.map(\.name) == ["code"])
    }
}
