import HotspotCore
import TestSupport
import Testing
import Vault

@testable import Answers

/// Random events, in any order; what must hold after each of them.
@Suite struct AnswerWalkTests {
    private typealias Model = DaemonModel

    private static let portals = [
        Model.secure, Model.plain, Portal(origin: "https://p.example", pin: "other", kind: "form"),
        Portal(origin: "https://evil.example", pin: "cGlu", kind: "form"), nil,
    ]
    private static let fields = [
        Model.field("room"), Model.field("name", .password), Model.field("code", .code, required: false),
        Model.field("rules", .checkbox), Model.field("room", label: "Other"), Model.field("mail", .email, required: false),
    ]

    @Test(arguments: 0..<20) func walk(_ seed: UInt64) {
        var (numbers, model) = (SeededNumbers(seed: seed), DaemonModel())
        var (count, kept) = (0, AnswerSheet?.none)
        var log = ""
        for _ in 0..<500 {
            let (sealedBefore, releasedBefore, storedBefore) = (model.sealed.count, model.released.count, model.stored)
            var proven: AnswerSheet?
            var isProof = false
            switch Int.random(in: 0..<16, using: &numbers) {
            case 0: model.context.portal = Self.portals.randomElement(using: &numbers)!
            case 1:
                (model.context.helper, model.context.program) = [
                    ("form", "/bin/form"), ("form", "/bin/other"), ("wispr", "/bin/wispr"),
                ].randomElement(using: &numbers)!
            case 2:
                model.context.isLocked.toggle()
                model.feed(model.context.isLocked ? .storedChanged(token: "s") : .pinGiven(token: "p"))
            case 3:
                model.context.remember = Remember.allCases.randomElement(using: &numbers)!
                model.context.plain = PlainHTTPAnswers.allCases.randomElement(using: &numbers)!
                model.context.terms = AcceptTerms.allCases.randomElement(using: &numbers)!
                model.context.mayHaveCredentials = Int.random(in: 0..<4, using: &numbers) > 0
                model.disk = [.saved, .saved, .untilTheEnd("full"), .failed("broken")].randomElement(using: &numbers)!
            case 4, 5: model.feed(Bool.random(using: &numbers) ? .loginBegan : .commandPrepared)
            case 6, 7, 8:
                model.ask(
                    Self.fields.shuffled(using: &numbers).prefix(3).map { $0 }, terms: Bool.random(using: &numbers) ? "T" : nil)
            case 9, 10, 11:
                guard let shown = model.answers.prompt else { continue }
                count += 1
                let values = shown.prompt.fields.map { field in
                    (field.name, field.kind == .checkbox ? "yes" : "canary-\(field.kind)-\(count)")
                }
                model.answer(
                    Dictionary(values.filter { _ in Int.random(in: 0..<3, using: &numbers) > 0 }) { $1 },
                    stored: Set(shown.stored.filter { _ in Bool.random(using: &numbers) }),
                    remember: Int.random(in: 0..<4, using: &numbers) > 0, agreed: Bool.random(using: &numbers))
            case 12:
                let names = Self.fields.map(\.name).filter { _ in Int.random(in: 0..<4, using: &numbers) == 0 }
                model.reply(
                    [.success, .success, .uiRequired, .temporaryFailure, .failure].randomElement(using: &numbers)!, unsent: names,
                    refused: Self.fields.map(\.name).filter { _ in Int.random(in: 0..<6, using: &numbers) == 0 })
            case 13:
                if Bool.random(using: &numbers) { kept = model.answers.sheet }
                model.feed([.failed(mayReturn: true), .failed(mayReturn: false), .left].randomElement(using: &numbers)!)
            default:
                model.feed(.succeeded(kept: kept))
                (proven, isProof, kept) = (model.answers.sheet(for: model.context.helper), true, nil)
                if let portal = proven?.portal { model.context.portal = portal }
                model.feed(.proven)
            }
            // No answer is kept without a proof.
            #expect(isProof || model.sealed.count == sealedBefore)
            #expect(isProof || model.stored == storedBefore)
            for keeping in model.sealed.dropFirst(sealedBefore) {
                #expect(keeping.owner.origin == proven?.portal?.origin && keeping.owner.pin == proven?.portal?.pin)
                #expect(keeping.owner.helper == proven?.helper)
                // Codes and ticks are never kept.
                #expect(!keeping.values.values.contains { $0.text.contains("code") || $0.text == "yes" })
            }
            // Answers are released only to the origin, key and program for which they were stored.
            for (stored, owner) in model.released.dropFirst(releasedBefore) {
                #expect(stored.owner.origin == owner.origin && stored.owner.pin == owner.pin)
                #expect(stored.owner.helper == owner.helper && stored.owner.program == owner.program)
                #expect(!model.context.isLocked && model.context.mayHaveCredentials)
            }
            // The outcome is correct, whether the answers were kept or not.
            if let proven, model.sealed.count > sealedBefore || !proven.keepable.isEmpty {
                let own = model.context.own(at: proven.portal).flatMap { model.vault[$0.sealed] } ?? [:]
                let isKept = proven.keepable.allSatisfy { own[$0.key] == $0.value }
                switch model.answers.outcome?.rule {
                case .kept: #expect(isKept, "seed \(seed)")
                case .unwanted, .unusable, .notAsked, .noPortal: #expect(!proven.hasNews || !isKept, "seed \(seed)")
                default: break
                }
            }
            // No description shows an answer.
            if count % 8 == 0 {
                log = "\(model.answers) \(String(reflecting: model.sealed))"
                #expect(!log.contains("canary"))
            }
        }
        #expect(count > 20)
    }
}
