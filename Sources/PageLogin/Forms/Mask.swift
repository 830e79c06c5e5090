import ForeignText
import HotspotCore
import PortalPages

/// Hides the user's answers in a portal's text. Portals often repeat an answer that they refuse, and other people may read the prompt.
package struct Mask: Sendable {
    /// Values shorter than this, in octets, are not hidden, because they occur in many words.
    private static let shortest = 3
    /// The replacement of a value.
    private static let dots = "…"

    /// The characters of each value in lower case.
    private let values: [SoughtText<String>]

    /// Makes a mask for these values; case and the number of blanks do not matter.
    init(_ values: some Sequence<String>) {
        self.values = Set(values.map { PageText.squeezed($0, limit: .max) }.filter { $0.utf8.count >= Self.shortest })
            .map { SoughtText(Self.folded($0)) }
    }

    /// Returns the text with the values replaced.
    package func apply(_ text: String) -> String {
        guard !values.isEmpty else { return text }
        let letters = Array(text)
        let folded = Self.folded(text)
        // The longest value at each place counts, because one may be a part of another.
        var lengths = [Int](repeating: 0, count: letters.count)
        for value in values { value.search(folded) { lengths[$0] = max(lengths[$0], $1) } }
        var result = ""
        var index = 0
        while index < letters.count {
            if lengths[index] > 0 {
                result += Self.dots
                index += lengths[index]
            } else {
                result.append(letters[index])
                index += 1
            }
        }
        return result
    }

    /// Returns one entry for each character, so that indices are valid in both texts.
    private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }
}
