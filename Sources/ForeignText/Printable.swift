/// Shows foreign octets as text that can neither control a terminal nor deceive a reader.
///
/// Valid UTF-8 stays as it is, except for control characters, marks that change the direction of writing, invisible characters
/// and the backslash: these, and octets that are not UTF-8, become `\xNN`.
public enum Printable {
    /// Returns the printable form of any octets.
    public static func text(of octets: some Sequence<UInt8>) -> String {
        let octets = Array(octets)
        // The fast path, because most names and texts are plain.
        if octets.allSatisfy({ isPlain($0) && $0 != UInt8(ascii: "\\") }) { return String(decoding: octets, as: UTF8.self) }
        return pieces(of: octets, keepingBackslash: false).map(\.text).joined()
    }

    private static func isPlain(_ octet: UInt8) -> Bool { (0x20..<0x7F).contains(octet) }

    /// A character and its scalar; or an escape, without a scalar.
    private typealias Piece = (text: String, scalar: Unicode.Scalar?)

    private static func pieces(of octets: [UInt8], keepingBackslash: Bool) -> [Piece] {
        var pieces: [Piece] = []
        var index = 0
        while index < octets.count {
            let length = sequenceLength(octets, at: index)
            if length > 0, let piece = String(validating: octets[index..<index + length], as: UTF8.self),
                let scalar = piece.unicodeScalars.first,
                isHarmless(
                    scalar, after: pieces.last?.scalar, isBeforeKeycap: octets[(index + length)...].starts(with: keycap))
                    || (keepingBackslash && scalar == "\\")
            {
                pieces.append((piece, scalar))
                index += length
            } else {
                // Escapes one harmful character, or one octet that does not begin a well-formed sequence.
                let end = index + max(length, 1)
                pieces.append((octets[index..<end].map { "\\x" + Hex.encode([$0]) }.joined(), nil))
                index = end
            }
        }
        return pieces
    }

    /// U+20E3 in UTF-8.
    private static let keycap: [UInt8] = [0xE2, 0x83, 0xA3]

    /// Returns the printable form of a text, cut as ``cut(_:limit:)`` does.
    public static func text(_ foreign: String, limit: Int = 1024) -> String { text(of: cut(foreign, limit: limit).utf8) }

    /// Returns the terminal form of a text that may already have printable parts: backslashes stay, so that no escape is escaped again, and a second
    /// call returns the same text. The original octets cannot be recovered from this form; for SSIDs, where they must be, use ``text(of:)``.
    ///
    /// - Parameter limit: the largest size of this form, in octets. A text that is cut ends with an ellipsis, which does not count.
    public static func shown(_ text: String, limit: Int = 1024) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy(isPlain) { return text }
        // The printable form is at least as long as the text, so this part of a longer text is enough.
        var pieces = pieces(of: Array(text.utf8.prefix(limit + ellipsis.utf8.count + 1)), keepingBackslash: true)
        var length = pieces.reduce(0) { $0 + $1.text.utf8.count }
        let counted = pieces.last?.text == ellipsis ? length - ellipsis.utf8.count : length
        guard counted > limit else { return pieces.map(\.text).joined() }
        // Also removes a variation selector at the end, because the cut may separate it from the characters that it needs.
        while let last = pieces.last, length > limit || last.scalar?.properties.isVariationSelector == true {
            length -= last.text.utf8.count
            pieces.removeLast()
        }
        return pieces.map(\.text).joined() + ellipsis
    }

    private static let ellipsis = "…"

    /// Returns a JSON text for a terminal: characters that could deceive a reader become `\\u` escapes, which do not change the
    /// value. Encoders escape only ASCII's control characters.
    public static func json(_ text: String) -> String {
        var shown = ""
        shown.reserveCapacity(text.utf8.count)
        var previous: Unicode.Scalar?
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            if scalar.value < 0x7F
                || isHarmless(scalar, after: previous, isBeforeKeycap: scalars[index...].dropFirst().first == "\u{20E3}")
            {
                shown.unicodeScalars.append(scalar)
                previous = scalar
            } else {
                previous = nil
                for unit in UTF16.encode(scalar)! {
                    shown += "\\u" + Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)])
                }
            }
        }
        return shown
    }

    /// Returns the beginning of a text, at most `limit` octets without half a character. A cut text ends with an ellipsis, which
    /// does not count.
    public static func cut(_ text: String, limit: Int) -> String {
        beginning(of: text, limit: limit).map { $0 + ellipsis } ?? text
    }

    /// Returns the beginning without an ellipsis, in memory of its own; `nil` if the text is not too long.
    public static func beginning(of text: String, limit: Int) -> String? {
        let octets = Array(text.utf8.prefix(limit + 1))
        guard octets.count > limit else { return nil }
        var end = limit
        while end > 0, octets[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: octets[..<end], as: UTF8.self)
    }

    /// Returns the octets of a printable form; `nil` if an escape is malformed.
    public static func octets(of text: String) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.popFirst() {
            guard first == UInt8(ascii: "\\") else {
                octets.append(first)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), let high = rest.popFirst(), let low = rest.popFirst(),
                let octet = Hex.decode([high, low])
            else { return nil }
            octets += octet
        }
        return octets
    }

    /// Returns the length of the well-formed UTF-8 sequence at `index`, or 0.
    private static func sequenceLength(_ octets: [UInt8], at index: Int) -> Int {
        let length: Int
        switch octets[index] {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return 0
        }
        guard index + length <= octets.count,
            String(validating: octets[index..<index + length], as: UTF8.self) != nil
        else { return 0 }
        return length
    }

    private static func isHarmless(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, isBeforeKeycap: @autoclosure () -> Bool
    ) -> Bool {
        if scalar == "\\" { return false }
        if (0x20..<0x7F).contains(scalar.value) { return true }
        if scalar.properties.isVariationSelector {
            return selects(scalar, after: previous, isBeforeKeycap: isBeforeKeycap())
        }
        // Checks this before the category, because some ignorable characters, such as the fillers of Hangul, count as letters or
        // marks.
        if scalar.properties.isDefaultIgnorableCodePoint { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }

    /// Returns whether a variation selector changes the look of the character before it; otherwise it is invisible.
    ///
    /// - Parameters:
    ///   - previous: the visible character before it, if any.
    ///   - isBeforeKeycap: whether U+20E3 follows.
    private static func selects(_ selector: Unicode.Scalar, after previous: Unicode.Scalar?, isBeforeKeycap: Bool) -> Bool {
        guard let previous else { return false }
        switch selector.value {
        // The selectors that show a character as text or as a picture; after a digit, only within a keycap.
        case 0xFE0E, 0xFE0F: return previous.isASCII ? isBeforeKeycap && previous.properties.isEmoji : previous.properties.isEmoji
        // Mongolian letters.
        case 0x180B...0x180F: return (0x1820...0x18AA).contains(previous.value)
        default: return previous.properties.isIdeographic
        }
    }
}
