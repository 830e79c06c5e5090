/// One text with two parts: the daemon's sentence and, after a line feed, the words of a helper or a portal. Every output shows the two parts
/// separately, so that a stranger's words cannot pass for the daemon's.
public enum QuotedProblem {
    /// Returns the sentence and, after a line feed, the words without their own line feeds.
    public static func join(_ sentence: String, _ words: String?) -> String {
        words.map { "\(sentence)\n\(String(line($0).map { $0 == "\n" ? " " : $0 }))" } ?? sentence
    }

    /// Returns the sentence and the words.
    public static func split(_ text: String) -> (sentence: String, words: String?) {
        guard let end = text.firstIndex(of: "\n") else { return (text, nil) }
        return (String(text[..<end]), String(text[text.index(after: end)...]))
    }

    /// Returns both parts on one line, for a log.
    public static func line(_ text: String) -> String {
        let (sentence, words) = split(text)
        return words.map { "\(sentence)\(sentence.hasSuffix(".") ? "" : ":") \($0)" } ?? sentence
    }
}
