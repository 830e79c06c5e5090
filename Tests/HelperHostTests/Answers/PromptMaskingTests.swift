import ForeignText
import HotspotCore
import Testing

@testable import HelperHost

/// An outcome, and above all a prompt, does not show its helper's secrets.
@Suite struct MaskingTests {
    private let secrets = Secrets(["opensesame", "4711"])
    /// A command that told the helper these secrets.
    private let telling = KnownWords(parameters: ["answers": ["a": "opensesame", "b": "4711"]])

    private func field(
        _ name: String = "f", kind: Field.Kind = .text, choices: [String]? = nil, label: String = "", value: String? = nil
    ) -> Field {
        Field(name: name, label: label, kind: kind, required: false, choices: choices, value: value)
    }

    @Test func everythingThatIsOnlyReadIsMasked() throws {
        let said = "is it opensesame?"
        let prompt = Prompt(
            title: said, message: said, fields: [field(label: said, value: said), field("g", value: "Anna")],
            termsURL: "https://p.example/?room=4711", terms: said)
        let shown = try prompt.masked(secrets)
        #expect(!"\(shown)".contains("opensesame") && !"\(shown)".contains("4711"))
        #expect(shown.title == "is it •••?" && shown.termsURL == "https://p.example/?room=•••")
        #expect(shown.fields[0].value == nil && shown.fields[1].value == "Anna", "a mask would be sent as an answer")
    }

    /// A room number may be a part of the portal's own address, which is not masked.
    @Test func thePortalsAddressStaysAsItIs() throws {
        let known = KnownWords(parameters: ["answers": ["room": "102"]], shown: "http://10.102.0.1")
        let prompt = Prompt(title: "", message: "Not room 102.", fields: [], termsURL: "http://10.102.0.1/terms?room=102")
        let shown = try prompt.masked(Secrets(["102"]), known: known)
        #expect(shown.termsURL == "http://10.102.0.1/terms?room=•••" && shown.message == "Not room •••.")
        let reply = HelperOutcome.reply(Reply(.success, trace: ["GET http://10.102.0.1/in/102"]))
        guard case .reply(let told) = reply.masked(Secrets(["102"]), known: known) else { return }
        #expect(told.trace == ["GET http://10.102.0.1/in/•••"])
    }

    @Test func longTermsKeepTheirEnd() throws {
        let terms = String(repeating: "All of this. ", count: 2500) + "opensesame, amen"
        #expect(try Prompt(title: "", terms: terms).masked(secrets).terms?.hasSuffix(" •••, amen") == true)
    }

    @Test(
        "A name or a choice that repeats a secret, in whatever form, is refused without repeating it",
        arguments: ["opensesame", "x-opensesame-y", "f4711"])
    func refused(word: String) {
        let fields: [(Field, String)] = [
            (field(word), "name"), (field(kind: .choice, choices: ["a", word]), "choices"),
            (field(kind: .text, choices: [word]), "choices"),
        ]
        for (field, what) in fields {
            do {
                _ = try Prompt(title: "", fields: [self.field("first"), field]).masked(secrets, known: telling)
                Issue.record("\(what) passed")
            } catch {
                #expect(error.code == .helperRepeatsSecret && error.sentence.hasPrefix("\"reply.prompt.fields.1.\(what)\""))
                #expect(!"\(error.problem)".contains("opensesame") && !"\(error.problem)".contains("4711"))
                #expect(!error.isCrash && !error.isGarbage && error.problem.hint != nil)
            }
        }
    }

    @Test func formsInWhichASecretTravelsAreFoundInNames() {
        let secrets = Secrets(["a b\"c"])
        let known = KnownWords(parameters: ["answers": ["a": "a b\"c"]])
        for word in ["a%20b%22c", "a+b%22c", "a b\\\"c"] {
            #expect(throws: HelperFault.self) { try Prompt(title: "", fields: [field(word)]).masked(secrets, known: known) }
        }
    }

