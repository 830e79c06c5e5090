import HotspotCore

extension JSONValue {
    /// The fewest octets that the value can have as JSON, counted no further than just beyond a bound: whoever wants to refuse
    /// what is too large need not write all of it first.
    func leastOctets(upTo limit: Int) -> Int {
        var rest = limit
        take(from: &rest)
        return limit - rest
    }

    private func take(from rest: inout Int) {
        guard rest >= 0 else { return }
        switch self {
        case .null, .bool: rest -= 4
        case .integer, .number: rest -= 1
        case .string(let text): rest -= text.utf8.count + 2
        case .array(let elements):
            rest -= max(elements.count, 1) + 1
            for element in elements where rest >= 0 { element.take(from: &rest) }
        case .object(let members):
            rest -= max(members.count, 1) + 1
            for (key, value) in members where rest >= 0 {
                rest -= key.utf8.count + 3
                value.take(from: &rest)
            }
        }
    }
}
