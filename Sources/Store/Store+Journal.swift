import HotspotCore

/// The journal's record of one attempt, from joining to an outcome. Its members are named as in `Attempt` of org.hotspotd.Control.
public struct Attempt: Codable, Hashable, Sendable {
    /// The outcome of an attempt that has not ended.
    public static let running = "running"
    /// The outcome of an attempt that was interrupted by the end of the daemon.
    public static let interrupted = "interrupted"
    /// The outcomes of attempts that ended when the user switched the network off, or forgot it.
    public static let switchedOff = "switchedOff"
    public static let forgotten = "forgotten"
    /// The outcome of a logoff that the portal did not confirm.
    public static let leftOpen = "leftOpen"

    public var id: String
    /// Name of the interface.
    public var interface: String
    /// Printable form of the SSID, or `wired:ADDRESS`.
    public var ssid: String
    /// Unix time in milliseconds.
    public var began: Int
    /// The end, in milliseconds of Unix time; `nil` while the attempt runs, or if it was interrupted.
    public var ended: Int?
    /// The helper that won.
    public var helper: String?
    /// Origin of the portal.
    public var portal: String?
    /// The portal's ``Portal/kind``.
    public var portalKind: String?
    /// The outcome, as a stable word.
    public var outcome: String
    /// The reason why the winner won, or why there is no winner, as one sentence.
    public var verdict: String?
    /// Whether the attempt was only a successful periodic Maintain. Such attempts are deleted first when the journal is full.
    public var isRoutine = false
}

extension Store {
    /// The largest number of attempts. Above it, routine attempts beyond ``routineLimit`` are deleted first, then the oldest attempts of the network
    /// that has the most. So with up to 20 networks, each keeps its newest 50 attempts, apart from those routine attempts, even if one network causes
    /// many more.
    public static let attemptLimit = 1000
    /// Each network keeps this number of its newest routine attempts when routine attempts are deleted first.
    public static let routineLimit = 5
    /// The ``Attempt/verdict`` of an interrupted attempt.
    static let interruptedVerdict = "hotspotd ended during this attempt; its outcome is not known."
    /// The largest number of steps in one attempt; the last step says that some were left out.
    public static let stepLimit = 2000
    /// The longest detail of a step, in octets.
    public static let detailLimit = 4096

    /// Begins an attempt and prunes the journal. `ssid` is the printable form, or `wired:ADDRESS`; `began` is Unix time in milliseconds.
    public func beginAttempt(
        _ id: String, interface: String, network: NetworkID, ssid: String, began: Int
    ) throws(StoreError) {
        let oldest = began - journalLifetime
        try write(.process) { database throws(SQLiteFailure) in
            try database.run(
                "INSERT INTO attempts (id, interface, network, ssid, began, outcome) VALUES (?, ?, ?, ?, ?, ?)",
                [.text(id), .text(interface), SQLValue(network.key), .text(ssid), .integer(began), .text(Attempt.running)])
            try Self.prune(now: began, oldest: oldest, database)
        }
    }