    @Test func theSameQuestionMayBeAskedAgain() throws {
        let asked = [field("room4711"), field("plan", kind: .choice, choices: ["opensesame", "slow"])]
        let known = KnownWords(asked: asked, parameters: ["answers": ["room4711": "4711", "plan": "opensesame"]])
        #expect(try Prompt(title: "", fields: asked).masked(secrets, known: known).fields == asked)
        let other = field("plan", kind: .choice, choices: ["opensesame!", "slow"])
        #expect(throws: HelperFault.self) { try Prompt(title: "", fields: [other]).masked(secrets, known: known) }
    }

    /// The word stood in the title before the user typed it.
    @Test func theTitleThatWasAnsweredStays() throws {
        let known = KnownWords(parameters: ["answers": ["code": "opensesame"]], title: "Hotel Opensesame")
        #expect(try Prompt(title: "Hotel Opensesame", fields: []).masked(secrets, known: known).title == "Hotel Opensesame")
        #expect(try Prompt(title: "No opensesame", fields: []).masked(secrets, known: known).title == "No •••")
    }

    @Test func aRefusedAnswerIsOfferedInItsOwnField() throws {
        let parameters: JSONValue = [
            "credential": ["name": "opensesame"], "answers": ["room": "4711", "code": "4711", "pin": "4711"],
        ]
        let known = KnownWords(asked: [field("room"), field("pin", kind: .password)], parameters: parameters)
        let fields = [
            field("room", value: "4711"), field("name", value: "opensesame"), field("other", value: "4711"),
            field("code", kind: .code, value: "4711"), field("pin", value: "4711"),
        ]
        let shown = try Prompt(title: "", fields: fields).masked(secrets, known: known).fields.map(\.value)
        #expect(shown == ["4711", "opensesame", nil, nil, nil])
        // If the portal starts over, the answers to an earlier question count as well.
        let anew = KnownWords(parameters: ["answers": ["name": "opensesame"]], earlier: ["room": "4711", "name": "opensesame"])
        let first = Prompt(title: "", fields: [field("room", value: "4711"), field("other", value: "4711")])
        #expect(try first.masked(secrets, known: anew).fields.map(\.value) == ["4711", nil])
    }

    @Test func whatWasChosenAtAnEarlierVisitMayBeOfferedAgain() throws {
        let known = KnownWords(parameters: ["credential": ["realm4711": "opensesame"], "answers": ["opensesame": "x"]])
        let again = field("realm4711", kind: .choice, choices: ["students", "opensesame"])
        #expect(try Prompt(title: "", fields: [again, field("opensesame")]).masked(secrets, known: known).fields[0] == again)
        for wrong in [
            field("other", kind: .choice, choices: ["students", "opensesame"]),
            field("realm4711", kind: .choice, choices: ["opensesame"]),
            field("realm4711", kind: .password, choices: ["students", "opensesame"]),
            field("realm4711", kind: .choice, choices: ["students", "opensesame "]),
        ] {
            #expect(throws: HelperFault.self) { try Prompt(title: "", fields: [wrong]).masked(secrets, known: known) }
        }
    }

