import EventLoop
import HotspotCore
import HotspotMachine
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
        #expect(first.hasPrefix("Online by The form after") && first.hasSuffix(" s: claimed by form: the only helper asked."))
        hotel.leave()
        // The helper maintains, and finds that the session is over.
        _ = try await hotel.ask()
        try await hotel.answer(["sms": "1"])
        let second = try #require(verdict(hotel))
        #expect(second.hasPrefix("Online by The form after") && second.hasSuffix(" s.") && !second.contains("session"))
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
        hotel.controller.dismiss(try #require(hotel.desk.prompt))
        #expect(verdict(hotel) == "The question was dismissed.\nWrong room.")
        await hotel.close()
    }
}
