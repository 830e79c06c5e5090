import HotspotCore

/// One way from joining to an outcome, as the journal has it. The names are those of `Attempt` in org.hotspotd.Control.
public struct Attempt: Codable, Hashable, Sendable {
    /// The outcome of an attempt that goes on.
    public static let running = "running"
    /// The outcome of an attempt that the daemon's end cut off.
    public static let interrupted = "interrupted"

    /// The attempt's identifier.
    public var id: String
    /// Name of the interface.
    public var interface: String
    /// Printable form of the SSID, or `wired:ADDRESS`.
    public var ssid: String
    /// Unix time in milliseconds.
    public var began: Int
    /// Unix time in milliseconds; `nil` while it goes on or if it was cut off.
    public var ended: Int?
    /// The helper that won.
    public var helper: String?
    /// Origin of the portal.
    public var portal: String?
    /// Stable word.
    public var outcome: String
    /// Why the winner won, or why nobody did: one sentence.
    public var verdict: String?
    /// A timer's maintain that found everything well, and nothing else: when the journal is full, these go first.
    public var isRoutine = false
}

extension Store {
    /// The most attempts that are kept. Beyond it routine ones go first; then those of the network that has the most, its oldest first. So
    /// the newest 50 of each network stay as long as there are 20 networks or fewer, however many attempts one of them brings about.
    public static let attemptLimit = 1000
    /// So many routine attempts of each network stay, the newest, also when the journal is full of others.
    public static let routineLimit = 5
    /// What ``Attempt/verdict`` says of an attempt that was cut off.
    static let interruptedVerdict = "hotspotd ended before this attempt did; nothing is known of what came of it."
    /// How long attempts and outcomes are kept: 90 days, in milliseconds.
    public static let journalLifetime = Remembered.lifetime
    /// The most steps of one attempt; the last one says that more happened.
    public static let stepLimit = 2000
    /// The longest detail of a step, in octets.
    public static let detailLimit = 4096

    /// Begins an attempt. `ssid` is the printable form, or `wired:ADDRESS`; `began` is Unix time in milliseconds. Prunes the journal.
    public func beginAttempt(
        _ id: String, interface: String, network: NetworkID, ssid: String, began: Int
    ) throws(StoreError) {
        try write(.process) { database throws(SQLiteFailure) in
            try database.run(
                "INSERT INTO attempts (id, interface, network, ssid, began, outcome) VALUES (?, ?, ?, ?, ?, ?)",
                [.text(id), .text(interface), Value(network.key), .text(ssid), .integer(began), .text(Attempt.running)])
            try Self.prune(now: began, database)
        }
    }

    /// Adds steps, in one commit, to an attempt that was begun. Beyond ``stepLimit`` steps are dropped.
    public func addSteps(_ attempt: String, _ steps: [Step]) throws(StoreError) {
        let before = read(
            "SELECT coalesce((SELECT max(s.number) FROM steps s WHERE s.attempt = a.number), 0) FROM attempts a WHERE a.id = ?",
            [.text(attempt)]
        ) { $0.integer(0) }.first
        guard let before else { throw .refused(reason: "there is no such attempt") }
        let kept = steps.prefix(max(0, Self.stepLimit - before))
        guard !kept.isEmpty else { return }
        try write(.process) { database throws(SQLiteFailure) in
            for (number, step) in zip((before + 1)..., kept) {
                let step =
                    number < Self.stepLimit
                    ? step
                    : Step(at: step.at, time: step.time, kind: "problem", detail: "More happened than the journal keeps.")
                let detail =
                    step.detail.utf8.count <= Self.detailLimit
                    ? step.detail : String(decoding: step.detail.utf8.prefix(Self.detailLimit), as: UTF8.self) + "…"
                try database.run(
                    "INSERT INTO steps SELECT number, ?, ?, ?, ?, ?, ?, ?, ? FROM attempts WHERE id = ?",
                    [
                        .integer(number), .integer(step.at), Value(step.time), Value(step.from), Value(step.to), .text(step.kind),
                        Value(step.helper), .text(detail), .text(attempt),
                    ])
            }
        }
    }

