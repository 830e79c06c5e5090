/// The signs, codes and names of currencies, from the file `money.words`.
package struct Currencies: Sendable {
    enum Section: String, CaseIterable {
        case signs, codes, exact, either, words, names, kinds
    }

    package static let all = Currencies(PackageResources.money_words)

    private var entries: [Section: Set<String>] = [:]
    /// Word stems that take endings, by their first letter.
    private var stems: [Character: [String]] = [:]

    init(_ file: [UInt8]) {
        var section = Section.signs
        var words: [String] = []
        func endSection() {
            entries[section, default: []].formUnion(words)
            words = []
        }
        for line in WordLines(file) {
            if line.first == UInt8(ascii: "["),
                let next = Section(rawValue: String(decoding: line.dropFirst().dropLast(), as: UTF8.self))
            {
                endSection()
                section = next
            } else if line.last == UInt8(ascii: "*") {
                let stem = String(decoding: line.dropLast(), as: UTF8.self)
                if let first = stem.first { stems[first, default: []].append(stem) }
            } else {
                let word = String(decoding: line, as: UTF8.self)
                words.append(section == .codes ? word.lowercased() : word)
            }
        }
        endSection()
    }

    /// Returns whether a text contains a price: a currency beside a number other than zero.
    package func findsSum(in text: String) -> Bool {
        guard text.contains(where: { $0.wholeNumberValue != nil }) else { return false }
        // The Hebrew abbreviation of the shekel has a quotation mark between its letters.
        let isHebrew = text.contains("\u{5E9}")
        let letters = Array(
            isHebrew ? text.replacing("\u{5E9}\"\u{5D7}", with: "₪").replacing("\u{5E9}\u{5F4}\u{5D7}", with: "₪") : text)
        var index = 0
        while index < letters.count {
            guard letters[index].wholeNumberValue != nil else {
                index += 1
                continue
            }
            let end = Self.endOfAmount(from: index, in: letters)
            let amount = letters[index..<end]
            if amount.contains(where: { ($0.wholeNumberValue ?? 0) > 0 }),
                isFollowed(letters[end...]) || isPreceded(letters[..<index], amount)
                    || (Self.hasCents(amount) && Self.isForPeriod(letters[end...]))
            {
                return true
            }
            index = end
        }
        return false
    }

    /// Returns whether a text ends with an amount that names no currency: a number other than zero, with two decimals, as in "Gold -
    /// 9,90".
    static func endsWithSum(_ text: String) -> Bool {
        let amount = text.reversed().drop(while: \.isWhitespace).prefix { isOfAmount($0) }.reversed()
        return hasCents(Array(amount)[...]) && amount.contains { ($0.wholeNumberValue ?? 0) > 0 }
    }

    /// Returns whether a number has two decimals, after digits or groups of three.
    private static func hasCents(_ amount: ArraySlice<Character>) -> Bool {
        let parts = amount.split(omittingEmptySubsequences: false) {
            $0 == "." || $0 == "," || $0 == "'" || $0 == "’" || isBlank($0)
        }
        return parts.count > 1 && parts.last?.count == 2 && parts.dropFirst().dropLast().allSatisfy { $0.count == 3 }
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.wholeNumberValue != nil } }
    }

    /// Returns whether a text continues with a period, such as "a day", "/month" or "pro Woche".
    private static func isForPeriod(_ rest: ArraySlice<Character>) -> Bool {
        let words = rest.prefix(24).prefix { !",.;!?()\n".contains($0) }.split { !$0.isLetter && $0 != "/" }.prefix(2)
        guard let first = words.first, first.first == "/" || first.count <= 5 else { return false }
        return PhraseBook.all.purposes(in: words.map { String($0) }.joined(separator: " ").replacing("/", with: " ")).has(.period)
    }

    /// Returns whether a text contains only a sum.
    package func isOnlySum(_ text: String) -> Bool { findsSum(in: text) && text.split { !$0.isLetter }.allSatisfy(knows) }

    package static func isOfAmount(_ character: Character) -> Bool {
        character.wholeNumberValue != nil || character == "." || character == ","
    }

    /// Returns whether a word on its own means a currency.
    private func knows(_ word: Substring) -> Bool {
        word == "Rs" || has(word, in: .exact) || has(word.lowercased()[...], in: .codes, .either, .words, .names)
            || hasStem(word.lowercased())
    }

    /// Returns the end of a number, whose digits may be in groups: "10 000", "1'000.50", "5,-".
    private static func endOfAmount(from start: Int, in letters: [Character]) -> Int {
        var end = start + 1
        while end < letters.count {
            let isDigit = letters[end].wholeNumberValue != nil
            let joins = isBlank(letters[end]) || letters[end] == "'" || letters[end] == "’"
            let group = letters[(end + 1)...].prefix { $0.wholeNumberValue != nil }
            guard isDigit || Self.isOfAmount(letters[end]) || (joins && group.count == 3) else { break }
            end += 1
        }
        return end
    }

    private func isFollowed(_ rest: ArraySlice<Character>) -> Bool {
        let rest = rest.drop { Self.isBlank($0) || Self.dashes.contains($0) }
        guard let first = rest.first else { return false }
        if has(String(first)[...], in: .signs) { return true }
        let word = String(rest.prefix(while: \.isLetter))
        let next = rest.dropFirst(word.count).drop { Self.isBlank($0) || Self.dashes.contains($0) }
        let lower = word.lowercased()
        // "US$", "us dollars".
        if has(lower[...], in: .kinds) { return isFollowed(next) }
        if next.first == "$", word.count <= 3, word == word.uppercased(), !word.isEmpty { return true }
        // "12 Pound Street" is an address, not a price.
        if has(lower[...], in: .names) { return word == lower || !(next.first?.isUppercase ?? false) }
        return has(word[...], in: .exact) || has(lower[...], in: .codes, .either, .words) || hasStem(lower)
    }

    private func isPreceded(_ text: ArraySlice<Character>, _ amount: ArraySlice<Character>) -> Bool {
        let before = text.reversed().drop { Self.isBlank($0) || $0 == ":" || $0 == "." }
        guard let last = before.first else { return false }
        if has(String(last)[...], in: .signs) { return true }
        let word = String(before.prefix(while: \.isLetter).reversed())
        // "kr1" is the name of a control: letters directly before the number count only if they begin with a capital.
        let isGlued = text.last?.isLetter ?? false
        guard !isGlued || (word.first?.isUppercase ?? false) else { return false }
        if has(word[...], in: .exact) || has(word.lowercased()[...], in: .codes) { return true }
        // "Euro 2028" is a championship, not a price.
        let year = Int(String(amount)) ?? 0
        return has(word.lowercased()[...], in: .either) && !(1900...2099).contains(year)
    }

    private func has(_ word: Substring, in sections: Section...) -> Bool {
        sections.contains { entries[$0]?.contains(String(word)) ?? false }
    }

    private func hasStem(_ word: String) -> Bool {
        word.first.map { stems[$0]?.contains { word.hasPrefix($0) } ?? false } ?? false
    }

    private static let dashes: Set<Character> = ["-", "–", "—", "−"]

    private static func isBlank(_ character: Character) -> Bool { character.isWhitespace && !character.isNewline }
}
