/// Foreign text, such as a path, as one word of a command that people copy into a shell.
public enum ShellWord {
    /// The longest useful text, in octets.
    private static let limit = 1024

    /// Returns the text for a POSIX shell, in single quotes if needed.
    ///
    /// Returns `nil` if the text should not be copied: it is empty, very long, or has control characters or marks that deceive a
    /// reader.
    public static func quoted(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= limit, Printable.shown(text) == text else { return nil }
        if text.utf8.allSatisfy(isPlain) { return text }
        // A single quote within single quotes: close, escape, and open again.
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Returns the text as the last argument of a command; puts `--` before a text that begins with a hyphen.
    public static func argument(_ text: String) -> String? { quoted(text).map { (text.hasPrefix("-") ? "-- " : "") + $0 } }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("._/@%+=:,-".utf8).contains(octet)
        }
    }
}
