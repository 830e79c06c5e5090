import ForeignText

/// Octets in addresses and forms: all but unreserved characters (RFC 3986, section 2.3) as `%XX`.
enum PercentEncoding {
    static func encode(_ octets: [UInt8]) -> String {
        var text = ""
        for octet in octets {
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(octet))
            default: text += "%" + Hex.encode([octet]).uppercased()
            }
        }
        return text
    }

    /// Reads `%XX` and `+`.
    static func decode(_ octets: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(octets)[...]
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "%"), let decoded = Hex.decode(Array(rest.prefix(2))), rest.count >= 2 {
                result += decoded
                rest = rest.dropFirst(2)
            } else {
                result.append(octet == UInt8(ascii: "+") ? 0x20 : octet)
            }
        }
        return result
    }

    /// Returns the decoded value of a query's pair; `nil` if there is none of this name.
    static func pair(_ name: String, of query: some Collection<UInt8>) -> [UInt8]? {
        pairs(of: query).first { $0.name.elementsEqual(name.utf8) }?.value
    }

    /// Returns the decoded pairs of a query.
    static func pairs(of query: some Collection<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        query.split(separator: UInt8(ascii: "&")).map { pair in
            let key = pair.prefix { $0 != UInt8(ascii: "=") }
            return (decode(key), decode(pair.dropFirst(key.count + 1)))
        }
    }
}

/// Strings of JSON (RFC 8259, section 7).
enum JSONText {
    static func escape(_ octets: [UInt8]) -> [UInt8] {
        octets.flatMap { octet -> [UInt8] in
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), octet]
            case 0..<0x20: Array("\\u00\(Hex.encode([octet]))".utf8)
            default: [octet]
            }
        }
    }
}

/// Strings of scripts.
enum ScriptText {
    /// Returns the string that begins after blanks, without its quotes, as octets; empty if there is none.
    static func literal(in octets: [UInt8]) -> [UInt8] {
        let rest = octets.drop { $0 <= 0x20 }
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return [] }
        var isEscaped = false
        let text = rest.dropFirst().prefix { octet in
            defer { isEscaped = octet == UInt8(ascii: "\\") && !isEscaped }
            return octet != quote || isEscaped
        }
        return text.endIndex < rest.endIndex ? unescape(Array(text)) : []
    }

    /// Reads escapes (ECMA-262, "String Literals", with the octal ones of annex B) as octets: those of one octet are Latin-1.
    static func unescape(_ octets: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = octets[...]
        func number(_ digits: ArraySlice<UInt8>, _ radix: Int) -> UInt32? {
            UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
        }
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "\\"), let escape = rest.first else {
                result.append(octet)
                continue
            }
            switch escape {
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                var digits = rest.prefix(3).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
                if let value = number(digits, 8), value > 255 { digits = digits.dropLast() }
                rest = rest.dropFirst(digits.count)
                result.append(UInt8(number(digits, 8) ?? 0))
            case UInt8(ascii: "x"), UInt8(ascii: "u"):
                let count = escape == UInt8(ascii: "x") ? 2 : 4
                let digits = rest.dropFirst().prefix(count)
                rest = rest.dropFirst()
                guard digits.count == count, let value = number(digits, 16), let scalar = Unicode.Scalar(value) else { continue }
                rest = rest.dropFirst(count)
                result += value < 256 ? [UInt8(value)] : Array(String(Character(scalar)).utf8)
            default:
                rest = rest.dropFirst()
                let controls: [UInt8: UInt8] = [
                    UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "b"): 8,
                    UInt8(ascii: "f"): 12,
                    UInt8(ascii: "v"): 11,
                ]
                result.append(controls[escape] ?? escape)
            }
        }
        return result
    }
}

/// Entities of HTML and XML: the numeric ones, and the names that addresses and sentences need.
enum Entities {
    private static let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " "]

    static func decode(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            let name = rest.dropFirst().prefix(10).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "#") }
            let decoded = name.hasPrefix("#") ? character(name.dropFirst()) : names[name.lowercased()]
            guard let decoded else {
                result.append("&")
                rest = rest.dropFirst()
                continue
            }
            result += decoded
            rest = rest[name.endIndex...]
            if rest.first == ";" { rest = rest.dropFirst() }
        }
        return result + rest
    }

    private static func character(_ digits: Substring) -> String? {
        let value = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}

/// Durations as gateways write them: `1w2d3h4m5s` or `01:02:03`.
enum SpokenDuration {
    private static let units: [Character: Int] = ["w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1]

    /// Returns the seconds; `nil` if the text is no duration.
    static func read(_ text: String) -> Int? {
        guard text.utf8.count <= 24, text.contains(where: { $0.isNumber }) else { return nil }
        if text.contains(":") {
            let parts = text.split(separator: ":").map { Int($0) }
            return parts.reduce(Int?(0)) { total, part in part.flatMap { part in total.map { $0 * 60 + part } } }
        }
        var (total, number) = (0, "")
        for character in text where character != " " {
            if character.isNumber {
                number.append(character)
            } else {
                guard let unit = units[character], let value = Int(number), value < 1_000_000 else { return nil }
                (total, number) = (total + value * unit, "")
            }
        }
        return number.isEmpty ? total : total == 0 ? Int(number) : nil
    }
}
