import ForeignText
import HelperKit
import PortalCatalogue

/// Replaces private data in a recorded login. Each value becomes one made-up value of the same length and alphabet, at every place and in every
/// spelling.
struct Replacements {
    private typealias Spelling = @Sendable (String) -> String

    /// The shortest answer that is replaced. Shorter answers occur in many words, and reveal nothing.
    private static let shortest = 3
    /// The shortest private value that is replaced within other text. Shorter values are replaced only as whole words.
    private static let freeLength = 6

    /// Each spelling of a private value, with its replacement.
    private var spellings: [[UInt8]: [UInt8]] = [:]
    private var standAlone: Set<[UInt8]> = []
    /// The made-up values by the original values in lower case.
    private var made: [String: String] = [:]
    /// The Unix time of the recording, and the time in the fixture.
    private let times: (recorded: Int, fixed: Int)
    /// The words of the portal's own names, which are not replaced.
    private let ownWords: Set<String>

    /// - Parameter own: the portal's own names.
    init(recordedAt time: Int, fixed: Int, own: [String] = []) {
        times = (time, fixed)
        ownWords = Set(own.flatMap(Self.words).map { $0.lowercased() })
    }

    /// Returns whether replacing this answer would change the portal's own names.
    static func changes(_ own: [String], for answer: String) -> Bool {
        var replacements = Replacements(recordedAt: 0, fixed: 0, own: own)
        replacements.addAnswer(answer)
        return own.contains { replacements.apply($0) != $0 }
    }

    // MARK: - Private values

    /// Adds an answer of the user, the longer words in it, and the spellings that forms, scripts and portals use for them.
    mutating func addAnswer(_ answer: String) {
        guard answer.utf8.count >= Self.shortest else { return }
        let madeUp = madeUp(answer)
        add(answer, madeUp, Self.encodings)
        let words = Self.words(answer).filter { $0.utf8.count >= 4 }
        for word in words where word != answer && !ownWords.contains(word.lowercased()) {
            add(word, self.madeUp(word), [{ $0 }], isAlone: true)
        }
    }

    /// Adds an address of this machine. Keeps an IPv4 address's network part, because the portal's address has the same network
    /// part.
    mutating func addAddress(_ address: String, in texts: [String]) {
        let networks =
            address.contains(":") ? "2001:db8::" : String(address[...(address.lastIndex(of: ".") ?? address.startIndex)])
        let free = (7...).lazy.map { "\(networks)\($0)" }.first { candidate in
            candidate != address && !spellings.values.contains(Array(candidate.utf8))
                && !texts.contains { $0.contains(candidate) }
        }
        add(address, free ?? address, [{ $0 }, Self.percent], isAlone: true)
    }

    /// Adds a name of this machine.
    mutating func addName(_ name: String) {
        guard name.utf8.count >= Self.shortest, name != "localhost", !ownWords.contains(name.lowercased()) else { return }
        add(name, madeUp(name), [{ $0 }], isAlone: true)
    }

    /// Adds the value of a cookie.
    mutating func addCookie(_ header: String) {
        let value = String(header.prefix { $0 != ";" }.drop { $0 != "=" }.dropFirst())
        if value.utf8.count >= Self.freeLength { addToken(value) }
    }

    /// Adds the value of a hidden field that changes with each visit. Recognises it by the field's name, or because the value is long and mixes
    /// digits and letters.
    mutating func addHidden(_ value: String, of name: String) {
        let isNamed = ["nonce", "token", "csrf", "session"].contains { name.lowercased().contains($0) }
        let digits = value.utf8.count { (0x30...0x39).contains($0) }
        let isNumber = digits >= 8 && digits < value.utf8.count && value.utf8.allSatisfy(Self.isWord)
        if value.utf8.count >= Self.freeLength, isNamed || isNumber { addToken(value) }
    }

    /// Adds texts that look like a hardware address, a token, a session or a challenge, even if they are encoded in base64.
    mutating func learn(_ text: String) {
        // Decodes escapes first, because their digits do not belong to the token; the stored spellings cover escaped text.
        learn(PercentEncoding.decode(text.replacing("+", with: "%2B").utf8))
    }

