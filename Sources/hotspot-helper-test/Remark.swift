/// Something to say to a helper's author.
enum Remark: Hashable, Sendable {
    /// Against the contract, or surely not what was meant.
    case wrong(String)
    /// Allowed; good to know.
    case note(String)

    /// It counts against the helper.
    var isWrong: Bool { if case .wrong = self { true } else { false } }

    /// The line that is shown.
    var line: String {
        switch self {
        case .wrong(let text): "  WRONG  \(text)"
        case .note(let text): "  note   \(text)"
        }
    }
}
