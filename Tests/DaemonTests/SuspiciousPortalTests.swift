import EventLoop
import HotspotCore
import HotspotMachine
import Testing

@testable import hotspotd

/// The warning about a portal, from the helper's answer to prompt and status.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SuspiciousPortalTests {
    init() { EventLoop.startThread() }

    /// A hotel whose page imitates a company: the helper gives up, and the login is handed over.
    @LoopActor private func trap(_ company: String) throws -> Hotel {
        let hotel = try Hotel(Hotel.secure)
        hotel.bench.replies(
            "form", to: "Authenticate",
            #"{"result": "unsupportedNetwork", "portal": \#(Hotel.secure), "imitates": "\#(company)"}"#)
        try hotel.bench.add("browser")
        hotel.bench.evaluates("browser", #"{"confidence": "low", "portal": \#(Hotel.secure)}"#)
        hotel.bench.replies(
            "browser", to: "Authenticate",
            #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": {"title": "Portal", "fields": []}}"#)
        for method in ["PresentUI", "Maintain"] { hotel.bench.replies("browser", to: method, #"{"result": "success"}"#) }
        return hotel
    }

    @Test(arguments: ["Microsoft", "PayPal"]) @LoopActor func aTrapIsWarnedOfUntilTheNetworkIsOpen(_ company: String) async throws
    {
        let hotel = try trap(company)
        let warning = "This portal asks for your \(company) account, but it does not belong to \(company)."
        let shown = try await hotel.ask()
        #expect(shown.helper == "browser" && shown.warning == warning && hotel.controller.status.warning == warning)
        #expect(hotel.journal == [warning])
        hotel.controller.feed(.verdictSeen(.online))
        #expect(await hotel.bench.eventually { hotel.controller.machine.gateIsOpen })
        #expect(hotel.controller.status.warning == nil)
        hotel.leave()
        #expect(hotel.desk.answers.imitated == nil)
        await hotel.close()
    }

    /// If no helper hands the login over, the status also contains the warning.
    @Test @LoopActor func aTrapWithoutABrowserIsWarnedOf() async throws {
        let hotel = try trap("Revolut")
        hotel.bench.evaluates("browser", #"{"confidence": "none"}"#)
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.controller.status.warning != nil })
        #expect(
            hotel.controller.status.warning == "This portal asks for your Revolut account, but it does not belong to Revolut.")
        #expect(hotel.desk.prompt == nil)
        await hotel.close()
    }

    @Test @LoopActor func aHelperThatNoLongerFindsATrapEndsTheWarning() async throws {
        let hotel = try trap("Yahoo")
        #expect(try await hotel.ask().warning != nil)
        hotel.show(Hotel.secure)
        hotel.controller.feed(.loginRequested(helper: "form", fresh: true))
        #expect(await hotel.bench.eventually { hotel.desk.prompt?.helper == "form" })
        #expect(hotel.desk.prompt?.warning == nil && hotel.controller.status.warning == nil)
        await hotel.close()
    }

    /// If a portal's page did not load, there is no key to compare.
    @Test @LoopActor func aPortalThatDoesNotAnswerIsNotSuspicious() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(Hotel.typed)
        hotel.leave()
        hotel.bench.replies("form", to: "Authenticate", #"{"result": "temporaryFailure", "reason": "No answer came in time."}"#)
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .failure })
        #expect(hotel.controller.status.warning == nil)
        await hotel.close()
    }

    @Test(arguments: [
        (#"{"origin": "https://evil.example", "pin": "cGlu", "kind": "form"}"#, "portal's address differs"),
        (#"{"origin": "https://p.example", "pin": "b3RoZXI=", "kind": "form"}"#, "portal's key differs"),
    ]) @LoopActor func theStatusWarnsOfAnotherPortalAsThePromptDoes(_ portal: String, _ words: String) async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        #expect(hotel.controller.status.warning == nil)
        try await hotel.answer(Hotel.typed)
        hotel.leave()
        hotel.show(portal)
        // The helper hands the login over, so that the warning depends only on the portal.
        hotel.asks(for: [], at: portal)
        let shown = try await hotel.ask()
        let warning = try #require(hotel.controller.status.warning)
        #expect(warning.contains(words) && warning == shown.warning)
        await hotel.close()
    }
}
