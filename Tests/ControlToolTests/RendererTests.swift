import HotspotCore
import Testing
import Varlink

@testable import ControlAPI
@testable import hotspotctl

@Suite struct RendererTests {
    let renderer = Renderer(style: .plain, now: 1_000_000_000_000)

    @Test(arguments: [
        ("Cafe", "Cafe"), ("", "(no name)"), ("a\\x0ab", "a\\x0ab"), ("a\u{1B}[2Jb", "a\\x1b[2Jb"),
        ("a\u{202E}b", "a\\xe2\\x80\\xaeb"),
        ("%p%s%n", "%p%s%n"), ("broken\\x1", "broken\\x5cx1"), ("Café 日本", "Café 日本"),
    ]) func namesAreShownSafely(name: String, shown: String) {
        #expect(renderer.name(name) == shown)
    }

    @Test func everyTextOfOthersInEveryReplyIsMadeSafe() {
        let evil = "x\u{1B}]0;owned\u{7}\n\u{202E}y"
        let problem = Problem(.held, evil, hint: evil)
        let field = Field(name: evil, label: evil, kind: .choice, required: true, choices: [evil], value: evil)
        let prompt = PendingPrompt(
            id: evil, interface: evil, ssid: evil, helper: evil, portal: evil, title: evil, message: evil, fields: [field],
            termsURL: evil, terms: evil, since: 1)
        let link = LinkDetails(
            addresses: [evil], gateways: [evil], nameservers: [evil], nameserversFrom: evil, portalAPI: evil, portalAPIFrom: evil)
        let interface = InterfaceStatus(
            interface: evil, state: evil, since: 1, ssid: evil, helper: evil, portal: evil, prompt: evil, problems: [problem],
            link: link)
        let claim = ClaimStatus(helper: evil, displayName: evil, confidence: evil, source: evil, ready: true)
        var announced = AnnouncedAccess()
        (announced.networkType, announced.consortia, announced.loginURL, announced.venueURL) = (evil, [evil], evil, evil)
        (announced.venueNames, announced.operators, announced.realms, announced.domains) = ([evil], [evil], [evil], [evil])
        var network = ScannedNetwork(
            ssid: evil, ssidHex: evil, bssid: evil, interface: evil, frequency: 2412, signal: -50, signalStrength: 1,
            security: evil, stations: 1, lastSeen: 1, joined: true, claims: [claim], disabled: false, lastOutcome: evil)
        var helper = HelperStatus(
            name: evil, displayName: evil, enabled: true, disabledFor: [evil], priority: 1, ssids: [evil], activation: evil,
            running: false, strikes: 1, quarantined: false, problems: [problem], file: evil, containment: [evil], missing: [evil],
            given: [DisclosedNetworks(networks: [evil, evil, evil, evil], count: 9, scanList: true, credential: true, at: 1)])
        helper.version = evil
        var step = Step(at: 1, kind: evil, helper: evil, detail: evil)
        let attempt = AttemptStatus(id: evil, interface: evil, ssid: evil, began: 1, helper: evil, outcome: evil)
        let off = [SwitchedOff(helper: evil, ssid: evil)]
        var lines = renderer.lines(StatusReply(interfaces: [interface], off: off), helperNames: [evil: evil], verbose: true)
        lines += renderer.lines(ListReply(networks: [network]))
        network.announced = announced
        lines += renderer.lines(ListReply(networks: [network])) + renderer.announcement(network)
        lines += renderer.lines(HelpersReply(helpers: [helper]), verbose: false)
        lines += renderer.lines(HelpersReply(helpers: [helper]), verbose: true)
        lines += renderer.lines(PromptsReply(prompts: [prompt]))
        lines += renderer.lines(ExplainReply(steps: [step], verdict: evil), verbose: true)
        lines += renderer.lines(CheckReply(verdict: evil, interface: evil, detail: evil), verbose: true)
        step.from = evil
        step.to = evil
        lines += [renderer.line(MonitorReply(interface: evil, step: step))]
        lines += renderer.lines(HistoryReply(attempts: [attempt]))
        let page = renderer.lines(HistoryReply(attempts: [attempt], more: true))
        #expect(page.last?.hasPrefix("Older attempts: hotspotctl history --before=x") == true)
        #expect(renderer.lines(HistoryReply(attempts: [attempt], more: false)).count == page.count - 1)
        lines += [
            renderer.sentence(renderer.failure(interface, among: []).message).own,
            renderer.failure(interface, among: []).hint ?? "",
        ]
        #expect(lines.count > 20)
        for line in lines {
            #expect(
                !line.unicodeScalars.contains { $0.value < 32 || $0.value == 0x7F || $0.value == 0x202E },
                "\(line.debugDescription)")
        }
    }

    @Test func eachFactOfALinkHasItsSource() {
        var interface = InterfaceStatus(interface: "wlan0", state: .evaluating, since: 1)
        interface.link = LinkDetails(
            addresses: ["192.0.2.2/24", "2001:db8::2/64"], gateways: [], nameservers: ["192.0.2.1"],
            nameserversFrom: "NetworkManager", portalAPI: "https://portal.example/api", portalAPIFrom: "DHCP")
        interface.manager = "NetworkManager"
        let short = renderer.lines(StatusReply(interfaces: [interface]))
        let long = renderer.lines(StatusReply(interfaces: [interface]), verbose: true)
        #expect(
            long == short + [
                "  managed by NetworkManager", "  address 192.0.2.2/24, 2001:db8::2/64",
                "  resolvers 192.0.2.1 (from NetworkManager)",
                "  portal API https://portal.example/api (from DHCP)",
            ])
        interface.link = nil
        #expect(renderer.lines(StatusReply(interfaces: [interface]), verbose: true).last == "  managed by NetworkManager")
    }

    @Test func omittedElementsAreCounted() {
        let claim = ClaimStatus(helper: "a", displayName: "A", confidence: "low", source: "manifest", ready: false)
        let network = ScannedNetwork(
            ssid: "Cafe", ssidHex: "", bssid: "", interface: "wlan0", frequency: 2412, signal: -50, signalStrength: 1,
            security: "open", stations: 1, lastSeen: 1, joined: false, claims: [claim, claim], moreClaims: 5, disabled: false)
        let list = renderer.lines(ListReply(networks: [network], omitted: 7))
        #expect(
            list[1].contains("a (low), a (low), +5")
                && list.last == "7 more networks are not shown, because the reply would be too long.")
        var helper = HelperStatus(
            name: "a", displayName: "A", enabled: true, disabledFor: ["Cafe"], priority: 1, ssids: ["b", "c", "d", "e"],
            activation: "stdio", running: false, strikes: 0, quarantined: false, file: "/f")
        helper.moreSSIDs = 60
        helper.moreDisabledFor = 9
        let short = renderer.lines(HelpersReply(helpers: [helper], omitted: 2), verbose: false)
        #expect(
            short[1].hasSuffix("b; c; d; +61")
                && short.last == "2 more helpers are not shown, because the reply would be too long.")
        let long = renderer.lines(HelpersReply(helpers: [helper], omitted: 2), verbose: true)
        #expect(
            long.contains("  networks: b; c; d; e; +60") && long.contains("  switched off for: \"Cafe\"; +9")
                && long.last == short.last)
        #expect(renderer.lines(HelpersReply(helpers: [helper]), verbose: false).count == short.count - 1)
        let status = InterfaceStatus(interface: "wlan0", state: "failure", since: 1, problems: [])
        #expect(
            renderer.lines(StatusReply(interfaces: [status], omitted: 3)).last
                == "3 more interfaces are not shown, because the reply would be too long.")
    }

    @Test(
        arguments: [
            (["sandboxed"], [], "  sandbox: yes"),
            ([], ["user namespaces are forbidden"], "  sandbox: no: user namespaces are forbidden"),
            ([], [], nil),
        ] as [([String], [String], String?)])
    func theSandboxIsYesOrNoWithTheReason(_ containment: [String], _ missing: [String], _ line: String?) {
        let helper = HelperStatus(
            name: "a", displayName: "A", enabled: true, priority: 1, ssids: [], activation: "stdio", running: false, strikes: 0,
            quarantined: false, file: "/f", containment: containment, missing: missing)
        let lines = renderer.lines(HelpersReply(helpers: [helper]), verbose: true)
        #expect(lines.first { $0.contains("sandbox") } == line)
    }

    @Test func runsOfBlanksAreCollapsed() {
        let filled = "x" + String(repeating: " \u{3000}\u{2800}", count: 30) + "* wlan1  authenticated"
        let shown = "x * wlan1 authenticated"
        let problem = Problem(.held, filled, hint: filled)
        let status = InterfaceStatus(
            interface: "wlan0", state: "failure", since: 1, ssid: "Hotel", helper: "evil", portal: filled, problems: [problem])
        #expect(
            renderer.lines(StatusReply(interfaces: [status]), helperNames: ["evil": filled]) == [
                "× wlan0  not logged in  \"Hotel\" via \(shown)", "  ! \(shown)", "    try: \(shown)", "  portal \(shown)",
            ])
        let story = renderer.lines(
            ExplainReply(steps: [Step(at: 1, kind: filled, detail: filled)], verdict: filled), verbose: true)
        #expect(story == ["The last attempt.", "  0.001 s  \(shown)  │ \(shown)", shown])
        let helper = HelperStatus(
            name: "evil", displayName: filled, enabled: true, disabledFor: [], priority: 1, ssids: [], activation: "stdio",
            running: false, strikes: 0, quarantined: false, problems: [problem], file: "/f")
        let helpers = renderer.lines(HelpersReply(helpers: [helper]), verbose: false)
        #expect(helpers[1].hasPrefix("evil  \(shown)  ready") && helpers[2] == "  ! evil: \(shown)")
        let error = VarlinkError.reply(
            name: "org.hotspotd.Control.Failed", parameters: ["message": .string(filled), "code": "c"])
        #expect(renderer.sentence(Failure(error, path: "/s").message).own == shown)
    }

    @Test func aFieldAlwaysHasALabel() {
        func label(_ label: String, _ name: String) -> String {
            renderer.label(Field(name: name, label: label, kind: .text, required: true), at: 3)
        }
        #expect(label("Room", "room") == "Room" && label("", "room") == "room" && label(" \u{3000}\u{A0}", "room") == "room")
        #expect(label(" ", "") == "field 3" && label("", "\u{2800} ") == "field 3")
        let prompt = PendingPrompt(
            id: "p1", interface: "wlan0", ssid: "Hotel", helper: "keys", title: "  ", message: " \u{3000}",
            fields: [Field(name: "", label: " ", kind: .password, required: true)], since: 1)
        #expect(
            renderer.lines(prompt).prefix(3) == [
                "\"Hotel\" asks:", "  ! Only this helper knows where the answers go: keys.", "  │ field 1 (: password)",
            ])
    }

    /// Foreign text that looks like hotspotctl's own line stands behind a bar, below hotspotctl's lines.
    @Test func textOfOthersIsMarked() {
        let prompt = PendingPrompt(
            id: "p1", interface: "wlan0", ssid: "Hotel", helper: "keys", portal: "http://p.example",
            title: "Hotel asks (https://bank.example):", message: "! This portal is encrypted.",
            fields: [Field(name: "pin", label: "PIN", kind: .password, required: true)], since: 1)
        #expect(
            renderer.lines(prompt).prefix(4) == [
                "\"Hotel\" asks (http://p.example):",
                "  ! This page is not encrypted: people nearby can read or change your answers.",
                "  │ Hotel asks (https://bank.example):", "  │ ! This portal is encrypted.",
            ])
        #expect(
            renderer.heading(prompt, isWarned: true).dropFirst() == [
                "  ! Not encrypted.", "  │ Hotel asks (https://bank.example):", "  │ ! This portal is encrypted.",
            ])
        // Without fields the user types nothing, so there is no warning.
        var handedOver = prompt
        handedOver.fields = []
        #expect(!renderer.heading(handedOver, isWarned: false).contains { $0.contains("encrypted:") || $0.contains("  !") })
        #expect(Wrapping.fitted("  │ aaaaaaaa bbbbbbbb cccccccc", columns: 20) == "  │ aaaaaaaa\n  │ bbbbbbbb\n  │ cccccccc")
        #expect(
            Wrapping.fitted("  0.1 s  answer  │ aaaaaaaa bbbbbbbb cccc", columns: 24)
                == "  0.1 s  answer  │\n    │ aaaaaaaa bbbbbbbb\n    │ cccc")
    }

    /// An automatic login that comes too soon after the last one (D23).
    @Test func aPausedLoginShowsItsTimeAndTheCommand() {
        let problem = Problem(
            .loginPaused, "A login ended a moment ago, or the network was open, so that the next login, by keys, has to wait.",
            hint: "hotspotctl login")
        let other = Problem(.proberMissing, "There is no prober.")
        var status = InterfaceStatus(
            interface: "wlan0", state: "authenticating", since: 1, ssid: "Hotel", helper: "keys", problems: [problem, other])
        func lines(in seconds: Int?) -> [String] {
            status.nextLogin = seconds.map { renderer.now + $0 * 1000 }
            return renderer.lines(StatusReply(interfaces: [status]))
        }
        let later = renderer.clock(renderer.now + 300_000)
        #expect(
            lines(in: 300)[1...] == [
                "  tries again at \(later); to start now: hotspotctl login", "  ! There is no prober.",
            ])
        let soon = renderer.clock(renderer.now + 10_000, seconds: true)
        #expect(lines(in: 10)[1] == "  tries again at \(soon); to start now: hotspotctl login")
        #expect(soon.count == 8 && later.count == 5)
        #expect(lines(in: nil)[1].contains("has to wait"), "a daemon that does not say until when")
    }

    @Test func aWaitSaysForWhatAndHowLong() {
        var status = InterfaceStatus(interface: "wlan0", state: "authenticating", since: 1, ssid: "Hotel", problems: [])
        func words(_ awaits: String?, _ until: Int?, login: Int? = nil) -> String? {
            (status.awaits, status.awaitsUntil, status.nextLogin) = (awaits, until, login)
            return status.waiting(now: 5_000)
        }
        #expect(words("open", 42_400) == "Waiting for the network to open, up to 37 s.")
        #expect(words("portal", 45_000) == "Waiting for the portal's answer, up to 40 s.")
        #expect(words("open", 1_000) == "Waiting for the network to open, up to 1 s.")
        #expect(words("open", nil) == "Waiting for the network to open.")
        #expect(words(nil, nil, login: 15_000) == "Waiting 10 s before the next login.")
        #expect(words(nil, nil) == nil && words("a word of a later daemon", 9_000) == nil)
    }

    @Test func colourAddsNoMeaning() {
        var colourful = renderer
        colourful.style.colour = true
        let reply = StatusReply(interfaces: [InterfaceStatus(interface: "wlan0", state: "failure", since: 1, problems: [])])
        let plain = renderer.lines(reply)
        #expect(plain == ["× wlan0  not logged in"])
        let coloured = colourful.lines(reply)
        #expect(coloured != plain)
        #expect(Renderer.width(coloured[0]) == Renderer.width(plain[0]))
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h"), (6120, "1 h 42 min"), (86400, "1 day"), (259200, "3 days"),
        (-5, "0 s"),
    ]) func durations(seconds: Int, text: String) { #expect(renderer.duration(seconds: seconds) == text) }

    @Test(arguments: [
        (0, "just now"), (-9, "just now"), (12, "12 s ago"), (300, "5 min ago"), (7300, "2 h ago"), (90000, "yesterday"),
        (300_000, "3 days ago"),
    ]) func moments(seconds: Int, text: String) { #expect(renderer.ago(renderer.now - seconds * 1000) == text) }

    @Test func numbersOfAHostileDaemonDoNotOverflow() {
        _ = renderer.ago(.min)
        _ = renderer.ago(.max)
        _ = renderer.clock(.max)
        _ = renderer.clock(.min)
        _ = renderer.offset(.min)
        _ = renderer.octets(.max)
        _ = renderer.octets(.min)
        _ = renderer.duration(seconds: .min)
        _ = renderer.signal(.min)
        _ = renderer.lines(
            HistoryReply(attempts: [.init(id: "", interface: "", ssid: "", began: .min, ended: .max, outcome: "")]))
    }

    @Test(arguments: [
        ("abc", 3), ("日本", 4), ("e\u{301}", 1), ("\u{1B}[32mok\u{1B}[0m", 2), ("●", 1), ("🛫", 2), ("⌚", 2), ("❤\u{FE0F}", 2),
    ])
    func widths(text: String, width: Int) { #expect(Renderer.width(text) == width) }

    @Test func signalsAreFourBars() {
        #expect(renderer.signal(-48) == "▂▄▆█ -48" && renderer.signal(-95) == "▂___ -95" && renderer.signal(0) == "–")
    }
}

@Suite struct WrappingTests {
    @Test func aLineThatFitsStays() {
        let text = "● wlan0  authenticated\n  portal x\n\n"
        #expect(Wrapping.fitted(text, columns: 22) == text)
        #expect(Wrapping.fitted("  Room number: ", columns: 20) == "  Room number: ")
    }

    @Test func theRestOfALineIsIndented() {
        #expect(
            Wrapping.fitted("● wlan0  failure  aaaaaa bbbbbb cccccc dddddd\n", columns: 24)
                == "● wlan0  failure  aaaaaa\n      bbbbbb cccccc\n      dddddd\n")
        #expect(
            Wrapping.fitted("  ! aaaaaa bbbbbb cccccc dddddd: ", columns: 20)
                == "  ! aaaaaa bbbbbb\n      cccccc dddddd: ")
        #expect(Wrapping.fitted("one line of words   apart\ntwo", columns: 20) == "one line of words\n      apart\ntwo")
    }

    @Test func aLongWordIsBroken() {
        let torn = Wrapping.fitted(String(repeating: "京", count: 25), columns: 21)
        #expect(torn.split(separator: "\n").map { Renderer.width(String($0)) } == [20, 20, 20, 8])
        #expect(
            Wrapping.fitted("  " + String(repeating: "x", count: 30), columns: 20) == "  " + String(repeating: "x", count: 18)
                + "\n      " + String(repeating: "x", count: 12))
        // Text that begins with many blanks, and a terminal with one column.
        #expect(Wrapping.fitted(String(repeating: " ", count: 50) + "x", columns: 20).hasSuffix("x"))
        #expect(
            Wrapping.fitted(String(repeating: "x", count: 30), columns: 1).hasPrefix(
                String(repeating: "x", count: 20) + "\n      x"))
    }

    @Test func coloursHaveNoWidth() {
        let line = "\u{1B}[31m×\u{1B}[0m wlan0  \u{1B}[31mfailure\u{1B}[0m  Hotel"
        #expect(Wrapping.fitted(line, columns: 23) == line)
        #expect(Wrapping.fitted(line, columns: 20).contains("\n      Hotel"))
    }
}

