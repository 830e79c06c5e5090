/// Counts each helper's strikes in a row, over all interfaces (D7).
public struct StrikeBook: Hashable, Sendable {
    private var strikes: [String: Int] = [:]
    /// The number of strikes in a row that quarantine a helper; `nil` for never.
    public var limit: Int?

    public init(limit: Int?) { self.limit = limit }

    public mutating func strike(_ helper: String) { strikes[helper, default: 0] += 1 }

    /// Forgets all strikes of a helper after one good answer.
    public mutating func acquit(_ helper: String) { strikes[helper] = nil }

    public func count(_ helper: String) -> Int { strikes[helper] ?? 0 }

    /// Returns whether the helper is quarantined: hotspotd asks it, but does not wait for it.
    public func isQuarantined(_ helper: String) -> Bool { limit.map { count(helper) >= $0 } ?? false }
}