    /// A choice that is the command's only secret is a fault too.
    @Test func aChoiceThatRepeatsTheOnlySecretIsRefused() {
        let field = field(kind: .choice, choices: ["a", "opensesame"])
        #expect(throws: HelperFault.self) {
            try Prompt(title: "", fields: [field]).masked(
                Secrets(["opensesame"]), known: KnownWords(parameters: ["answers": ["a": "opensesame"]]))
        }
    }

    /// For example the purpose of the trip: the user chose it at one login, and the login behind it asks again.
    @Test func whatAnEarlierCommandWasToldMayBeAskedForAgain() throws {
        let again = [field("guest4711"), field("purpose", kind: .choice, choices: ["business", "opensesame"])]
        #expect(try Prompt(title: "", fields: again).masked(secrets).fields == again)
        // A choice is not a secret in the texts beside it.
        let labelled = [field("age", kind: .choice, choices: ["opensesame", "older"], label: "opensesame, 4711")]
        let shown = try Prompt(title: "The opensesame park", fields: labelled).masked(secrets)
        #expect(shown.title == "The opensesame park" && shown.fields[0].label == "opensesame, •••")
        #expect(try Prompt(title: "opensesame", fields: [field(choices: ["opensesame"])]).masked(secrets).title == "•••")
    }

    /// A list of countries, after a page that asked for the room number.
    @Test func aShortAnswerMayBeAmongManyChoices() throws {
        let codes = (400...430).map { "+\($0)" }
        let secrets = Secrets(["421", "opensesame"])
        let known = KnownWords(parameters: ["answers": ["room": "421", "name": "opensesame"]])
        let list = Prompt(title: "", fields: [field(kind: .choice, choices: codes)])
        #expect(try list.masked(secrets, known: known).fields[0].choices == codes)
        for wrong in [["a", "421"], codes + ["opensesame"]] {
            #expect(throws: HelperFault.self) {
                try Prompt(title: "", fields: [field(kind: .choice, choices: wrong)]).masked(secrets, known: known)
            }
        }
    }

    @Test func aTickIsNoSecret() {
        let given: JSONValue = ["answers": ["terms": "yes", "news": "true", "room": "214"], "credential": ["name": "Anna"]]
        #expect(Set(given.secrets) == ["214", "Anna"])
    }

    @Test func anOriginThatRepeatsASecretIsNoneUnlessTheDaemonNamedIt() {
        func found(_ origin: String, _ known: KnownWords = KnownWords()) -> HelperOutcome {
            HelperOutcome.evaluation(
                Evaluation(
                    .low, portal: Portal(origin: origin, kind: "form"), session: Session(venueURL: origin + "/venue"))
            ).masked(Secrets(["opensesame"]), known: known)
        }
        #expect("\(found("https://opensesame.example"))".contains("opensesame") == false, "evaluate says no more than the others")
        #expect(found("https://portal.example").evaluation?.portal != nil)
        #expect(found("https://portal.example").evaluation?.session?.venueURL != nil)
        // The user sees this origin already.
        let seen = KnownWords(shown: "https://opensesame.example")
        #expect(found("https://opensesame.example", seen).evaluation?.portal?.origin == "https://opensesame.example")
        func portal(_ origin: String, _ known: KnownWords = KnownWords()) -> Portal? {
            let reply = Reply(.success, portal: Portal(origin: origin, kind: "form"))
            guard case .reply(let shown) = HelperOutcome.reply(reply).masked(secrets, known: known) else { return nil }
            return shown.portal
        }
        #expect(portal("https://portal.example")?.origin == "https://portal.example")
        #expect(portal("https://opensesame.example") == nil)
        let known = KnownWords(parameters: ["portal": ["origin": "https://opensesame.example", "kind": "form"]])
        #expect(portal("https://opensesame.example", known)?.origin == "https://opensesame.example")
        #expect(portal("http://opensesame.example", known) != nil, "the host is known")
        #expect(portal("https://opensesame.test", known) == nil)
    }

    @Test func everythingThatPeopleReadIsMasked() {
        let secrets = Secrets(["opensesame"])
        let said = "it is opensesame"
        let field = Field(name: "opensesame", label: said, kind: .text, required: true, value: said)
        let outcomes: [HelperOutcome] = [
            .evaluation(Evaluation(.low, portal: Portal(origin: "https://p", kind: said, title: said), reason: said)),
            .reply(
                Reply(
                    .uiRequired, prompt: Prompt(title: said, message: said, terms: said),
                    portal: Portal(origin: "https://p", kind: said, title: said), reason: said, trace: [said])),
            .failed(HelperFault(.helperError, said, standardError: said)),
        ]
        for outcome in outcomes {
            let shown = "\(outcome.masked(secrets))"
            #expect(!shown.contains("opensesame") && shown.contains("•••"), "\(shown)")
        }
        // The field's name is the key of the answer, and the helper fills in the value: neither is masked.
        guard
            case .reply(let reply) = HelperOutcome.reply(Reply(.uiRequired, prompt: Prompt(title: "", fields: [field])))
                .masked(secrets)
        else { return }
        #expect(reply.prompt?.fields.first?.name == "opensesame" && reply.prompt?.fields.first?.label == "it is •••")
    }
}
