/// Misses in a row of each helper, over all interfaces (D7).
public struct StrikeBook: Hashable, Sendable {
    private var strikes: [String: Int] = [:]
    /// Strikes in a row that quarantine; `nil` for never.
    public var limit: Int?

    /// A book that quarantines at `limit` strikes in a row; `nil` for never.
    public init(limit: Int?) { self.limit = limit }

    /// A deadline was missed, or the helper died.
    public mutating func strike(_ helper: String) { strikes[helper, default: 0] += 1 }

    /// One good answer settles all.
    public mutating func acquit(_ helper: String) { strikes[helper] = nil }

    /// Strikes in a row.
    public func count(_ helper: String) -> Int { strikes[helper] ?? 0 }

    /// Asked, not waited for.
    public func isQuarantined(_ helper: String) -> Bool { limit.map { count(helper) >= $0 } ?? false }
}
