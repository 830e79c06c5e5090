import Glibc

/// The phrases of all languages by purpose, from the files in this folder, such as `de.words`. A text is read once for all purposes.
package struct PhraseBook: Sendable {
    /// A section of the files.
    package enum Purpose: UInt8, CaseIterable {
        case terms, binding, reading, advertising, logout, success, granted, failure, onward, access, free, code, payment, card,
            choose
        case optional, recovery, email, language, tongue, offline, blocked, router, social, voucher, back, again, ended, scan,
            decline
        case cookie, trial, key, device, identity, contact, tariff, period, extra, more, privacy, search, close, gratis
    }

    /// A phrase: its UTF-8 octets in ``octets``, because comparing octets is fast.
    private struct Phrase {
        var octets: Range<Int>
        var purpose: Purpose
        /// Whether the phrase must end a word, because a short word occurs inside many other words.
        var endsWord: Bool
        /// Whether the phrase must begin a word, because "restart" contains "start".
        var beginsWord: Bool
    }

    package static let all = PhraseBook(
        [
            PackageResources.shared_words, PackageResources.en_words, PackageResources.de_words, PackageResources.fr_words,
            PackageResources.es_words, PackageResources.it_words, PackageResources.pt_words, PackageResources.nl_words,
            PackageResources.pl_words, PackageResources.ru_words, PackageResources.tr_words, PackageResources.fa_words,
            PackageResources.ar_words, PackageResources.hi_words, PackageResources.th_words, PackageResources.id_words,
            PackageResources.vi_words, PackageResources.zh_Hans_words, PackageResources.zh_Hant_words,
            PackageResources.ja_words, PackageResources.ko_words, PackageResources.cs_words, PackageResources.sk_words,
            PackageResources.hu_words, PackageResources.ro_words, PackageResources.sv_words, PackageResources.da_words,
            PackageResources.nb_words, PackageResources.fi_words, PackageResources.uk_words, PackageResources.bg_words,
            PackageResources.el_words, PackageResources.he_words, PackageResources.hr_words, PackageResources.lv_words,
            PackageResources.lt_words, PackageResources.et_words,
        ])

    /// The longest phrase that counts only as a whole word, in characters.
    private static let shortWord = 4
    /// The number of ``starts``, a power of two.
    private static let places = 4096

    private var octets: [UInt8] = []
    /// The phrases, in the order of ``place(_:_:)``.
    private var phrases: [Phrase] = []
    /// The index of the first phrase of each place, see ``place(_:_:)``.
    private var starts: [UInt16] = []

    init(_ files: [[UInt8]]) {
        let sections = Dictionary(uniqueKeysWithValues: Purpose.allCases.map { ("\($0)", $0) })
        let size = files.reduce(0) { $0 + $1.count }
        octets.reserveCapacity(size)
        var found: [Phrase] = []
        found.reserveCapacity(size / 8)
        for file in files {
            var purpose: Purpose?
            for line in WordLines(file) {
                if line.first == UInt8(ascii: "[") {
                    purpose = sections[String(decoding: line.dropFirst().dropLast(), as: UTF8.self)]
                } else if let purpose, line.count > 1 {
                    let (isSpaced, isShort) = Self.kind(of: line)
                    let start = octets.count
                    octets += line
                    found.append(
                        Phrase(
                            octets: start..<octets.count, purpose: purpose, endsWord: isShort,
                            beginsWord: isShort || (isSpaced && (purpose == .onward || purpose == .free))))
                }
            }
        }
        let all = octets
        func place(_ phrase: Phrase) -> Int { Self.place(all[phrase.octets.lowerBound], all[phrase.octets.lowerBound + 1]) }
        var counts = [Int](repeating: 0, count: Self.places + 1)
        for phrase in found { counts[place(phrase) + 1] += 1 }
        for index in 1...Self.places { counts[index] += counts[index - 1] }
        starts = counts.map { UInt16($0) }
        phrases = found
        for phrase in found {
            phrases[counts[place(phrase)]] = phrase
            counts[place(phrase)] += 1
        }
    }

    /// Returns whether a phrase is in a writing system that puts blanks between words, and whether the phrase is then a short word.
    private static func kind(of line: WordLines.Line) -> (isSpaced: Bool, isShort: Bool) {
        if line.allSatisfy({ $0 < 0x80 }) { return (true, line.count <= shortWord) }
        let text = String(decoding: line, as: UTF8.self)
        guard text.unicodeScalars.allSatisfy(isOfSpacedScript) else { return (false, false) }
        // In these writing systems, a character has at most three scalars. Counts these first, because counting characters would take most of the
        // time.
        return (true, text.unicodeScalars.count <= 3 * shortWord && text.count <= shortWord)
    }

    /// Returns the place of the phrases with these first octets.
    private static func place(_ first: UInt8, _ second: UInt8) -> Int { (Int(first) << 4 ^ Int(second)) & (places - 1) }

    /// Calls a closure with the phrases that occur in a folded text, and with their places. The closure returns whether it wants more phrases of this
    /// purpose.
    private func read(_ text: [UInt8], _ found: (Purpose, Range<Int>) -> Bool) {
        var wanted = ~UInt64(0)
        text.withUnsafeBytes { text in
            octets.withUnsafeBytes { octets in
                for start in 0..<max(0, text.count - 1) {
                    let place = Self.place(text[start], text[start + 1])
                    for phrase in phrases[Int(starts[place])..<Int(starts[place + 1])] {
                        let end = start + phrase.octets.count
                        guard wanted >> UInt64(phrase.purpose.rawValue) & 1 == 1, end <= text.count,
                            memcmp(text.baseAddress! + start, octets.baseAddress! + phrase.octets.lowerBound, phrase.octets.count)
                                == 0,
                            !(phrase.beginsWord && Self.followsLetter(start, in: text)),
                            !(phrase.endsWord && Self.precedesLetter(end, in: text))
                        else { continue }
                        if !found(phrase.purpose, start..<end) { wanted &= ~(1 << UInt64(phrase.purpose.rawValue)) }
                    }
                }
            }
        }
    }

    /// Returns the purposes whose phrases occur in a text. A phrase for a card counts only at the beginning of the text: "Card number" means a bank
    /// card, "Library card" does not.
    func purposes(in text: String) -> Purposes {
        var purposes = Purposes()
        read(Self.folded(text)) { purpose, place in
            if purpose == .card, place.lowerBound > 0 { return true }
            purposes.insert(Purposes(purpose))
            return false
        }
        return purposes
    }

    /// Returns, in folded form, the first phrase of this purpose in a text.
    package func phrase(_ purpose: Purpose, in text: String) -> String? {
        let text = Self.folded(text)
        var first: Range<Int>?
        read(text) { found, place in
            if found == purpose, first == nil { first = place }
            return found == purpose && first == nil
        }
        return first.map { String(decoding: text[$0], as: UTF8.self) }
    }

    /// Returns a text's octets for the search: in lower case, with one kind of apostrophe and blank.
    package static func folded(_ text: String) -> [UInt8] {
        let lower = text.lowercased()
        let octets = Array(lower.utf8)
        if octets.allSatisfy({ $0 < 0x80 }) { return octets }
        let scalars = lower.unicodeScalars.map { $0 == "\u{2019}" ? "'" : $0 == "\u{A0}" ? " " : $0 }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
    }

    private static func followsLetter(_ start: Int, in text: UnsafeRawBufferPointer) -> Bool {
        String(decoding: text[max(0, start - 4)..<start], as: UTF8.self).unicodeScalars.last.map(isOfWord) ?? false
    }

    private static func precedesLetter(_ end: Int, in text: UnsafeRawBufferPointer) -> Bool {
        String(decoding: text[end...].prefix(4), as: UTF8.self).unicodeScalars.first.map(isOfWord) ?? false
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// Returns whether blanks separate words in a character's writing system. Chinese, Japanese and Thai have no blanks, and Korean adds endings.
    private static func isOfSpacedScript(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0E7F, 0x1100...0x11FF, 0x3040...0x30FF, 0x3400...0x9FFF, 0xAC00...0xD7AF: false
        default: true
        }
    }
}
