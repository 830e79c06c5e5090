import ForeignText
import HotspotCore

/// Splits `Exec=` as a unit file's ExecStart= is split (systemd.service(5), "Command lines"): quotes and C escapes, no shell, no
/// variables.
public enum ExecLine {
    /// What can be wrong.
    public enum SplitError: Error, Hashable, Sendable, CustomStringConvertible {
        case openQuote
        case badEscape(String)
        case textAfterQuote
        case tooManyWords

        /// One sentence, which follows the key's name.
        public var description: String {
            switch self {
            case .openQuote: "has a quote that is never closed"
            case .badEscape(let escape):
                "has the unknown escape «\\\(Printable.text(escape, limit: 16))»; known are \\a \\b \\f \\n \\r \\t \\v \\\\ \\\" \\' \\s \\xNN \\NNN"
            case .textAfterQuote: "has text directly after a closing quote"
            case .tooManyWords: "has more than \(ExecLine.wordLimit) words"
            }
        }
    }

    /// The most words.
    public static let wordLimit = 64

    /// The words of a line.
    public static func split(_ line: String) throws(SplitError) -> [String] {
        var words: [String] = []
        var rest = Array(line.utf8)[...]
        func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }
        while true {
            rest = rest.drop(while: isBlank)
            guard let first = rest.first else { return words }
            guard words.count < wordLimit else { throw .tooManyWords }
            var quote: UInt8?
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                quote = first
                rest = rest.dropFirst()
            }
            var word: [UInt8] = []
            while true {
                guard let octet = rest.popFirst() else {
                    if quote != nil { throw .openQuote }
                    break
                }
                if octet == quote {
                    if let next = rest.first, !isBlank(next) { throw .textAfterQuote }
                    break
                }
                if quote == nil, isBlank(octet) { break }
                if octet == UInt8(ascii: "\\") {
                    word.append(try escape(&rest))
                } else {
                    word.append(octet)
                }
            }
            guard let text = String(validating: word, as: UTF8.self) else { throw .badEscape("x") }
            words.append(text)
        }
    }

    private static func escape(_ rest: inout ArraySlice<UInt8>) throws(SplitError) -> UInt8 {
        guard let letter = rest.popFirst() else { throw .badEscape("") }
        switch letter {
        case UInt8(ascii: "a"): return 0x07
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "v"): return 0x0B
        case UInt8(ascii: "s"): return 0x20
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): return letter
        case UInt8(ascii: "x"):
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard let octet = Hex.decode(digits)?.first, octet != 0 else { throw .badEscape("x" + digits) }
            rest = rest.dropFirst(2)
            return octet
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            let digits = String(decoding: [letter] + rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 3, let octet = UInt8(digits, radix: 8), octet != 0 else { throw .badEscape(digits) }
            rest = rest.dropFirst(2)
            return octet
        default: throw .badEscape(String(decoding: [letter], as: UTF8.self))
        }
    }
}
