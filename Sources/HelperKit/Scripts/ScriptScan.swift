import HotspotCore

/// Recognises in a script, without running it, redirects to a literal address and the submission of a form.
enum ScriptScan {
    private static let names = ["location.href", "location"]
    private static let calls = ["location.replace", "location.assign"]

    /// Returns the address of `location = "…"`, `location.href = '…'` or `location.replace("…")`, with or without an object before it.
    static func target(in script: String) -> String? {
        let octets = Array(script.utf8)[...]
        for (words, sign) in [(calls, UInt8(ascii: "(")), (names, UInt8(ascii: "="))] {
            for word in words {
                var rest = octets
                while let start = rest.firstIndex(of: word) {
                    let after = start + word.utf8.count
                    rest = octets[after...]
                    if start > 0, isWordCharacter(octets[start - 1]) { continue }
                    let tail = rest.drop(while: isBlank)
                    guard tail.first == sign, tail.dropFirst().first != sign else { continue }
                    if let literal = literal(tail.dropFirst()) { return literal }
                }
            }
        }
        return nil
    }

    /// Returns whether the script submits a form without the user's click.
    static func submits(_ script: String) -> Bool {
        let octets = Array(script.utf8)[...]
        return [".submit()", ".submit ()", "requestSubmit()"].contains { octets.firstIndex(of: $0) != nil }
            && octets.firstIndex(of: "onclick") == nil
    }

    /// Returns the content of a quoted string that is the whole expression.
    private static func literal(_ text: ArraySlice<UInt8>) -> String? {
        let text = text.drop(while: isBlank)
        guard let quote = text.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let inner = text.dropFirst()
        guard let end = inner.firstIndex(of: quote) else { return nil }
        let value = inner[..<end]
        let after = inner[(end + 1)...].drop(while: isBlank)
        // A computed address is unknown.
        guard after.first != UInt8(ascii: "+"), !value.isEmpty, value.count <= WebURL.limit, !value.contains(10) else {
            return nil
        }
        return String(decoding: value, as: UTF8.self).replacing("\\/", with: "/").replacing("&amp;", with: "&")
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 32 || (9...13).contains(octet) }

    private static func isWordCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        default: false
        }
    }
}
