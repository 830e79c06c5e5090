/// Lines that fit the terminal. One that the terminal breaks goes on at its left edge, where the rest of a foreign text would pass for a
/// line of ours; so ours go on further to the right.
enum Wrapping {
    /// Of a terminal that does not tell.
    static let usualColumns = 80
    /// In a narrower one everything is torn anyway.
    private static let fewestColumns = 20
    /// How much further to the right a line goes on.
    private static let hanging = (indented: 2, other: 4)
    /// In front of what others say; a line that goes on has it again.
    private static let bars: Set<Unicode.Scalar> = ["│", "|"]

    /// All lines of a text, each that is too long broken at a blank, or in a word if that is too long by itself. What stands at the end
    /// stays, also a blank before the cursor.
    static func fitted(_ text: String, columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { fitted(line: $0, max(columns, fewestColumns)) }
            .joined(separator: "\n")
    }

    private static func fitted(line: Substring, _ columns: Int) -> String {
        guard line.utf8.count > columns else { return String(line) }
        var text = line.unicodeScalars[...]
        let own = text.prefix { $0 == " " }.count
        let indent = min(own == 0 ? hanging.other : own + hanging.indented, columns / 2)
        var margin = String(repeating: " ", count: indent)
        if own > 0, let bar = text.dropFirst(own).first, bars.contains(bar), own + hanging.indented == indent {
            margin = String(repeating: " ", count: own) + String(bar) + " "
        }
        var lines: [String] = []
        while let rest = rest(of: text, columns - (lines.isEmpty ? 0 : indent), isFirst: lines.isEmpty) {
            lines.append(String(text[..<rest.end]))
            text = text[rest.start...]
        }
        lines.append(String(text))
        return lines.joined(separator: "\n" + margin)
    }

    /// Where the line ends and where the next begins; `nil` if all of it fits.
    private static func rest(
        of text: Substring.UnicodeScalarView, _ columns: Int, isFirst: Bool
    ) -> (end: Substring.UnicodeScalarView.Index, start: Substring.UnicodeScalarView.Index)? {
        var width = 0
        var inEscape = false
        var isBlank = isFirst
        var blank: Substring.UnicodeScalarView.Index?
        for index in text.indices {
            let scalar = text[index]
            if inEscape || scalar == "\u{1B}" {
                inEscape = scalar != "m"
                continue
            }
            width += Renderer.width(scalar)
            // The line's own indentation is no place to break it.
            if scalar == " ", !isBlank { blank = index }
            isBlank = scalar == " "
            // A blank may hang over: nobody sees it.
            guard width > columns, scalar != " " else { continue }
            guard let blank else { return (index, index) }
            return (blank, text[blank...].firstIndex { $0 != " " } ?? text.endIndex)
        }
        return nil
    }
}
