import ForeignText

/// One entry of a helper's `SSID=` list: a glob over octets.
public struct SSIDPattern: Hashable, Sendable {
    private let glob: Glob
    /// The text of the entry.
    public let source: String

    public enum ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        case badEscape(String)
        case tooLong(String)

        public var description: String {
            switch self {
            case .badEscape(let entry):
                "has an unknown escape in \"\(Printable.text(entry, limit: 64))\"; known are \\xNN \\; \\* \\? \\s \\\\"
            case .tooLong(let entry):
                "has an entry that no SSID can match, longer than 32 octets: \"\(Printable.text(entry, limit: 64))\""
            }
        }
    }

    /// Splits a list at unescaped `;` and reads each entry. Empty entries are ignored.
    public static func list(_ text: String) throws(ParseError) -> [SSIDPattern] {
        var patterns: [SSIDPattern] = []
        for entry in Glob.split(text) { patterns.append(try SSIDPattern(entry)) }
        return patterns
    }

    public init(_ text: String) throws(ParseError) {
        guard let glob = Glob(text) else { throw .badEscape(text) }
        guard glob.shortest <= SSID.maximumLength else { throw .tooLong(text) }
        self.glob = glob
        source = text
    }

    /// Returns whether the whole name matches.
    public func matches(_ ssid: SSID) -> Bool { glob.matches(ssid.octets) }
}
