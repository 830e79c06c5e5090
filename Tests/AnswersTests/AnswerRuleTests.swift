import HotspotCore
import Testing
import Vault

@testable import Answers

/// The rules of `docs/answer-rules.md`, one by one: values in, values out.
@Suite struct AnswerRuleTests {
    private typealias Model = DaemonModel

    /// A model with stored answers, at its next visit.
    private static func returning(
        _ portal: Portal = Model.secure, isRefused: Bool = false, program: String? = "/bin/form", of helper: String = "form"
    ) -> DaemonModel {
        var model = DaemonModel(portal)
        model.store(
            ["room": "214", "name": Model.canary], model.owner(helper, at: portal, program: program), ["room"],
            ["room": "", "name": ""], isRefused: isRefused)
        return model
    }

    // MARK: Stored answers at a command

    @Test func otherOwnersKeepTheirAnswers() {
        for (helper, program, words) in [
            ("wispr", "/bin/wispr", "belong to the helper wispr, not to form"),
            ("form", "/bin/old", "belong to another program that is also named form (/bin/old)"),
        ] {
            var model = Self.returning(program: program, of: helper)
            model.feed(.commandPrepared)
            #expect(model.released.isEmpty && model.rules == [.otherOwner])
            #expect(model.journal == ["kept back: the stored answers \(words)"])
            model.feed(.commandPrepared)
            #expect(model.journal.isEmpty, "it is said once")
            model.ask()
            #expect(
                model.answers.prompt?.note == "Asked again: the stored answers \(words)."
                    && model.answers.prompt?.stored == [])
        }
    }

    @Test func anotherPortalGetsNothing() {
        for portal in [Model.plain, Portal(origin: "https://p.example", pin: "other", kind: "form"), nil] {
            var model = Self.returning()
            model.context.portal = portal
            model.feed(.commandPrepared)
            #expect(model.released.isEmpty)
        }
        var model = Self.returning(Model.plain)
        model.context.plain = .never
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules == [.otherPortal])
    }

    @Test func aHelperWithoutASandboxGetsNothing() {
        var model = Self.returning()
        model.context.mayHaveCredentials = false
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules == [.noSandbox] && model.context.available == nil)
        model.ask()
        #expect(model.answers.prompt?.stored == [])
    }

    @Test func thePINComesFirst() {
        var model = Self.returning()
        model.context.isLocked = true
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules == [.pinFirst])
        model.ask()
        #expect(model.answers.prompt?.isLocked == true && model.answers.prompt?.stored == [])
        model.context.stored = []
        model.ask()
        #expect(
            model.answers.prompt?.note == "Stored answers need the PIN: hotspotctl credentials unlock")
    }

    @Test func plainHTTPWaitsForAYes() {
        var model = Self.returning(Model.plain)
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules == [.plainHTTP])
        model.ask()
        #expect(model.answers.prompt?.stored == ["room", "name"])
        #expect(model.answers.prompt?.prompt.fields.map(\.value) == ["214", nil], "the secret stays in the vault")
        model.answer([:], stored: ["room", "name"])
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules.isEmpty, "the confirmed answers go out as the answer")
        #expect(
            model.answers.sheet?.open == ["room": "214", "name": Model.canary]
                && model.answers.sheet?.confirmedNames == ["name", "room"])
        model.context.plain = .automatic
        var other = Self.returning(Model.plain)
        other.context.plain = .automatic
        other.feed(.commandPrepared)
        #expect(other.released.count == 1)
    }

    @Test func refusedAnswersWaitForTheUser() {
        var model = Self.returning(isRefused: true)
        model.feed(.commandPrepared)
        #expect(model.released.isEmpty && model.rules == [.refusedBefore])
        model.ask()
        #expect(model.answers.prompt?.note == "Asked again: the portal did not accept the stored answers last time.")
        var plain = Self.returning(Model.plain, isRefused: true)
        plain.ask()
        #expect(plain.answers.prompt?.note == "The portal did not accept these stored answers last time.")
    }

    @Test func spentAnswersWaitForTheUser() {
        var model = Self.returning()
        for isAccepted in [false, true] {
            model.feed(.commandPrepared)
            model.reply(isAccepted ? .success : .temporaryFailure, to: .authenticate)
            model.feed(.failed(mayReturn: false))
        }
        #expect(model.released.count == 2, "an attempt that the portal put off is not held against them")
        model.feed(.commandPrepared)
        #expect(model.released.count == 2 && model.rules == [.sentBefore])
        model.ask()
        #expect(
            model.answers.prompt?.warning
                == "The stored answers were already sent in this visit, and the network did not open.")
        model.feed(.left)
        model.feed(.commandPrepared)
        #expect(model.released.count == 3, "the next visit begins anew")
    }

    @Test func answersThatCannotBeOpenedStay() {
        var model = Self.returning()
        model.isVaultBroken = true
        model.feed(.commandPrepared)
        #expect(model.rules == [.unreadable] && model.answers.released == nil && model.journal == ["kept back: it was changed"])
        model.ask()
        #expect(model.answers.prompt?.stored == [])
    }

    @Test func allOthersAreSent() {
        var model = Self.returning()
        model.feed(.commandPrepared)
        #expect(model.rules == [.released] && model.answers.released == model.owner())
        #expect(model.journal == ["released for https://p.example"])
        var old = Self.returning(program: nil)
        old.feed(.commandPrepared)
        #expect(old.released.map(\.to) == [old.owner()], "answers of an older daemon become this program's")
    }

    // MARK: The prompt

    @Test func postponedAnswersAreSentLater() {
        for isSame in [true, false] {
            var model = DaemonModel()
            model.ask()
            model.answer(["room": "214", "name": Model.canary])
            model.reply(.temporaryFailure, unsent: ["room", "name"])
            model.feed(.failed(mayReturn: false))
            #expect(model.rules == [.postponed])
            #expect(
                model.outcome
                    == "Your answers have not been sent yet. hotspotd sends them if the portal asks the same question again."
            )
            model.ask(isSame ? Model.login : [Model.field("other")])
            #expect(model.didAnswerItself == isSame && model.rules.contains(.answeredLate) == isSame)
            #expect(model.answers.sheet?.open == (isSame ? ["room": "214", "name": Model.canary] : nil))
        }
    }

    @Test func aPortalBehindAnotherIsAnsweredFromTheStore() {
        for isNew in [true, false] {
            var model = Self.returning()
            model.context.hasStoredConsent = true
            model.context.portal = Portal(origin: "http://gateway.example", kind: "form")
            model.feed(.loginBegan)
            model.context.portal = Model.secure
            let fields = Model.login + [Model.field("rules", .checkbox)]
            model.ask(fields + (isNew ? [Model.field("company", required: false)] : []), terms: "Be nice.")
            #expect(model.didAnswerItself != isNew && (model.answers.prompt == nil) != isNew)
            model.ask(fields, terms: "Be nice.")
            #expect(model.didAnswerItself == isNew, "once in a login")
        }
    }

    @Test func anImitationIsWarnedOf() {
        var model = DaemonModel()
        var reply = Reply(.unsupportedNetwork)
        reply.imitates = "PayPal"
        model.feed(.replied(reply, to: .authenticate))
        model.context.helper = "browser"
        model.ask([])
        let warning = "This portal asks for your PayPal account, but it does not belong to PayPal."
        #expect(model.answers.prompt?.warning == warning && model.rules.contains(.imitation) && model.journal.contains(warning))
        model.reply(.success, to: .authenticate)
        #expect(model.answers.imitated == "PayPal", "another helper's clean reply does not end it")
        model.feed(.left)
        #expect(model.answers.imitated == nil)
    }

    @Test func anImpostorIsWarnedOf() {
        for portal in [Portal(origin: "https://evil.example", pin: "cGlu", kind: "form"), Model.plain] {
            var model = Self.returning()
            model.context.portal = portal
            model.ask()
            #expect(
                model.answers.prompt?.warning?.contains("They were stored for https://p.example. This may be an impostor.")
                    == true)
            #expect(model.rules.contains(.impostor) && model.answers.prompt?.stored == [])
            #expect(model.answers.remember(for: model.answers.prompt!, model.context) == .ask)
        }
    }

    @Test func aSecretIsNotOfferedUnderAnotherLabel() {
        var model = Self.returning()
        model.ask([Model.field("room", label: "Zimmer"), Model.field("name", .password, label: "PIN of your card")])
        #expect(model.answers.prompt?.stored == ["room"] && model.rules.contains(.relabelled))
        #expect(
            model.answers.prompt?.note == "Asked again: the portal has renamed a field since its answer was stored.")
    }

    @Test func aSecretIsNotOfferedBesideANewAnswer() {
        for stored in [[], ["name"]] as [Set<String>] {
            var model = Self.returning(Model.plain)
            model.ask()
            model.answer(["room": "305"], stored: stored)
            model.reply(.uiRequired)
            model.ask()
            #expect(model.answers.prompt?.stored == Array(stored), "a name that was confirmed beside the new room is meant")
        }
    }

    @Test func changedAnswersAreAnotherPrompt() {
        var model = Self.returning()
        model.ask()
        model.feed(.storedChanged(token: "new"))
        #expect(model.answers.prompt?.token == "t1", "nothing has changed")
        let shown = model.answers.prompt!
        model.store(["room": "13"], model.owner(), ["room"])
        #expect(model.answers.confirmable(shown, model.context) == nil)
        model.feed(.storedChanged(token: "new"))
        #expect(model.answers.prompt?.token == "new" && model.answers.prompt?.prompt.fields[0].value == "13")
        #expect(model.answers.last! == ("t1", "The stored answers changed meanwhile."))
    }

    @Test func thePINGoesOnWithTheLogin() {
        for isMore in [false, true] {
            var model = Self.returning()
            model.context.isLocked = true
            model.ask(Model.login + (isMore ? [Model.field("mail", .email)] : []))
            model.context.isLocked = false
            model.feed(.pinGiven(token: "new"))
            #expect(model.didLogIn != isMore && model.answers.prompt?.stored == ["room", "name"])
            #expect(model.rules.contains(.pinGiven) != isMore)
            model.feed(.pinGiven(token: "new"))
            #expect(!model.didLogIn, "once")
        }
    }

    @Test func aPromptThatIsGoneHasAReason() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": "214", "name": "x"])
        #expect(model.answers.last! == ("t1", "The question was already answered, perhaps in another terminal."))
        model.ask()
        model.feed(.withdrawn(2, because: "The network was left."))
        #expect(model.answers.last! == ("t2", "The network was left.") && model.answers.sheet?.open == [:])
        model.ask()
        model.feed(.dismissed)
        model.feed(.withdrawn(3, because: "The network was left."))
        #expect(model.answers.last! == ("t3", "The question was dismissed, perhaps in another terminal."))
    }

    // MARK: The answers of one login

    @Test func laterAnswersReplaceEarlierOnes() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": "1", "name": "x"])
        model.ask([Model.field("room"), Model.field("code", .code)])
        #expect(model.journal.contains("Hotel asks again"))
        model.answer(["room": "2", "code": "99"])
        #expect(model.answers.sheet?.all == ["room": "2", "name": "x", "code": "99"])
        #expect(model.answers.sheet?.open == ["room": "2", "code": "99"])
        model.ask([Model.field("mail", .email)])
        #expect(model.journal.contains("Hotel asks for more"))
        model.context.portal = Model.plain
        model.answer(["mail": "a@b.example"])
        #expect(model.answers.sheet?.fields.count == 4, "the portal is that of the prompt")
        model.ask([Model.field("mail", .email)])
        model.answer(["mail": "a@b.example"])
        #expect(model.answers.sheet?.all == ["mail": "a@b.example"])
    }

    @Test func aLaterYesIsNotAnEarlierOne() {
        var model = DaemonModel()
        model.context.remember = .ask
        model.ask([Model.field("mail", .email)])
        model.answer(["mail": "a@b.example"], remember: false)
        model.ask([Model.field("room")])
        model.answer(["room": "214"], agreed: true)
        model.reply(.success)
        model.feed(.proven)
        #expect(model.stored == [["room": "214"]])
    }

    @Test func refusedAnswersAreMarkedUntilALoginIsProven() {
        for command in [Command.authenticate, .presentUI] {
            var model = Self.returning()
            if command == .authenticate {
                model.feed(.commandPrepared)
            } else {
                model.ask()
                model.answer([:], stored: ["room", "name"])
            }
            model.reply(.uiRequired, refused: ["room"], to: command)
            #expect(model.rules == [.refused] && model.context.stored.map(\.isRefused) == [true])
            model.ask()
            model.answer([:], stored: ["room", "name"])
            model.reply(.success)
            model.feed(.proven)
            #expect(model.context.stored.map(\.isRefused) == [false])
        }
        var typed = Self.returning()
        typed.ask()
        typed.answer(["room": "1"], stored: ["name"])
        typed.reply(.uiRequired, refused: ["room"])
        #expect(typed.context.stored.map(\.isRefused) == [false])
    }

    @Test func theFirstTrysAnswersCountWhereTheSecondSentNothing() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": "1", "name": "x"])
        model.reply(.success)
        let kept = model.answers.sheet
        model.feed(.failed(mayReturn: true))
        #expect(
            model.outcome
                == "Your answers were not saved, because no login with them has been proven; if the network opens soon, hotspotd saves them."
        )
        model.ask()
        model.answer(["room": "2", "name": "y"])
        model.reply(.success, unsent: ["room", "name"])
        #expect(model.answers.hasSentNothing)
        model.feed(.succeeded(kept: kept))
        model.feed(.proven)
        #expect(model.stored == [["room": "1", "name": "x"]])
        #expect(
            model.outcome?.hasPrefix(
                "Your last answers were not sent; about the earlier ones: your answers are kept for this portal") == true)
    }

    // MARK: Kept answers

    @Test func nothingIsKeptWithoutAProof() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": "214", "name": "x"])
        model.reply(.success)
        model.feed(.failed(mayReturn: false))
        #expect(
            model.outcome == "Your answers were not saved, because no login with them has been proven."
                && model.rules == [.unproven])
        model.feed(.proven)
        #expect(model.sealed.isEmpty)
        var stored = Self.returning()
        stored.ask()
        stored.answer([:], stored: ["room", "name"])
        stored.feed(.failed(mayReturn: false))
        #expect(stored.outcome == nil, "stored answers stay stored")
    }

    @Test func whatWasNotSentIsNotKept() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": "214", "name": "x"])
        model.reply(.success, unsent: ["room", "name"])
        model.feed(.proven)
        #expect(model.outcome == AnswerRuling.notSent.words && model.sealed.isEmpty)
        model.ask()
        model.answer(["room": "214", "name": "x"])
        model.reply(.success, unsent: ["name"])
        model.feed(.proven)
        #expect(model.stored == [["room": "214"]])
    }

    @Test func whatWasNotNeededIsNotKept() {
        var model = DaemonModel()
        model.ask(Model.login + [Model.field("code", .code, required: false)])
        model.answer(["room": "214", "name": "x", "code": ""])
        model.reply(.success, unsent: ["code"], refused: ["room", "name"])
        model.feed(.proven)
        #expect(model.outcome == AnswerRuling.needless.words && model.sealed.isEmpty)
        model.feed(.forgotten)
        #expect(model.outcome == nil)
        model.ask(Model.login + [Model.field("code", .code, required: false)])
        model.answer(["room": "214", "name": "x", "code": "1"])
        model.reply(.success, refused: ["room", "name"])
        model.feed(.proven)
        #expect(model.outcome == nil, "the code was sent, and is never kept")
    }

    @Test func anUnknownPortalKeepsNothing() {
        var model = DaemonModel(nil)
        model.logIn()
        #expect(
            model.outcome == "Your answers were not saved: the helper does not say which portal asked."
                && model.rules == [.noPortal])
    }

    @Test func oneNameForTwoFieldsKeepsNothing() {
        var model = DaemonModel()
        model.ask([Model.field("value", label: "E-mail")])
        model.answer(["value": "a@b.example"])
        model.ask([Model.field("value", label: "Company")])
        model.answer(["value": "T-44"])
        model.reply(.success)
        model.feed(.proven)
        #expect(
            model.outcome == "Your answers were not saved: the portal gives different fields the same name."
                && model.sealed.isEmpty)
    }

    @Test func aNoKeepsNothing() {
        for hasTerms in [true, false] {
            var model = hasTerms ? DaemonModel() : Self.returning()
            model.ask([Model.field("room"), Model.field("rules", .checkbox)], terms: hasTerms ? "Be nice." : nil)
            model.answer(["room": "1", "rules": "yes"], remember: false)
            model.reply(.success)
            model.feed(.proven)
            let more =
                hasTerms
                ? " hotspotd remembers that you accept the terms."
                : " Earlier answers stay saved; to remove them: hotspotctl credentials remove Hotel"
            #expect(model.outcome == "Your answers were not saved, as you wished.\(more)" && model.sealed.isEmpty)
        }
    }

    @Test func answersThatNobodyCouldUseAreNotKept() {
        var model = DaemonModel(Model.plain)
        model.context.plain = .never
        model.ask()
        #expect(model.answers.remember(for: model.answers.prompt!, model.context) == .never)
        model.answer(["room": "1", "name": "x"], agreed: true)
        model.reply(.success)
        model.feed(.proven)
        #expect(
            model.outcome?.hasPrefix("Your answers were not saved: The portal uses plain HTTP") == true && model.sealed.isEmpty)
    }

    @Test func neverKeepsNothingNew() {
        var model = DaemonModel()
        model.context.remember = .never
        model.logIn()
        #expect(model.outcome == "Your answers were not saved (Remember=never).")
        var stored = Self.returning()
        stored.ask()
        stored.answer([:], stored: ["room", "name"])
        stored.reply(.success)
        stored.context.remember = .never
        stored.feed(.proven)
        #expect(
            stored.outcome == "The new answers were not saved (Remember=never); earlier ones stay saved."
                && stored.stored.count == 1)
    }

    @Test func askWantsAYes() {
        for (remember, agreed, rule) in [(true, false, AnswerRule.notAsked), (false, false, .unwanted), (true, true, .kept)] {
            var model = DaemonModel()
            model.context.remember = .ask
            model.ask()
            model.answer(["room": "1", "name": "x"], remember: remember, agreed: agreed)
            model.reply(.success)
            model.feed(.proven)
            #expect(model.answers.outcome?.rule == rule && model.sealed.isEmpty == (rule != .kept))
        }
    }

    @Test func aFullDiskIsSaid() {
        for (result, words) in [
            (SealResult.untilTheEnd("full"), "Your answers are kept until hotspotd ends, because it cannot save now: full."),
            (.failed("no key"), "Your answers were not saved: no key."),
        ] {
            var model = DaemonModel()
            model.disk = result
            model.logIn()
            #expect(model.outcome == words && model.rules.contains(.notSaved))
        }
    }

    @Test func answersOfAProvenLoginAreKept() {
        var model = DaemonModel()
        model.ask(Model.login + [Model.field("code", .code), Model.field("stay", .checkbox, required: false)])
        model.answer(["room": "214", "name": Model.canary, "code": "99", "stay": "yes"])
        model.reply(.success)
        model.feed(.proven)
        #expect(model.stored == [["room": "214", "name": Model.canary]] && model.context.stored[0].shownNames == ["room"])
        #expect(model.outcome == "Your answers are kept for this portal. Ticks are not kept.")
        // Stored answers that this prompt does not ask for stay stored.
        model.ask([Model.field("voucher")])
        model.answer(["voucher": "V-1"])
        model.reply(.success)
        model.feed(.proven)
        #expect(model.stored == [["room": "214", "name": Model.canary, "voucher": "V-1"]])
        for (portal, pin, sandbox, words) in [
            (Model.secure, false, true, "; next time you will not be asked"),
            (Model.secure, true, true, "; next time you will not be asked, except for the PIN after a restart"),
            (Model.plain, false, true, "; next time press Enter to send them"),
            (Model.plain, true, true, "; next time press Enter to send them; after a restart hotspotd asks for the PIN first"),
            (Model.secure, false, false, "; they are not sent automatically, because this helper runs without a sandbox"),
        ] {
            var other = DaemonModel(portal)
            (other.context.hasPIN, other.context.mayHaveCredentials) = (pin, sandbox)
            other.logIn()
            #expect(other.outcome == "Your answers are kept for this portal\(words)." && other.rules.last == .kept)
        }
    }

    @Test func answersThatAreLeftOutAreRemoved() {
        var model = Self.returning()
        model.ask(Model.login + [Model.field("code", .code)])
        model.answer(["room": "", "code": "1"], stored: ["name"])
        model.reply(.success)
        model.feed(.proven)
        #expect(model.outcome?.hasSuffix(" Answers that you left out are no longer stored.") == true)
        #expect(model.stored == [["name": Model.canary]] && model.rules.contains(.cleared))
    }

    /// One login accepted the terms of two portals; the second portal was reached through the first portal's page.
    @Test func termsAreRememberedForEachPortalThatShowedThem() {
        let gateway = Portal(origin: "http://gateway.example", kind: "form")
        var model = DaemonModel(gateway)
        model.feed(.loginBegan)
        model.ask([Model.field("rules", .checkbox)], terms: "Gateway.")
        model.answer(["rules": "yes"])
        model.context.portal = Model.secure
        model.ask(Model.login + [Model.field("rules", .checkbox)], terms: "Hotel.")
        model.answer(["room": "214", "name": "x", "rules": "yes"])
        model.reply(.success)
        model.feed(.proven)
        #expect(Set(model.consents.map(\.terms)) == ["Gateway.", "Hotel."])
        #expect(Set(model.consents.map(\.portal)) == [gateway, Model.secure])
        var alone = DaemonModel()
        alone.ask([Model.field("rules", .checkbox)], terms: "Be nice.")
        alone.answer(["rules": "yes"])
        alone.reply(.success)
        alone.feed(.proven)
        #expect(
            alone.outcome == "hotspotd remembers that you accept this portal's terms, until they change.")
        // A checkbox that the helper did not send accepts nothing.
        alone.ask([Model.field("rules", .checkbox)], terms: "Be nice.")
        alone.answer(["rules": "yes"])
        alone.reply(.success, unsent: ["rules"])
        alone.feed(.proven)
        #expect(alone.consents.count == 1)
    }

    // MARK: Answers as they are typed

    /// If the helper only assumes that an answer is required, the user may leave it empty, but the field must be present.
    @Test func anEmptyAnswerIsOneOnlyWhereItIsGiven() {
        let field = { (assumed: Bool?) in Field(name: "mail", label: "", kind: .email, required: true, assumed: assumed) }
        for (assumed, values, isFine) in [(true, ["mail": ""], true), (true, [:], false), (nil, ["mail": ""], false)] {
            let fault = Answer.fault(in: values, for: Prompt(title: "", fields: [field(assumed)]))
            #expect((fault == nil) == isFine, "\(values)")
        }
    }

    @Test func noDescriptionShowsAnAnswer() {
        var model = DaemonModel()
        model.ask()
        model.answer(["room": Model.canary, "name": Model.canary])
        var text = ""
        dump(model.answers.sheet, to: &text)
        #expect(!text.isEmpty && !(text + "\(model.answers)" + String(reflecting: model.answers)).contains(Model.canary))
    }
}
