/// The rules about answers, in the order of their numbers. Each raw value is the rule's sentence in `docs/answer-rules.md`.
public enum AnswerRule: String, CaseIterable, Sendable {
    // Whether stored answers are sent when a helper is asked to log in: the first rule that applies decides.
    case otherOwner = "hotspotd does not send answers that were stored for another helper or program."
    case otherPortal = "hotspotd sends stored answers only to the network, portal and key for which they were stored."
    case noSandbox = "A helper without a sandbox gets no stored answers."
    case pinFirst = "Until the user types the PIN, hotspotd neither sends nor offers stored answers."
    case plainHTTP = "Over plain HTTP, the user must confirm stored answers (PlainHTTPAnswers=confirm)."
    case refusedBefore = "hotspotd asks before it sends answers again that the portal refused last time."
    case sentBefore = "hotspotd asks before it sends answers again that failed during this visit."
    case unreadable = "hotspotd neither sends nor offers answers that the vault cannot open."
    case released = "hotspotd sends all other stored answers without asking."
    // The prompt.
    case answeredLate = "Typed answers that were not sent are sent when the portal repeats its question."
    case answeredFromStore = "Once in a login, hotspotd sends stored answers to a second portal behind the first portal."
    case imitation = "If one helper finds that a portal imitates a company, hotspotd warns about it, whichever helper asks."
    case impostor = "hotspotd warns about a portal whose address or key differs from the stored one."
    case relabelled = "A stored secret is not offered if the portal has changed the field's label."
    case replaced = "A stored secret is not offered after the user has typed a new answer in place of a stored answer."
    case changed = "If stored answers change, the prompt is replaced: Enter sends only answers that the user has seen."
    case pinGiven = "If a login waits only for the PIN, typing the PIN continues it."
    case gone = "hotspotd remembers why a prompt ended."
    // The answers of one login.
    case later = "A later answer to a field replaces the earlier answer; a different helper or portal starts without answers."
    case firstWish = "Answers that the user did not agree to keep are not kept, even if the user agrees to keep later answers."
    case refused = "Refused answers stay marked as refused until a login with them is proven."
    case postponed =
        "If the portal does not reply, hotspotd keeps the typed answers until the portal asks again, and tells the user."
    case earlier = "If a second login sends no answers, the answers of the first login count."
    // Keeping answers after a proven login.
    case unproven = "Answers are kept only if the probe proves the login or is inconclusive."
    case notSent = "An answer that was not sent is not kept."
    case needless = "An answer that the login did not need, or that the portal refused, is not kept."
    case noPortal = "An answer is not kept if the helper does not name the portal."
    case ambiguous = "Answers to different fields with the same name are not kept."
    case unwanted = "An answer is not kept if the user does not want it kept."
    case unusable = "An answer that hotspotd could never send again is not kept."
    case never = "With Remember=never, new answers are not kept; stored answers stay."
    case notAsked = "If hotspotd must ask before it keeps answers, it keeps none unless the user agrees."
    case notSaved = "If an answer cannot be saved, hotspotd says so, and keeps the answer in memory until hotspotd ends."
    case kept = "The answers of a proven login are kept for the portal that asked, except codes and ticks."
    case cleared = "If the user clears a stored answer, it is removed."
    case consent = "Accepted terms are remembered for each portal that showed them during the login."

    /// The number, such as `A7`.
    public var number: String { "A\(Self.allCases.firstIndex(of: self)! + 1)" }
}
