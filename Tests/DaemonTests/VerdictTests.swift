import Answers
import EventLoop
import HotspotCore
import HotspotMachine
import LinkState
import Testing

@testable import hotspotd

/// The sentence that `hotspotctl explain` ends with.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VerdictTests {
    init() { EventLoop.startThread() }

    @LoopActor private func verdict(_ hotel: Hotel) -> String? { hotel.bench.steps.last { $0.kind == "outcome" }?.detail }

    @Test @LoopActor func theCauseOfTheStartIsNotTheReasonOfTheSuccess() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(Hotel.typed)
        let first = try #require(verdict(hotel))
        #expect(first.hasPrefix("Online") && first.hasSuffix(", through The form (claimed by form: the only helper asked)."))
        hotel.leave()
        // Maintain finds that the session is over.
        _ = try await hotel.ask()
        try await hotel.answer(["sms": "1"])
        let second = try #require(verdict(hotel))
        #expect(second.hasPrefix("Online") && second.hasSuffix(", through The form.") && !second.contains("session"))
        await hotel.close()
    }

    @Test @LoopActor func aFamilyOfAddressesThatComesLaterIsProbedWithAtOnce() async throws {
        let hotel = try Hotel(Hotel.secure) { $0.policy.retryFirst = .seconds(600) }
        hotel.bench.evaluates("form", #"{"confidence": "none"}"#)
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.controller.status.outcome == "unknown" })
        func probes() -> Int { hotel.bench.steps.count { $0.detail.hasPrefix("The prober failed.") } }
        let before = probes()
        var link = try #require(hotel.controller.joined?.snapshot)
        for (addresses, gateways, count) in [
            (["192.0.2.2/24", "192.0.2.3/24"], ["192.0.2.1"], 0), (["192.0.2.2/24", "fd00::2/64"], ["192.0.2.1"], 1),
            (["192.0.2.2/24", "fd00::2/64"], ["192.0.2.1", "fe80::1"], 2),
        ] {
            (link.addresses, link.gateways) = (addresses, gateways)
            hotel.controller.refresh(link)
            #expect(await hotel.bench.eventually { probes() == before + count })
        }
        for (nameservers, count) in [(["fd00::53"], 3), (["fd00::53"], 3), ([], 4)] {
            hotel.controller.refresh(link, facts: LinkFacts(nameservers: nameservers, source: "NetworkManager"))
            #expect(await hotel.bench.eventually { probes() == before + count })
            #expect(hotel.controller.joined?.facts.nameservers == nameservers)
        }
        await hotel.close()
    }

    /// The user wants the network again, after a question that the user dismissed.
    @Test @LoopActor func aJoinOfThePresentNetworkEndsItsHold() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        hotel.controller.wantedAgain()
        #expect(hotel.controller.machine.state.name == .presentingUI, "the question stays")
        hotel.controller.feed(.promptDismissed(try #require(hotel.controller.desk.prompt?.id)))
        #expect(hotel.controller.machine.state.name == .inactive)
        hotel.controller.wantedAgain()
        #expect(hotel.controller.machine.state.name == .evaluating)
        await hotel.close()
    }

    /// An access point of the same network is another mark for the next daemon, but the same association.
    @Test @LoopActor func aRestartedDaemonKnowsTheAssociationAfterARoam() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.bench.replies("form", to: "Authenticate", #"{"result": "success"}"#)
        hotel.join()
        let joined = try #require(hotel.controller.joined)
        var link = joined.snapshot
        link.carrierUpCount = 1
        hotel.controller.refresh(link)
        #expect(await hotel.bench.eventually { hotel.controller.status.state == "authenticated" })
        link.carrierUpCount = 2
        hotel.controller.refresh(link)
        let stored = hotel.controller.services.store.association(joined.network, of: link.index)
        #expect(stored?.link == link.associationMark && stored?.id == joined.association)
        await hotel.close()
    }

    /// A gateway that answered in a server's place a moment ago may be silent now, so the last probe gives the reason.
    @Test @LoopActor func theLastLookTellsWhyTheInternetDoesNotAnswer() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.bench.replies("form", to: "Authenticate", #"{"result": "success"}"#)
        func limited(by problem: String) -> String { #"{"verdict": "limited", "problem": "\#(problem)", "evidence": []}"# }
        hotel.bench.addProber(limited(by: "status502"))
        hotel.join()
        func problem() -> String? { hotel.controller.status.problems.first { $0.code == .internetLimited }?.message }
        #expect(await hotel.bench.eventually { hotel.controller.status.state == "authenticated" })
        #expect(problem() == "A server answered 502; it is neither the Internet nor a portal.")
        hotel.bench.addProber(limited(by: "timeout"), "later")
        var isChecked = false
        hotel.controller.check { _ in isChecked = true }
        #expect(await hotel.bench.eventually { isChecked })
        #expect(problem() == "The Internet does not answer, and there is no portal.")
        await hotel.close()
    }

    /// A probe during the login does not answer a client that checks later.
    @Test @LoopActor func aCheckSharesNothingWithTheLogin() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        let login = try #require(hotel.controller.link)
        let first = try #require(hotel.controller.linkOfItsOwn)
        let second = try #require(hotel.controller.linkOfItsOwn)
        #expect(Set([login.attempt, first.attempt, second.attempt]).count == 3 && first.association == login.association)
        await hotel.close()
    }

    /// No portal has checked an answer that the helper did not send.
    @Test @LoopActor func answersThatTheLoginDidWithoutAreNotKept() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "success", "portal": \#(Hotel.secure), "unsent": ["room", "name", "sms"]}"#)
        _ = try await hotel.ask()
        let told = try await hotel.answer(Hotel.typed)
        #expect(told == AnswerRuling.notSent.words)
        #expect(hotel.bench.services.store.credentials(Hotel.network).isEmpty)
        let ended = try #require(verdict(hotel))
        #expect(ended.hasPrefix("Online") && ended.hasSuffix("The network opened before the answers were sent."))
        hotel.leave()
        // Refused answers are not kept either, because the login succeeded without them.
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "success", "portal": \#(Hotel.secure), "unsent": ["sms"], "refused": ["room", "name"]}"#)
        _ = try await hotel.ask()
        #expect(try await hotel.answer(Hotel.typed) == AnswerRuling.needless.words)
        #expect(verdict(hotel)?.contains(", through ") == true && hotel.controller.status.outcome == "online")
        #expect(hotel.bench.services.store.credentials(Hotel.network).isEmpty)
        hotel.leave()
        // Answers that were sent are kept.
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "success", "portal": \#(Hotel.secure), "unsent": ["name"]}"#)
        _ = try await hotel.ask()
        let kept = try await hotel.answer(Hotel.typed)
        #expect(kept?.hasPrefix("Your answers are kept") == true)
        #expect(hotel.bench.services.store.credentials(Hotel.network).map(\.fieldNames) == [["room"]])
        await hotel.close()
    }

    /// The words of a portal that lets the guest in for ten minutes, and the history of a network that opened by itself.
    @Test @LoopActor func theLoginTellsThePortalsWordsAndAnOpenNetworkItsOwn() async throws {
        for (members, said, outcome) in [
            (#""reason": "The portal answered: Ten minutes""#, "Ten minutes", AttemptOutcome.online),
            (#""reason": "hotel.portal matches""#, nil, .online), (#""unsent": []"#, nil, .opened),
        ] {
            let hotel = try Hotel(Hotel.secure)
            hotel.bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(Hotel.secure), \#(members)}"#)
            _ = try await hotel.ask()
            try await hotel.answer(Hotel.typed)
            #expect(hotel.controller.status.said == said)
            #expect(hotel.controller.status.outcome == outcome.rawValue)
            // A check of the session, now or at the next visit, does not change this outcome.
            hotel.bench.replies("form", to: "Maintain", #"{"result": "success", "portal": \#(Hotel.secure)}"#)
            for isReturn in [false, true] {
                if isReturn {
                    hotel.leave()
                    hotel.join()
                } else {
                    hotel.controller.feed(.loginRequested(helper: nil, fresh: false))
                }
                #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .authenticated })
                #expect(hotel.controller.status.outcome == outcome.rawValue, "\(isReturn)")
            }
            await hotel.close()
        }
    }

    /// A portal recognises a guest by the MAC address. A different address is reported while the user is asked again.
    @Test @LoopActor func anotherHardwareAddressIsTold() async throws {
        let hotel = try Hotel(Hotel.secure)
        func problem() -> Problem? { hotel.controller.status.problems.first { $0.code == .macChanged } }
        for (hardware, before) in [
            ("02:00:00:00:00:07", nil), ("02:00:00:00:00:07", nil), ("02:00:00:00:00:08", "02:00:00:00:00:07"),
            ("02:00:00:00:00:08", nil), (nil, nil),
        ] as [(String?, String?)] {
            _ = try await hotel.ask(hardware: hardware)
            #expect(problem()?.message.contains("\(before ?? "")") == before.map { _ in true }, "\(hardware ?? "")")
            try await hotel.answer(Hotel.typed)
            #expect(problem() == nil)
            hotel.leave()
        }
        await hotel.close()
    }

    @Test @LoopActor func theWordsOfARefusalAreInIt() async throws {
        let hotel = try Hotel(Hotel.secure)
        let prompt = #"{"title": "Hotel", "message": "Wrong room.", "fields": []}"#
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": \#(prompt)}"#)
        let first = try await hotel.ask()
        hotel.controller.answer(first, ["room": "1"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != first.token } ?? false })
        #expect(hotel.bench.steps.last { $0.kind == "answer" }?.detail == "uiRequired: Wrong room.")
        hotel.controller.dismiss(try #require(hotel.desk.prompt))
        #expect(verdict(hotel) == "The question was dismissed.\nWrong room.")
        await hotel.close()
    }
}
