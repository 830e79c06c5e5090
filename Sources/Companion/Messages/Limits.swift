import Answers
import ForeignText
import HotspotCore

/// The limits for everything that is read from a peer. A peer is paired, but an attacker may control it.
enum Limits {
    static let name = 64
    static let identifier = 64
    static let fieldName = 256
    static let value = 1024
    static let answers = 32
    static let portalFile = 32 * 1024
    /// The longest life of an offer, in seconds. Offers are meant for a login soon.
    static let expiry = 7 * 24 * 3600

    /// Returns whether a text is readable: none of its octets has to be escaped.
    static func isPrintable(_ text: String, _ limit: Int, from least: Int = 1) -> Bool {
        (least...limit).contains(text.utf8.count) && Printable.shown(text, limit: limit) == text
    }

    /// Returns whether a text is an identifier: ASCII letters, digits, `-` and `_`.
    static func isIdentifier(_ text: String) -> Bool {
        (1...identifier).contains(text.utf8.count)
            && text.utf8.allSatisfy { octet in
                octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
            }
    }

    static func isPortal(_ portal: Portal) -> Bool {
        Origin.isValid(portal.origin) && isPrintable(portal.kind, name) && portal.pin.map { isPrintable($0, name) } != false
            && portal.title.map { $0.utf8.count <= 200 } != false
    }

    static func areAnswers(_ values: [String: String]) -> Bool {
        values.count <= answers && values.allSatisfy { isPrintable($0.key, fieldName) && isPrintable($0.value, value, from: 0) }
    }

    /// Returns whether each line of a portal file is printable.
    static func isPortalFile(_ text: String) -> Bool {
        text.utf8.count <= portalFile
            && text.split(separator: "\n").allSatisfy { line in
                isPrintable(String(line.map { $0 == "\t" ? " " : $0 }), portalFile, from: 0)
            }
    }
}

extension [String: SecretText] {
    var texts: [String: String] { mapValues(\.text) }
}
