import ForeignText
import HotspotCore
import PortalPages

/// Hides the user's answers in a portal's text. Portals often repeat an answer that they refuse, and other people may read the prompt.
package struct Mask: Sendable {
    /// Values shorter than this, in octets, are not hidden, because they occur in many words.
    private static let shortest = 3
    /// The replacement of a value.
    private static let dots: [Character] = ["…"]

    /// The characters of each value in lower case.
    private let values: Set<[String]>

    /// Makes a mask for these values; case and the number of blanks do not matter.
    init(_ values: some Sequence<String>) {
        self.values = Set(
            values.map { PageText.squeezed($0, limit: .max) }.filter { $0.utf8.count >= Self.shortest }.map(Self.folded))
    }

    /// Returns the text with the values replaced.
    package func apply(_ text: String) -> String {
        guard !values.isEmpty else { return text }
        // The longest value at each place counts, because one value may be a part of another value.
        let lengths = SoughtText.longest(of: values, in: Self.folded(text))
        return String(SoughtText.replaced(Array(text), lengths, with: Self.dots))
    }

    /// Returns one entry for each character, so that indices are valid in both texts.
    private static func folded(_ text: String) -> [String] { text.map { $0.lowercased() } }
}
