import Answers
import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Logging
import Store
import Testing
import Wireless

@testable import hotspotd

/// One interface's controller over the real host, with helpers that are real processes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ControllerTests {
    init() { EventLoop.startThread() }

    static let index = 7
    static let network = NetworkID.wireless(SSID(printable: "Cafe")!, .open)

    @LoopActor private func joined() -> Joined {
        Joined(
            association: Services.randomID(), network: Self.network, ssid: SSID(printable: "Cafe")!, security: .open,
            bssid: HardwareAddress("02:00:00:00:00:01"), signal: -50,
            snapshot: LinkSnapshot(
                index: Self.index, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"],
                gateways: ["192.0.2.1"]),
            facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none"))
    }

    /// A controller on a link, and helpers that were started when the station began to associate.
    @LoopActor private func prepared(_ bench: FilterBench, _ names: String...) async throws -> InterfaceController {
        for name in names { try bench.add(name) }
        bench.services.host.prepare(names, for: Self.index)
        #expect(await bench.eventually { names.allSatisfy(bench.services.host.isRunning) })
        return InterfaceController(index: Self.index, name: "hot7", services: bench.services)
    }

    // MARK: Helpers that are no longer needed

    @Test(arguments: [StoredHold.Reason.loggedOff, .autoJoinOff]) @LoopActor func heldNetworksKeepNoHelpersWaiting(
        _ reason: StoredHold.Reason
    ) async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a", "b")
        try bench.services.store.setHold(
            Self.network, StoredHold(reason: reason, until: WallClock.now + 3_600_000, sentence: "You logged off."))
        controller.join(joined())
        #expect(controller.machine.state.name == .inactive && controller.status.problems.map(\.code) == [.held])
        #expect(await bench.eventually { bench.services.host.processCount == 0 }, "long before the host's own limit of 90 s")
        await bench.close()
    }

    @Test @LoopActor func aHeldLinkThatGoesLeavesNoHelperWaiting() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a")
        try bench.services.store.setHold(Self.network, StoredHold(reason: .loggedOff, until: nil, sentence: "You logged off."))
        controller.join(joined())
        // As if a station had begun to associate since then.
        bench.services.host.prepare(["a"], for: Self.index)
        controller.leave("the address is gone")
        #expect(await bench.eventually { bench.services.host.processCount == 0 })
        await bench.close()
    }

    @Test @LoopActor func aLinkThatGoesEndsHelpersThatWereNotAskedYet() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "chosen", "other")
        bench.hold("chosen")
        try bench.services.store.remember(Self.network, RememberedChoice(helper: "chosen", portal: nil, committed: WallClock.now))
        controller.join(joined())
        #expect(await bench.eventually { bench.told("chosen", "Maintain").count == 1 })
        #expect(bench.services.host.isRunning("other"), "it may be asked yet")
        controller.leave("the link is down")
        #expect(await bench.eventually { bench.services.host.processCount == 0 })
        await bench.close()
    }

    @Test @LoopActor func aHelperStartedBeforeTheJoinIsThereForIt() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a")
        let processes = bench.services.host.processCount
        bench.hold("a")
        controller.join(joined())
        #expect(await bench.eventually { bench.told("a", "Evaluate").count == 1 })
        #expect(bench.services.host.processCount == processes, "it was the one that waited")
        bench.letGo("a")
        controller.leave("the test ends")
        await bench.close()
    }

    // MARK: Switches

    /// The login failed while a helper was switched off, perhaps for that reason.
    @Test @LoopActor func aHelperThatIsSwitchedOnTriesTheFailedLoginAgain() async throws {
        let bench = try FilterBench()
        try bench.add("a")
        bench.refuses("a")
        let controller = InterfaceController(index: Self.index, name: "hot7", services: bench.services)
        controller.join(joined())
        #expect(await bench.eventually { controller.machine.state.name == .failure })
        controller.switchedOn(helper: "a")
        #expect(await bench.eventually { bench.told("a", "Evaluate").count == 2 && controller.machine.state.name == .failure })
        // At a later visit the network is held, for the same reason.
        controller.leave("the test leaves")
        controller.join(joined())
        #expect(controller.machine.state.name == .inactive)
        controller.switchedOn(helper: "a")
        #expect(await bench.eventually { bench.told("a", "Evaluate").count == 3 })
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aHelperThatIsSwitchedOnReleasesNoLogoff() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a")
        try bench.services.store.setHold(Self.network, StoredHold(reason: .loggedOff, until: nil, sentence: "You logged off."))
        controller.join(joined())
        controller.switchedOn(helper: "a")
        #expect(controller.machine.state.name == .inactive)
        controller.switchedOn(helper: nil)
        #expect(controller.machine.state.name == .evaluating)
        controller.leave("the test ends")
        await bench.close()
    }

    @Test @LoopActor func aNetworkThatIsSwitchedOnGoesOnWithItsHelper() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a")
        let store = bench.services.store
        try store.remember(Self.network, RememberedChoice(helper: "a", portal: nil, committed: WallClock.now))
        func setEnabled(_ enabled: Bool) throws {
            try store.setEnabled(helper: nil, ssid: Self.network.switchName, enabled: enabled, releasingHolds: enabled)
        }
        try setEnabled(false)
        controller.join(joined())
        #expect(controller.machine.state.name == .inactive)
        try setEnabled(true)
        controller.updateCandidates()
        controller.switchedOn(helper: nil)
        #expect(controller.machine.state.name == .maintaining)
        #expect(await bench.eventually { bench.told("a", "Maintain").count == 1 })
        #expect(bench.told("a", "Evaluate").isEmpty)
        controller.leave("the test ends")
        await bench.close()
    }

    // MARK: Verdicts

    @Test(
        arguments: [
            (Verdict.online, nil, "online", nil), (.partial, "httpsBlocked", "limited", "httpsBlocked"),
            (.captive, nil, "captive", "portal http://p.example"), (.limited, "timeout", "limited", "timeout"),
        ] as [(Verdict, String?, String, String?)]) @LoopActor func aCheckIsOnlineOnlyWhereHTTPSGetsThrough(
            _ verdict: Verdict, _ problem: String?, _ word: String, _ detail: String?
        )
    {
        let answer = ProbeAnswer(
            verdict: verdict, portalURL: verdict == .captive ? "http://p.example/login?x" : nil, problem: problem,
            evidence: [.init(request: "GET http://a.example/?r=1", status: 204, milliseconds: 3)])
        let reply = answer.checkReply(on: "hot7")
        #expect(reply.verdict == word && reply.detail == detail && reply.interface == "hot7")
        #expect(reply.requests == ["GET http://a.example/ → 204 in 3 ms"])
    }

    @Test(
        arguments: [
            ("clockWrong", nil, "By this computer's clock, certificates are not valid, so HTTPS does not work."),
            // As after the clock's battery was empty.
            (
                "clockWrong", "Mon, 23 Nov 2026 16:00:00 GMT",
                "By this computer's clock, certificates are not valid, so HTTPS does not work."
                    + " The clock says 2001-09-09, and the network says 2026-11-23."
            ),
            ("clockWrong", "Sun, 09 Sep 2001 10:00:00 GMT", nil), ("httpsBlocked", "Mon, 23 Nov 2026 16:00:00 GMT", nil),
            ("clockWrong", "yesterday", "By this computer's clock, certificates are not valid, so HTTPS does not work."),
        ] as [(String, String?, String?)]) @LoopActor func aClockThatIsWrongIsTold(
            _ problem: String, _ date: String?, _ sentence: String?
        )
    {
        let headers = date.map { ["date": $0] } ?? [:]
        let answer = ProbeAnswer(
            verdict: .partial, problem: problem,
            evidence: [.init(request: "GET http://a.example/", status: 204, headers: headers, milliseconds: 3)])
        let found = answer.clock(at: 1_000_000_000_000)
        #expect(found?.message == sentence && (found == nil || found?.code == .clockWrong))
    }

    @Test(
        arguments: [
            ("dnsTimeout", "No nameserver of the network answers, so neither the Internet nor a portal can be found."),
            (
                "dnsFailed",
                "The network's nameserver cannot resolve Internet names, so neither the Internet nor a portal can be found."
            ),
            ("status500", "A server answered 500; it is neither the Internet nor a portal."), ("timeout", nil), ("statusX", nil),
        ] as [(String, String?)]) @LoopActor func aNetworkThatShowsNeitherIsToldByWhatAnswers(
            _ problem: String, _ sentence: String?
        )
    {
        #expect(ProbeAnswer(verdict: .limited, problem: problem, evidence: []).unreachableProblem?.message == sentence)
        #expect(ProbeAnswer(verdict: .captive, problem: problem, evidence: []).unreachableProblem == nil)
    }

    @Test @LoopActor func aProbesLossIsReadFromItsAnswer() {
        let errors = [
            ("refusedHere: A firewall rule", 0), ("connectFailed: The server (Connection refused)", 0),
            ("connectFailed: The server (No route to host)", 3060),
            ("dnsTimeout: No nameserver answered.", 800), ("timeout: x", 3000), ("unusable: x", 1),
        ]
        let answer = ProbeAnswer(
            verdict: .limited, evidence: errors.map { .init(request: "GET http://a.example/", error: $0.0, milliseconds: $0.1) })
        #expect(answer.endings == [.refusedHere, .refused, .other, .silent, .silent, .other])
    }

    // MARK: Evaluations

    @Test @LoopActor func evaluationsOfLosersGoWithTheRace() async throws {
        let bench = try FilterBench()
        let large = String(repeating: "x", count: 100_000)
        let names = (0..<4).map { "low\($0)" }
        for name in names {
            try bench.add(name)
            bench.evaluates(
                name,
                #"{"confidence": "low", "reason": "\#(large)", "needs": ["\#(large)"], "session": {"secondsRemaining": 5}}"#
            )
        }
        try bench.add("none")
        bench.evaluates("none", #"{"confidence": "none", "reason": "\#(large)"}"#)
        try bench.add("high")
        bench.hold("high")
        let controller = InterfaceController(index: Self.index, name: "hot7", services: bench.services)
        controller.join(joined())
        let commands = controller.commands
        #expect(await bench.eventually { commands.evaluations.count == names.count && commands.inFlight.count == 1 })
        #expect(Set(controller.commands.evaluations.keys) == Set(names), "a helper that claims nothing is not kept")
        for kept in controller.commands.evaluations.values {
            #expect(kept.session == Session(secondsRemaining: 5) && kept.portal == nil)
        }
        bench.letGo("high")
        #expect(await bench.eventually { controller.machine.state.name != .evaluating })
        #expect(controller.commands.evaluations.isEmpty)
        controller.leave("the test ends")
        await bench.close()
    }

    // MARK: Masks

    /// A helper could write guesses of another helper's secret; masked guesses in "explain" would show which guess is right.
    @Test @LoopActor func secretsOfOneHelperAreNotMaskedInAnothersWords() async throws {
        let bench = try FilterBench()
        let guesses = (4690..<4730).map(String.init).joined(separator: " ")
        for name in ["told", "guesser"] {
            try bench.add(name)
            bench.evaluates(name, #"{"confidence": "none", "reason": "\#(guesses)"}"#)
        }
        let controller = InterfaceController(index: Self.index, name: "hot7", services: bench.services)
        controller.join(joined())
        func said(_ name: String) -> String? { bench.steps.last { $0.kind == "answer" && $0.helper == name }?.detail }
        #expect(await bench.eventually { said("told") != nil && said("guesser") != nil })
        let prompt = Prompt(title: "", fields: [Field(name: "room", label: "", kind: .text, required: true)])
        let shown = ShownPrompt(
            number: 9000, token: "0", helper: "told", network: Self.network, portal: nil, prompt: prompt, since: 0)
        controller.answer(shown, ["room": "4711"], remember: false)
        controller.send(CommandID(number: 9001), .presentUI, to: "told", false)
        #expect(await bench.eventually { bench.told("told", "PresentUI").count == 1 && said("told") == "success" })
        bench.steps = []
        controller.send(CommandID(number: 9002), .evaluate, to: "told", false)
        controller.send(CommandID(number: 9003), .evaluate, to: "guesser", false)
        #expect(await bench.eventually { said("told") != nil && said("guesser") != nil })
        #expect(said("told") == "none: \(guesses.replacing("4711", with: "•••"))")
        #expect(said("guesser") == "none: \(guesses)")
        controller.leave("the test ends")
        #expect(controller.commands.secretsSent.isEmpty)
        await bench.close()
    }

    // MARK: The gate

    @Test @LoopActor func tracesOfOneAttemptAreBounded() async throws {
        let bench = try FilterBench()
        let controller = try await prepared(bench, "a")
        controller.join(joined())
        let journal = controller.journal
        let attempt = try #require(journal.attempt)
        for number in 0..<1_000 { journal.recordTrace("\(number) " + String(repeating: "x", count: 1_000), helper: "a") }
        journal.record("answer", "low", helper: "a")
        bench.services.journalWriter.flush()
        let steps = bench.services.store.steps(attempt.id)
        let traces = steps.filter { $0.kind == "trace" }
        #expect(
            traces.count < 300
                && traces.last?.detail.hasSuffix("(further lines from helpers in this attempt are left out)") == true)
        #expect(traces.reduce(0) { $0 + $1.detail.utf8.count } <= 257 << 10)
        #expect(steps.last?.kind == "answer")
        await bench.close()
    }

    @Test @LoopActor func trustedNetworksAreLeftAlone() async throws {
        let bench = try FilterBench()
        var settings = bench.services.settings
        settings.trustedNetworks = try SSIDPattern.list("Home*")
        let link = ManagedLink()
        #expect(!link.isClosed(under: settings), "it is not managed")
        link.controller = InterfaceController(index: Self.index, name: "hot7", services: bench.services)
        func isClosed(_ name: String, _ security: Security) -> Bool {
            link.association = WirelessAssociation(
                ssid: SSID(printable: name)!, bssid: BSSID(octets: [2, 0, 0, 0, 0, 1])!, security: security)
            return link.isClosed(under: settings)
        }
        #expect(!isClosed("Home", .psk))
        #expect(isClosed("Home", .open), "any open network can use that name")
        #expect(isClosed("Cafe", .psk))
        link.association = nil
        #expect(link.isClosed(under: settings), "a cable, or no network at all")
        await bench.close()
    }

    // MARK: A reload

    @Test @LoopActor func foldersThatAReloadHidesAreRefusedToHelpers() async throws {
        let bench = try FilterBench()
        try bench.add("a")
        #expect(bench.services.host.pathProblems(of: "a").isEmpty)
        bench.services.host.hide([bench.folder + "/notes"])
        #expect(!bench.services.host.pathProblems(of: "a").isEmpty)
        bench.services.host.hide([])
        #expect(bench.services.host.pathProblems(of: "a").isEmpty)
        await bench.close()
    }

    @Test @LoopActor func theJournalWriterFollowsTheLogLevel() async throws {
        let bench = try FilterBench()
        bench.services.log = Logger(label: "test") { _ in JournalHandler(level: .info) }
        bench.services.log.logLevel = .debug
        #expect(bench.services.journalWriter.log.logLevel == .debug)
        bench.services.log.logLevel = .error
        #expect(bench.services.journalWriter.log.logLevel == .error)
        await bench.close()
    }
}
