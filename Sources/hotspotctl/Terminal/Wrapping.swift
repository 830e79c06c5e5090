/// Wraps lines to the width of the terminal. The terminal itself would continue a line at its left edge, where foreign text could pass for a line of
/// hotspotd; so continued lines are indented.
enum Wrapping {
    /// The width of a terminal that does not report one.
    static let usualColumns = 80
    /// Narrower terminals are not supported.
    private static let fewestColumns = 20
    /// How far continued lines are indented: further than any line of hotspotd, so that foreign text cannot pass for such a line.
    private static let hanging = (indented: 4, other: 6)
    /// The bar before quoted text, which is repeated on wrapped lines.
    private static let bars: Set<Unicode.Scalar> = ["│", "|"]

    /// Breaks each line that is too long, at a blank or within a long word. Keeps blanks at the end, such as the blank before the cursor.
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
        if let place = text.firstIndex(where: bars.contains) {
            let isFirst = text[..<place].count == own
            margin = String(repeating: " ", count: isFirst ? min(own, columns / 2) : indent - 2) + String(text[place]) + " "
        }
        var lines: [String] = []
        while let rest = rest(of: text, columns - (lines.isEmpty ? 0 : margin.count), isFirst: lines.isEmpty) {
            lines.append(String(text[..<rest.end]))
            text = text[rest.start...]
        }
        lines.append(String(text))
        return lines.joined(separator: "\n" + margin)
    }

    /// Returns the end of the first line and the start of the next line; `nil` if the whole text fits on one line.
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
            // Does not break a line within its indentation.
            if scalar == " ", !isBlank { blank = index }
            isBlank = scalar == " "
            // A blank may exceed the width, because it is invisible.
            guard width > columns, scalar != " " else { continue }
            guard let blank else { return (index, index) }
            return (blank, text[blank...].firstIndex { $0 != " " } ?? text.endIndex)
        }
        return nil
    }
}
