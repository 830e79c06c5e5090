/// Text in which no character carries more combining marks than any language needs (Unicode Standard Annex #15, Stream-Safe Text Format).
///
/// Strings are hashed and compared in their normal form, which sorts the marks after a character in quadratic time. Measured with
/// Swift 6.2: 20,000 marks take 85 ms, 500,000 would take a minute; stream-safe text takes linear time. So foreign text is
/// checked before it becomes a key or is compared.
public enum StreamSafe {
    /// The largest number of marks after one character.
    public static let limit = 30

    /// Returns whether all strings of a JSON text are stream-safe; a `\u` escape counts as its character.
    public static func isSafe(json octets: [UInt8]) -> Bool {
        var run = 0
        var ahead = octets[...]
        while let octet = ahead.first {
            let (scalar, count) =
                switch octet {
                case UInt8(ascii: "\\"): escape(ahead) ?? (nil, 2)
                case 0..<Self.firstMark: (nil, 1)
                default: decoded(ahead)
                }
            run = isMark(scalar) ? run + 1 : 0
            if run > limit { return false }
            ahead = ahead.dropFirst(count)
        }
        return true
    }

    /// Returns whether no character of a text has more marks than the limit.
    public static func isSafe(_ text: some StringProtocol) -> Bool {
        var run = 0
        return text.unicodeScalars.allSatisfy { scalar in
            run = isMark(scalar) ? run + 1 : 0
            return run <= limit
        }
    }

    /// Returns whether a text in UTF-8 is stream-safe.
    public static func isSafe(utf8 octets: ArraySlice<UInt8>) -> Bool {
        octets.allSatisfy { $0 < firstMark } || isSafe(String(decoding: octets, as: UTF8.self))
    }

    /// Returns the text without the marks above the limit.
    public static func text(_ foreign: String) -> String {
        guard foreign.utf8.contains(where: { $0 >= firstMark }) else { return foreign }
        var run = 0
        var kept = String.UnicodeScalarView()
        for scalar in foreign.unicodeScalars {
            run = isMark(scalar) ? run + 1 : 0
            if run <= limit { kept.append(scalar) }
        }
        return String(kept)
    }

    /// The first octet of the first mark, U+0300, in UTF-8. No mark begins with a lower octet.
    private static let firstMark: UInt8 = 0xCC

    private static func isMark(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.value >= 0x300 else { return false }
        return scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// Reads a `\u` escape, or the two escapes of a surrogate pair, at the beginning; returns `nil` for any other text.
    private static func escape(_ octets: ArraySlice<UInt8>) -> (Unicode.Scalar?, Int)? {
        guard let first = unit(octets) else { return nil }
        if UTF16.isLeadSurrogate(first), let second = unit(octets.dropFirst(6)), UTF16.isTrailSurrogate(second) {
            return (UTF16.decode(UTF16.EncodedScalar([first, second])), 12)
        }
        return (Unicode.Scalar(first), 6)
    }

    private static func unit(_ octets: ArraySlice<UInt8>) -> UInt16? {
        let escape = octets.prefix(6)
        guard escape.count == 6, escape.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return nil }
        return UInt16(String(decoding: escape.dropFirst(2), as: UTF8.self), radix: 16)
    }

    /// Returns the scalar at the beginning and its number of octets; no scalar for an octet that is not UTF-8.
    private static func decoded(_ octets: ArraySlice<UInt8>) -> (Unicode.Scalar?, Int) {
        var decoder = UTF8()
        var iterator = octets.prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return (nil, 1) }
        return (scalar, UTF8.width(scalar))
    }
}
