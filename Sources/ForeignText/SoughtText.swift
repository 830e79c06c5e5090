/// Texts that are sought in another one, in time that grows with their lengths alone (the Z algorithm): helpers and portals write texts,
/// and users type answers, of which all parts are alike.
public enum SoughtText {
    /// Returns for each place in a text how long the longest of some others is that stands there, or the longest beginning of one that
    /// stands there directly before a cut; 0 for none.
    ///
    /// - Parameters:
    ///   - cuts: places in the text.
    ///   - least: the least length of a beginning.
    public static func longest<Element: Equatable>(
        of others: some Sequence<[Element]>, in text: [Element], cuts: [Int] = [], from least: Int = 1
    ) -> [Int] {
        // The last cut up to each place, and up to the end.
        var lastCuts = [Int](repeating: 0, count: text.count + 1)
        for cut in cuts { lastCuts[cut] = cut }
        for place in text.indices { lastCuts[place + 1] = max(lastCuts[place], lastCuts[place + 1]) }
        var longest = [Int](repeating: 0, count: text.count)
        for other in others {
            let both = other + text
            // How much of the other stands at each place in both; from `start` to `end` stands the beginning of it.
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

    /// Returns a text with a mark instead of each part that begins at a place with a length; the part after it begins behind it.
    ///
    /// - Parameter spared: the lengths of the parts that stay as they are, whatever begins there.
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
