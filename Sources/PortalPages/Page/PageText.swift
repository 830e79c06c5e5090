import ForeignText
import Glibc
import HotspotCore

/// Prepares a page's octets for the parser: as UTF-8 that is ``StreamSafe``, and without NULs. Character sets have iconv(3)'s names.
package enum PageText {
    /// Returns the octets to parse, and the page's character set.
    package static func normalized(_ body: [UInt8], contentType: String?) -> (octets: [UInt8], charset: String) {
        let (text, charset) = decoded(body, contentType: contentType)
        return (Array(StreamSafe.text(text).utf8), charset)
    }

    private static func decoded(_ body: [UInt8], contentType: String?) -> (text: String, charset: String) {
        // A byte order mark overrides every label (WHATWG Encoding Standard, section 6).
        if body.starts(with: [0xFF, 0xFE]) { return (utf16(body.dropFirst(2), littleEndian: true), "UTF-8") }
        if body.starts(with: [0xFE, 0xFF]) { return (utf16(body.dropFirst(2), littleEndian: false), "UTF-8") }
        // Gateways pad with NULs, and hostile pages hide text after them, because a NUL ends the page for a parser in C.
        let octets = body.map { $0 == 0 ? 0x20 : $0 }
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { return (String(decoding: octets.dropFirst(3), as: UTF8.self), "UTF-8") }
        let declared = charset(in: contentType ?? "") ?? MetaScan.charset(of: octets).map(CharacterSets.forOutput)
        let charset = declared ?? usualCharset(of: octets)
        switch charset {
        case "UTF-8": return (String(decoding: octets, as: UTF8.self), charset)
        case "UTF-16LE", "UTF-16BE": return (utf16(body[...], littleEndian: charset == "UTF-16LE"), "UTF-8")
        case "CP1252", "ISO-8859-15":
            return (utf8(octets) ?? text(of: octets, in: charset), charset)
        default: return (text(of: octets, in: charset), charset)
        }
    }

    /// Returns the character set of a page without a label: windows-1252, as for most locales (HTML Standard, 13.2.3.2), but
    /// UTF-8 if the page is valid UTF-8, as Chromium detects.
    private static func usualCharset(of octets: [UInt8]) -> String {
        octets.contains { $0 > 0x7F } && utf8(octets) != nil ? "UTF-8" : "CP1252"
    }

    /// Returns the text of octets that are valid UTF-8. Ignores up to three octets at the end, because a page that was cut may end within a
    /// character.
    private static func utf8(_ octets: [UInt8]) -> String? {
        for cut in 0..<min(4, octets.count + 1) {
            if let text = String(validating: octets.dropLast(cut), as: UTF8.self) { return text }
        }
        return nil
    }

    /// Encodes a text in a character set; as in browsers, a character that the set lacks becomes a reference such as `&#8364;`.
    package static func octets(of text: String, in charset: String) -> [UInt8] {
        guard charset != "UTF-8", !text.utf8.allSatisfy({ $0 < 0x80 }) else { return Array(text.utf8) }
        let converter = iconv_open(charset, "UTF-8")
        guard converter != iconv_t(bitPattern: -1) else { return Array(text.utf8) }
        defer { iconv_close(converter) }
        /// Converts a character; without one, returns to the initial state of a set with states.
        func convert(_ scalar: Unicode.Scalar?) -> [UInt8]? {
            var input = scalar.map { String($0).utf8.map { CChar(bitPattern: $0) } } ?? []
            var output = [CChar](repeating: 0, count: 8)
            let length = input.withUnsafeMutableBufferPointer { input in
                output.withUnsafeMutableBufferPointer { output -> Int? in
                    var (source, sourceCount) = (scalar == nil ? nil : input.baseAddress, input.count)
                    var (target, targetCount) = (output.baseAddress, output.count)
                    let result = iconv(converter, &source, &sourceCount, &target, &targetCount)
                    return result == 0 ? output.count - targetCount : nil
                }
            }
            return length.map { output[..<$0].map { UInt8(bitPattern: $0) } }
        }
        let octets = text.unicodeScalars.flatMap { convert($0) ?? (convert(nil) ?? []) + Array("&#\($0.value);".utf8) }
        return octets + (convert(nil) ?? [])
    }

    /// Decodes octets from a character set; as in browsers, invalid octets become U+FFFD.
    private static func text(of octets: [UInt8], in charset: String) -> String {
        let converter = iconv_open("UTF-8", charset)
        guard converter != iconv_t(bitPattern: -1) else { return String(decoding: octets, as: UTF8.self) }
        defer { iconv_close(converter) }
        var input = octets.map { CChar(bitPattern: $0) }
        // An octet becomes at most three octets of UTF-8.
        var output = [CChar](repeating: 0, count: 3 * octets.count)
        let length = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (source, sourceCount) = (input.baseAddress, input.count)
                var (target, targetCount) = (output.baseAddress, output.count)
                while iconv(converter, &source, &sourceCount, &target, &targetCount) == -1, sourceCount > 0, targetCount > 2 {
                    for octet in "\u{FFFD}".utf8 {
                        target?.pointee = CChar(bitPattern: octet)
                        target = target?.successor()
                    }
                    (source, sourceCount, targetCount) = (source?.successor(), sourceCount - 1, targetCount - 3)
                }
                // Some sets hold a letter back, because a mark may follow.
                iconv(converter, nil, nil, &target, &targetCount)
                return output.count - targetCount
            }
        }
        return String(decoding: output[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func utf16(_ octets: ArraySlice<UInt8>, littleEndian: Bool) -> String {
        let octets = Array(octets)
        var units: [UInt16] = []
        for index in stride(from: 0, to: octets.count - 1, by: 2) {
            let (a, b) = (UInt16(octets[index]), UInt16(octets[index + 1]))
            let unit = littleEndian ? b << 8 | a : a << 8 | b
            units.append(unit == 0 ? 0x20 : unit)
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Returns the character set of a content type; `nil` if it names none that browsers know.
    static func charset(in contentType: String) -> String? {
        var rest = contentType.lowercased()[...]
        while let range = rest.firstRange(of: "charset") {
            rest = rest[range.upperBound...].drop { $0 == " " }
            guard rest.first == "=" else { continue }
            let value = rest.dropFirst().drop { $0 == "\"" || $0 == "'" || $0 == " " }
            return CharacterSets.charset(
                named: value.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_:.".contains($0)) })
        }
        return nil
    }

    /// Returns the text with each run of blanks replaced by one space and the ends trimmed, at most `limit` characters.
    package static func squeezed(_ text: some StringProtocol, limit: Int = 300) -> String {
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
