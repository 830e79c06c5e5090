/// Letters of other alphabets that look like Latin ones, as the names of companies use them.
enum LookAlikes {
    /// Returns a text with its look-alikes, full-width and mathematical letters as Latin ones, and without invisible characters.
    static func folded(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.properties.isDefaultIgnorableCodePoint { continue }
            scalars.append(latin(scalar))
        }
        return String(scalars)
    }

    private static func latin(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0xFF01...0xFF5E: return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
        // Thirteen mathematical alphabets of 26 capitals and 26 small letters each.
        case 0x1D400...0x1D6A3:
            let place = UInt8((scalar.value - 0x1D400) % 52)
            return Unicode.Scalar(place < 26 ? 0x41 + place : 0x61 + place - 26)
        default: return table[scalar] ?? scalar
        }
    }

    private static let table: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
        zip(
            "аеорсухіјѕԁӏɡοανικρΑΒΕΗΙΚΜΝΟΡΤΧАВЕКМНОРСТХІЈЅℊℯℴ".unicodeScalars,
            "aeopcyxijsdlgoavikpABEHIKMNOPTXABEKMHOPCTXIJSgeo".unicodeScalars),
        uniquingKeysWith: { first, _ in first })
}
