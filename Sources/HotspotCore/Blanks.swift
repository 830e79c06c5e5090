/// Spaces of every width and script, and the Braille pattern without dots.
public enum Blanks {
    /// Foreign text in which each run of blanks is one space, with none at either end: nobody can move the rest of it to another place
    /// of the screen.
    public static func collapsed(_ text: String) -> String {
        var collapsed = String.UnicodeScalarView()
        var isBehindBlank = false
        for scalar in text.unicodeScalars {
            if isBlank(scalar) {
                isBehindBlank = true
            } else {
                if isBehindBlank, !collapsed.isEmpty { collapsed.append(" ") }
                collapsed.append(scalar)
                isBehindBlank = false
            }
        }
        return String(collapsed)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\u{2800}" || (scalar.value > 0x7F && scalar.properties.generalCategory == .spaceSeparator)
    }
}
