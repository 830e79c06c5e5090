/// Octets of foreign origin as text that can neither command a terminal nor deceive a reader.
///
/// Valid UTF-8 stays as it is, but for control characters, marks that change the direction of writing, characters that nobody
/// sees, and the backslash: these, and octets that are not UTF-8, become `\xNN`.
public enum Printable {
    /// The printable form of any octets.
    public static func text(of octets: some Sequence<UInt8>) -> String { text(of: Array(octets), keepingBackslash: false) }

    private static func text(of octets: [UInt8], keepingBackslash: Bool) -> String {
        var text = ""
        var index = 0
        var previous: Unicode.Scalar?
        while index < octets.count {
            let length = sequenceLength(octets, at: index)
            if length > 0, let piece = String(validating: octets[index..<index + length], as: UTF8.self),
                let scalar = piece.unicodeScalars.first,
                isHarmless(scalar, after: previous, isBeforeKeycap: octets[(index + length)...].starts(with: keycap))
                    || (keepingBackslash && scalar == "\\")
            {
                text += piece
                index += length
                previous = scalar
            } else {
                // Only as many octets as belong together are escaped; the next one starts afresh.
                for octet in octets[index..<index + max(length, 1)] { text += "\\x" + Hex.encode([octet]) }
                index += max(length, 1)
                previous = nil
            }
        }
        return text
    }

    /// U+20E3 in UTF-8.
    private static let keycap: [UInt8] = [0xE2, 0x83, 0xA3]

    /// Foreign text made safe in the same way; a long one is cut, see ``cut(_:limit:)``.
    public static func text(_ foreign: String, limit: Int = 1024) -> String { text(of: cut(foreign, limit: limit).utf8) }

    /// Text for a terminal that may be printable already, or have printable parts: backslashes stay, so that what is escaped is not
    /// escaped again; everything else is escaped as ever. The same text comes out however often it passes through. No octets can be
    /// read back from it: names that are, such as SSIDs, need ``text(of:)``.
    public static func shown(_ text: String, limit: Int = 1024) -> String {
        Self.text(of: Array(cut(text, limit: limit).utf8), keepingBackslash: true)
    }

    /// A JSON text for a terminal: what could deceive a reader stands in it as `\\u` escapes, which any reader of JSON takes for the same
    /// text. Encoders leave all of it alone but for ASCII's control characters.
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

    /// The beginning of a text, at most `limit` octets long and without half a character; what was cut ends with an ellipsis, which
    /// does not count.
    public static func cut(_ text: String, limit: Int) -> String {
        beginning(of: text, limit: limit).map { $0 + "…" } ?? text
    }

    /// The same without an ellipsis, in memory of its own; `nil` if the text is not too long.
    public static func beginning(of text: String, limit: Int) -> String? {
        let octets = Array(text.utf8.prefix(limit + 1))
        guard octets.count > limit else { return nil }
        var end = limit
        while end > 0, octets[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: octets[..<end], as: UTF8.self)
    }

    /// The octets that a printable form stands for; `nil` if an escape is malformed.
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

    /// The length of the well-formed UTF-8 sequence at `index`, or 0.
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
            return VariationSelector.fits(scalar, after: previous, isBeforeKeycap: isBeforeKeycap())
        }
        // Letters and marks are among them, such as the fillers of Hangul.
        if scalar.properties.isDefaultIgnorableCodePoint { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}

/// Hexadecimal, as the contract writes octets.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits an octet.
    public static func encode(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for octet in octets {
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` if a character is no digit or their number is odd.
    public static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)) }

    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(text[index]), let low = value(text[index + 1]) else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
