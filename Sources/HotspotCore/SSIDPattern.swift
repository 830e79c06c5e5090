import ForeignText

/// One entry of a helper's `SSID=` list: a glob over octets.
public struct SSIDPattern: Hashable, Sendable {
    enum Element: Hashable, Sendable {
        case octet(UInt8)
        case one
        case any
    }

    let elements: [Element]
    /// The octets of the shortest name that matches.
    private let shortest: Int
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
        var entry: [UInt8] = []
        var escaped = false
        for octet in Array(text.utf8) + [UInt8(ascii: ";")] {
            if octet == UInt8(ascii: ";"), !escaped {
                if !entry.isEmpty { patterns.append(try SSIDPattern(String(decoding: entry, as: UTF8.self))) }
                entry = []
                continue
            }
            escaped = octet == UInt8(ascii: "\\") && !escaped
            entry.append(octet)
        }
        if !entry.isEmpty { throw .badEscape(String(decoding: entry, as: UTF8.self)) }
        return patterns
    }

    public init(_ text: String) throws(ParseError) {
        source = text
        var elements: [Element] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.popFirst() {
            switch first {
            case UInt8(ascii: "*"): if elements.last != .any { elements.append(.any) }
            case UInt8(ascii: "?"): elements.append(.one)
            case UInt8(ascii: "\\"):
                switch rest.popFirst() {
                case UInt8(ascii: "x"):
                    guard let high = rest.popFirst(), let low = rest.popFirst(), let octet = Hex.decode([high, low]) else {
                        throw .badEscape(text)
                    }
                    elements.append(.octet(octet[0]))
                case UInt8(ascii: "s"): elements.append(.octet(UInt8(ascii: " ")))
                case .some(let octet) where Array(";*?\\".utf8).contains(octet): elements.append(.octet(octet))
                default: throw .badEscape(text)
                }
            default: elements.append(.octet(first))
            }
        }
        shortest = elements.count(where: { $0 != .any })
        guard shortest <= SSID.maximumLength else { throw .tooLong(text) }
        self.elements = elements
    }

    /// Returns whether the whole name matches, in time proportional to name times pattern.
    public func matches(_ ssid: SSID) -> Bool {
        let name = ssid.octets
        // Most names fail here already, which keeps a long scan with many lists fast.
        guard name.count >= shortest, shortest < elements.count || name.count == shortest else { return false }
        if case .octet(let octet) = elements.last, octet != name.last { return false }
        var position = 0
        var element = 0
        var retry: (element: Int, position: Int)?
        while position < name.count {
            if element < elements.count, elements[element] == .any {
                retry = (element + 1, position)
                element += 1
            } else if element < elements.count, elements[element] == .one || elements[element] == .octet(name[position]) {
                element += 1
                position += 1
            } else if let (after, start) = retry {
                // The last star matches one more octet.
                retry = (after, start + 1)
                element = after
                position = start + 1
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { $0 == .any }
    }
}