@Suite struct ArgumentOrderTests {
    @Test(arguments: [
        (["--socket", "x", "list"], ["list", "--socket", "x"]), (["-j", "list", "--watch"], ["list", "-j", "--watch"]),
        (["--json", "list"], ["list", "--json=pretty"]), (["list", "--json", "short"], ["list", "--json", "short"]),
        (["login", "--wait"], ["login", "--wait=120"]), (["login", "--wait", "5"], ["login", "--wait", "5"]),
        (["login", "--wait", "wlan0"], ["login", "--wait=120", "wlan0"]), (["-j"], ["-j"]),
        (["forget", "--", "--json"], ["forget", "--", "--json"]),
    ]) func commonOptionsMoveBehindTheVerb(given: [String], arranged: [String]) {
        #expect(ArgumentOrder.arrange(given, verbs: ["list", "login", "forget"]) == arranged)
    }
}

@Suite struct OutcomeTrackerTests {
    private func state(_ state: StateName, since: Int, prompt: String? = nil, interface: String = "wlan0") -> InterfaceStatus {
        InterfaceStatus(interface: interface, state: state.rawValue, since: since, prompt: prompt, problems: [])
    }

    @Test func theStateBeforeIsNoOutcome() {
        var tracker = OutcomeTracker([state(.authenticated, since: 1)], target: nil, prompt: nil)
        #expect(tracker.observe([state(.authenticated, since: 1)]) == nil)
        #expect(tracker.observe([state(.evaluating, since: 2)]) == nil)
        #expect(tracker.observe([state(.maintaining, since: 2)]) == nil, "the session may be over")
        #expect(tracker.observe([state(.authenticated, since: 3)]) == .online(state(.authenticated, since: 3)))
    }

