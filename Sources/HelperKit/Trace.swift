import ForeignText
import HotspotCore

/// The steps that were taken, for `explain`: requests, statuses, durations; never a value that was typed, never a query string.
public final class Trace: Sendable {
    /// The most lines that are kept.
    static let limit = 100
    private let collected = Monitor([String]())

    /// An empty trace.
    public init() {}

    /// One step. Foreign text is made printable.
    public func add(_ line: String) {
        collected.with { if $0.count < Self.limit { $0.append(Printable.text(line, limit: 512)) } }
    }

    /// All steps in their order.
    public var lines: [String] { collected.with { $0 } }
}
