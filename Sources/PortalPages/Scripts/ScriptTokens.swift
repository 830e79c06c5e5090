/// A word, string or sign of a script (ECMAScript), in as much detail as ``ScriptJudge`` needs.
struct ScriptToken: Hashable {
    enum Kind { case word, text, number, sign }

    var kind: Kind
    var text: String

    static func sign(_ text: String) -> ScriptToken { ScriptToken(kind: .sign, text: text) }
}

extension [ScriptToken] {
    /// The largest number of tokens that are read from a page's scripts.
    static let limit = 60_000

    /// Reads a script. Comments are left out; a regular expression becomes an empty string.
    init(script: String) {
        self = []
        let octets = Array<UInt8>(script.utf8)
        var index = 0
        func has(_ text: String) -> Bool { octets[index...].starts(with: text.utf8) }
        while index < octets.count, count < Self.limit {
            let octet = octets[index]
            let start = index
            switch octet {
            case 0...0x20: index += 1
            case UInt8(ascii: "/") where has("//"), UInt8(ascii: "<") where has("<!--"):
                index = octets[index...].firstIndex { $0 == 10 || $0 == 13 } ?? octets.count
            case UInt8(ascii: "/") where has("/*"):
                index = octets[(index + 2)...].firstIndex(of: "*/").map { $0 + 2 } ?? octets.count
            case UInt8(ascii: "/") where mayBeginExpression:
                index = Self.end(of: octet, in: octets, from: index + 1, stopsAtLine: true)
                append(ScriptToken(kind: .text, text: ""))
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
                index = Self.end(of: octet, in: octets, from: index + 1, stopsAtLine: octet != UInt8(ascii: "`"))
                let content = octets[(start + 1)..<Swift.max(start + 1, index - 1)]
                append(ScriptToken(kind: .text, text: String(decoding: content, as: UTF8.self)))
            case let letter where Self.isOfWord(letter):
                index = octets[index...].firstIndex { !Self.isOfWord($0) } ?? octets.count
                let word = String(decoding: octets[start..<index], as: UTF8.self)
                append(ScriptToken(kind: letter >= 0x30 && letter <= 0x39 ? .number : .word, text: word))
            default:
                let sign = Self.signs.first(where: has) ?? String(UnicodeScalar(octet))
                index += sign.utf8.count
                append(.sign(sign))
            }
        }
    }

    /// Whether a slash after these tokens begins a regular expression rather than a division.
    private var mayBeginExpression: Bool {
        guard let last else { return true }
        switch last.kind {
        case .sign: return last.text != ")" && last.text != "]" && last.text != "}"
        case .word: return last.text == "return" || last.text == "typeof"
        case .text, .number: return false
        }
    }

    private static let signs = [
        "===", "!==", ">>>", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "-=", "*=", "/=", "%=", "|=",
        "&=",
        "^=", "++", "--",
    ]

    private static func isOfWord(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    /// Returns the index after the closing quote.
    private static func end(of quote: UInt8, in octets: [UInt8], from start: Int, stopsAtLine: Bool) -> Int {
        var (index, isInClass) = (start, false)
        while index < octets.count {
            let octet = octets[index]
            if octet == UInt8(ascii: "\\") {
                index += 1
            } else if quote == UInt8(ascii: "/"), octet == UInt8(ascii: "[") || octet == UInt8(ascii: "]") {
                isInClass = octet == UInt8(ascii: "[")
            } else if octet == quote, !isInClass {
                return index + 1
            } else if stopsAtLine, octet == 10 {
                return index
            }
            index += 1
        }
        return octets.count
    }
}