    @Test func aChangeBetweenTwoRepliesIsSeenByItsTime() {
        var tracker = OutcomeTracker([state(.failure, since: 1)], target: nil, prompt: nil)
        #expect(tracker.observe([state(.failure, since: 1)]) == nil)
        #expect(tracker.observe([state(.failure, since: 2)]) == .failed(state(.failure, since: 2)))
    }

    @Test func theSamePromptMayComeBack() {
        var tracker = OutcomeTracker([state(.presentingUI, since: 1, prompt: "p")], target: "wlan0", prompt: "p")
        #expect(tracker.observe([state(.presentingUI, since: 1, prompt: "p")]) == nil)
        #expect(tracker.observe([state(.presentingUI, since: 1)]) == nil)
        #expect(tracker.observe([state(.presentingUI, since: 1, prompt: "p")]) == .asks(prompt: "p"))
    }

    @Test func aLoginWithdrawsTheQuestionThatWasThere() {
        let asked = state(.presentingUI, since: 1, prompt: "p1")
        var tracker = OutcomeTracker([asked], target: nil, prompt: nil)
        tracker.setTarget("wlan0")
        #expect(tracker.observe([asked]) == nil)
        #expect(tracker.observe([state(.presentingUI, since: 2, prompt: "p2")]) == .asks(prompt: "p2"))
    }

