/// A column of a table, and how it shrinks if the terminal is too narrow.
struct Column {
    var heading: String
    /// The smallest width to which the column may be cut, in cells; `nil` if it is never cut.
    var least: Int?
    /// The order in which the column is left out, from 1; `nil` if it always stays.
    var leaves: Int?
    /// Whether cells are cut in the middle, not at the end: the end of an origin shows which host answers.
    var isOrigin = false
}

extension Renderer {
    /// Returns a table with columns two spaces apart and rows of one line each. If the table is too wide, columns are cut, then left out in the order
    /// of ``Column/leaves``; columns that should stay whole are cut last. A line below the table names the missing columns.
    func table(_ columns: [Column], _ rows: [[String]]) -> [String] {
        let headings = columns.map(\.heading)
        let all = (legend ? [headings] : []) + rows
        let natural = columns.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        let shown = shown(columns, natural)
        let widths = widths(shown, columns, natural)
        let lines = all.enumerated().map { index, row in
            var line = ""
            for (column, width) in zip(shown, widths) {
                let cell = cut(row[column], to: width, inMiddle: columns[column].isOrigin)
                line += cell + String(repeating: " ", count: width - Self.width(cell) + (width == 0 ? 0 : 2))
            }
            while line.last == " " { line.removeLast() }
            return legend && index == 0 ? tone(line, .faint) : line
        }
        let missing = headings.indices.filter { !shown.contains($0) }.map { headings[$0] }
        guard legend, !missing.isEmpty else { return lines }
        return lines + [tone("A wider terminal also shows: \(missing.joined(separator: ", ")).", .faint)]
    }

    /// Returns the columns that are shown: as many as fit when each is cut to its smallest width.
    private func shown(_ columns: [Column], _ natural: [Int]) -> [Int] {
        var shown = Array(columns.indices)
        let leaving = columns.indices.filter { columns[$0].leaves != nil }
            .sorted { columns[$0].leaves ?? 0 < columns[$1].leaves ?? 0 }
        for next in leaving {
            guard let room = self.columns else { break }
            if total(shown.map { min(natural[$0], columns[$0].least ?? .max) }) <= room { break }
            shown.removeAll { $0 == next }
        }
        return shown
    }

    /// Returns the width of each shown column. Cuts the column first that exceeds its smallest width most; columns that should stay whole come last.
    private func widths(_ shown: [Int], _ columns: [Column], _ natural: [Int]) -> [Int] {
        var widths = shown.map { natural[$0] }
        while let room = self.columns, total(widths) > room {
            func slack(_ place: Int) -> Int { widths[place] - (columns[shown[place]].least ?? widths[place]) }
            let places = widths.indices.filter { widths[$0] > 1 }
            guard let widest = places.max(by: { (slack($0), widths[$0]) < (slack($1), widths[$1]) }) else { break }
            widths[widest] -= 1
        }
        return widths
    }

    private func total(_ widths: [Int]) -> Int { widths.reduce(-2) { $0 + $1 + 2 } }

    /// Returns a text in this number of cells, cut at the end or, with `inMiddle`, in the middle. A cut text gets an ellipsis and keeps its colours.
    private func cut(_ text: String, to width: Int, inMiddle: Bool) -> String {
        guard Self.width(text) > width else { return text }
        if inMiddle, text.utf8.count == text.unicodeScalars.count {
            let beginning = min(8, width / 3)
            return "\(text.prefix(beginning))\(sign("…", "~"))\(text.suffix(width - 1 - beginning))"
        }
        var kept = ""
        var rest = width - 1
        var inEscape = false
        for scalar in text.unicodeScalars {
            if inEscape || scalar == "\u{1B}" {
                inEscape = scalar != "m"
                kept.unicodeScalars.append(scalar)
            } else if rest >= 0 {
                rest -= Self.width(scalar)
                if rest >= 0 { kept.unicodeScalars.append(scalar) } else { kept += sign("…", "~") }
            }
        }
        return kept
    }
}
