import CCrypto

/// Octets in base64 (RFC 4648, section 4), with padding.
package enum Base64 {
    /// The 64 letters; the index of a letter is its value.
    package static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ octets: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (octets.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, octets, Int32(octets.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    /// Decodes base64 with padding; returns `nil` for any other text, including text with blanks or without padding.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        // Checks the text itself: libcrypto would ignore blanks and accept "=" anywhere.
        guard text.count.isMultiple(of: 4), text.dropLast(padding).allSatisfy(letters.contains) else { return nil }
        var octets = [UInt8](repeating: 0, count: text.count / 4 * 3)
        guard EVP_DecodeBlock(&octets, text, Int32(text.count)) == octets.count else { return nil }
        return octets.dropLast(padding)
    }
}
