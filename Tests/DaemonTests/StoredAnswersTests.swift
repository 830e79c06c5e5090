import Answers
import ControlAPI
import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Testing
import Vault

@testable import Store
@testable import hotspotd

/// Which answers are remembered, and when they are sent: visits of one interface over the real host, with a helper that asks.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StoredAnswersTests {
    init() { EventLoop.startThread() }

    private static let (network, plain, secure, canary) = (Hotel.network, Hotel.plain, Hotel.secure, Hotel.canary)

    private let typed = Hotel.typed

    // MARK: Plain HTTP

    /// The portal is unreachable for a while, as on a train in a tunnel: typed answers are sent later.
    @Test(arguments: [true, false]) @LoopActor func whatThePortalDidNotTakeIsSentLater(isSame: Bool) async throws {
        let hotel = try Hotel(Hotel.secure)
        let success = #"{"result": "success", "portal": \#(Hotel.secure)}"#
        hotel.bench.replies(
            "form", to: "PresentUI", #"{"result": "temporaryFailure", "reason": "Busy.", "unsent": ["room", "name", "sms"]}"#)
        let shown = try await hotel.ask()
        hotel.controller.answer(shown, Hotel.typed, remember: true)
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .failure })
        #expect(hotel.controller.status.answers?.hasPrefix("Your answers have not been sent yet.") == true)
        hotel.bench.replies("form", to: "PresentUI", success)
        if !isSame { hotel.asks(for: [("room", "text", true), ("other", "text", true)], at: Hotel.secure) }
        hotel.controller.feed(.loginRequested(helper: nil))
        if isSame {
            #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .authenticated })
            #expect(hotel.bench.told("form", "PresentUI").last?["answers"]?["room"] == "214")
            #expect(hotel.controller.status.answers?.hasPrefix("Your answers are kept") == true)
        } else {
            #expect(await hotel.bench.eventually { hotel.desk.prompt != nil })
        }
        await hotel.close()
    }

    @Test @LoopActor func overPlainHTTPStoredAnswersAreDefaultsThatEnterSends() async throws {
        let hotel = try Hotel()
        var shown = try await hotel.ask()
        #expect(shown.stored.isEmpty && hotel.remember(shown) == .always && shown.warning == nil)
        #expect(try await hotel.answer(typed) == "Your answers are kept for this portal and offered next time.")
        hotel.leave()

        shown = try await hotel.ask()
        #expect(hotel.credential == nil, "nothing is sent by itself")
        #expect(hotel.journal.contains { $0.hasPrefix("kept back: the portal uses plain HTTP") })
        #expect(shown.stored == ["room", "name"], "a code is never stored")
        #expect(shown.prompt.fields.map(\.value) == ["214", nil, nil], "the secret stays in the vault")
        #expect(throws: ControlError.self) { try hotel.desk.complete([:], stored: ["sms"], for: shown) }
        let outcome = try await hotel.answer(["sms": "1"], stored: ["room", "name"])
        #expect(outcome == "Your answers are kept for this portal and offered next time.")
        #expect(hotel.sent == ["room": "214", "name": .string(Self.canary), "sms": "1"])
        let kept = hotel.journal.count { $0.hasPrefix("kept back: the portal uses plain HTTP") }
        #expect(kept == 1, "what the user has confirmed is not kept back")
        #expect(!hotel.bench.steps.contains { $0.detail.contains(Self.canary) })
        await hotel.close()
    }

    @Test @LoopActor func anotherAnswerTakesTheStoredOnesPlace() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        _ = try await hotel.ask()
        try await hotel.answer(["room": "5"], stored: ["name"])
        hotel.leave()
        let shown = try await hotel.ask()
        #expect(shown.prompt.fields.map(\.value) == ["5", nil, nil] && shown.stored == ["room", "name"])
        await hotel.close()
    }

    @Test @LoopActor func storedAnswersOfAFailedLoginAreStillStoredAndNothingElseIsSaid() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        let shown = try await hotel.ask()
        hotel.controller.answer(
            shown, try hotel.desk.complete([:], stored: ["room", "name"], for: shown), stored: ["room", "name"], remember: false)
        hotel.leave()
        #expect(
            hotel.controller.status.answers?.contains("not kept") != true && hotel.bench.services.store.allCredentials.count == 1)
        await hotel.close()
    }

    /// Over plain HTTP, anyone nearby can change the page, so a stored password is not shown in a text field.
    @Test @LoopActor func aPasswordIsNotShownWhereThePageNowAsksForText() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        for _ in 0..<2 {
            hotel.leave()
            hotel.bench.replies(
                "form", to: "Authenticate",
                """
                {"result": "uiRequired", "portal": \(Self.plain), "prompt": {"title": "Hotel", "fields": [
                {"name": "name", "label": "", "kind": "text", "required": false},
                {"name": "room", "label": "", "kind": "text", "required": false}]}}
                """)
            let shown = try await hotel.ask()
            #expect(shown.prompt.fields.map(\.value) == [nil, "214"] && shown.stored == ["name", "room"])
            // The name is stored again, together with another answer.
            try await hotel.answer(["room": "214"], stored: ["name"])
        }
        await hotel.close()
    }

    @Test @LoopActor func automaticSendsThemAsOverHTTPS() async throws {
        for (portal, plain) in [(Self.plain, PlainHTTPAnswers.automatic), (Self.secure, .never)] {
            let hotel = try Hotel(portal) { $0.plainHTTPAnswers = plain }
            _ = try await hotel.ask()
            let outcome = try await hotel.answer(["room": "214", "name": Self.canary])
            // The prompt contains a field for a code, which the portal wants each time.
            #expect(outcome == "Your answers are kept for this portal.")
            hotel.leave()
            let shown = try await hotel.ask()
            #expect(hotel.credential == ["room": "214", "name": .string(Self.canary)])
            #expect(shown.stored == ["room", "name"], "the page asks for a code as well; nothing is typed twice")
            #expect(shown.prompt.fields.map(\.value) == ["214", nil, nil])
            await hotel.close()
        }
    }

    @Test @LoopActor func whatIsLeftOutIsNotStoredAnyMore() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Self.canary])
        hotel.leave()
        _ = try await hotel.ask()
        let outcome = try await hotel.answer(["room": "", "sms": "998877"], stored: ["name"])
        #expect(outcome?.hasSuffix("Answers that you left out are no longer stored.") == true, "\(outcome ?? "")")
        #expect(hotel.bench.services.store.allCredentials.map(\.fieldNames) == [["name"]])
        hotel.leave()
        _ = try await hotel.ask()
        #expect(try await hotel.answer(["name": "", "sms": "1"]) == "Answers that you left out are no longer stored.")
        #expect(hotel.bench.services.store.allCredentials.isEmpty)
        await hotel.close()
    }

    /// Some portals lock a guest out after a few attempts.
    @Test @LoopActor func refusedAnswersAreSentOnce() async throws {
        let hotel = try Hotel(Self.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Self.canary])
        hotel.leave()
        let fields = #"[{"name": "room", "label": "", "kind": "text", "required": true}]"#
        hotel.bench.replies(
            "form", to: "Authenticate",
            #"{"result": "uiRequired", "portal": \#(Self.secure), "refused": ["room"], "prompt": {"title": "Hotel", "message": "Unknown.", "fields": \#(fields)}}"#
        )
        _ = try await hotel.ask()
        #expect(hotel.credential != nil)
        hotel.leave()
        let shown = try await hotel.ask()
        #expect(hotel.credential == nil && shown.stored == ["room"], "it is offered, and not sent by itself")
        #expect(shown.note == "Asked again: the portal did not accept the stored answers last time.")
        #expect(try hotel.keeper.list(nil).map(\.release) == ["confirm"])
        try await hotel.answer([:], stored: ["room"])
        #expect(try hotel.keeper.list(nil).map(\.release) == ["automatic"])
        hotel.leave()
        _ = try await hotel.ask()
        #expect(hotel.credential?["room"] == "214", "the portal has taken them since")
        await hotel.close()
    }

    /// If the stored answers were only confirmed, the next prompt says so.
    @Test(arguments: [false, true]) @LoopActor func whatThePortalRefusedIsOfferedWithAWord(isTyped: Bool) async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        let shown = try await hotel.ask()
        #expect(shown.note == nil)
        let fields = #"[{"name": "room", "label": "", "kind": "text", "required": true}]"#
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "uiRequired", "portal": \#(Self.plain), "refused": ["room"], "prompt": {"title": "Hotel", "message": "Unknown.", "fields": \#(fields)}}"#
        )
        let answers = try hotel.desk.complete(["sms": isTyped ? "1" : ""], stored: ["room", "name"], for: shown)
        hotel.controller.answer(shown, answers, stored: ["room", "name"], remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != shown.token } ?? false })
        #expect(hotel.desk.prompt?.note == nil, "the portal's own words stand there")
        hotel.leave()
        let word = "The portal did not accept these stored answers last time."
        #expect(try await hotel.ask().note == (isTyped ? nil : word))
        await hotel.close()
    }

    /// A stored value that is shown as dots would be sent with a name to which it does not belong, as if the user had typed it.
    @Test(arguments: ["typed", "confirmed", "later"]) @LoopActor func aStoredSecretIsNotOfferedBesideANewName(_ how: String)
        async throws
    {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        let isLater = how == "later"
        if isLater { hotel.asks(for: [("room", "text", true)], at: Self.plain) }
        let shown = try await hotel.ask()
        let name = #"{"name": "name", "label": "", "kind": "password", "required": true}"#
        let room = #"{"name": "room", "label": "", "kind": "text", "required": true, "value": "305"}, "#
        hotel.bench.replies(
            "form", to: "PresentUI",
            #"{"result": "uiRequired", "portal": \#(Self.plain), "prompt": {"title": "Hotel", "fields": [\#(isLater ? "" : room)\#(name)]}}"#
        )
        let stored = how == "confirmed" ? ["name"] : []
        let answers = how == "typed" ? ["room": "305", "name": "new"] : ["room": "305"]
        hotel.controller.answer(
            shown, try hotel.desk.complete(answers, stored: stored, for: shown), stored: Set(stored), remember: true)
        #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != shown.token } ?? false })
        // A name that the user has just confirmed together with the new room number belongs to it, so it is offered.
        #expect(hotel.desk.prompt?.stored == stored)
        await hotel.close()
    }

    /// The helper should not press a button beside the login while stored answers wait for the user.
    @Test @LoopActor func aHelperIsToldWhatTheUserHasToConfirm() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        #expect(hotel.bench.told("form", "Authenticate").last?["offered"] == nil)
        try await hotel.answer(["room": "214", "name": Self.canary])
        hotel.leave()
        _ = try await hotel.ask()
        #expect(hotel.bench.told("form", "Authenticate").last?["offered"] == ["name", "room"] && hotel.credential == nil)
        await hotel.close()
    }

    /// Settings count at once, even for a waiting question.
    @Test @LoopActor func neverCountsForAQuestionThatWaits() async throws {
        let hotel = try Hotel()
        let shown = try await hotel.ask()
        hotel.bench.services.settings.remember = .never
        #expect(hotel.remember(shown) == .never)
        #expect(try await hotel.answer(typed) == "Your answers were not saved (Remember=never).")
        #expect(hotel.bench.services.store.allCredentials.isEmpty)
        await hotel.close()
    }

    @Test @LoopActor func neverKeepsNothingAndSaysSo() async throws {
        let hotel = try Hotel { $0.plainHTTPAnswers = .never }
        let shown = try await hotel.ask()
        #expect(hotel.remember(shown) == .never)
        #expect(
            try await hotel.answer(typed, confirmed: true)?.hasPrefix("Your answers were not saved: The portal uses plain HTTP")
                == true)
        #expect(hotel.bench.services.store.allCredentials.isEmpty)
        await hotel.close()
    }

    // MARK: Remember=

    @Test @LoopActor func withNeverNothingTouchesTheDisk() async throws {
        for remember in [Remember.never, .always] {
            let hotel = try Hotel { $0.remember = remember }
            hotel.bench.replies(
                "form", to: "PresentUI",
                #"{"result": "success", "portal": \#(Self.plain), "session": {"memory": {"cookie": "\#(Self.canary)"}}}"#)
            _ = try await hotel.ask()
            let outcome = try await hotel.answer(typed, confirmed: true)
            let store = hotel.bench.services.store
            #expect(store.hasSealedRows == (remember == .always))
            if remember == .never { #expect(outcome == "Your answers were not saved (Remember=never).") }
            hotel.leave()
            hotel.bench.services.journalWriter.flush()
            for name in ["hotspotd.db", "hotspotd.db-wal"] {
                let octets = Self.octets(of: "\(hotel.bench.folder)/state/\(name)")
                for canary in [Self.canary, "998877"] {
                    #expect(!octets.indices.contains { octets[$0...].starts(with: Array(canary.utf8)) }, "\(name)")
                }
            }
            await hotel.close()
        }
    }

    private static func octets(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 1 << 22)
        octets.removeLast(octets.count - fread(&octets, 1, octets.count, file))
        return octets
    }

    @Test @LoopActor func askWantsAYesOfTheUser() async throws {
        for (remember, confirmed, outcome) in [
            (true, false, "Your answers were not saved, because you were not asked."),
            (false, false, "Your answers were not saved, as you wished."),
            (true, true, "Your answers are kept for this portal and offered next time."),
        ] {
            let hotel = try Hotel { $0.remember = .ask }
            #expect(hotel.remember(try await hotel.ask()) == .ask)
            #expect(try await hotel.answer(typed, remember: remember, confirmed: confirmed) == outcome)
            #expect(hotel.bench.services.store.allCredentials.isEmpty != confirmed)
            await hotel.close()
        }
    }

    /// The stored answers were sent without a question, so the story reports their refusal.
    @Test @LoopActor func refusedStoredAnswersAreInTheStory() async throws {
        let hotel = try Hotel(Hotel.secure)
        hotel.asks(for: [("room", "text", true)], at: Hotel.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214"])
        hotel.leave()
        let prompt =
            #"{"title": "Hotel", "message": "Unknown room", "fields": [{"name": "room", "label": "", "kind": "text", "required": true}]}"#
        hotel.bench.replies(
            "form", to: "Authenticate", #"{"result": "uiRequired", "portal": \#(Hotel.secure), "prompt": \#(prompt)}"#)
        _ = try await hotel.ask()
        #expect(hotel.credential == ["room": "214"])
        #expect(hotel.bench.steps.contains { $0.kind == "answer" && $0.detail == "uiRequired: Unknown room" })
        await hotel.close()
    }

    @Test(arguments: [(Remember.always, true), (.never, false)])
    @LoopActor func acceptedTermsAloneAreTold(remember: Remember, isTold: Bool) async throws {
        let hotel = try Hotel { $0.remember = remember }
        hotel.asks(for: [("rules", "checkbox", true)], terms: "Be nice.", at: Hotel.plain)
        _ = try await hotel.ask()
        let outcome = try await hotel.answer(["rules": "yes"])
        #expect(
            outcome
                == (isTold ? "hotspotd remembers that you accept this portal's terms, until they change." : nil))
        await hotel.close()
    }

    @Test @LoopActor func acceptedTermsAreToldWhereTheAnswersAreNotRemembered() async throws {
        for (remember, words) in [
            (Remember.always, "Your answers were not saved, as you wished. hotspotd remembers that you accept the terms."),
            (.never, "Your answers were not saved, as you wished."),
        ] {
            let hotel = try Hotel { $0.remember = remember }
            hotel.asks(for: [("room", "text", true), ("rules", "checkbox", true)], terms: "Be nice.", at: Hotel.plain)
            _ = try await hotel.ask()
            let outcome = try await hotel.answer(["room": "214", "rules": "yes"], remember: false)
            #expect(outcome == words)
            await hotel.close()
        }
    }

    @Test(arguments: [false, true]) @LoopActor func acceptedTermsOutliveALoginThatIsRefusedForGood(leaves: Bool) async throws {
        let hotel = try Hotel()
        func ends(_ result: String) {
            hotel.bench.replies(
                "form", to: "PresentUI",
                #"{"result": "\#(result)", "portal": \#(Hotel.plain), "session": {"memory": {"terms": "of yore"}}}"#)
        }
        ends("success")
        hotel.asks(for: [("room", "text", true), ("rules", "checkbox", true)], terms: "Be nice.", at: Hotel.plain)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "rules": "yes"])
        hotel.leave()
        ends("failure")
        let shown = try await hotel.ask()
        hotel.controller.answer(shown, ["room": "215", "rules": "yes"], remember: true)
        #expect(await hotel.bench.eventually { hotel.controller.machine.state.name == .failure })
        if leaves {
            hotel.leave()
            hotel.join()
        }
        let asked = hotel.bench.told("form", "Authenticate").count
        hotel.controller.feed(.loginRequested(helper: nil, fresh: false))
        #expect(await hotel.bench.eventually { hotel.bench.told("form", "Authenticate").count > asked })
        let last = hotel.bench.told("form", "Authenticate").last
        #expect(last?["consent"] == true && last?["session"]?["memory"] == ["terms": "of yore"], "\(last ?? nil)")
        await hotel.close()
    }

    // MARK: A portal that asks for something else each time

    @Test(arguments: [Hotel.plain, Hotel.secure]) @LoopActor func whatAVisitDoesNotAskForStaysStored(portal: String) async throws
    {
        let hotel = try Hotel(portal)
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        hotel.asks(for: [("voucher", "text", true)], at: portal)
        #expect(try await hotel.ask().stored.isEmpty)
        try await hotel.answer(["voucher": "V-1"])
        hotel.leave()
        hotel.asks(for: [("room", "text", true), ("name", "password", true)], at: portal)
        #expect(try await hotel.ask().stored == ["room", "name"])
        try await hotel.answer([:], stored: ["room", "name"])
        #expect(hotel.sent == ["room": "214", "name": .string(Self.canary)])
        #expect(try hotel.keeper.list(nil).map(\.fields) == [["name", "room", "voucher"]])
        await hotel.close()
    }

    // MARK: Impostors

    @Test(arguments: [
        (#"{"origin": "https://evil.example", "pin": "cGlu", "kind": "form"}"#, "portal's address differs"),
        (#"{"origin": "https://p.example", "pin": "b3RoZXI=", "kind": "form"}"#, "portal's key differs"),
        (#"{"origin": "http://p.example", "kind": "form"}"#, "portal's address differs"),
    ]) @LoopActor func anotherPortalSaysSoBeforeAnythingIsTypedAndGetsNothing(portal: String, words: String) async throws {
        let hotel = try Hotel(Self.secure)
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        hotel.show(portal)
        var shown = try await hotel.ask()
        let warning = try #require(shown.warning)
        #expect(warning.contains(words) && warning.contains("https://p.example") && warning.contains("impostor"))
        #expect(shown.stored.isEmpty && hotel.remember(shown) == .ask && hotel.credential == nil)
        #expect(hotel.journal.contains(warning))
        // A client that does not know separate consent still sends "remember".
        #expect(
            try await hotel.answer(["room": "1"])
                == "Your answers were not saved, because you were not asked.")
        #expect(hotel.bench.services.store.allCredentials.count == 1)
        hotel.leave()
        // With separate consent, this portal becomes one of the network's portals.
        shown = try await hotel.ask()
        #expect(shown.warning != nil)
        try await hotel.answer(["room": "1"], confirmed: true)
        hotel.leave()
        #expect(try await hotel.ask().warning == nil)
        await hotel.close()
    }

    @Test @LoopActor func anotherHelperIsWarnedAboutItAsWell() async throws {
        let hotel = try Hotel(Self.secure)
        try hotel.bench.services.store.setCredential(
            Self.network, helper: "wispr", origin: "https://real.example", pin: "p", fieldNames: ["room"], sealed: [7])
        #expect(try await hotel.ask().warning?.contains("https://real.example") == true)
        await hotel.close()
    }

    @Test @LoopActor func anotherHelperThanTheOneThatStoredTheAnswersSaysWhyItAsksAgain() async throws {
        for isProgram in [false, true] {
            let hotel = try Hotel(Self.secure)
            try hotel.bench.services.store.setCredential(
                Self.network, helper: isProgram ? "form" : "wispr", origin: "https://p.example", pin: "cGlu",
                program: isProgram ? "/bin/old" : nil, fieldNames: ["room"], sealed: [7])
            let shown = try await hotel.ask()
            let owner = isProgram ? "another program that is also named form (/bin/old)" : "the helper wispr, not to form"
            #expect(shown.note == "Asked again: the stored answers belong to \(owner)." && shown.warning == nil)
            #expect(hotel.journal == ["kept back: the stored answers belong to \(owner)"])
            #expect(shown.stored.isEmpty && hotel.credential == nil)
            // Once this helper has answers of its own, the note ends.
            try await hotel.answer(["room": "1"])
            hotel.leave()
            #expect(try await hotel.ask().note == nil)
            await hotel.close()
        }
    }

    /// A page may use a stored name for another question.
    @Test @LoopActor func anAnswerGoesByItselfOnlyToAFieldOfTheSameLabel() async throws {
        let hotel = try Hotel(Self.secure)
        func asks(_ room: String, _ name: String) {
            hotel.bench.replies(
                "form", to: "Authenticate",
                """
                {"result": "uiRequired", "portal": \(Self.secure), "prompt": {"title": "Hotel", "fields": [
                {"name": "room", "label": "\(room)", "kind": "text", "required": false},
                {"name": "name", "label": "\(name)", "kind": "password", "required": false}]}}
                """)
        }
        asks(" Room  number", "Surname")
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Self.canary])
        hotel.leave()
        asks("ROOM number", "Surname")
        var shown = try await hotel.ask()
        #expect(hotel.bench.told("form", "Authenticate").last?["labels"] == ["room": "room number", "name": "surname"])
        #expect(shown.note == nil && shown.stored == ["room", "name"])
        hotel.leave()
        // At the next visit Enter is enough, even under a new label.
        asks("Zimmer", "Surname")
        #expect(try await hotel.ask().note != nil)
        try await hotel.answer([:], stored: ["room", "name"])
        hotel.leave()
        #expect(try await hotel.ask().note == nil)
        hotel.leave()
        asks("Number of your card", "PIN of your card")
        shown = try await hotel.ask()
        let reason = "the portal has renamed a field since its answer was stored"
        #expect(shown.note == "Asked again: \(reason)." && hotel.journal.contains("kept back: \(reason)"))
        #expect(shown.stored == ["room"] && shown.prompt.fields.map(\.value) == ["214", nil], "the secret is not offered")
        try await hotel.answer(["name": "1"], stored: ["room"])
        hotel.leave()
        // Once the user has answered, the new label belongs to the field. Answers that are stored without a label are sent as before.
        #expect(try await hotel.ask().note == nil)
        let credential = hotel.bench.services.store.allCredentials[0]
        try hotel.bench.services.store.setCredential(
            Self.network, helper: credential.helper, origin: credential.origin, pin: credential.pin,
            program: credential.program, fieldNames: credential.fieldNames, shownNames: credential.shownNames,
            sealed: credential.sealed)
        hotel.leave()
        asks("Room", "Name")
        shown = try await hotel.ask()
        #expect(shown.note == nil && shown.stored == ["room", "name"])
        #expect(hotel.bench.told("form", "Authenticate").last?["labels"] == nil)
        await hotel.close()
    }

    // MARK: Questions that are gone

    @Test @LoopActor func aQuestionThatIsGoneIsRememberedWithItsReason() async throws {
        let hotel = try Hotel()
        var shown = try await hotel.ask()
        try await hotel.answer(typed)
        #expect(hotel.desk.answers.last! == (shown.token, "The question was already answered, perhaps in another terminal."))
        hotel.leave()
        shown = try await hotel.ask()
        hotel.leave()
        #expect(hotel.desk.answers.last! == (shown.token, "The network was left."))
        shown = try await hotel.ask()
        hotel.controller.dismiss(shown)
        #expect(hotel.desk.answers.last! == (shown.token, "The question was dismissed, perhaps in another terminal."))
        await hotel.close()
    }

    @Test @LoopActor func whyNothingWasSentIsInStatusAndOutlivesTheQuestion() async throws {
        let hotel = try Hotel()
        let words = "The page would send the answers to https://evil.example; nothing was sent."
        hotel.bench.replies(
            "form", to: "Authenticate",
            #"{"result": "uiRequired", "portal": \#(Self.plain), "reason": "\#(words)", "prompt": {"title": "Again", "fields": []}}"#
        )
        let shown = try await hotel.ask()
        #expect(hotel.controller.status.reason == words)
        hotel.controller.dismiss(shown)
        #expect(hotel.controller.status.reason == nil)
        #expect(hotel.bench.steps.last { $0.kind == "outcome" }?.detail == "The question was dismissed.\n\(words)")
        await hotel.close()
    }

    @Test @LoopActor func aLongPortalIsNamedWithItsEnd() async throws {
        let hotel = try Hotel(Self.secure)
        let long = "https://\(Array(repeating: "login", count: 30).joined(separator: ".")).example"
        try hotel.bench.services.store.setCredential(
            Self.network, helper: "wispr", origin: long, pin: "p", fieldNames: ["room"], sealed: [7])
        #expect(try await hotel.ask().warning?.contains("login.login.example. This may be an impostor.") == true)
        await hotel.close()
    }

    @Test @LoopActor func answersThatTheDiskDoesNotTakeAreRememberedUntilTheDaemonEnds() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        let other = try Database(path: hotel.bench.folder + "/state/hotspotd.db")
        try other.run("BEGIN IMMEDIATE")
        let outcome = try await hotel.answer(typed)
        #expect(outcome == "Your answers are kept until hotspotd ends, because it cannot save now: database is locked.")
        hotel.leave()
        #expect(try await hotel.ask().stored == ["room", "name"])
        await hotel.close()
    }

    @Test @LoopActor func answersOfALoginThatEndsBeforeItsProofAreNotKeptAndThatIsSaid() async throws {
        for isDismissed in [true, false] {
            let hotel = try Hotel()
            // After the first answers, there is a second question.
            hotel.bench.replies(
                "form", to: "PresentUI",
                #"{"result": "uiRequired", "portal": \#(Self.plain), "prompt": {"title": "Again", "fields": []}}"#)
            let first = try await hotel.ask()
            hotel.controller.answer(first, typed, remember: true)
            #expect(await hotel.bench.eventually { hotel.desk.prompt.map { $0.token != first.token } ?? false })
            let second = try #require(hotel.desk.prompt)
            #expect(hotel.bench.steps.last { $0.kind == "prompt" }?.detail == "Again asks again")
            if isDismissed { hotel.controller.dismiss(second) } else { hotel.leave() }
            #expect(hotel.controller.status.answers == "Your answers were not saved, because no login with them has been proven.")
            #expect(hotel.bench.services.store.allCredentials.isEmpty && hotel.desk.answers.sheet == nil)
            await hotel.close()
        }
    }

    @Test @LoopActor func whatIsAddedAndNotSavedIsNotStored() async throws {
        let hotel = try Hotel(Self.secure)
        _ = try await hotel.ask()
        try await hotel.answer(["room": "214", "name": Self.canary])
        let before = hotel.bench.services.store.allCredentials
        let other = try Database(path: hotel.bench.folder + "/state/hotspotd.db")
        try other.run("BEGIN IMMEDIATE")
        let error = #expect(throws: ControlError.self) { try hotel.keeper.add("Hotel", helper: nil, ["room": "5"]) }
        #expect(
            error
                == .failed(
                    code: .notSaved,
                    message:
                        "Nothing was stored: database is locked. Try again once the state folder can be written."))
        #expect(hotel.bench.services.store.allCredentials == before)
        try other.run("ROLLBACK")
        hotel.bench.services.recover()
        #expect(hotel.bench.services.store.isSaving)
        _ = try hotel.keeper.add("Hotel", helper: nil, ["room": "5"])
        #expect(hotel.bench.services.store.allCredentials != before)
        await hotel.close()
    }

    // MARK: The PIN

    @Test @LoopActor func answersWaitForThePINAndThenAreOffered() async throws {
        let hotel = try await Hotel.guarded("4711")
        var shown = try await hotel.ask()
        #expect(shown.isLocked && shown.stored.isEmpty && hotel.keeper.pinWord == "locked")
        #expect(
            hotel.journal.last == "kept back: the PIN has not been typed since hotspotd started (hotspotctl credentials unlock)")
        #expect(throws: ControlError.self) { try hotel.desk.complete([:], stored: ["room"], for: shown) }
        #expect(hotel.left("0000") == 9)
        #expect(hotel.desk.prompt?.isLocked == true)
        try hotel.keeper.unlock("4711")
        #expect(hotel.bench.services.store.pin?.guesses == 0 && hotel.keeper.pinWord == "open")
        shown = try #require(hotel.desk.prompt)
        #expect(!shown.isLocked && shown.stored == ["room", "name"])
        try await hotel.answer([:], stored: shown.stored)
        #expect(hotel.sent == ["room": "214", "name": .string(Self.canary)])
        // Without the PIN, the typed answer cannot be sealed.
        hotel.leave()
        hotel.restart()
        shown = try await hotel.ask()
        #expect(shown.note == nil, "it says that answers wait for the PIN")
        let outcome = try await hotel.answer(["room": "5"])
        #expect(
            outcome
                == "Your answers were not saved: the PIN has not been typed since hotspotd started (hotspotctl credentials unlock)."
        )
        await hotel.close()
    }

    @Test @LoopActor func onANewNetworkThePINIsNamedBeforeAnythingIsTyped() async throws {
        let hotel = try await Hotel.guarded("4711")
        try hotel.bench.services.store.deleteCredential(hotel.bench.services.store.allCredentials[0])
        let shown = try await hotel.ask()
        #expect(shown.note == "Stored answers need the PIN: hotspotctl credentials unlock" && !shown.isLocked)
        let error = #expect(throws: ControlError.self) { try hotel.keeper.add("Hotel", helper: nil, ["room": "5"]) }
        #expect(
            error
                == .failed(
                    code: .notSaved,
                    message:
                        "Nothing was stored: the PIN has not been typed since hotspotd started (hotspotctl credentials unlock)."))
        try hotel.keeper.unlock("4711")
        #expect(hotel.desk.prompt?.note == nil)
        #expect(
            try await hotel.answer(["room": "5"])
                == "Your answers are kept for this portal and offered next time; after a restart hotspotd asks for the PIN first."
        )
        await hotel.close()
    }

    @Test @LoopActor func aScriptThatGuessesErasesTheAnswersWithTheTenth() async throws {
        let hotel = try await Hotel.guarded("4711")
        // The daemon restarts before each guess, which restores no guesses.
        let answers = (0..<10).map { guess in
            hotel.restart()
            return hotel.left("000\(guess)")
        }
        #expect(answers == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
        let store = hotel.bench.services.store
        #expect(store.allCredentials.isEmpty && store.pin == nil && hotel.keeper.pinWord == "none")
        #expect(throws: ControlError.failed(code: .noPIN, message: "There is no PIN.")) { try hotel.keeper.unlock("4711") }
        #expect(try await hotel.ask().stored.isEmpty)
        await hotel.close()
    }

    @Test @LoopActor func aDaemonThatIsKilledBetweenCountAndCheckGivesNoGuessBack() async throws {
        let hotel = try await Hotel.guarded("4711")
        // The killed daemons counted nine guesses, and checked none.
        for _ in 0..<9 { try hotel.bench.services.store.countGuess() }
        hotel.restart()
        #expect(hotel.left("4711") == nil && hotel.keeper.pinWord == "open", "the tenth may be right")
        for _ in 0..<10 { try hotel.bench.services.store.countGuess() }
        hotel.restart()
        #expect(hotel.left("4711") == 0, "there is no eleventh")
        #expect(hotel.bench.services.store.allCredentials.isEmpty)
        await hotel.close()
    }

    @Test @LoopActor func thePINIsSetChangedAndRemovedWithThePresentOne() async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        for bad in ["123", "12\u{7}4", String(repeating: "x", count: 129)] {
            #expect(throws: ControlError.self) { try hotel.keeper.setPIN(bad, old: nil) }
        }
        #expect(throws: ControlError.self) { try hotel.keeper.setPIN(nil, old: nil) }
        try hotel.keeper.setPIN("4711", old: nil)
        #expect(throws: ControlError.self) { try hotel.keeper.setPIN("0815", old: nil) }
        #expect(throws: ControlError.wrongPIN(left: 9)) { try hotel.keeper.setPIN("0815", old: "4712") }
        hotel.restart()
        try hotel.keeper.setPIN(nil, old: "4711")
        #expect(hotel.keeper.pinWord == "none")
        hotel.leave()
        #expect(try await hotel.ask().stored == ["room", "name"])
        await hotel.close()
    }

    @Test @LoopActor func aPINThatGuardsNothingIsRemovedEvenIfItsKeyIsLost() async throws {
        let hotel = try await Hotel.guarded("4711")
        hotel.bench.services.vault.guardCredentials(by: PINLock(salt: [1], passes: 1, memory: 8192, names: [2]))
        #expect(throws: ControlError.self) { try hotel.keeper.setPIN(nil, old: "4711") }
        #expect(try hotel.keeper.remove("Hotel", helper: nil, portal: nil) == 1)
        try hotel.keeper.setPIN(nil, old: "4711")
        #expect(hotel.keeper.pinWord == "none" && hotel.bench.services.store.pin == nil)
        _ = try await hotel.ask()
        #expect(try await hotel.answer(typed) == "Your answers are kept for this portal and offered next time.")
        await hotel.close()
    }

    // MARK: Stored answers that change while the prompt waits

    @Test @LoopActor func aPromptSaysWhatIsStoredNow() async throws {
        for isErased in [true, false] {
            let hotel = try await Hotel.guarded("4711")
            #expect(try await hotel.ask().isLocked)
            if isErased {
                for guess in 0..<10 { _ = hotel.left("000\(guess)") }
            } else {
                _ = try hotel.keeper.remove("Hotel", helper: nil, portal: nil)
            }
            let shown = try #require(hotel.desk.prompt)
            #expect(!shown.isLocked && shown.stored.isEmpty)
            await hotel.close()
        }
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        #expect(try await hotel.ask().prompt.fields[0].value == "214")
        _ = try hotel.keeper.remove("Hotel", helper: nil, portal: nil)
        #expect(hotel.desk.prompt?.stored == [] && hotel.desk.prompt?.prompt.fields[0].value == nil)
        await hotel.close()
    }

    @Test @LoopActor func theRightPINUnlocksAPromptThatMayNotOfferTheAnswers() async throws {
        let hotel = try await Hotel.guarded("4711")
        #expect(try await hotel.ask().isLocked)
        hotel.bench.services.settings.plainHTTPAnswers = .never
        try hotel.keeper.unlock("4711")
        #expect(hotel.desk.prompt?.isLocked == false)
        await hotel.close()
    }

    @Test(arguments: [true, false]) @LoopActor func enterSendsNothingThatWasNotOffered(isTold: Bool) async throws {
        let hotel = try Hotel()
        _ = try await hotel.ask()
        try await hotel.answer(typed)
        hotel.leave()
        let old = try await hotel.ask()
        if isTold {
            _ = try hotel.keeper.add("Hotel", helper: nil, ["room": "13"])
        } else {
            // Another interface stores its answer.
            let owner = CredentialOwner(try #require(hotel.bench.services.store.allCredentials.first), in: Self.network)
            try hotel.bench.services.store.setCredential(
                Self.network, helper: "form", origin: owner.origin, pin: owner.pin, program: owner.program,
                fieldNames: ["room"], shownNames: ["room"],
                sealed: try hotel.bench.services.vault.seal(["room": "13"], for: owner.purpose))
            #expect(throws: ControlError.self) { try hotel.desk.complete([:], stored: ["room"], for: old) }
        }
        let shown = try #require(hotel.desk.prompt)
        #expect(shown.token != old.token && hotel.desk.answers.last?.token == old.token, "the prompt is asked again")
        #expect(hotel.desk.answers.last?.sentence == "The stored answers changed meanwhile.")
        _ = try await hotel.answer([:], stored: ["room"])
        #expect(hotel.sent?["room"] == "13")
        await hotel.close()
    }

    // MARK: hotspotctl credentials

    @Test @LoopActor func credentialsAreListedAddedAndRemovedWithoutTheirValues() async throws {
        let hotel = try Hotel(Self.secure)
        #expect(throws: ControlError.self) { try hotel.keeper.add("Hotel", helper: nil, ["room": "1"]) }
        _ = try await hotel.ask()
        try await hotel.answer(typed, remember: false)
        // The portal is known from the login.
        let added = try hotel.keeper.add("Hotel", helper: nil, ["room": "214", "name": Self.canary])
        let status = CredentialStatus(
            ssid: "Hotel", security: "open", helper: "form", portal: "https://p.example", fields: ["name", "room"],
            release: .automatic)
        #expect(added == status)
        #expect(try hotel.keeper.list(nil) == [status] && hotel.keeper.list("Hotel") == [status])
        #expect(try hotel.keeper.list("Other").isEmpty)
        hotel.leave()
        _ = try await hotel.ask()
        #expect(hotel.credential == ["room": "214", "name": .string(Self.canary)])
        for (answers, field) in [
            (["room": "2\u{1B}[2J"], "room"), (["room": ""], "room"), ([:], ""), (["a\nb": "x"], "a\\x0ab"),
            (["room": String(repeating: "x", count: 4097)], "room"),
        ] as [([String: String], String)] {
            let error = #expect(throws: ControlError.self) { try hotel.keeper.add("Hotel", helper: nil, answers) }
            guard case .invalidAnswer(field, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try hotel.keeper.remove("Hotel", helper: "wispr", portal: nil) == 0)
        #expect(try hotel.keeper.remove("Hotel", helper: "form", portal: "https://p.example") == 1)
        #expect(try hotel.keeper.list(nil).isEmpty)
        await hotel.close()
    }

    @Test @LoopActor func aMisspeltFieldIsRefusedWithTheNamesThatAreKnown() async throws {
        let hotel = try Hotel(Self.secure)
        _ = try await hotel.ask()
        try await hotel.answer(typed, remember: false)
        _ = try hotel.keeper.add("Hotel", helper: nil, ["any": "1"])
        #expect(
            throws: ControlError.invalidAnswer(
                field: "rom", message: "There is no field with this name; the fields are any.")
        ) { try hotel.keeper.add("Hotel", helper: nil, ["rom": "1"]) }
        hotel.leave()
        _ = try await hotel.ask()
        // The error lists the fields of the waiting prompt, except those that are never kept.
        for field in ["rom", "sms"] {
            #expect(
                throws: ControlError.invalidAnswer(
                    field: field, message: "There is no field with this name; the fields are any, name, room.")
            ) { try hotel.keeper.add("Hotel", helper: nil, [field: "1"]) }
        }
        #expect(try hotel.keeper.add("Hotel", helper: nil, ["room": "1"]).fields == ["any", "room"])
        await hotel.close()
    }
}
