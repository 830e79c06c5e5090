import ForeignText
import HotspotCore
import Vault

/// A decision about answers: the rule that ruled, and the words for the user or the journal.
public struct AnswerRuling: Hashable, Sendable {
    public let rule: AnswerRule
    public internal(set) var words: String

    init(_ rule: AnswerRule, _ words: String) { (self.rule, self.words) = (rule, words) }

    // MARK: Reasons to keep stored answers back, or to ask for them again

    static func ofAnotherHelper(_ owner: String, not asking: String) -> AnswerRuling {
        AnswerRuling(.otherOwner, "the answers stored here belong to the helper \(owner); this is \(asking)")
    }
    static func ofAnotherProgram(_ owner: CredentialOwner) -> AnswerRuling {
        let program = Printable.cut(owner.program ?? "", limit: 300)
        return AnswerRuling(
            .otherOwner, "the answers stored here belong to another program of the name \(owner.helper), \(program)")
    }
    static func releaseRefused(_ refusal: Release.Refusal) -> AnswerRuling { AnswerRuling(.otherPortal, refusal.sentence) }
    static let noSandbox = AnswerRuling(.noSandbox, "this helper runs without a sandbox")
    static let pinFirst = AnswerRuling(.pinFirst, "\(VaultError.pinNeeded)")
    static let plainHTTP = AnswerRuling(
        .plainHTTP, "the portal speaks plain HTTP, so they are not sent without your yes (PlainHTTPAnswers=confirm)")
    static let refusedBefore = AnswerRuling(
        .refusedBefore, "the portal did not take the stored answers when they were sent last")
    static let sentBefore = AnswerRuling(
        .sentBefore, "The stored answers were sent in this visit already, and the network did not open.")
    static let relabelled = AnswerRuling(
        .relabelled, "the portal calls a field otherwise than when its answer was stored")

    // MARK: Words of a prompt, and of its end

    static let offersRefused = AnswerRuling(
        .refusedBefore, "The portal did not take these stored answers when they were sent last.")
    static let unlockFirst = AnswerRuling(
        .pinFirst, "Without the PIN the answers are not remembered: hotspotctl credentials unlock")
    static func imitation(_ company: String) -> AnswerRuling {
        AnswerRuling(.imitation, "This portal asks for your \(company) account, but it does not belong to \(company).")
    }
    static func impostor(_ refusal: Release.Refusal, _ stored: [StoredAnswers]) -> AnswerRuling {
        let origins = Set(stored.map(\.owner.origin)).sorted().prefix(3).map(Origin.shortened)
        return AnswerRuling(
            .impostor,
            "\(refusal.sentence) They were stored for \(origins.joined(separator: " and ")). This may be an impostor.")
    }
    static let answeredLate = AnswerRuling(.answeredLate, "by what was typed before")
    static let answeredFromStore = AnswerRuling(.answeredFromStore, "by what is stored for this portal")
    static let storedChanged = AnswerRuling(.changed, "The stored answers changed meanwhile.")
    static let pinGiven = AnswerRuling(.pinGiven, "The PIN was given; the stored answers are sent.")
    static let answered = AnswerRuling(.gone, "It was answered already, perhaps in another terminal.")
    static func answered(on laptop: String) -> AnswerRuling {
        AnswerRuling(.gone, "It was answered on the paired laptop \"\(laptop)\".")
    }
    static let dismissed = AnswerRuling(.gone, "It was dismissed, perhaps in another terminal.")

    // MARK: Fates of the answers

    static let postponed = AnswerRuling(
        .postponed, "What you answered was not sent. It will be, once the portal asks the same again.")
    static func unproven(mayReturn: Bool) -> AnswerRuling {
        AnswerRuling(.unproven, "What was typed is not kept, because \(noProof(mayReturn: mayReturn)).")
    }
    static func noProof(mayReturn: Bool) -> String {
        "no login with it is proven" + (mayReturn ? ", unless the network opens soon" : "")
    }
    public static let notSent = AnswerRuling(
        .notSent, "What was typed is not kept, because it was not sent: the network opened without it.")
    public static let needless = AnswerRuling(
        .needless, "What was typed is not kept, because the login was done without it.")
    static let noPortal = AnswerRuling(.noPortal, "Not remembered: the helper does not say which portal asked.")
    static let ambiguous = AnswerRuling(.ambiguous, "Not remembered: the portal has one name for different fields.")
    static let unwanted = AnswerRuling(.unwanted, "Not remembered, as you wished.")
    static func unusable(_ refusal: Release.Refusal) -> AnswerRuling {
        AnswerRuling(.unusable, "Not remembered: \(refusal.sentence)")
    }
    static let never = AnswerRuling(.never, "Not remembered (Remember=never).")
    static let staysStored = AnswerRuling(.never, "The stored answers stay stored (Remember=never keeps no new ones).")
    static let notAsked = AnswerRuling(.notAsked, "Not remembered, because you were not asked whether to.")
    static func untilTheEnd(_ reason: String) -> AnswerRuling {
        AnswerRuling(.notSaved, "Remembered until the daemon ends, because nothing is saved now: \(reason).")
    }
    static func notSealed(_ reason: String) -> AnswerRuling { AnswerRuling(.notSaved, "Not remembered: \(reason).") }
    static let termsAlone = AnswerRuling(
        .consent, "That you accept the terms is remembered for this network's portal, until it shows others.")
    /// - Parameter next: the words about the next login.
    static func kept(_ next: String) -> AnswerRuling {
        AnswerRuling(.kept, "Remembered for this network's portal\(next).")
    }

    // MARK: Additions to these words

    static let (termsOnly, ticks, cleared) = (
        " Only that you accept the terms is.", " Ticks are not kept.", "What you left out is not stored any more."
    )
    static func earlierStay(in network: NetworkID) -> String {
        let name = ShellWord.argument(network.label) ?? "NETWORK"
        return " Earlier answers stay stored; to remove them: hotspotctl credentials remove \(name)"
    }
    static func beforeTheLast(_ words: String) -> String {
        "What was typed last was not sent; the answers before it: \(words.prefix(1).lowercased())\(words.dropFirst())"
    }
}