    /// Adds steps to an attempt in one commit. Drops steps above ``stepLimit``.
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
                    : Step(at: step.at, time: step.time, kind: "problem", detail: "Further steps were not recorded.")
                let detail =
                    step.detail.utf8.count <= Self.detailLimit
                    ? step.detail : String(decoding: step.detail.utf8.prefix(Self.detailLimit), as: UTF8.self) + "…"
                try database.run(
                    "INSERT INTO steps SELECT number, ?, ?, ?, ?, ?, ?, ?, ? FROM attempts WHERE id = ?",
                    [
                        .integer(number), .integer(step.at), SQLValue(step.time), SQLValue(step.from), SQLValue(step.to),
                        .text(step.kind), SQLValue(step.helper), .text(detail), .text(attempt),
                    ])
            }
        }
    }

    /// Ends an attempt. `ended` is Unix time in milliseconds, `outcome` a stable word.
    public func endAttempt(
        _ id: String, ended: Int, outcome: String, helper: String? = nil, portal: String? = nil, portalKind: String? = nil,
        verdict: String? = nil
    ) throws(StoreError) {
        try write { database throws(SQLiteFailure) in
            try database.run(
                """
                UPDATE attempts SET ended = ?, outcome = ?, helper = ?, portal = ?, kind = ?, verdict = ?, routine = \(Self.isRoutine)
                WHERE id = ?
                """,
                [
                    .integer(ended), .text(outcome), SQLValue(helper), SQLValue(portal), SQLValue(portalKind), SQLValue(verdict),
                    .text(outcome), .text(id),
                ])
        }
    }

    /// The SQL condition of a routine attempt: from authenticated to maintaining and back, without a problem. Evaluate it only when all steps of the
    /// attempt are stored.
    private static let isRoutine = """
        (? = 'online'
            AND EXISTS (SELECT 1 FROM steps s WHERE s.attempt = attempts.number
                AND s."from" = '\(StateName.authenticated.rawValue)' AND s."to" = '\(StateName.maintaining.rawValue)')
            AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.attempt = attempts.number AND (s.kind IN ('problem', 'deadline')
                OR s."to" NOT IN ('\(StateName.authenticated.rawValue)', '\(StateName.maintaining.rawValue)'))))
        """

    /// Returns attempts, newest first: with `ssid` or `interface`, only those of that network or interface; with `before`, only those that began
    /// before that attempt (none if the attempt does not exist).
    public func attempts(
        ssid: String? = nil, interface: String? = nil, before: String? = nil, limit: Int = 100
    ) -> [Attempt] {
        var conditions: [String] = []
        var values: [SQLValue] = []
        for (column, value) in [("ssid", ssid), ("interface", interface)] {
            guard let value else { continue }
            conditions.append("\(column) = ?")
            values.append(.text(value))
        }
        if let before {
            conditions.append("number < (SELECT number FROM attempts WHERE id = ?)")
            values.append(.text(before))
        }
        return find(conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND "), values, limit)
    }

    /// Returns the attempt with this identifier.
    public func attempt(_ id: String) -> Attempt? { find("WHERE id = ?", [.text(id)], 1).first }

    /// Returns the last attempt on an interface.
    public func lastAttempt(interface: String) -> Attempt? { find("WHERE interface = ?", [.text(interface)], 1).first }

    /// Returns the last attempt on a network, by its printable name.
    public func lastAttempt(ssid: String) -> Attempt? { find("WHERE ssid = ?", [.text(ssid)], 1).first }

    /// Returns the steps of an attempt in their order.
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
            // Leave out a step with an unknown state.
            if case .some(.none) = from { return nil }
            if case .some(.none) = to { return nil }
            return Step(
                at: at, time: row.integer(1), attempt: attempt, from: from ?? nil, to: to ?? nil, kind: kind, helper: row.text(5),
                detail: detail)
        }
    }

    /// Deletes old or excess attempts, old outcomes and consents, expired choices with their sessions, and ended holds. Credentials are kept until
    /// the user forgets them. `now` is Unix time in milliseconds.
    public func prune(now: Int) throws(StoreError) {
        let oldest = now - journalLifetime
        try write { database throws(SQLiteFailure) in try Self.prune(now: now, oldest: oldest, database) }
    }

    /// Sets the outcome and verdict of attempts that were running when the daemon ended.
    func endInterrupted() {
        let condition = "outcome = ? OR (outcome = ? AND verdict IS NULL)"
        let values: [SQLValue] = [.text(Attempt.running), .text(Attempt.interrupted)]
        guard !read("SELECT 1 FROM attempts WHERE \(condition) LIMIT 1", values, { $0.integer(0) }).isEmpty else { return }
        try? write { database throws(SQLiteFailure) in
            try database.run(
                "UPDATE attempts SET outcome = ?, verdict = coalesce(verdict, ?) WHERE \(condition)",
                [.text(Attempt.interrupted), .text(Self.interruptedVerdict)] + values)
        }
    }

    private static func prune(now: Int, oldest: Int, _ database: borrowing Database) throws(SQLiteFailure) {
        let oldest: SQLValue = .integer(oldest)
        try database.run("DELETE FROM attempts WHERE began < ?", [oldest])
        let count = try database.rows("SELECT count(*) FROM attempts") { $0.integer(0) }.rows.first ?? 0
        if count > attemptLimit {
            // Neither a long session's Maintains nor one network's many attempts may displace other networks' attempts. So spare routine attempts are
            // deleted first, then the oldest attempt of the network that has the most.
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
        try database.run("DELETE FROM consents WHERE time < ?", [.integer(now - consentLifetime)])
        // A choice is always stored before its session and associations, so those without a choice are deleted. Two exceptions: a login that is not
        // proven yet keeps its association, and a consent keeps the session, because without the session's memory the helper could not tell whether
        // accepted terms have changed.
        for rows in [
            "sessions WHERE network NOT IN (SELECT network FROM consents) AND",
            "associations WHERE ifnull(until, 0) <= \(now) AND",
        ] {
            try database.run("DELETE FROM \(rows) network NOT IN (SELECT network FROM choices)")
        }
        try database.run("DELETE FROM holds WHERE until <= ?", [.integer(now)])
    }

    private func find(_ condition: String, _ values: [SQLValue], _ limit: Int) -> [Attempt] {
        read(
            """
            SELECT id, interface, ssid, began, ended, helper, portal, outcome, verdict, routine, kind FROM attempts \(condition)
            ORDER BY number DESC LIMIT ?
            """, values + [.integer(max(0, limit))]
        ) { row -> Attempt? in
            guard let id = row.text(0), let interface = row.text(1), let ssid = row.text(2), let began = row.integer(3),
                let outcome = row.text(7)
            else { return nil }
            return Attempt(
                id: id, interface: interface, ssid: ssid, began: began, ended: row.integer(4), helper: row.text(5),
                portal: row.text(6), portalKind: row.text(10), outcome: outcome, verdict: row.text(8),
                isRoutine: row.integer(9) == 1)
        }
    }
}
