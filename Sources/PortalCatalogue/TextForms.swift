import ForeignText

/// Octets in addresses and forms: `%XX` for all except unreserved characters (RFC 3986, section 2.3).
package enum PercentEncoding {
    package static func encode(_ octets: [UInt8]) -> String {
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
    package static func decode(_ octets: some Collection<UInt8>) -> [UInt8] {
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

    /// Returns the decoded value of the query's pair with this name; `nil` if there is no such pair.
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
package enum JSONText {
    package static func escape(_ octets: [UInt8]) -> [UInt8] {
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

    /// Replaces escapes (ECMA-262, "String Literals", with the octal escapes of annex B): a character below 256 by one octet, other characters by
    /// their UTF-8.
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

/// Entities of HTML and XML: the numeric ones, and the names that occur in addresses and sentences.
enum Entities {
    private static let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " "]

    static func decode(_ octets: [UInt8]) -> [UInt8] {
        var (result, rest) = ([UInt8](), octets[...])
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<start]
            let word = rest[start...].dropFirst().prefix(10).prefix(while: isOfName)
            let name = String(decoding: word, as: UTF8.self)
            guard let decoded = name.hasPrefix("#") ? character(name.dropFirst()) : names[name.lowercased()] else {
                result.append(UInt8(ascii: "&"))
                rest = rest[(start + 1)...]
                continue
            }
            result += Array(decoded.utf8)
            rest = rest[word.endIndex...]
            if rest.first == UInt8(ascii: ";") { rest = rest.dropFirst() }
        }
        return result + rest
    }

    private static func isOfName(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "#"):
            true
        default: false
        }
    }

    private static func character(_ digits: Substring) -> String? {
        let value = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}

/// Durations as gateways write them: `1w2d3h4m5s` or `01:02:03`.
enum SpokenDuration {
    private static let units: [UInt8: Int] = [
        UInt8(ascii: "w"): 604_800, UInt8(ascii: "d"): 86_400, UInt8(ascii: "h"): 3600, UInt8(ascii: "m"): 60,
        UInt8(ascii: "s"): 1,
    ]

    /// Returns the seconds; `nil` if the text is not a duration, or is too large for an integer.
    static func read(_ octets: [UInt8]) -> Int? {
        guard octets.count <= 24, octets.contains(where: isDigit) else { return nil }
        if octets.contains(UInt8(ascii: ":")) {
            return octets.split(separator: UInt8(ascii: ":")).reduce(0) { total, part in
                total.flatMap { $0.times(60) }.flatMap { total in number(part).flatMap { total.plus($0) } }
            }
        }
        var rest = octets.filter { $0 != UInt8(ascii: " ") }[...]
        if let seconds = number(rest) { return seconds }
        var total = 0
        while !rest.isEmpty {
            let digits = rest.prefix(while: isDigit)
            guard let count = number(digits), let unit = rest.dropFirst(digits.count).first.flatMap({ units[$0] }),
                let sum = count.times(unit).flatMap(total.plus)
            else { return nil }
            total = sum
            rest = rest.dropFirst(digits.count + 1)
        }
        return total
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(isDigit) ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }
}

extension Int {
    /// Returns the product; `nil` if it overflows.
    fileprivate func times(_ factor: Int) -> Int? {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// Returns the sum; `nil` if it overflows.
    fileprivate func plus(_ other: Int) -> Int? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
