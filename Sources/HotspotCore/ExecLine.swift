import ForeignText

/// Splits `Exec=` as systemd splits ExecStart= (systemd.service(5), "Command lines"): quotes and C escapes, but no shell and no variables.
public enum ExecLine {
    public struct SplitError: Error {
        /// A phrase that follows the key's name.
        public let description: String

        init(_ description: String) { self.description = description }

        init(escape: String) {
            description =
                #"has the unknown escape "\\#(Printable.text(escape, limit: 16))"; known are \a \b \f \n \r \t \v \\ \" \' \s \xNN \NNN"#
        }
    }

    private static let wordLimit = 64
    private static let letters = Dictionary(
        uniqueKeysWithValues: zip("abfnrtvs\\\"'".utf8, "\u{7}\u{8}\u{C}\n\r\t\u{B} \\\"'".utf8))

    public static func split(_ line: String) throws(SplitError) -> [String] {
        var words: [String] = []
        var rest = Array(line.utf8)[...]
        func isBlank(_ octet: UInt8) -> Bool { " \t\n\r".utf8.contains(octet) }
        while true {
            rest = rest.drop(while: isBlank)
            guard let first = rest.first else { return words }
            guard words.count < wordLimit else { throw SplitError("has more than \(wordLimit) words") }
            let quote = "\"'".utf8.contains(first) ? rest.popFirst() : nil
            var word: [UInt8] = []
            while true {
                guard let octet = rest.popFirst() else {
                    if quote != nil { throw SplitError("contains a quote that is never closed") }
                    break
                }
                if octet == quote {
                    if let next = rest.first, !isBlank(next) { throw SplitError("contains text directly after a closing quote") }
                    break
                }
                if quote == nil, isBlank(octet) { break }
                word.append(octet == UInt8(ascii: "\\") ? try escape(&rest) : octet)
            }
            guard let text = String(validating: word, as: UTF8.self) else { throw SplitError(escape: "x") }
            words.append(text)
        }
    }

    /// Removes the part of an escape after the backslash, and returns the octet that the escape stands for.
    private static func escape(_ rest: inout ArraySlice<UInt8>) throws(SplitError) -> UInt8 {
        guard let letter = rest.popFirst() else { throw SplitError(escape: "") }
        if let octet = letters[letter] { return octet }
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        let text = String(decoding: [letter], as: UTF8.self)
        let octet: UInt8?
        switch letter {
        case UInt8(ascii: "x"): octet = Hex.decode(digits)?.first
        case UInt8(ascii: "0")...UInt8(ascii: "7") where digits.utf8.count == 2: octet = UInt8(text + digits, radix: 8)
        case UInt8(ascii: "0")...UInt8(ascii: "7"): octet = nil
        default: throw SplitError(escape: text)
        }
        guard let octet, octet != 0 else { throw SplitError(escape: text + digits) }
        rest = rest.dropFirst(2)
        return octet
    }
}
