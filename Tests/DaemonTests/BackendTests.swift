import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Testing

@testable import Store
@testable import hotspotd

/// Calls of clients while a session runs: one interface over the real host and store.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackendTests {
    init() { EventLoop.startThread() }

    private static let network = NetworkID.wireless(SSID(printable: "Cafe")!, .open)
    private static let memory = JSONValue.object(["token": "t-1"])

    @LoopActor private final class Cafe {
        let bench: FilterBench
        let controller: InterfaceController
        let backend: DaemonBackend
        let links: LinkManager

        init(_ bench: FilterBench, _ controller: InterfaceController) {
            (self.bench, self.controller) = (bench, controller)
            let services = bench.services
            let problems = ProblemList()
            links = LinkManager(services: services, problems: problems)
            links.managed[controller.index] = ManagedLink(controller: controller)
            backend = DaemonBackend(
                services: services, problems: problems, helpers: HelperLoader(services: services, problems: problems),
                links: links, list: NetworkList(services: services, links: links))
            backend.onSwitch = { controller.updateCandidates() }
        }

        /// A café that a helper has logged in to.
        static func online() async throws -> Cafe {
            let bench = try FilterBench()
            try bench.add("a")
            let success = #"{"result": "success", "session": {"memory": {"token": "t-1"}}}"#
            for method in ["Authenticate", "Maintain"] { bench.replies("a", to: method, success) }
            let cafe = Cafe(bench, InterfaceController(index: 7, name: "hot7", services: bench.services))
            cafe.join()
            #expect(await bench.eventually { cafe.controller.machine.state.name == .authenticated })
            return cafe
        }

        func join() {
            controller.join(
                Joined(
                    association: Services.randomID(), network: BackendTests.network, ssid: SSID(printable: "Cafe")!,
                    security: .open, bssid: nil, signal: -50,
                    snapshot: LinkSnapshot(
                        index: 7, name: "hot7", isUp: true, hasCarrier: true, addresses: ["192.0.2.2/24"],
                        gateways: ["192.0.2.1"]),
                    facts: LinkFacts(nameservers: ["192.0.2.53"], source: "none")))
        }

        func close() async {
            controller.leave("the test ends")
            await bench.close()
        }
    }

    // MARK: The daemon's account of itself

    @Test @LoopActor func thePathOfTheSettingsIsTold() async throws {
        let cafe = try await Cafe.online()
        cafe.bench.services.settings.file = "/srv/hotspotd.conf"
        #expect(cafe.backend.settingsFile == "/srv/hotspotd.conf")
        await cafe.close()
    }

    // MARK: Changes of helpers

    /// The remembered helper logs in alone, unless another helper has changed and may know the portal better now.
    @Test @LoopActor func afterAChangeOfAHelperTheNextLoginIsARace() async throws {
        let cafe = try await Cafe.online()
        let bench = cafe.bench
        try bench.add("b")
        // A low claim waits for the other helper's answer.
        bench.evaluates("a", #"{"confidence": "low"}"#)
        bench.evaluates("b", #"{"confidence": "none"}"#)
        bench.replies("a", to: "Maintain", #"{"result": "authenticationRequired"}"#)
        for (edition, races, helper) in [(0, 1, "a"), (0, 1, "a"), (5, 2, "b")] {
            if edition > 0 { bench.evaluates("b", #"{"confidence": "high"}"#) }
            bench.services.editions["b"] = edition
            cafe.controller.leave("the test leaves")
            // The list shows the helper that logged in before, even if there will be a race.
            let listed = try #require(try cafe.backend.networks(interface: nil, all: true).first)
            #expect(listed.ssid == "Cafe" && listed.claims.map(\.helper) == ["a"])
            cafe.join()
            #expect(await bench.eventually { cafe.controller.machine.state.name == .authenticated })
            #expect(bench.told("b", "Evaluate").count == races && cafe.controller.status.helper == helper)
        }
        await cafe.close()
    }

    /// The memory of a helper's login also serves the login after a logoff.
    @Test @LoopActor func afterALogoffTheSameHelperLogsIn() async throws {
        let cafe = try await Cafe.online()
        let bench = cafe.bench
        func isOnline() -> Bool { cafe.controller.machine.state.name == .authenticated }
        try bench.add("b")
        cafe.controller.updateCandidates()
        bench.evaluates("a", #"{"confidence": "low"}"#)
        bench.evaluates("b", #"{"confidence": "none"}"#)
        bench.replies("b", to: "Authenticate", #"{"result": "success"}"#)
        bench.replies("a", to: "Logoff", #"{"result": "success"}"#)
        _ = try cafe.backend.login(interface: nil, helper: nil, fresh: true)
        #expect(await bench.eventually { bench.told("b", "Evaluate").count == 1 && isOnline() })
        bench.evaluates("b", #"{"confidence": "high"}"#)
        for (edition, helper) in [(0, "a"), (5, "b")] {
            _ = try cafe.backend.logoff(interface: nil)
            #expect(await bench.eventually { cafe.controller.machine.state.name == .inactive })
            bench.services.editions["b"] = edition
            cafe.controller.updateCandidates()
            _ = try cafe.backend.login(interface: nil, helper: nil, fresh: false)
            #expect(await bench.eventually { isOnline() && cafe.controller.status.helper == helper }, "\(helper)")
        }
        await cafe.close()
    }

    // MARK: Errors

    @Test @LoopActor func answersForAnUnknownNetworkAreRefusedByItsName() async throws {
        let cafe = try await Cafe.online()
        let unknown = #expect(throws: ControlError.self) {
            try cafe.backend.addCredential(ssid: "Cafee", helper: nil, answers: ["room": "1"])
        }
        guard case .noSuchNetwork("Cafee", _) = unknown else {
            Issue.record("\(String(describing: unknown))")
            return
        }
        let silent = #expect(throws: ControlError.self) {
            try cafe.backend.addCredential(ssid: "Cafe", helper: nil, answers: ["room": "1"])
        }
        guard case .failed(.noPortal, let message) = silent else {
            Issue.record("\(String(describing: silent))")
            return
        }
        #expect(message.hasPrefix("No login at a known portal has succeeded here yet"))
        // The session belongs to a helper that names no portal.
        #expect(message.contains("Log in once: hotspotctl logoff hot7, then hotspotctl login hot7."))
        #expect(throws: ControlError.self) { try cafe.backend.credentials(ssid: "Cafee") }
        #expect(try cafe.backend.credentials(ssid: "Cafe").credentials.isEmpty)
        await cafe.close()
    }

    @Test @LoopActor func aSwitchedOffHelperIsNamedWhereItCannotLogOff() async throws {
        let cafe = try await Cafe.online()
        try cafe.backend.setEnabled(helper: "a", ssid: nil, enabled: false)
        #expect(await cafe.bench.eventually { cafe.controller.status.helper == "a" })
        let error = #expect(throws: ControlError.self) { try cafe.backend.logoff(interface: nil) }
        guard case .failed(.disabled, let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("The a logged in here") && message.contains("hotspotctl enable --helper a"))
        await cafe.close()
    }

    // MARK: forget

    @Test(arguments: [true, false]) @LoopActor func aForgottenSessionGoesOnUntilTheLogoffAndIsNotStored(everything: Bool)
        async throws
    {
        let cafe = try await Cafe.online()
        let (controller, bench) = (cafe.controller, cafe.bench)
        let store = bench.services.store
        #expect(store.sealedSession(Self.network) != nil && bench.services.host.given["a"]?.isEmpty == false)
        if everything { try cafe.backend.forgetEverything() } else { try cafe.backend.forget(ssid: "Cafe") }
        #expect(controller.machine.state.chosenHelper == "a" && controller.status.problems.map(\.code).contains(.forgotten))
        #expect(bench.services.host.given["a"]?.isEmpty != false)
        // Maintain stores nothing for this session.
        controller.feed(.loginRequested(helper: nil))
        #expect(
            await bench.eventually { bench.told("a", "Maintain").count == 1 && controller.machine.state.name == .authenticated })
        #expect(store.remembered(Self.network, now: WallClock.now) == nil && store.sealedSession(Self.network) == nil)
        #expect(controller.status.problems.map(\.code).contains(.forgotten))
        #expect(try cafe.backend.logoff(interface: nil) == "hot7")
        #expect(await bench.eventually { controller.machine.state.name == .inactive })
        #expect(bench.told("a", "Logoff").last?["session"]?["memory"] == Self.memory)
        #expect(!controller.status.problems.map(\.code).contains(.forgotten), "its session has ended")
        await cafe.close()
    }

    @Test @LoopActor func aNewLoginAfterForgettingIsRemembered() async throws {
        let cafe = try await Cafe.online()
        try cafe.backend.forget(ssid: "Cafe")
        for (interface, ssid) in [(nil, nil), (nil, "Cafe"), ("hot7", nil)] {
            #expect(throws: ControlError.failed(code: .noAttempt, message: "No attempts in \"Cafe\" are kept.")) {
                try cafe.backend.explain(interface: interface, ssid: ssid, attempt: nil)
            }
        }
        cafe.controller.feed(.loginRequested(helper: nil, fresh: true))
        #expect(await cafe.bench.eventually { cafe.bench.told("a", "Authenticate").count == 2 })
        #expect(await cafe.bench.eventually { cafe.controller.machine.state.name == .authenticated })
        #expect(cafe.bench.services.store.remembered(Self.network, now: WallClock.now)?.helper == "a")
        #expect(!cafe.controller.status.problems.map(\.code).contains(.forgotten))
        await cafe.close()
    }

    @Test @LoopActor func theSentenceOnStoredAnswersGoesWithThem() async throws {
        for everything in [true, false] {
            let hotel = try Hotel(Hotel.secure)
            let cafe = Cafe(hotel.bench, hotel.controller)
            _ = try await hotel.ask()
            try await hotel.answer(Hotel.typed)
            #expect(hotel.controller.status.answers != nil)
            if everything { try cafe.backend.forgetEverything() } else { try cafe.backend.forget(ssid: "Hotel") }
            #expect(hotel.controller.status.answers == nil)
            await hotel.close()
        }
    }

    @Test @LoopActor func forgettingEverythingUnguardsTheVault() async throws {
        let hotel = try await Hotel.guarded("4711", Hotel.secure)
        let cafe = Cafe(hotel.bench, hotel.controller)
        #expect(hotel.keeper.pinWord == "locked")
        try cafe.backend.forgetEverything()
        #expect(hotel.keeper.pinWord == "none" && hotel.bench.services.store.pin == nil)
        _ = try await hotel.ask()
        #expect(try await hotel.answer(Hotel.typed)?.hasPrefix("Your answers are kept") == true)
        await hotel.close()
    }

    // MARK: The journal

    /// The newest attempt may belong to another network.
    @Test @LoopActor func explainTakesTheNetworkThatIsJoined() async throws {
        let cafe = try await Cafe.online()
        let store = cafe.bench.services.store
        let other = NetworkID.wireless(SSID(printable: "Other")!, .open)
        try store.beginAttempt("later", interface: "hot8", network: other, ssid: "Other", began: WallClock.now + 1000)
        let story = try cafe.backend.explain(interface: nil, ssid: nil, attempt: nil)
        #expect(story.attempt.ssid == "Cafe" && story.attempt.interface == "hot7")
        try store.beginAttempt("before", interface: "hot7", network: other, ssid: "Other", began: WallClock.now + 1000)
        try cafe.backend.forget(ssid: "Cafe")
        for interface in [nil, "hot7"] {
            #expect(throws: ControlError.failed(code: .noAttempt, message: "No attempts in \"Cafe\" are kept.")) {
                try cafe.backend.explain(interface: interface, ssid: nil, attempt: nil)
            }
        }
        cafe.controller.leave("the test wants it")
        #expect(try cafe.backend.explain(interface: nil, ssid: nil, attempt: nil).attempt.ssid == "Other")
        await cafe.close()
    }

    // MARK: Switches

    @Test @LoopActor func aPortalWithoutAHelperNamesTheOneThatIsOff() async throws {
        let cafe = try await Cafe.online()
        func hint() -> String? {
            cafe.backend.interfaceStatus().first?.problems.first { $0.code == .unclaimedCaptive }?.hint
        }
        cafe.controller.problems.report(Problem(.unclaimedCaptive, "A portal wants a login.", hint: "hotspotctl helpers"))
        #expect(hint() == "hotspotctl helpers")
        let store = cafe.bench.services.store
        try store.setEnabled(helper: "a", ssid: Self.network.switchName, enabled: false, releasingHolds: false)
        #expect(hint() == "hotspotctl enable --helper a Cafe")
        try store.setEnabled(helper: "a", ssid: nil, enabled: false, releasingHolds: false)
        #expect(hint()?.hasPrefix("hotspotctl enable --helper a") == true)
        await cafe.close()
    }

    /// The helper that logged in here before comes first, and the browser helper last.
    @Test @LoopActor func ofSeveralHelpersThatAreOffTheRememberedOneIsNamed() async throws {
        let cafe = try await Cafe.online()
        let (bench, store) = (cafe.bench, cafe.bench.services.store)
        for name in ["browser", "Aa", "z"] { try bench.add(name) }
        func problem() -> Problem? { cafe.backend.interfaceStatus().first?.problems.first { $0.code == .unclaimedCaptive } }
        cafe.controller.problems.report(Problem(.unclaimedCaptive, "A portal wants a login.", hint: "hotspotctl helpers"))
        try store.setEnabled(helper: "browser", ssid: nil, enabled: false)
        #expect(problem()?.hint == "hotspotctl enable --helper browser")
        for name in ["z", "Aa"] {
            try store.setEnabled(helper: name, ssid: nil, enabled: false)
            #expect(problem()?.hint == "hotspotctl enable --helper \(name)")
        }
        try store.setEnabled(helper: "a", ssid: nil, enabled: false)
        #expect(problem()?.hint == "hotspotctl enable --helper a")
        #expect(problem()?.message.hasSuffix("; a, which logged in here before, is switched off.") == true)
        await cafe.close()
    }

    @Test @LoopActor func aHelperThatIsNotAskedHereIsRefusedWithTheReason() async throws {
        let cafe = try await Cafe.online()
        let (bench, services) = (cafe.bench, cafe.bench.services)
        try bench.add("named", ssids: "Other")
        try bench.add("wire", security: [.wired])
        for name in ["here", "off"] { try bench.add(name) }
        try services.store.setEnabled(helper: "here", ssid: Self.network.switchName, enabled: false)
        try services.store.setEnabled(helper: "off", ssid: nil, enabled: false)
        for (helper, words) in [
            ("named", "SSID= in the file of named does not include \"Cafe\"."),
            ("wire", "\"Cafe\" has the security open, which Security= in the file of wire does not list."),
            ("here", "here is switched off for \"Cafe\"; to switch it on: hotspotctl enable --helper here Cafe"),
            ("off", "off is switched off; to switch it on: hotspotctl enable --helper off"),
        ] {
            #expect(throws: ControlError.failed(code: .notCandidate, message: words)) {
                try cafe.backend.login(interface: nil, helper: helper, fresh: false)
            }
        }
        let cable = Joined(
            association: "a", network: .anonymous, ssid: .empty, security: .wired,
            snapshot: LinkSnapshot(index: 8, name: "hot8", isUp: true, hasCarrier: true), facts: LinkFacts(source: "none"))
        try bench.add("wire", ssids: "wired:*", security: [.wired])
        #expect(
            services.exclusion(of: "wire", from: cable)
                == "SSID= in the file of wire does not include \"wired\": the name of a wired network is empty, and only the pattern * covers it."
        )
        try bench.add("wire", security: [.open])
        #expect(
            services.exclusion(of: "wire", from: cable).contains(
                "has the security wired, which Security= in the file of wire does not list."))
        await cafe.close()
    }

    @Test @LoopActor func aSessionOutlivesTheSwitchOfItsHelper() async throws {
        let cafe = try await Cafe.online()
        try cafe.backend.setEnabled(helper: "a", ssid: nil, enabled: false)
        #expect(await cafe.bench.eventually { cafe.controller.machine.state.name == .authenticated })
        #expect(cafe.controller.machine.state.chosenHelper == nil)
        try cafe.backend.setEnabled(helper: "a", ssid: nil, enabled: true)
        #expect(await cafe.bench.eventually { cafe.controller.machine.state.name == .authenticated })
        #expect(cafe.controller.machine.state.chosenHelper == "a")
        #expect(cafe.bench.told("a", "Maintain").last?["session"]?["memory"] == Self.memory)
        #expect(cafe.bench.told("a", "Authenticate").count == 1)
        await cafe.close()
    }

    /// If a helper was chosen only because another helper was switched off, it is no longer preferred once the other helper is switched on,
    /// neither on this visit nor on the next.
    @Test(arguments: [true, false]) @LoopActor func aHelperThatIsSwitchedOnMayWinAgain(leaves: Bool) async throws {
        let bench = try FilterBench()
        for name in ["a", "b"] { try bench.add(name) }
        bench.evaluates("b", #"{"confidence": "low"}"#)
        bench.replies("b", to: "Maintain", #"{"result": "authenticationRequired"}"#)
        let cafe = Cafe(bench, InterfaceController(index: 7, name: "hot7", services: bench.services))
        let (machine, store) = ({ cafe.controller.machine }, bench.services.store)
        try cafe.backend.setEnabled(helper: "a", ssid: nil, enabled: false)
        cafe.join()
        #expect(await bench.eventually { machine().state.name == .authenticated })
        #expect(store.remembered(Self.network, now: WallClock.now)?.contenders == ["b"])
        try cafe.backend.setEnabled(helper: "a", ssid: nil, enabled: true)
        #expect(machine().state.chosenHelper == "b", "its session goes on")
        if leaves {
            cafe.controller.leave("the test leaves")
            cafe.join()
        } else {
            cafe.controller.feed(.loginRequested(helper: nil))
        }
        #expect(await bench.eventually { machine().state.chosenHelper == "a" && machine().state.name == .authenticated })
        #expect(bench.told("b", "Maintain").count == 1 && bench.told("b", "Authenticate").count == 1)
        #expect(store.remembered(Self.network, now: WallClock.now)?.helper == "a")
        await cafe.close()
    }

    /// Reports whether a network with this name was held, whatever its security.
    @Test @LoopActor func switchingANetworkOnSaysWhetherItWasLeftAlone() async throws {
        let cafe = try await Cafe.online()
        #expect(try !cafe.backend.setEnabled(helper: nil, ssid: "Cafe", enabled: true))
        _ = try cafe.backend.logoff(interface: nil)
        #expect(await cafe.bench.eventually { cafe.controller.machine.state.name == .inactive })
        #expect(try !cafe.backend.setEnabled(helper: "a", ssid: "Cafe", enabled: true), "a helper alone ends no hold")
        #expect(try cafe.backend.setEnabled(helper: nil, ssid: "Cafe", enabled: true))
        #expect(await cafe.bench.eventually { cafe.controller.machine.state.name == .authenticated })
        #expect(try !cafe.backend.setEnabled(helper: nil, ssid: "Cafe", enabled: true))
        await cafe.close()
    }

    // MARK: A login that is under way

    @Test @LoopActor func aLoginJoinsTheOneThatAsks() async throws {
        let hotel = try Hotel(Hotel.secure)
        let cafe = Cafe(hotel.bench, hotel.controller)
        let token = try await hotel.ask().token
        #expect(try cafe.backend.login(interface: nil, helper: nil, fresh: false).underWay == true)
        #expect(hotel.desk.prompt?.token == token)
        #expect(try cafe.backend.login(interface: nil, helper: nil, fresh: true).underWay == nil)
        #expect(hotel.desk.prompt == nil)
        await hotel.close()
    }

    /// While answers are on their way, no question waits for the user.
    @Test @LoopActor func aRefusedLogoffTellsWhetherAQuestionWaits() async throws {
        let hotel = try Hotel(Hotel.secure)
        let cafe = Cafe(hotel.bench, hotel.controller)
        let shown = try await hotel.ask()
        func refusal() -> ControlError? { #expect(throws: ControlError.self) { try cafe.backend.logoff(interface: nil) } }
        #expect(refusal() == .wrongState(interface: "hot7", state: "presentingUI", asks: true))
        hotel.bench.hold("form")
        hotel.controller.answer(shown, Hotel.typed, remember: false)
        #expect(refusal() == .wrongState(interface: "hot7", state: "presentingUI", asks: false))
        hotel.bench.letGo("form")
        await hotel.close()
    }

    // MARK: Leaving that is no leaving

    /// A client that waits for a login reads each state, so no state may name the network that was left.
    @Test @LoopActor func aNetworkThatIsLeftIsInNoState() async throws {
        let cafe = try await Cafe.online()
        var seen: [InterfaceStatus] = []
        cafe.bench.onStatus = { seen.append(cafe.controller.status) }
        cafe.controller.leave("the address is gone")
        #expect(seen.first?.state == StateName.inactive.rawValue && seen.allSatisfy { $0.ssid == nil }, "\(seen)")
        cafe.bench.onStatus = {}
        await cafe.close()
    }

    /// The question ends with its network, although the laptop joins the network again at once.
    @Test(arguments: [true, false]) @LoopActor func aQuestionThatGoesWithItsNetworkSaysWhy(isForgotten: Bool) async throws {
        let hotel = try Hotel(Hotel.secure)
        let cafe = Cafe(hotel.bench, hotel.controller)
        let token = try await hotel.ask().token
        if isForgotten {
            try cafe.backend.forget(ssid: "Hotel")
        } else {
            try cafe.backend.setEnabled(helper: nil, ssid: "Hotel", enabled: false)
            #expect(hotel.bench.services.store.attempts(limit: 1).first?.outcome == Attempt.switchedOff)
        }
        if isForgotten {
            let first = hotel.bench.steps.last { $0.from == StateName.inactive.rawValue }
            #expect(first?.detail == "the network was forgotten")
        }
        #expect(
            cafe.backend.ending(ofPrompt: token)
                == (isForgotten ? "The network was forgotten." : "hotspotd was switched off for this network."))
        await hotel.close()
    }

    @Test @LoopActor func theHistoryTellsThatHandlingWasSwitchedOff() async throws {
        let cafe = try await Cafe.online()
        let attempt = try #require(cafe.controller.journal.attempt)
        try cafe.backend.setEnabled(helper: nil, ssid: "Cafe", enabled: false)
        let last = cafe.bench.services.store.steps(attempt.id).last { $0.to != nil }
        #expect(last?.to == StateName.inactive.rawValue && last?.detail == "hotspotd was switched off for this network")
        await cafe.close()
    }

    @Test @LoopActor func theHistoryTellsThatTheDaemonWasStopped() async throws {
        let cafe = try await Cafe.online()
        let store = cafe.bench.services.store
        cafe.bench.hold("a")
        cafe.controller.feed(.loginRequested(helper: nil, fresh: true))
        cafe.controller.end()
        cafe.bench.letGo("a")
        cafe.bench.services.journalWriter.flush()
        let attempt = try #require(store.attempts(limit: 1).first)
        #expect(attempt.outcome == Attempt.interrupted && attempt.verdict == "hotspotd was stopped before this attempt ended.")
        #expect(store.steps(attempt.id).last { $0.to != nil }?.detail == "hotspotd was stopped")
        cafe.join()
        cafe.controller.leave("the address is gone")
        cafe.bench.services.journalWriter.flush()
        #expect(store.attempts(limit: 1).first?.verdict == "The network was left.")
        await cafe.close()
    }
}
