import ForeignText

/// A pattern over octets: `*` stands for any number of octets, `?` for any one octet. `\xNN`, `\;`, `\*`, `\?`, `\s` (a blank) and `\\` stand for
/// exactly one octet.
public struct Glob: Hashable, Sendable {
    private enum Element: Hashable, Sendable {
        case octet(UInt8)
        case one
        case any
    }

    private let elements: [Element]
    /// The number of octets of the shortest text that matches.
    public let shortest: Int

    /// Reads a pattern; `nil` if it has an unknown escape.
    public init?(_ text: String) {
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
                        return nil
                    }
                    elements.append(.octet(octet[0]))
                case UInt8(ascii: "s"): elements.append(.octet(UInt8(ascii: " ")))
                case .some(let octet) where Array(";*?\\".utf8).contains(octet): elements.append(.octet(octet))
                default: return nil
                }
            default: elements.append(.octet(first))
            }
        }
        shortest = elements.count(where: { $0 != .any })
        self.elements = elements
    }

    /// The longest sequence of octets that is part of every matching text.
    public var longestLiteral: [UInt8] {
        var longest: [UInt8] = []
        for row in elements.split(whereSeparator: { $0 == .any || $0 == .one }) where row.count > longest.count {
            longest = row.compactMap { if case .octet(let octet) = $0 { octet } else { nil } }
        }
        return longest
    }

    /// Splits a list at unescaped `;`, without empty entries.
    public static func split(_ list: String) -> [String] {
        var entries: [[UInt8]] = [[]]
        var isEscaped = false
        for octet in list.utf8 {
            if octet == UInt8(ascii: ";"), !isEscaped {
                entries.append([])
                continue
            }
            isEscaped = octet == UInt8(ascii: "\\") && !isEscaped
            entries[entries.count - 1].append(octet)
        }
        return entries.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether the whole text matches, in time proportional to the text's length times the pattern's.
    public func matches(_ text: [UInt8]) -> Bool {
        // Most texts fail this check, which keeps a long scan with many lists fast.
        guard text.count >= shortest, shortest < elements.count || text.count == shortest else { return false }
        if case .octet(let octet) = elements.last, octet != text.last { return false }
        var position = 0
        var element = 0
        var retry: (element: Int, position: Int)?
        while position < text.count {
            if element < elements.count, elements[element] == .any {
                retry = (element + 1, position)
                element += 1
            } else if element < elements.count, elements[element] == .one || elements[element] == .octet(text[position]) {
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
