/// Code points that choose how the character before them looks. Behind any other character they are invisible.
enum VariationSelector {
    /// Whether the selector has something to choose.
    ///
    /// - Parameters:
    ///   - previous: the character before it; `nil` if there is none, or none that shows.
    ///   - isBeforeKeycap: U+20E3 follows.
    static func fits(_ selector: Unicode.Scalar, after previous: Unicode.Scalar?, isBeforeKeycap: Bool) -> Bool {
        guard let previous else { return false }
        switch selector.value {
        // As text or as a picture; a digit is a picture in a keycap only.
        case 0xFE0E, 0xFE0F: return previous.isASCII ? isBeforeKeycap && previous.properties.isEmoji : previous.properties.isEmoji
        // The forms of Mongolian letters.
        case 0x180B...0x180F: return (0x1820...0x18AA).contains(previous.value)
        default: return previous.properties.isIdeographic
        }
    }
}
