import HotspotCore

/// Hides what somebody answered in a text that a portal wrote: portals like to repeat what they did not accept, and the
/// message of a prompt is read by more people than the one who typed.
struct Mask: Sendable {
    /// Values shorter than this, in octets, say little and occur in every word.
    private static let shortest = 3
    /// What stands in place of a value.
    private static let dots = "…"

    /// Folded to lower case, the longest first: a value may be a part of another.
    private let values: [[String]]

    /// Hides these values, in any case and however their blanks were written.
    init(_ values: some Sequence<String>) {
        self.values = Set(values.map { PageText.squeezed($0, limit: .max) }.filter { $0.utf8.count >= Self.shortest })
            .map(Self.folded).sorted { $0.count > $1.count }
    }

    /// The text without the values.
    func apply(_ text: String) -> String {
        guard !values.isEmpty else { return text }
        let letters = Array(text)
        let folded = Self.folded(text)
        var result = ""
        var index = 0
        while index < letters.count {
            if let value = values.first(where: { folded[index...].starts(with: $0) }) {
                result += Self.dots
                index += value.count
            } else {
                result.append(letters[index])
                index += 1
            }
        }
        return result
    }

    /// One entry for each character, so that places in both texts are the same.
    private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }
}
