// This target makes text from strangers safe to print and to compare.

/// Spaces of every width and script, and the Braille pattern without dots.
public enum Blanks {
    /// Replaces each run of blanks with one space, and removes the blanks at both ends, so that blanks cannot move text elsewhere on the screen.
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
