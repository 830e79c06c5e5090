/// The phrases of all languages by purpose, from the files beside this one: `de.words` and so on.
struct PhraseBook: Sendable {
    /// A section of the files.
    enum Purpose: String, CaseIterable {
        case terms, binding, reading, advertising, logout, success, granted, failure, onward, access, free, code, payment, card,
            choose
        case optional, recovery, email, language, tongue, offline, blocked, router, social, voucher, back, again, ended, scan,
            decline
        case cookie, trial, key, device, identity, contact, tariff, period, extra, more, privacy, search
    }

    /// A phrase in octets of UTF-8, because searching for octets is fast.
    private struct Phrase {
        var octets: [UInt8]
        /// It must end a word: a short word is a part of many others.
        var endsWord: Bool
        /// It must begin one, as "start" does not in "restart".
        var beginsWord: Bool
    }

    static let all = PhraseBook(
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

    /// The longest word that must stand alone, in characters.
    private static let shortWord = 4

    private var phrases: [Purpose: [Phrase]] = [:]

    init(_ files: [[UInt8]]) {
        for file in files {
            var purpose: Purpose?
            for line in String(decoding: file, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
                if line.hasPrefix("[") {
                    purpose = Purpose(rawValue: String(line.dropFirst().dropLast()))
                } else if let purpose {
                    let isSpaced = line.unicodeScalars.allSatisfy(Self.isOfSpacedScript)
                    let isShort = isSpaced && line.count <= Self.shortWord
                    phrases[purpose, default: []].append(
                        Phrase(
                            octets: Array(line.utf8), endsWord: isShort,
                            beginsWord: isShort || (isSpaced && (purpose == .onward || purpose == .free))))
                }
            }
        }
    }

    /// Returns whether a text has a phrase of this purpose.
    func finds(_ purpose: Purpose, in text: String) -> Bool { range(of: purpose, in: Self.folded(text)) != nil }

    /// Returns a text's octets for the search: in lower case, with one kind of apostrophe and blank.
    static func folded(_ text: String) -> [UInt8] {
        let lower = text.lowercased()
        let octets = Array(lower.utf8)
        if octets.allSatisfy({ $0 < 0x80 }) { return octets }
        let scalars = lower.unicodeScalars.map { $0 == "\u{2019}" ? "'" : $0 == "\u{A0}" ? " " : $0 }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
    }

    /// Returns where a phrase of this purpose first occurs in a folded text.
    func range(of purpose: Purpose, in text: [UInt8]) -> Range<Int>? {
        for phrase in phrases[purpose] ?? [] {
            var start = 0
            while let range = Self.range(of: phrase.octets, in: text, from: start) {
                if !(phrase.beginsWord && Self.followsLetter(range, in: text)),
                    !(phrase.endsWord && Self.precedesLetter(range, in: text))
                {
                    return range
                }
                start = range.upperBound
            }
        }
        return nil
    }

    private static func range(of phrase: [UInt8], in text: [UInt8], from start: Int) -> Range<Int>? {
        text.withUnsafeBytes { text in phrase.withUnsafeBytes { text.firstRange(of: $0, from: start) } }
    }

    private static func followsLetter(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        let before = text[max(0, range.lowerBound - 4)..<range.lowerBound]
        return String(decoding: before, as: UTF8.self).unicodeScalars.last.map(isOfWord) ?? false
    }

    private static func precedesLetter(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        String(decoding: text[range.upperBound...].prefix(4), as: UTF8.self).unicodeScalars.first.map(isOfWord) ?? false
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// Returns whether words of this script have blanks between them. Chinese, Japanese and Thai have none, and Korean adds endings.
    private static func isOfSpacedScript(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0E7F, 0x1100...0x11FF, 0x3040...0x30FF, 0x3400...0x9FFF, 0xAC00...0xD7AF: false
        default: true
        }
    }
}
