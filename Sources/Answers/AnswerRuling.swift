import ForeignText
import HotspotCore
import Vault

/// A decision about answers: the rule that applies, and the sentence for the user or the journal.
public struct AnswerRuling: Hashable, Sendable {
    public let rule: AnswerRule
    public internal(set) var words: String

    /// Whether answers are kept, even if only until hotspotd ends.
    let keepsAnswers: Bool

    init(_ rule: AnswerRule, _ words: String, keepsAnswers: Bool = false) {
        (self.rule, self.words, self.keepsAnswers) = (rule, words, keepsAnswers)
    }

    // MARK: Reasons to keep stored answers back, or to ask for them again

    static func ofAnotherHelper(_ owner: String, not asking: String) -> AnswerRuling {
        AnswerRuling(.otherOwner, "the stored answers belong to the helper \(owner), not to \(asking)")
    }
    static func ofAnotherProgram(_ owner: CredentialOwner) -> AnswerRuling {
        let program = Printable.cut(owner.program ?? "", limit: 300)
        return AnswerRuling(
            .otherOwner, "the stored answers belong to another program that is also named \(owner.helper) (\(program))")
    }
    static func releaseRefused(_ refusal: Release.Refusal) -> AnswerRuling { AnswerRuling(.otherPortal, refusal.sentence) }
    static let noSandbox = AnswerRuling(.noSandbox, "this helper runs without a sandbox")
    static let pinFirst = AnswerRuling(.pinFirst, "\(VaultError.pinNeeded)")
    static let plainHTTP = AnswerRuling(
        .plainHTTP, "the portal uses plain HTTP, so hotspotd asks before it sends stored answers (PlainHTTPAnswers=confirm)")
    static let refusedBefore = AnswerRuling(
        .refusedBefore, "the portal did not accept the stored answers last time")
    static let sentBefore = AnswerRuling(
        .sentBefore, "The stored answers were already sent in this visit, and the network did not open.")
    static let relabelled = AnswerRuling(
        .relabelled, "the portal has renamed a field since its answer was stored")

    // MARK: Words of a prompt, and of its end

    static let offersRefused = AnswerRuling(
        .refusedBefore, "The portal did not accept these stored answers last time.")
    static let unlockFirst = AnswerRuling(
        .pinFirst, "Stored answers need the PIN: hotspotctl credentials unlock")
    static func imitation(_ company: String) -> AnswerRuling {
        AnswerRuling(.imitation, "This portal asks for your \(company) account, but it does not belong to \(company).")
    }
    static func impostor(_ refusal: Release.Refusal, _ stored: [StoredAnswers]) -> AnswerRuling {
        let origins = Set(stored.map(\.owner.origin)).sorted().prefix(3).map(Origin.shortened)
        return AnswerRuling(
            .impostor,
            "\(refusal.sentence) They were stored for \(origins.joined(separator: " and ")). This may be an impostor.")
    }
    static let answeredLate = AnswerRuling(.answeredLate, "with the answers that you typed before")
    static let answeredFromStore = AnswerRuling(.answeredFromStore, "with the answers stored for this portal")
    static let storedChanged = AnswerRuling(.changed, "The stored answers changed meanwhile.")
    static let pinGiven = AnswerRuling(.pinGiven, "The PIN was typed; the stored answers are sent.")
    static let answered = AnswerRuling(.gone, "The question was already answered, perhaps in another terminal.")
    static func answered(on laptop: String) -> AnswerRuling {
        AnswerRuling(.gone, "The question was answered on the paired laptop \"\(laptop)\".")
    }
    static let dismissed = AnswerRuling(.gone, "The question was dismissed, perhaps in another terminal.")

    // MARK: Fates of the answers

    static let postponed = AnswerRuling(
        .postponed, "Your answers have not been sent yet. hotspotd sends them if the portal asks the same question again.")
    static func unproven(mayReturn: Bool) -> AnswerRuling {
        AnswerRuling(.unproven, "Your answers were not saved, because \(noProof(mayReturn: mayReturn)).")
    }
    static func noProof(mayReturn: Bool) -> String {
        "no login with them has been proven" + (mayReturn ? "; if the network opens soon, hotspotd saves them" : "")
    }
    public static let notSent = AnswerRuling(
        .notSent, "Your answers were neither sent nor saved: the network opened without them.")
    public static let needless = AnswerRuling(
        .needless, "Your answers were not saved: the login did not need them.")
    static let noPortal = AnswerRuling(.noPortal, "Your answers were not saved: the helper does not say which portal asked.")
    static let ambiguous = AnswerRuling(
        .ambiguous, "Your answers were not saved: the portal gives different fields the same name.")
    static let unwanted = AnswerRuling(.unwanted, "Your answers were not saved, as you wished.")
    static func unusable(_ refusal: Release.Refusal) -> AnswerRuling {
        AnswerRuling(.unusable, "Your answers were not saved: \(refusal.sentence)")
    }
    static let never = AnswerRuling(.never, "Your answers were not saved (Remember=never).")
    static let staysStored = AnswerRuling(.never, "The new answers were not saved (Remember=never); earlier ones stay saved.")
    static let notAsked = AnswerRuling(.notAsked, "Your answers were not saved, because you were not asked.")
    static func untilTheEnd(_ reason: String) -> AnswerRuling {
        AnswerRuling(
            .notSaved, "Your answers are kept until hotspotd ends, because it cannot save now: \(reason).", keepsAnswers: true)
    }
    static func notSealed(_ reason: String) -> AnswerRuling { AnswerRuling(.notSaved, "Your answers were not saved: \(reason).") }
    static let termsAlone = AnswerRuling(
        .consent, "hotspotd remembers that you accept this portal's terms, until they change.")
    /// - Parameter next: the end of the sentence, about the next login.
    static func kept(_ next: String) -> AnswerRuling {
        AnswerRuling(.kept, "Your answers are kept for this portal\(next).", keepsAnswers: true)
    }

    // MARK: Additions to these words

    static let (termsOnly, ticks, cleared) = (
        " hotspotd remembers that you accept the terms.", " Ticks are not kept.",
        "Answers that you left out are no longer stored."
    )
    static func earlierStay(in network: NetworkID) -> String {
        let name = ShellWord.argument(network.label) ?? "NETWORK"
        return " Earlier answers stay saved; to remove them: hotspotctl credentials remove \(name)"
    }
    static func beforeTheLast(_ words: String) -> String {
        "Your last answers were not sent; about the earlier ones: \(words.prefix(1).lowercased())\(words.dropFirst())"
    }
}
