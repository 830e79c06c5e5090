import HotspotCore

/// The laptops nearby that may be connected, and when: one laptop at a time, the laptop that has waited longest first. A laptop
/// that cannot be reached, or whose connection is short, waits longer each time.
struct ConnectionQueue: Hashable, Sendable {
    /// The largest number of laptops whose waits are remembered.
    static let limit = 64
    static let firstWait = Duration.milliseconds(500)
    static let longestWait = Duration.seconds(60)
    /// The shortest length of a connection that counts as good.
    static let goodTime = Duration.seconds(30)

    private struct Entry: Hashable {
        var isNearby = true
        var isConnected = false
        var failures = 0
        var due: Instant
        var began: Instant
    }

    private var entries: [String: Entry] = [:]

    /// - Parameter path: the path of the device.
    mutating func appeared(_ path: String, at now: Instant) {
        if entries[path] != nil {
            entries[path]!.isNearby = true
            return
        }
        if entries.count >= Self.limit {
            // Drops the entry that is due first, because a stranger may appear with ever new addresses.
            guard let oldest = entries.filter({ !$0.value.isConnected }).min(by: { $0.value.due < $1.value.due }) else { return }
            entries[oldest.key] = nil
        }
        entries[path] = Entry(due: now, began: now)
    }

    mutating func vanished(_ path: String) { entries[path]?.isNearby = false }

    mutating func vanishedAll() { for path in entries.keys { vanished(path) } }

    mutating func began(_ path: String, at now: Instant) {
        entries[path]?.isConnected = true
        entries[path]?.began = now
    }

    /// Notes that a connection, or the attempt to connect, has ended.
    ///
    /// - Parameter jitter: a number from 0 to 1, so that two laptops that connect to each other at the same time do not collide
    ///   again.
    mutating func ended(_ path: String, at now: Instant, jitter: Double) {
        guard var entry = entries[path] else { return }
        entry.isConnected = false
        entry.failures = now - entry.began >= Self.goodTime ? 0 : min(entry.failures + 1, 8)
        let wait = min(Self.firstWait * (1 << entry.failures), Self.longestWait)
        entry.due = now + wait * (0.5 + min(max(jitter, 0), 1) / 2)
        entries[path] = entry
    }

    /// Returns the number of failures in a row.
    func failures(_ path: String) -> Int { entries[path]?.failures ?? 0 }

    /// Returns the laptop to connect next, with the earliest time for the connection.
    ///
    /// - Parameter others: the laptops that already have a link, for example because they connected to this laptop.
    func next(except others: Set<String> = []) -> (path: String, due: Instant)? {
        entries.filter { $0.value.isNearby && !$0.value.isConnected && !others.contains($0.key) }
            .min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map { ($0.key, $0.value.due) }
    }
}
