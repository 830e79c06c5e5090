import ForeignText
import HotspotCore

/// Prepares a page's octets for the parser: as UTF-8 where possible, without NULs and without tags that cost too much.
enum PageText {
    /// Returns the octets to parse, and the name of their encoding for libxml2.
    static func normalized(_ body: [UInt8], contentType: String?) -> (octets: [UInt8], encoding: String) {
        // A byte order mark wins over every label (WHATWG Encoding Standard, section 6).
        if body.starts(with: [0xFF, 0xFE]) { return (utf16(body.dropFirst(2), littleEndian: true), "UTF-8") }
        if body.starts(with: [0xFE, 0xFF]) { return (utf16(body.dropFirst(2), littleEndian: false), "UTF-8") }
        // Gateways pad with NULs, and hostile pages hide text after them: a NUL would end the page for a parser in C.
        let octets = body.map { $0 == 0 ? 0x20 : $0 }
        let label = (charset(in: contentType ?? "") ?? metaCharset(octets) ?? "utf-8").lowercased()
        switch label {
        case "gbk", "gb2312", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "koi8-r", "iso-8859-2",
            "windows-1250":
            return (octets, label.uppercased())
        case "iso-8859-1", "latin1", "windows-1252", "iso-8859-15":
            if String(validating: octets, as: UTF8.self) == nil {
                return (Array(String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) })).utf8), "UTF-8")
            }
            return (octets, "UTF-8")
        default:
            return (Array(StreamSafe.text(String(decoding: octets, as: UTF8.self)).utf8), "UTF-8")
        }
    }

    private static func utf16(_ octets: ArraySlice<UInt8>, littleEndian: Bool) -> [UInt8] {
        let octets = Array(octets)
        var units: [UInt16] = []
        for index in stride(from: 0, to: octets.count - 1, by: 2) {
            let (a, b) = (UInt16(octets[index]), UInt16(octets[index + 1]))
            let unit = littleEndian ? b << 8 | a : a << 8 | b
            units.append(unit == 0 ? 0x20 : unit)
        }
        return Array(StreamSafe.text(String(decoding: units, as: UTF16.self)).utf8)
    }

    private static func metaCharset(_ octets: [UInt8]) -> String? {
        charset(in: String(decoding: octets.prefix(1024), as: UTF8.self))
    }

    private static func charset(in text: String) -> String? {
        let text = text.lowercased()
        guard let range = text.firstRange(of: "charset=") else { return nil }
        let rest = text[range.upperBound...].drop { $0 == "\"" || $0 == "'" || $0 == " " }
        let word = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return word.isEmpty ? nil : String(word)
    }

    /// Returns how many octets come before the first tag with more than about 2000 attributes: the parser compares them in quadratic time.
    static func cut(_ octets: [UInt8]) -> Int {
        var inTag = false
        var quote: UInt8 = 0
        var spaces = 0
        var start = 0
        for (index, octet) in octets.enumerated() {
            if !inTag {
                if octet == UInt8(ascii: "<") {
                    inTag = true
                    start = index
                    spaces = 0
                    quote = 0
                }
            } else if quote != 0 {
                if octet == quote { quote = 0 }
                // A very long quoted value may not be quoted for the parser: its blanks count as well.
                if octet <= 0x20 { spaces += index - start > 65536 ? 1 : 0 }
            } else {
                switch octet {
                case UInt8(ascii: ">"): inTag = false
                case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = octet
                case UInt8(ascii: "="), UInt8(ascii: "/"), 0...0x20: spaces += 1
                default: break
                }
            }
            if spaces > 2000 { return start }
        }
        return octets.count
    }

    /// Returns the text with each run of blanks made one space and the ends trimmed, at most `limit` characters.
    static func squeezed(_ text: some StringProtocol, limit: Int = 300) -> String {
        var result = ""
        var pending = false
        var count = 0
        for character in text {
            if character.isWhitespace {
                pending = !result.isEmpty
                continue
            }
            if pending {
                result.append(" ")
                count += 1
                pending = false
            }
            result.append(character)
            count += 1
            if count >= limit { break }
        }
        return result
    }
}
