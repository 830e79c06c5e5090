@_spi(_Unicode) import Swift

/// The alphabets of which display names are made, each by itself: a letter of one passes for a letter of another, and the marks,
/// clicks, mathematical and phonetic letters of Unicode for those of everyday (UTS #39, 5.2: the profile «highly restrictive»).
enum Alphabet: Hashable {
    case latin, greek, cyrillic, eastAsian
    /// A block of Unicode that has one alphabet: 128 characters from this one on.
    case block(UInt32)

    /// Signs that stand beside letters of any alphabet.
    private static let signs = Set(" 0123456789-_.,&'’()+/·#".unicodeScalars)

    /// Whether a name is made of one alphabet, or of Latin letters among East Asian ones; with digits, a few signs, and pictures.
    static func isPlain(_ name: String) -> Bool {
        var found: Set<Alphabet> = []
        for scalar in name._nfc where !signs.contains(scalar) && !isPicture(scalar) {
            guard let alphabet = Alphabet(scalar) else { return false }
            found.insert(alphabet)
        }
        return found.count < 2 || found == [.latin, .eastAsian]
    }

    /// Pictures that are no letters in a frame; beside some stands what asks for their colours (U+FE0F).
    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F
            || (scalar.properties.isEmoji && (scalar.value >= 0x1F300 || (0x2600...0x27BF).contains(scalar.value)))
    }

    /// The alphabet of a letter that writes a language of today; `nil` for every other character.
    private init?(_ scalar: Unicode.Scalar) {
        func isIn(_ ranges: [ClosedRange<UInt32>]) -> Bool { ranges.contains { $0.contains(scalar.value) } }
        if isIn(Self.latinRanges) {
            self = .latin
        } else if isIn([0x386...0x3CE, 0x1F00...0x1FFF]) {
            self = .greek
        } else if isIn([0x400...0x45F, 0x48A...0x4FF]) {
            self = .cyrillic
        } else if isIn([
            0x3005...0x3006, 0x3040...0x30FF, 0x3105...0x312F, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
            0x20000...0x323AF,
        ]) {
            self = .eastAsian
        } else if isIn([
            0x531...0x587, 0x5D0...0x5EA, 0x620...0x6D3, 0x6F0...0x6F9, 0x901...0x109F, 0x10D0...0x10FF, 0x1200...0x137F,
            0x1780...0x17E9,
        ]),
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || scalar.properties.generalCategory == .nonspacingMark
        {
            // Arabic and Ethiopic fill more than one.
            let block = scalar.value & ~0x7F
            self = .block(block == 0x680 ? 0x600 : block == 0x1280 || block == 0x1300 ? 0x1200 : block)
        } else {
            return nil
        }
    }

    /// Without the letters of phonetics, clicks (U+01C0), the long s, and letters that nobody writes any more.
    private static let latinRanges: [ClosedRange<UInt32>] = [
        0x41...0x5A, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x137, 0x139...0x148, 0x14A...0x17E, 0x18F...0x18F,
        0x1A0...0x1A1,
        0x1AF...0x1B0, 0x1CD...0x1DC, 0x1E6...0x1ED, 0x1F4...0x1F5, 0x1F8...0x21B, 0x21E...0x21F, 0x226...0x233, 0x259...0x259,
        0x1E00...0x1E99, 0x1EA0...0x1EF9,
    ]
}
