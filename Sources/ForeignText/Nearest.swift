/// Suggests a known word for an unknown one.
public enum Nearest {
    /// Returns the known word that is one or two typing errors away: a letter too many, missing, wrong or swapped; case is ignored. `nil` if there is
    /// no such word, or if more than half of the word would be wrong.
    public static func word(to unknown: String, in known: some Sequence<String>) -> String? {
        // Limits the length, because the table below grows with it.
        let text = Array(unknown.lowercased().utf8.prefix(65))
        guard !text.isEmpty, text.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for word in known {
            let distance = distance(text, Array(word.lowercased().utf8))
            if distance < best?.distance ?? 3, 2 * distance <= max(word.utf8.count, 2) { best = (word, distance) }
        }
        return best?.word
    }

    /// Returns the distance by optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours, each
    /// once.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var next = [i + 1]
            for (j, b) in right.enumerated() {
                var least = min(row[j] + (a == b ? 0 : 1), row[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { least = min(least, before[j - 1] + 1) }
                next.append(least)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
