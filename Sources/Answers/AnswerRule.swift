/// The rules about answers, in the order of their numbers: the words of each are its sentence in `docs/answer-rules.md`.
public enum AnswerRule: String, CaseIterable, Sendable {
    // Stored answers, when a helper is asked to log in: the first rule that fits.
    case otherOwner = "Answers of another helper or another program are not released."
    case otherPortal = "Answers go only to the network, portal and key that they were stored for, as the vault decides."
    case noSandbox = "A helper without a sandbox gets no stored answers."
    case pinFirst = "Behind a PIN that was not given, stored answers are neither sent nor offered."
    case plainHTTP = "Over plain HTTP stored answers wait for the user's yes (PlainHTTPAnswers=confirm)."
    case refusedBefore = "Answers that the portal refused last time are not sent again without asking."
    case sentBefore = "Answers that were sent in this visit without success are not sent again without asking."
    case unreadable = "Answers that the vault cannot open are neither sent nor offered."
    case released = "hotspotd sends all other stored answers without asking."
    // The prompt.
    case answeredLate = "Answers that were not sent are sent when the portal asks the same question again."
    case answeredFromStore = "Behind another portal's page, hotspotd answers a prompt with stored answers, once in a login."
    case imitation = "hotspotd warns of a portal that imitates a company, whichever helper found it."
    case impostor = "hotspotd warns of a portal whose address or key differs from the network's stored one."
    case relabelled = "A stored secret is not offered to a field with a new label."
    case replaced = "A stored secret is not offered beside a new answer."
    case changed = "A prompt whose stored answers changed is a new prompt: Enter sends only answers that the user has seen."
    case pinGiven = "The PIN continues a login that waited for it alone."
    case gone = "hotspotd remembers why a prompt ended."
    // The answers of one login.
    case later = "A later answer replaces an earlier one; answers for another helper or portal begin a new sheet."
    case firstWish = "A yes to keep later answers is not a yes to keep earlier ones."
    case refused = "Stored answers that the portal refuses are marked as refused until a login with them is proven."
    case postponed = "hotspotd keeps answers that a portal did not take for its next question, and tells the user."
    case earlier = "If the second try sends nothing, the answers of the first decide."
    // Keeping answers after a proven login.
    case unproven = "Answers are kept only if the probe proves the login, or cannot tell."
    case notSent = "An answer that was not sent is not kept."
    case needless = "An answer that the login did not need, or that the portal refused, is not kept."
    case noPortal = "An answer is not kept where the helper does not name the portal."
    case ambiguous = "Answers to different fields of one name are not kept."
    case unwanted = "An answer is not kept against the user's wish."
    case unusable = "An answer that could never be released again is not kept."
    case never = "With Remember=never nothing new is kept, and stored answers stay."
    case notAsked = "Where the user must be asked, nothing is kept without a yes."
    case notSaved = "An answer that cannot be saved is kept until hotspotd ends, and hotspotd says so."
    case kept = "The answers of a proven login are kept for the portal that asked; codes and ticks never are."
    case cleared = "A stored answer that the user leaves out is removed."
    case consent = "Accepted terms are remembered for each portal that showed them during the login."

    /// The number, such as `A7`.
    public var number: String { "A\(Self.allCases.firstIndex(of: self)! + 1)" }
}
