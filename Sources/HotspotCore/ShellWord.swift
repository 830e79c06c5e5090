/// A foreign text, such as a path, as one word of a command that people copy into a shell.
public enum ShellWord {
    /// What is longer is no help to anybody, in octets.
    private static let limit = 1024

    /// The text as a POSIX shell reads it back, in single quotes if need be.
    ///
    /// `nil` if nobody should copy it: it is empty, very long, or has control characters or marks that deceive a reader.
    public static func quoted(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= limit, Printable.shown(text) == text else { return nil }
        if text.utf8.allSatisfy(isPlain) { return text }
        // Within single quotes only they themselves mean anything: they are closed, escaped and opened again.
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("._/@%+=:,-".utf8).contains(octet)
        }
    }
}