    @Test func withoutATargetTheFirstInterfaceThatChangesIsFollowed() {
        let still = state(.authenticated, since: 1, interface: "eth0")
        var tracker = OutcomeTracker([still, state(.failure, since: 1)], target: nil, prompt: nil)
        #expect(tracker.observe([still, state(.evaluating, since: 2)]) == nil)
        #expect(tracker.observe([still, state(.authenticated, since: 3)]) == .online(state(.authenticated, since: 3)))
    }

    /// An access point may drop a client at its login, and then let it in again.
    @Test func aNetworkThatComesBackGoesOn() {
        func inside(_ name: String?, _ word: StateName, since: Int) -> InterfaceStatus {
            var status = state(word, since: since)
            status.ssid = name
            return status
        }
        let left = inside(nil, .inactive, since: 2)
        var tracker = OutcomeTracker([inside("Hotel", .presentingUI, since: 1)], target: "wlan0", prompt: "p")
        #expect(tracker.observe([left]) == nil && tracker.left == left)
        #expect(tracker.observe([inside("Hotel", .evaluating, since: 3)]) == nil && tracker.left == nil)
        let online = inside("Hotel", .authenticated, since: 4)
        #expect(tracker.observe([online]) == .online(online))
        var away = OutcomeTracker([inside("Hotel", .presentingUI, since: 1)], target: "wlan0", prompt: "p")
        #expect(away.observe([left]) == nil)
        #expect(away.observe([inside("Home", .authenticated, since: 3)]) == .failed(left))
    }

    @Test func anInterfaceThatGoesIsAFailure() {
        var tracker = OutcomeTracker([state(.evaluating, since: 1)], target: "wlan0", prompt: nil)
        guard case .failed(let status) = tracker.observe([]) else {
            Issue.record("not noticed")
            return
        }
        #expect(status.problems.first?.code == .interfaceGone)
    }
}
