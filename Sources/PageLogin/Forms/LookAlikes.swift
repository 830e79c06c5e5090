/// Characters that look like Latin letters, which impostors use in companies' names (UTS 39, section 4).
enum LookAlikes {
    /// Returns a text in plain Latin letters: styled letters, letters with marks and look-alikes of other alphabets are replaced,
    /// and invisible characters are left out.
    static func folded(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let category = scalar.properties.generalCategory
            let isMark = category == .nonspacingMark || category == .enclosingMark
            if isMark || scalar.properties.isDefaultIgnorableCodePoint { continue }
            scalars.append(latin(scalar))
        }
        return String(scalars)
    }

    /// Returns a form that is equal for words that look alike, such as "goog1e", "GoogIe" and "Google". It is only for comparison.
    static func skeleton(_ text: String) -> String {
        var skeleton = folded(text).lowercased()
        for (look, letter) in [("0", "o"), ("1", "l"), ("i", "l"), ("3", "e"), ("5", "s"), ("rn", "m"), ("vv", "w")] {
            skeleton = skeleton.replacing(look, with: letter)
        }
        return skeleton
    }

    private static func latin(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        // Latin letters with marks, small capitals, raised and lowered letters, letterlike symbols, and letters in circles and
        // squares.
        case 0xC0...0x2FF, 0x1D00...0x1D25, 0x1D2C...0x1DBF, 0x1E00...0x1EFF, 0x2071...0x209C, 0x2100...0x214F, 0x249C...0x24E9,
            0xA730...0xA7FF, 0x1F110...0x1F189, 0x1F1E6...0x1F1FF:
            return table[scalar] ?? named(scalar) ?? scalar
        case 0xFF01...0xFF5E: return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
        // Five mathematical alphabets of Greek letters, each with 25 capitals, nabla, 25 small letters and 7 symbols.
        case 0x1D6A8...0x1D7C9:
            let place = (scalar.value - 0x1D6A8) % 58
            let greek = Unicode.Scalar(place < 26 ? 0x391 + place : 0x3B1 + place - 26) ?? scalar
            return table[greek] ?? scalar
        // Five sets of mathematical digits.
        case 0x1D7CE...0x1D7FF: return Unicode.Scalar(UInt8(0x30 + (scalar.value - 0x1D7CE) % 10))
        case 0x1D400...0x1D6A5: return named(scalar) ?? scalar
        default: return table[scalar] ?? scalar
        }
    }

    /// Returns the letter in the character's name, such as MATHEMATICAL BOLD CAPITAL G or LATIN SMALL LETTER O WITH STROKE.
    private static func named(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        let words = scalar.properties.name?.split(separator: " ").prefix { $0 != "WITH" }
        guard let words, let last = words.last, last.utf8.count == 1, let letter = last.unicodeScalars.first else { return nil }
        return words.contains("CAPITAL") ? letter : letter.properties.lowercaseMapping.unicodeScalars.first
    }

    private static let table: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
        zip(
            "аеорсухіјѕԁӏɡοανικρΑΒΕΗΙΚΜΝΟΡΤΧАВЕКМНОРСТХІЈЅոսօհɑһԝℎⅰⅴⅹⅼⅽⅾⅿⅠⅤⅩⅬⅭⅮⅯ".unicodeScalars,
            "aeopcyxijsdlgoavikpABEHIKMNOPTXABEKMHOPCTXIJSnuohahwhivxlcdmIVXLCDM".unicodeScalars),
        uniquingKeysWith: { first, _ in first })
}
