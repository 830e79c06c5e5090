import EventLoop
import HotspotCore
import HotspotMachine
import Testing

@testable import Store
@testable import hotspotd

/// Stored answers in a prompt that appears in spite of them, and the cases in which they are not sent again.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StoredDefaultsTests {
    init() { EventLoop.startThread() }

    private static let login = [("room", "text", true), ("name", "password", true)]

    // MARK: Pages that ask for more

    @Test(arguments: [Hotel.plain, Hotel.secure]) @LoopActor func aPageThatAsksForMoreOffersWhatIsStored(portal: String)
        async throws
    {
        let hotel = try Hotel(portal)
        hotel.asks(for: Self.login, at: portal)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()

        hotel.asks(for: Self.login + [("mail", "email", true), ("rules", "checkbox", true)], terms: "Be nice.", at: portal)
        let shown = try await hotel.ask()
        #expect(shown.stored == ["room", "name"] && shown.prompt.fields.map(\.value) == ["214", nil, nil, nil])
        let outcome = try await hotel.answer(["mail": "a@b.example", "rules": "yes"], stored: ["room", "name"])
        #expect(hotel.sent == ["room": "214", "name": .string(Hotel.canary), "mail": "a@b.example", "rules": "yes"])
        let promise = portal == Hotel.plain ? "next time press Enter to send them." : "next time you will not be asked."
        #expect(outcome == "Your answers are kept for this portal; \(promise)")
        #expect(!hotel.bench.steps.contains { $0.detail.contains(Hotel.canary) })
        await hotel.close()
    }

    @Test @LoopActor func whatThePortalRefusedReplacesNothingThatIsStored() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "success", "portal": \#(Hotel.plain), "unsent": ["room", "name"]}"#)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "999", "name": "Other", "sms": "1"])
        hotel.leave()
        let shown = try await hotel.ask()
        #expect(shown.stored == ["room", "name"] && shown.prompt.fields.map(\.value) == ["214", nil, nil])
        await hotel.close()
    }

    @Test @LoopActor func whereTermsAreAskedForEachTimeEnterIsNotPromised() async throws {
        let hotel = try Hotel { $0.acceptTerms = .ask }
        hotel.asks(for: Self.login + [("rules", "checkbox", true)], terms: "Be nice.", at: Hotel.plain)
        _ = try await hotel.ask()
        let outcome = try await hotel.answer(["room": "214", "name": Hotel.canary, "rules": "yes"])
        #expect(outcome == "Your answers are kept for this portal and offered next time.")
        await hotel.close()
    }

    @Test @LoopActor func aCodeAfterTheNumberIsAskedForAndNotAgain() async throws {
        let hotel = try Hotel()
        hotel.asks(for: [("phone", "phone", true)], at: Hotel.plain)
        let code = #"{"name": "code", "label": "Code", "kind": "code", "required": true}"#
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "uiRequired", "portal": \#(Hotel.plain), "prompt": {"title": "Hotel", "fields": [\#(code)]}}"#)
        let first = try await hotel.ask()
        hotel.controller.answer(first, ["phone": "+49170"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != first.token } ?? false })
        let second = try #require(hotel.desk.prompt)
        hotel.controller.answer(second, ["code": "1"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != second.token } ?? false })
        let told = hotel.bench.steps.filter { $0.kind == "prompt" }.map(\.detail)
        #expect(told == ["Hotel asks", "Hotel asks for more", "Hotel asks again"])
        await hotel.close()
    }

    @Test @LoopActor func anAnswerToALaterPageDoesNotDisplaceThoseThatWereSent() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: Self.login, at: Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()
        hotel.asks(for: [("mail", "email", true)], at: Hotel.secure)
        _ = try await hotel.ask()
        #expect(try await hotel.answer(["mail": "a@b.example"])?.hasSuffix("you will not be asked.") == true)
        hotel.leave()
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count == 3 })
        #expect(hotel.credential == ["room": "214", "name": .string(Hotel.canary), "mail": "a@b.example"])
        await hotel.close()
    }

    @Test @LoopActor func aPageWithOtherNamesEachTimeDoesNotFillTheVault() async throws {
        let hotel = try Hotel(Hotel.secure)
        for visit in 0..<4 {
            hotel.asks(for: (0..<20).map { ("field\(visit)x\($0)", "text", false) }, at: Hotel.secure)
            let shown = try await hotel.ask()
            try await hotel.answer(Dictionary(uniqueKeysWithValues: shown.prompt.fields.map { ($0.name, "x") }))
            hotel.leave()
        }
        #expect(hotel.bench.services.store.allCredentials.first?.fieldNames.count == 20)
        await hotel.close()
    }

    @Test(
        arguments: [
            ([("room", "text", true)], nil, true), ([("room", "text", true), ("rules", "checkbox", true)], "Be nice.", true),
            ([("room", "text", true), ("code", "code", false)], nil, false),
            ([("room", "text", true), ("rules", "checkbox", true)], nil, false),
            ([("room", "text", true), ("rules", "checkbox", true), ("age", "checkbox", true)], "Be nice.", false),
        ] as [([(String, String, Bool)], String?, Bool)])
    @LoopActor func thePromiseIsMadeOnlyIfItHolds(fields: [(String, String, Bool)], terms: String?, isMade: Bool) async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: fields, terms: terms, at: Hotel.secure)
        _ = try await hotel.ask()
        let outcome = try await hotel.answer(Dictionary(uniqueKeysWithValues: fields.map { ($0.0, "yes") }))
        #expect(outcome == "Your answers are kept for this portal\(isMade ? "; next time you will not be asked" : "").")
        await hotel.close()
    }

    @Test(arguments: [
        (Hotel.secure, "next time you will not be asked, except for the PIN after a restart."),
        (Hotel.plain, "next time press Enter to send them; after a restart hotspotd asks for the PIN first."),
    ]) @LoopActor func thePromiseNamesThePIN(portal: String, promise: String) async throws {
        let hotel = try await Hotel.guarded("4711", portal)
        try hotel.keeper.unlock("4711")
        hotel.asks(for: [("mail", "email", true)], at: portal)
        _ = try await hotel.ask()
        #expect(try await hotel.answer(["mail": "a@b.example"]) == "Your answers are kept for this portal; \(promise)")
        await hotel.close()
    }

    /// After a change of the portal's key, two credentials have the same origin.
    @Test @LoopActor func answersForAnEarlierKeyAreTold() async throws {
        let hotel = try Hotel(Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(Hotel.typed)
        #expect(try hotel.keeper.list(nil).map(\.earlierKey) == [nil])
        hotel.leave()
        hotel.show(Hotel.secure.replacing("cGlu", with: "b3RoZXI="))
        _ = try await hotel.ask()
        #expect(try hotel.keeper.list(nil).map(\.earlierKey) == [true], "the portal that asks has another key")
        #expect(try hotel.keeper.add("Hotel", helper: nil, ["room": "5"]).earlierKey == true)
        try await hotel.answer(Hotel.typed, confirmed: true)
        // Only the credential for the earlier key is marked.
        let stored = hotel.bench.services.store.credentials(Hotel.network).map { $0.pin == "cGlu" ? true : nil }
        #expect(try hotel.keeper.list(nil).map(\.earlierKey) == stored && stored.count == 2)
        await hotel.close()
    }

    // MARK: Refusals

    /// A stored account is refused, and a voucher is accepted: nothing is reported as remembered, and both stay as they were.
    @Test @LoopActor func aRefusedAccountIsNotCalledRemembered() async throws {
        let hotel = try Hotel(Hotel.plain)
        let way = { (name: String, kind: String) in (name, kind, false) }
        hotel.asks(for: [way("room", "text"), way("name", "password")], at: Hotel.plain)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()
        hotel.asks(for: [way("room", "text"), way("name", "password"), way("voucher", "code")], at: Hotel.plain)
        let again =
            #"{"title": "Hotel", "message": "No such guest.", "fields": [{"name": "room", "label": "", "kind": "text", "required": false, "value": "214"}, {"name": "name", "label": "", "kind": "password", "required": false}, {"name": "voucher", "label": "", "kind": "code", "required": false}]}"#
        hotel.bench.replies("form", to: "PresentUI", #"{"result": "uiRequired", "portal": \#(Hotel.plain), "prompt": \#(again)}"#)
        let shown = try await hotel.ask()
        let stored = try hotel.desk.complete([:], stored: ["room", "name"], for: shown)
        hotel.controller.answer(shown, stored, stored: ["room", "name"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != shown.token } ?? false })
        // The stored answer is offered again, and Enter sends it: the refusal may have had another reason.
        let second = try #require(hotel.desk.prompt)
        #expect(second.stored == ["name"] && second.prompt.fields.map(\.value) == ["214", nil, nil])
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "success", "portal": \#(Hotel.plain), "refused": ["room", "name"]}"#)
        #expect(try await hotel.answer(["voucher": "HX-55"]) == nil)
        #expect(hotel.bench.services.store.credentials(Hotel.network).map(\.fieldNames) == [["name", "room"]])
        await hotel.close()
    }

    /// Two fields have the same name: the answer to the second page is not offered on the first page.
    @Test @LoopActor func oneNameForTwoFieldsIsNotRemembered() async throws {
        let hotel = try Hotel(Hotel.secure)
        let page = { (label: String) in
            #"{"title": "Hotel", "fields": [{"name": "value", "label": "\#(label)", "kind": "text", "required": true}]}"#
        }
        hotel.bench.replies(
            "form", to: "Authenticate", #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": \#(page("E-mail"))}"#)
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": \#(page("Company"))}"#)
        let first = try await hotel.ask()
        hotel.controller.answer(first, ["value": "a@b.example"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != first.token } ?? false })
        hotel.bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(Hotel.secure)}"#)
        #expect(
            try await hotel.answer(["value": "T-44"])
                == "Your answers were not saved: the portal gives different fields the same name.")
        #expect(hotel.bench.services.store.credentials(Hotel.network).isEmpty)
        await hotel.close()
    }

    // MARK: Two portals

    /// The first page has only a button and leads to another portal, which asks. Until that portal is known, no answer is released for it.
    @Test(arguments: [true, false]) @LoopActor func aPortalBehindAnotherOnesPageAsksOnce(isNew: Bool) async throws {
        let hotel = try Hotel(Hotel.secure)
        let first = #"{"origin": "http://gateway.example", "kind": "form"}"#
        hotel.asks(for: Self.login + [("rules", "checkbox", true)], terms: "Be nice.", at: Hotel.secure)
        hotel.bench.evaluates("form", #"{"confidence": "high", "portal": \#(first)}"#)
        hotel.bench.replies("form", to: "Maintain", #"{"result": "authenticationRequired", "portal": \#(first)}"#)
        _ = try await hotel.ask()
        let promised = try await hotel.answer(["room": "214", "name": Hotel.canary, "rules": "yes"])
        #expect(promised == "Your answers are kept for this portal; next time you will not be asked.")
        hotel.leave()
        if isNew { hotel.asks(for: Self.login + [("company", "text", false)], terms: "Be nice.", at: Hotel.secure) }
        hotel.join()
        let isAsked = await hotel.bench.eventually {
            hotel.desk.prompt != nil || hotel.controller.machine.state.name == .authenticated
        }
        #expect(isAsked && (hotel.desk.prompt != nil) == isNew, "the portal's question covers all that is not stored")
        #expect(hotel.credential == nil, "the first portal gets nothing")
        if !isNew {
            let told = hotel.bench.told("form", "PresentUI").last
            #expect(told?["credential"] == ["room": "214", "name": .string(Hotel.canary)] && told?["consent"] == true)
        }
        await hotel.close()
    }

    /// The user ticks a box at each visit, although the terms were accepted before.
    @Test @LoopActor func anotherTickIsNoPromise() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(
            for: Self.login + [("rules", "checkbox", true), ("age", "checkbox", true)], terms: "Be nice.", at: Hotel.secure)
        _ = try await hotel.ask()
        let answers = ["room": "214", "name": Hotel.canary, "rules": "yes", "age": "yes"]
        #expect(try await hotel.answer(answers) == "Your answers are kept for this portal.")
        hotel.leave()
        hotel.asks(for: Self.login + [("age", "checkbox", true)], terms: "Be nice.", at: Hotel.secure)
        _ = try await hotel.ask()
        #expect(
            try await hotel.answer(["age": "yes"], stored: ["room", "name"]) == "Your answers are kept for this portal.")
        await hotel.close()
    }

    /// Agreeing to keep the second question's answers does not cover the first question's answers.
    @Test @LoopActor func aNoToTheFirstPageStands() async throws {
        let hotel = try Hotel(Hotel.secure) { $0.remember = .ask }
        hotel.asks(for: [("mail", "email", true)], at: Hotel.secure)
        let second = #"{"title": "Hotel", "fields": [{"name": "room", "label": "", "kind": "text", "required": true}]}"#
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": \#(second)}"#)
        let shown = try await hotel.ask()
        hotel.controller.answer(shown, ["mail": "a@b.example"], remember: false)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != shown.token } ?? false })
        hotel.bench.replies("form", to: "PresentUI", #"{"result": "success", "portal": \#(Hotel.secure)}"#)
        try await hotel.answer(["room": "214"], confirmed: true)
        #expect(hotel.bench.services.store.credentials(Hotel.network).map(\.fieldNames) == [["room"]])
        await hotel.close()
    }

    // MARK: The PIN

    @Test @LoopActor func theRightPINGoesOnWithALoginThatWaitedForNothingElse() async throws {
        let hotel = try await Hotel.guarded("4711", Hotel.secure)
        hotel.asks(for: Self.login, at: Hotel.secure)
        let waiting = try await hotel.ask()
        #expect(waiting.isLocked && hotel.credential == nil)
        #expect(hotel.left("0000") == 9)
        #expect(hotel.desk.prompt?.token == waiting.token, "a wrong PIN changes nothing")
        let before = hotel.bench.told("form", "Authenticate").count
        hotel.bench.replies("form", to: "Authenticate", #"{"result": "success", "portal": \#(Hotel.secure)}"#)
        try hotel.keeper.unlock("4711")
        #expect(
            hotel.desk.prompt == nil
                && hotel.desk.answers.last! == (waiting.token, "The PIN was typed; the stored answers are sent."))
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .authenticated })
        #expect(hotel.credential == ["room": "214", "name": .string(Hotel.canary)])
        #expect(hotel.bench.steps.contains { $0.from == "presentingUI" && $0.detail == "the PIN was typed" })
        #expect(hotel.bench.told("form", "Authenticate").count == before + 1)
        #expect(hotel.bench.told("form", "PresentUI").count == 1, "no question was answered but the first")
        await hotel.close()
    }

    @Test @LoopActor func aLoginGoesOnByThePINOnceAndOnlyIfNothingElseIsAsked() async throws {
        for more in [[], [("mail", "email", true)]] {
            let hotel = try await Hotel.guarded("4711", Hotel.secure)
            hotel.asks(for: Self.login + more, at: Hotel.secure)
            let waiting = try await hotel.ask()
            try hotel.keeper.unlock("4711")
            if more.isEmpty {
                // The portal refuses the stored answers, and the same prompt appears.
                #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != waiting.token } ?? false })
                try hotel.keeper.unlock("4711")
            }
            #expect(hotel.desk.prompt?.stored == ["room", "name"] && hotel.controller.machine.state.name == .presentingUI)
            await hotel.close()
        }
    }

    // MARK: Answers that were sent and freed nothing

    @Test @LoopActor func answersThatFreedNothingAreSentAgainByTheUserAlone() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: Self.login, at: Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()

        hotel.bench.replies("form", to: "Authenticate", #"{"result": "success", "portal": \#(Hotel.secure)}"#)
        hotel.join()
        // The probe finds the portal, so the helper's `success` alone proves nothing.
        hotel.controller.feed(.verdictSeen(.captive))
        #expect(await hotel.bench.eventually { hotel.bench.steps.count { $0.kind == "answer" && $0.detail == "success" } == 2 })
        #expect(hotel.credential == ["room": "214", "name": .string(Hotel.canary)])
        hotel.asks(for: Self.login, at: Hotel.secure)
        hotel.controller.feed(.loginRequested(helper: nil, fresh: true))
        #expect(await hotel.bench.eventually { hotel.desk.prompt != nil })
        let shown = try #require(hotel.desk.prompt)
        #expect(hotel.credential == nil && shown.stored == ["room", "name"])
        let reason = "The stored answers were already sent in this visit, and the network did not open."
        #expect(shown.warning == reason && hotel.journal.contains("kept back: \(reason)"))

        // On the next visit the answers are sent as usual.
        hotel.leave()
        let sent = hotel.bench.told("form", "Authenticate").count
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count > sent })
        #expect(hotel.credential != nil)
        await hotel.close()
    }

    @Test @LoopActor func answersOfAnAttemptThatThePortalPutOffAreSentAgain() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: Self.login, at: Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Hotel.canary])
        hotel.leave()
        hotel.bench.replies("form", to: "Authenticate", #"{"result": "temporaryFailure", "portal": \#(Hotel.secure)}"#)
        hotel.join()
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .failure })
        let sent = hotel.bench.told("form", "Authenticate").count
        hotel.controller.feed(.loginRequested(helper: nil))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count > sent })
        #expect(hotel.credential != nil)
        await hotel.close()
    }

    /// The purpose of the trip, chosen on this network before: at the next login, the portal asks the same question.
    @Test @LoopActor func aChoiceIsAskedForAgainAfterItWasMade() async throws {
        let hotel = try Hotel()
        let field =
            #"{"name": "guestpurpose", "label": "", "kind": "choice", "required": true, "choices": ["business", "leisure"]}"#
        hotel.bench.replies(
            "form", to: "Authenticate",
            #"{"result": "uiRequired", "portal": \#(Hotel.plain), "prompt": {"title": "Hotel", "fields": [\#(field)]}}"#)
        _ = try await hotel.ask()
        try await hotel.answer(["guestpurpose": "business"], remember: false)
        hotel.controller.feed(.loginRequested(helper: nil, fresh: true))
        #expect(await hotel.bench.eventually { hotel.desk.prompt != nil || hotel.controller.machine.state.name == .failure })
        #expect(hotel.desk.prompt?.prompt.fields.first?.choices == ["business", "leisure"])
        await hotel.close()
    }
}
