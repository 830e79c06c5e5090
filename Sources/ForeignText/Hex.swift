/// Octets in hexadecimal notation.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lower-case digits for each octet.
    ///
    /// - Parameter separator: the character between the digits of two octets.
    public static func encode(_ octets: [UInt8], separator: UInt8? = nil) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(3 * octets.count)
        for octet in octets {
            if let separator, !text.isEmpty { text.append(separator) }
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    public static func encode(_ octets: some Sequence<UInt8>) -> String { encode(Array(octets)) }

    /// Returns `nil` if a character is not a digit, or the number of digits is odd.
    public static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)) }

    public static func decode(_ text: [UInt8]) -> [UInt8]? {
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