    /// Ends an attempt. `ended` is Unix time in milliseconds, `outcome` a stable word.
    public func endAttempt(
        _ id: String, ended: Int, outcome: String, helper: String? = nil, portal: String? = nil, verdict: String? = nil
    ) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run(
                """
                UPDATE attempts SET ended = ?, outcome = ?, helper = ?, portal = ?, verdict = ?, routine = \(Self.isRoutine)
                WHERE id = ?
                """, [.integer(ended), .text(outcome), Value(helper), Value(portal), Value(verdict), .text(outcome), .text(id)])
        }
    }

    /// It came from authenticated, went nowhere else but back there, and all was well. The steps are there before the end is.
    private static let isRoutine = """
        (? = 'online'
            AND EXISTS (SELECT 1 FROM steps s WHERE s.attempt = attempts.number
                AND s."from" = '\(StateName.authenticated.rawValue)' AND s."to" = '\(StateName.maintaining.rawValue)')
            AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.attempt = attempts.number AND (s.kind IN ('problem', 'deadline')
                OR s."to" NOT IN ('\(StateName.authenticated.rawValue)', '\(StateName.maintaining.rawValue)'))))
        """

    /// Attempts, newest first; with a name only those of that network, with `before` only those that began before that attempt (none
    /// if there is no such attempt).
    public func attempts(ssid: String? = nil, before: String? = nil, limit: Int = 100) -> [Attempt] {
        var conditions: [String] = []
        var values: [Value] = []
        if let ssid {
            conditions.append("ssid = ?")
            values.append(.text(ssid))
        }
        if let before {
            conditions.append("number < (SELECT number FROM attempts WHERE id = ?)")
            values.append(.text(before))
        }
        return find(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), values, limit)
    }

    /// The attempt of this identifier.
    public func attempt(_ id: String) -> Attempt? { find("WHERE id = ?", [.text(id)], 1).first }

    /// The last attempt on an interface.
    public func lastAttempt(interface: String) -> Attempt? { find("WHERE interface = ?", [.text(interface)], 1).first }

    /// The last attempt on a network, by its printable name.
    public func lastAttempt(ssid: String) -> Attempt? { find("WHERE ssid = ?", [.text(ssid)], 1).first }

    /// The steps of an attempt in their order.
    public func steps(_ attempt: String) -> [Step] {
        read(
            """
            SELECT s.at, s.time, s."from", s."to", s.kind, s.helper, s.detail FROM steps s JOIN attempts a ON a.number = s.attempt
            WHERE a.id = ? ORDER BY s.number
            """, [.text(attempt)]
        ) { row -> Step? in
            guard let at = row.integer(0), let kind = row.text(4), let detail = row.text(6) else { return nil }
            let from = row.text(2).map(StateName.init(rawValue:))
            let to = row.text(3).map(StateName.init(rawValue:))
            // A state that this program does not know makes the whole step unreadable.
            if case .some(.none) = from { return nil }
            if case .some(.none) = to { return nil }
            return Step(
                at: at, time: row.integer(1), attempt: attempt, from: from ?? nil, to: to ?? nil, kind: kind, helper: row.text(5),
                detail: detail)
        }
    }

    /// Drops what is too old or too much: attempts, outcomes and consents, expired choices with their sessions, and ended holds.
    /// Credentials stay until they are forgotten. `now` is Unix time in milliseconds.
    public func prune(now: Int) throws(StoreError) {
        try write { database throws(SQLiteFailure) in try Self.prune(now: now, database) }
    }

    /// Attempts that were running when the daemon ended have no end, and say so.
    func endInterrupted() {
        let cutOff = "outcome = ? OR (outcome = ? AND verdict IS NULL)"
        let values: [Value] = [.text(Attempt.running), .text(Attempt.interrupted)]
        guard !read("SELECT 1 FROM attempts WHERE \(cutOff) LIMIT 1", values, { $0.integer(0) }).isEmpty else { return }
        try? write { database throws(SQLiteFailure) in
            try database.run(
                "UPDATE attempts SET outcome = ?, verdict = coalesce(verdict, ?) WHERE \(cutOff)",
                [.text(Attempt.interrupted), .text(Self.interruptedVerdict)] + values)
        }
    }

    private static func prune(now: Int, _ database: borrowing Database) throws(SQLiteFailure) {
        let oldest: Value = .integer(now - journalLifetime)
        try database.run("DELETE FROM attempts WHERE began < ?", [oldest])
        let count = try database.rows("SELECT count(*) FROM attempts") { $0.integer(0) }.rows.first ?? 0
        if count > attemptLimit {
            // Neither a long session's maintains nor a network's storms must push the others out. Whatever is the furthest from the
            // newest of its own network is the oldest of the network that has the most.
            try database.run(
                """
                DELETE FROM attempts WHERE number IN (
                    SELECT number FROM (
                        SELECT number, row_number() OVER network AS age, routine = 1 AND sum(routine) OVER network > ? AS isSpare
                        FROM attempts WINDOW network AS (PARTITION BY ssid ORDER BY number DESC ROWS UNBOUNDED PRECEDING))
                    ORDER BY isSpare DESC, age DESC, number LIMIT ?)
                """, [.integer(routineLimit), .integer(count - attemptLimit)])
        }
        try database.run("DELETE FROM outcomes WHERE time < ?", [oldest])
        try database.run("DELETE FROM choices WHERE expires <= ?", [.integer(now)])
        // A session belongs to a choice, which is always written first.
        try database.run("DELETE FROM sessions WHERE network NOT IN (SELECT network FROM choices)")
        try database.run("DELETE FROM consents WHERE time < ?", [.integer(now - consentLifetime)])
        try database.run("DELETE FROM holds WHERE until <= ?", [.integer(now)])
    }

    private func find(_ condition: String, _ values: [Value], _ limit: Int) -> [Attempt] {
        read(
            """
            SELECT id, interface, ssid, began, ended, helper, portal, outcome, verdict, routine FROM attempts \(condition)
            ORDER BY number DESC LIMIT ?
            """, values + [.integer(max(0, limit))]
        ) { row -> Attempt? in
            guard let id = row.text(0), let interface = row.text(1), let ssid = row.text(2), let began = row.integer(3),
                let outcome = row.text(7)
            else { return nil }
            return Attempt(
                id: id, interface: interface, ssid: ssid, began: began, ended: row.integer(4), helper: row.text(5),
                portal: row.text(6), outcome: outcome, verdict: row.text(8), isRoutine: row.integer(9) == 1)
        }
    }
}