    private mutating func learn(_ octets: [UInt8]) {
        addHardwareAddresses(octets)
        for run in octets.split(whereSeparator: { !Self.isBase64($0) }) where run.count >= 12 {
            let text = String(decoding: run, as: UTF8.self)
            let padding = String(repeating: "=", count: (4 - run.count % 4) % 4)
            if let inner = Base64.decode(text + padding).flatMap({ String(validating: $0, as: UTF8.self) }),
                inner.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
            {
                learn(inner)
                let hidden = Base64.encode(Array(apply(inner).utf8))
                // Adds the text even if it contains nothing private, so that it is not mistaken for a token.
                insert(text, hidden.filter { $0 != "=" })
            } else if run.count >= 20, Self.isMixed(text),
                text.contains("+") || !padding.isEmpty && octets[run.endIndex...].starts(with: padding.utf8)
            {
                addToken(text)
            }
        }
        for run in octets.split(whereSeparator: { !Self.isWord($0) }) where run.count >= 10 {
            let text = String(decoding: run, as: UTF8.self)
            if Self.isToken(text) {
                addToken(text)
            } else if let time = Int(text), abs(time / (run.count == 13 ? 1000 : 1) - times.recorded) < 86_400 {
                insert(text, "\(times.fixed)\(run.count == 13 ? "000" : "")", isAlone: true)
            }
        }
    }

    private mutating func addToken(_ token: String) {
        guard spellings[Array(token.utf8)] == nil else { return }
        add(token, madeUp(token), [{ $0 }, Self.percent, { Self.percent($0).lowercasedEscapes }])
    }

