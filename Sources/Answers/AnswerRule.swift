/// The rules about answers, in the order of their numbers: the words of each are its sentence in `docs/answer-rules.md`.
public enum AnswerRule: String, CaseIterable, Sendable {
    // Stored answers, when a helper is asked to log in: the first rule that fits.
    case otherOwner = "Answers that belong to another helper or another program are kept back."
    case otherPortal = "Answers go only to the network, portal and key that they were stored for, as the vault decides."
    case noSandbox = "A helper without a sandbox gets no stored answers."
    case pinFirst = "Behind a PIN that was not given, stored answers are neither sent nor offered."
    case plainHTTP = "Over plain HTTP stored answers wait for the user's yes (PlainHTTPAnswers=confirm)."
    case refusedBefore = "Answers that the portal refused last time are not sent again without the user."
    case sentBefore = "Answers that were sent in this visit and freed nothing are not sent again without the user."
    case unreadable = "Answers that the vault cannot open are neither sent nor offered."
    case released = "All other stored answers are sent without the user."
    // The prompt.
    case answeredLate = "Answers that were not sent are sent when the portal asks the same again."
    case answeredFromStore = "Behind another portal's page, hotspotd answers a prompt with stored answers, once in a login."
    case imitation = "A portal that imitates a company is warned of, whichever helper found it."
    case impostor = "A portal with another address or key than the stored ones of its network is warned of."
    case relabelled = "A stored secret is not offered to a field that is called something else now."
    case replaced = "A stored secret is not offered beside a new answer."
    case changed = "A prompt whose stored answers changed is another prompt: Enter sends what the user has seen."
    case pinGiven = "The PIN goes on with a login that waited for nothing else."
    case gone = "A prompt that is gone is remembered with its reason."
    // The answers of one login.
    case later = "A later answer replaces an earlier one; answers for another helper or portal begin a new sheet."
    case firstWish = "A yes to keep later answers is not a yes to keep earlier ones."
    case refused = "Stored answers that the portal refuses are marked; the mark goes when a login with them is proven."
    case postponed = "hotspotd keeps answers aside that a portal did not take, and tells the user."
    case earlier = "A second try that sends nothing counts by the answers of the first."
    // Keeping answers after a proven login.
    case unproven = "Without a login that the probe proves, or cannot tell of, no answer is kept."
    case notSent = "An answer that was not sent is not kept."
    case needless = "An answer that the login did without, or that the portal refused, is not kept."
    case noPortal = "An answer is not kept where the helper does not name the portal."
    case ambiguous = "Answers to different fields of one name are not kept."
    case unwanted = "An answer is not kept against the user's wish."
    case unusable = "An answer that could never be released again is not kept."
    case never = "With Remember=never nothing new is kept, and stored answers stay."
    case notAsked = "Where the user must be asked, nothing is kept without a yes."
    case notSaved = "An answer that cannot be saved is not called remembered for good."
    case kept = "The answers of a proven login are kept for the portal that asked; codes and ticks never are."
    case cleared = "A stored answer that the user leaves out is removed."
    case consent = "Accepted terms are remembered for each portal of the login that showed them."

    /// The number, such as `A7`.
    public var number: String { "A\(Self.allCases.firstIndex(of: self)! + 1)" }
}
