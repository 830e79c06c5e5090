/// Search for a text in octets. A portal's answer is long, and comparing it as a `String`, character by character, is slow.
extension ArraySlice<UInt8> {
    /// Returns where a text first occurs.
    package func firstIndex(of text: String) -> Int? { places(for: text)?.first { holds(text, at: $0) } }

    /// Returns where a text last occurs.
    func lastIndex(of text: String) -> Int? { places(for: text)?.last { holds(text, at: $0) } }

    /// Returns the indices at which a text has enough octets after it.
    private func places(for text: String) -> ClosedRange<Int>? {
        count < text.utf8.count ? nil : startIndex...endIndex - text.utf8.count
    }

    private func holds(_ text: String, at index: Int) -> Bool {
        self[index] == text.utf8.first && self[index...].starts(with: text.utf8)
    }
}
