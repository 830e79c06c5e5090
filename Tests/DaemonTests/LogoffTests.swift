import ControlAPI
import EventLoop
import HotspotCore
import HotspotMachine
import Testing

@testable import Store
@testable import hotspotd

/// The state after a logoff, and the sentences about it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LogoffTests {
    init() { EventLoop.startThread() }

    /// A hotel whose terms were accepted.
    @LoopActor private func accepted() async throws -> Hotel {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: [("agb", "checkbox", true)], terms: "Be quiet.", at: Hotel.secure)
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "success", "portal": \#(Hotel.secure), "session": {"memory": {"terms": ["t"], "token": "s"}}}"#)
        _ = try await hotel.ask()
        try await hotel.answer(["agb": "yes"])
        return hotel
    }

    @LoopActor private func logOff(_ hotel: Hotel, _ reply: String) async {
        hotel.bench.replies("form", to: "Logoff", reply)
        hotel.controller.feed(.logoffRequested(by: .user))
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .inactive })
    }

    @LoopActor private func verdict(_ hotel: Hotel) -> String? { hotel.bench.steps.last { $0.kind == "outcome" }?.detail }

    @Test(arguments: [true, false], [true, false]) @LoopActor func whatTheHelperKeepsIsForTheNextLogin(
        keeps: Bool, rejoins: Bool
    ) async throws {
        let hotel = try await accepted()
        await logOff(hotel, #"{"result": "success"\#(keeps ? #", "session": {"memory": {"terms": ["t"]}}"# : "")}"#)
        #expect(hotel.controller.status.secondsRemaining == nil)
        if rejoins {
            hotel.leave()
            hotel.join()
        }
        hotel.controller.feed(.loginRequested(helper: nil))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count == 2 })
        let told = hotel.bench.told("form", "Authenticate").last
        #expect(told?["consent"] == .bool(keeps) && told?["session"]?["memory"] == (keeps ? ["terms": ["t"]] : nil))
        await hotel.close()
    }

    /// Remember=never keeps nothing new, and drops nothing either.
    @Test @LoopActor func whatWasAcceptedBeforeNothingNewIsKept() async throws {
        let hotel = try await accepted()
        hotel.bench.services.settings.remember = .never
        let before = hotel.bench.services.store.sealedSession(Hotel.network)
        await logOff(hotel, #"{"result": "success", "session": {"memory": {"terms": ["t", "new"]}}}"#)
        #expect(before != nil && hotel.bench.services.store.sealedSession(Hotel.network) == before)
        hotel.controller.feed(.loginRequested(helper: nil))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count == 2 })
        #expect(hotel.bench.told("form", "Authenticate").last?["consent"] == true)
        await hotel.close()
    }

    @Test @LoopActor func aHelperThatLostItsMemoryOfTheTermsGetsNoConsent() async throws {
        let hotel = try await accepted()
        hotel.leave()
        // As if another helper had logged in meanwhile.
        try hotel.bench.services.store.setSealedSession(Hotel.network, of: nil, nil)
        hotel.join()
        hotel.controller.feed(.loginRequested(helper: "form", fresh: true))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count == 2 })
        let told = hotel.bench.told("form", "Authenticate").last
        #expect(told?["consent"] == false && told?["session"]?["memory"] == nil)
        await hotel.close()
    }

    @Test @LoopActor func aHelperThatWasSwitchedOffKeepsItsConsent() async throws {
        let hotel = try await accepted()
        // Another helper answered meanwhile, with its own session.
        hotel.controller.sessions.setPresent(Session(memory: ["of": "other"]), of: "other")
        hotel.controller.feed(.loginRequested(helper: "form", fresh: true))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count == 2 })
        let told = hotel.bench.told("form", "Authenticate").last
        #expect(told?["consent"] == true && told?["session"]?["memory"] == ["terms": ["t"], "token": "s"])
        await hotel.close()
    }

    /// The helper does not learn about earlier accepted terms, and its new memory is stored.
    @Test @LoopActor func aLoginAfterForgetBeginsAnew() async throws {
        let hotel = try await accepted()
        try hotel.bench.services.store.forgetEverything()
        hotel.controller.forgetStored()
        hotel.controller.feed(.loginRequested(helper: "form", fresh: true))
        #expect(await hotel.bench.eventually { hotel.desk.prompt != nil })
        let told = hotel.bench.told("form", "Authenticate").last
        #expect(told?["consent"] == false && told?["session"]?["memory"] == nil)
        try await hotel.answer(["agb": "yes"])
        #expect(hotel.bench.services.store.sealedSession(Hotel.network) != nil)
        await hotel.close()
    }

    @Test @LoopActor func aSessionThatMayGoOnIsKnownAtAReturn() async throws {
        let hotel = try await accepted()
        await logOff(hotel, #"{"result": "temporaryFailure"}"#)
        hotel.leave()
        hotel.join()
        #expect(hotel.controller.status.problems.map(\.hint) == ["hotspotctl logoff, or to go online: hotspotctl login"])
        await logOff(hotel, #"{"result": "success"}"#)
        #expect(await hotel.bench.eventually { hotel.controller.status.problems.map(\.code) == [.held] })
        #expect(hotel.bench.told("form", "Logoff").last?["session"]?["memory"]?["token"] == "s")
        await hotel.close()
    }

    /// Without the memory, the portal would ask for the accepted terms again.
    @Test @LoopActor func aSessionThatThePortalEndsAgainstTheHelpersWordKeepsItsMemory() async throws {
        let hotel = try await accepted()
        await logOff(hotel, #"{"result": "failure", "reason": "No way."}"#)
        // As the machine does if a probe finds the portal (StandingLoginTests).
        hotel.controller.sessions.end(in: try #require(hotel.controller.joined))
        #expect(hotel.controller.sessions.present.session?.memory?["token"] == "s")
        #expect(hotel.bench.services.store.sealedSession(Hotel.network) != nil)
        await hotel.close()
    }

    @Test @LoopActor func nothingIsKeptOfAForgottenNetwork() async throws {
        let hotel = try await accepted()
        try hotel.bench.services.store.forgetEverything()
        hotel.controller.forgetStored()
        await logOff(hotel, #"{"result": "success", "session": {"memory": {"terms": ["t"]}}}"#)
        #expect(hotel.bench.services.store.sealedSession(Hotel.network) == nil)
        await hotel.close()
    }

    @Test @LoopActor func aLogoffThatWasNotConfirmedIsCalledThat() async throws {
        for (reply, sentence, word, code) in [
            (#"{"result": "success"}"#, "Logged off.", "loggedOff", ProblemCode.held),
            (
                #"{"result": "failure", "reason": "No way."}"#,
                "The logoff was not confirmed: you may still be logged in. hotspotd leaves this network alone.\nNo way.",
                "leftOpen",
                .logoffUnconfirmed
            ),
        ] {
            let hotel = try await accepted()
            await logOff(hotel, reply)
            #expect(verdict(hotel) == sentence && hotel.controller.status.problems.map(\.code) == [code])
            // Another logoff would not help, so the hint names another command.
            #expect(hotel.controller.status.problems.first?.hint == (code == .held ? "hotspotctl login" : "hotspotctl explain"))
            let store = hotel.bench.services.store
            #expect(store.attempts(limit: 1).first?.outcome == word && store.lastOutcome(Hotel.network)?.word == word)
            #expect(hotel.controller.status.outcome == word)
            await hotel.close()
        }
    }

    @Test @LoopActor func aLogoffThatWasNotConfirmedIsTriedAgainWithWhatTheHelperRemembered() async throws {
        let hotel = try await accepted()
        await logOff(hotel, #"{"result": "temporaryFailure"}"#)
        #expect(hotel.controller.status.problems.map(\.hint) == ["hotspotctl logoff"])
        #expect(hotel.controller.machine.acceptsLogoff(by: .user))
        await logOff(hotel, #"{"result": "success"}"#)
        #expect(await hotel.bench.eventually { hotel.controller.status.problems.map(\.code) == [.held] })
        let told = hotel.bench.told("form", "Logoff")
        #expect(told.count == 2 && told.allSatisfy { $0["session"]?["memory"]?["token"] == "s" })
        #expect(verdict(hotel) == "Logged off." && !hotel.controller.machine.acceptsLogoff(by: .user))
        #expect(hotel.bench.services.store.sealedSession(Hotel.network) == nil)
        await hotel.close()
    }

    // MARK: Whose login it is

    @Test @LoopActor func aSwitchedOffHelperStaysTheOneThatLoggedIn() async throws {
        let hotel = try await accepted()
        let (controller, store) = (hotel.controller, hotel.bench.services.store)
        try store.setEnabled(helper: "form", ssid: nil, enabled: false)
        controller.updateCandidates()
        #expect(await hotel.bench.eventually { controller.machine.state.name == .authenticated })
        #expect(controller.status.helper == "form")
        let problem = try #require(controller.status.problems.last)
        #expect(problem.code == .disabled && problem.hint == "hotspotctl enable --helper form, then hotspotctl logoff hot7")
        try store.setEnabled(helper: "form", ssid: nil, enabled: true)
        controller.updateCandidates()
        #expect(await hotel.bench.eventually { controller.machine.acceptsLogoff(by: .user) })
        #expect(!controller.status.problems.map(\.code).contains(.disabled))
        await hotel.close()
    }

    /// A question without fields sends the user to a browser.
    @Test @LoopActor func theStatusTellsAHandOverFromAQuestion() async throws {
        for isHandOver in [true, false] {
            let hotel = try Hotel(Hotel.secure)
            if isHandOver { hotel.asks(for: [], at: Hotel.secure) }
            _ = try await hotel.ask()
            #expect(hotel.controller.status.handsOver == (isHandOver ? true : nil))
            await hotel.close()
        }
    }

    @Test @LoopActor func aQuestionThatABrowserAnsweredIsCalledThat() async throws {
        let hotel = try Hotel(Hotel.secure)
        let shown = try await hotel.ask()
        hotel.controller.feed(.verdictSeen(.online))
        #expect(hotel.controller.machine.state.name == .authenticated)
        #expect(verdict(hotel) == "The network opened before you answered, perhaps through a login in a browser.")
        #expect(hotel.desk.answers.last! == (shown.token, "The network opened, perhaps through a login in a browser."))
        #expect(hotel.controller.status.outcome == "opened")
        await hotel.close()
    }
}
