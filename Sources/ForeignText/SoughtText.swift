/// A text that is sought in others, in time that grows with their length alone (Knuth, Morris and Pratt): helpers and portals write texts,
/// and users type answers, of which all parts are alike.
public struct SoughtText<Element: Hashable & Sendable>: Hashable, Sendable {
    /// At least one.
    public let elements: [Element]
    /// For each beginning of the elements, by its length: the length of the longest shorter beginning with which it ends.
    private let borders: [Int]

    public init(_ elements: [Element]) {
        self.elements = elements
        var (borders, length) = ([0, 0], 0)
        for element in elements.dropFirst() {
            while length > 0, elements[length] != element { length = borders[length] }
            if elements[length] == element { length += 1 }
            borders.append(length)
        }
        self.borders = borders
    }

    /// Reports each place where the whole stands in a text, and each where a beginning of it stands directly before a cut.
    ///
    /// - Parameters:
    ///   - cuts: places in the text, in their order.
    ///   - least: the least length of a beginning.
    public func search(
        _ text: [Element], cuts: [Int] = [], from least: Int = 1, _ found: (_ start: Int, _ length: Int) -> Void
    ) {
        var (length, cut) = (0, 0)
        for (index, element) in text.enumerated() {
            if cut < cuts.count, cuts[cut] == index {
                cut += 1
                var part = length
                while part >= least {
                    found(index - part, part)
                    part = borders[part]
                }
            }
            if length == elements.count { length = borders[length] }
            while length > 0, elements[length] != element { length = borders[length] }
            if elements[length] == element { length += 1 }
            if length == elements.count { found(index + 1 - length, length) }
        }
    }
}
