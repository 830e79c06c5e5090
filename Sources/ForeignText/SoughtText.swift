/// Finds texts in another text, in time that grows only with their lengths (the Z algorithm). Helpers, portals and users can write texts that
/// repeat one part many times, which would slow down a simpler search.
public enum SoughtText {
    /// Returns, for each place in the text, the length of the longest match that begins there: one of the other texts, or the beginning of such a
    /// text that ends at a cut. 0 means no match.
    ///
    /// - Parameters:
    ///   - cuts: the places in the text where other texts may be cut off.
    ///   - least: the length from which a beginning counts.
    public static func longest<Element: Equatable>(
        of others: some Sequence<[Element]>, in text: [Element], cuts: [Int] = [], from least: Int = 1
    ) -> [Int] {
        // The last cut at or before each place, including the end of the text.
        var lastCuts = [Int](repeating: 0, count: text.count + 1)
        for cut in cuts { lastCuts[cut] = cut }
        for place in text.indices { lastCuts[place + 1] = max(lastCuts[place], lastCuts[place + 1]) }
        var longest = [Int](repeating: 0, count: text.count)
        for other in others {
            let both = other + text
            // `common`: how many elements of the beginning of `other` stand at each place in `both`. From `start` to `end`, `both` repeats its
            // beginning.
            var (common, start, end) = ([other.count], 0, 0)
            for place in both.indices.dropFirst() {
                var length = place < end ? min(common[place - start], end - place) : 0
                while length < other.count, place + length < both.count, both[length] == both[place + length] { length += 1 }
                if place + length > end { (start, end) = (place, place + length) }
                common.append(length)
            }
            for place in text.indices {
                let length = common[other.count + place]
                let found = length == other.count ? length : lastCuts[place + length] - place
                if found >= min(least, other.count) { longest[place] = max(longest[place], found) }
            }
        }
        return longest
    }

    /// Returns the text with a mark in place of each match, and continues behind the match. `lengths` contains, for each place, the length of the
    /// match that begins there, or 0.
    ///
    /// - Parameter spared: as `lengths`, for the parts that stay as they are, even if a match begins at the same place.
    public static func replaced<Element>(
        _ text: [Element], _ lengths: [Int], sparing spared: [Int] = [], with mark: [Element]
    ) -> [Element] {
        var (result, index): ([Element], Int) = ([], 0)
        while index < text.count {
            let kept = spared.isEmpty ? 0 : spared[index]
            let isMarked = kept == 0 && lengths[index] > 0
            let end = index + max(1, isMarked ? lengths[index] : kept)
            result += isMarked ? mark[...] : text[index..<end]
            index = end
        }
        return result
    }
}
