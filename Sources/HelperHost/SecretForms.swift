@_spi(_Unicode) import Swift

import ForeignText
import HotspotCore

/// How programs write a text: as it is, printable, in JSON, in HTML, and in a form's body or a URL; and each of these with letters and
/// marks in one or in two characters.
enum SecretForms {
    /// All forms, with repetitions.
    static func all(of text: String) -> [[UInt8]] {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        return (isASCII ? [text] : [text, composed(text), decomposed(text)]).flatMap(forms)
    }

    private static func forms(of text: String) -> [[UInt8]] {
        let plain = [Array(text.utf8), Array(Printable.text(of: text.utf8).utf8)]
        let web = [false, true].flatMap { isUpper in
            ["%20", "+"].map { percentEncoded(text, space: $0, isUpper: isUpper) }
        }
        let json = [jsonEscaped(text, asASCII: nil), jsonEscaped(text, asASCII: false), jsonEscaped(text, asASCII: true)]
        // Libraries differ in the quotes that they escape, and in how.
        let html = [("\"", "'"), ("&quot;", "'"), ("&quot;", "&#x27;"), ("&quot;", "&#39;")].map {
            htmlEscaped(text, quote: $0, apostrophe: $1)
        }
        return plain + web + json + html
    }

    private static func composed(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfc { scalars.append(scalar) }
        return String(scalars)
    }

    private static func decomposed(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfd { scalars.append(scalar) }
        return String(scalars)
    }

    private static func percentEncoded(_ text: String, space: String, isUpper: Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(octet)
            case UInt8(ascii: " "): encoded += space.utf8
            default:
                encoded.append(UInt8(ascii: "%"))
                append(octet, isUpper, &encoded)
            }
        }
        return encoded
    }

    /// With the two escapes that all JSON needs alone (`nil`), or with the others too and everything beyond ASCII in UTF-16, its digits
    /// in upper case or not.
    private static func jsonEscaped(_ text: String, asASCII isUpper: Bool?) -> [UInt8] {
        var escaped: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += [UInt8(ascii: "\\"), UInt8(scalar.value)]
            case " "..."~": escaped.append(UInt8(scalar.value))
            default:
                guard let isUpper else {
                    escaped += UTF8.encode(scalar)!
                    continue
                }
                if let short = shortEscapes[scalar] {
                    escaped += [UInt8(ascii: "\\"), short]
                    continue
                }
                for unit in UTF16.encode(scalar)! {
                    escaped += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
                    append(UInt8(unit >> 8), isUpper, &escaped)
                    append(UInt8(unit & 0xFF), isUpper, &escaped)
                }
            }
        }
        return escaped
    }

    private static let shortEscapes: [Unicode.Scalar: UInt8] = [
        "\u{8}": UInt8(ascii: "b"), "\t": UInt8(ascii: "t"), "\n": UInt8(ascii: "n"), "\u{C}": UInt8(ascii: "f"),
        "\r": UInt8(ascii: "r"),
    ]

    private static func htmlEscaped(_ text: String, quote: String, apostrophe: String) -> [UInt8] {
        var escaped: [UInt8] = []
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += quote.utf8
            case UInt8(ascii: "'"): escaped += apostrophe.utf8
            default: escaped.append(octet)
            }
        }
        return escaped
    }

    private static func append(_ octet: UInt8, _ isUpper: Bool, _ octets: inout [UInt8]) {
        let digits: StaticString = isUpper ? "0123456789ABCDEF" : "0123456789abcdef"
        digits.withUTF8Buffer { octets += [$0[Int(octet >> 4)], $0[Int(octet & 15)]] }
    }
}