    private mutating func addHardwareAddresses(_ octets: [UInt8]) {
        for separator in [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: ".")] {
            let (groups, length) = separator == UInt8(ascii: ".") ? (3, 4) : (6, 2)
            for run in octets.split(whereSeparator: { !Self.isHexadecimal($0) && $0 != separator }) {
                let parts = run.split(separator: separator, omittingEmptySubsequences: false)
                guard parts.count == groups, parts.allSatisfy({ $0.count == length }) else { continue }
                let digits = String(decoding: parts.joined(), as: UTF8.self)
                let madeUp = madeUp(digits)
                for (mark, size) in [(":", 2), ("-", 2), ("", 12), (".", 4), ("%3A", 2), ("%3a", 2), ("%2D", 2)] {
                    func written(_ text: String) -> String {
                        stride(from: 0, to: 12, by: size).map { String(text.dropFirst($0).prefix(size)) }.joined(separator: mark)
                    }
                    for change in [{ $0 }, { $0.lowercased() }, { $0.uppercased() }] as [Spelling] {
                        insert(written(change(digits)), written(change(madeUp)))
                    }
                }
            }
        }
    }

    private mutating func add(_ value: String, _ madeUp: String, _ encodings: [Spelling], isAlone: Bool = false) {
        for change in [{ $0 }, { $0.lowercased() }, { $0.uppercased() }, Self.capitalised] as [Spelling] {
            for encode in encodings { insert(encode(change(value)), encode(change(madeUp)), isAlone: isAlone) }
        }
    }

    private mutating func insert(_ value: String, _ madeUp: String, isAlone: Bool = false) {
        let octets = Array(value.utf8)
        guard !octets.isEmpty, spellings[octets] == nil else { return }
        spellings[octets] = Array(madeUp.utf8)
        if isAlone || octets.count < Self.freeLength { standAlone.insert(octets) }
    }

    // MARK: - Made-up values

    /// Returns a value of the same length with digits for digits and letters for letters, in the same case.
    private mutating func madeUp(_ value: String) -> String {
        let key = value.lowercased()
        let letters = key.utf8.allSatisfy { Self.isHexadecimal($0) || $0 == UInt8(ascii: "-") } ? "abcdef" : "bcdfghjkmnpqrstvwxz"
        var seed = UInt64(made.count + 1) &* 0x9E37_79B9_7F4A_7C15
        func next(_ all: String) -> Character {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return all[all.index(all.startIndex, offsetBy: Int((seed >> 33) % UInt64(all.count)))]
        }
        var result = made[key] ?? ""
        while result.isEmpty || result == key || (made[key] == nil && made.values.contains(result)) {
            result = String(
                key.map { character in
                    if character.isASCII, !character.isLetter, !character.isNumber { return character }
                    return character.isNumber ? next("123456789") : character.isASCII ? next(letters) : "ñ"
                })
            // Begins a hardware address with 02, so that it belongs to no manufacturer.
            if key.utf8.count == 12, key.utf8.allSatisfy(Self.isHexadecimal) { result = "02" + result.dropFirst(2) }
            if !key.contains(where: { $0.isLetter || $0.isNumber }) { break }
        }
        made[key] = result
        guard key.count == value.count else { return result }
        return String(zip(value, result).map { $0.isUppercase ? Character($1.uppercased()) : $1 })
    }

    // MARK: - Spellings

    private static let encodings: [Spelling] = [
        { $0 }, percent, { percent($0).lowercasedEscapes }, { percent($0).replacing("%20", with: "+") },
        { $0.utf8.map { "%" + Hex.encode([$0]).uppercased() }.joined() }, { $0.utf8.map { "%" + Hex.encode([$0]) }.joined() },
        { String(decoding: JSONText.escape(Array($0.utf8)), as: UTF8.self) },
        { $0.unicodeScalars.map { $0.isASCII ? String($0) : "\\u" + hexadecimal($0.value) }.joined() },
        { ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"].escape($0) },
        // The spelling in a page with another character set.
        { $0.unicodeScalars.map { $0.isASCII ? String($0) : "\u{FFFD}" }.joined() },
        {
            $0.unicodeScalars.map { $0.isASCII ? percent(String($0)) : "%" + hexadecimal($0.value).suffix(2).uppercased() }
                .joined()
        },
        { Hex.encode($0.utf8) }, { Hex.encode($0.utf8).uppercased() },
        { Base64.encode(Array($0.utf8)) }, { percent(Base64.encode(Array($0.utf8))) },
        { Base64.encode(Array($0.utf8)).filter { $0 != "=" } },
        { Base64.encode(Array($0.utf8)).replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" } },
    ]

    @Sendable private static func percent(_ text: String) -> String { PercentEncoding.encode(Array(text.utf8)) }

    private static func hexadecimal(_ number: UInt32) -> String {
        Hex.encode([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    @Sendable private static func capitalised(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst().lowercased()
    }

    private static func words(_ text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// Returns whether a text mixes letters and digits as no word does. One part must have two digits. It must also have 12 or more
    /// characters, all hexadecimal digits, or 8 or more with a letter in a text of 16 or more. Thirteen decimal digits are a time, not a
    /// token.
    private static func isToken(_ text: String) -> Bool {
        text.split { $0 == "-" || $0 == "_" }.contains { piece in
            let digits = piece.utf8.count { (0x30...0x39).contains($0) }
            guard digits >= 2 else { return false }
            if piece.utf8.allSatisfy(isHexadecimal), piece.utf8.count >= 12 { return digits < 13 || piece.utf8.count != 13 }
            return piece.utf8.count >= 8 && text.utf8.count >= 16 && digits < piece.utf8.count
        }
    }

    private static func isMixed(_ text: String) -> Bool {
        text.contains(where: \.isNumber) && text.contains(where: \.isUppercase) && text.contains(where: \.isLowercase)
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case _: octet >= 0x80
        }
    }

    private static func isWord(_ octet: UInt8) -> Bool {
        octet < 0x80 && isAlphanumeric(octet) || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
    }

    private static func isBase64(_ octet: UInt8) -> Bool {
        octet < 0x80 && isAlphanumeric(octet) || octet == UInt8(ascii: "+") || octet == UInt8(ascii: "/")
    }

    private static func isHexadecimal(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        case _: false
        }
    }

    // MARK: - Replacing

    /// Returns the text with all private values replaced. At each place, the longest value is replaced; made-up values are not replaced
    /// again.
    func apply(_ text: String) -> String {
        let octets = Array(text.utf8)
        let byFirst = Dictionary(grouping: spellings.keys) { $0[0] }.mapValues { $0.sorted { $0.count > $1.count } }
        var result: [UInt8] = []
        var index = 0
        while index < octets.count {
            let found = byFirst[octets[index]]?.first { spelling in
                octets[index...].starts(with: spelling)
                    && (!standAlone.contains(spelling) || isAlone(octets, index, spelling.count))
            }
            result += found.flatMap { spellings[$0] } ?? [octets[index]]
            index += found?.count ?? 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func isAlone(_ octets: [UInt8], _ start: Int, _ count: Int) -> Bool {
        let end = start + count
        if end < octets.count, Self.isAlphanumeric(octets[end]) { return false }
        guard start > 0, Self.isAlphanumeric(octets[start - 1]) else { return true }
        // The end of an escape such as %3D does not continue a word.
        return start >= 3 && octets[start - 3] == UInt8(ascii: "%") && octets[(start - 2)..<start].allSatisfy(Self.isHexadecimal)
    }
}

extension String {
    /// The text with the digits of its percent escapes in lower case.
    fileprivate var lowercasedEscapes: String {
        var left = 0
        return String(
            map { character in
                defer { left = character == "%" ? 2 : max(0, left - 1) }
                return left > 0 ? Character(character.lowercased()) : character
            })
    }
}

extension [Character: String] {
    fileprivate func escape(_ text: String) -> String { text.map { self[$0] ?? String($0) }.joined() }
}
