import HotspotCore

/// What is remembered of a network. Nothing is ever remembered of an anonymous one: writing does nothing, reading finds nothing.
extension Store {
    /// The helper that won here before, unless that is too long ago. `now` is Unix time in milliseconds.
    public func remembered(_ network: NetworkID, now: Int) -> Remembered? {
        guard let key = network.key else { return nil }
        let session = session(network)
        return read(
            "SELECT helper, origin, pin, kind, title, committed, expires FROM choices WHERE network = ? AND expires > ?",
            [.text(key), .integer(now)]
        ) { row -> Remembered? in
            guard let helper = row.text(0), let committed = row.integer(5), let expires = row.integer(6) else { return nil }
            let origin = row.text(1).flatMap { Origin.isValid($0) ? $0 : nil }
            let portal = origin.flatMap { origin in
                row.text(3).map { Portal(origin: origin, pin: row.text(2), kind: $0, title: row.text(4)) }
            }
            return Remembered(helper: helper, portal: portal, session: session, committed: committed, expires: expires)
        }.first
    }

    /// Keeps a choice and its session. The session's memory is left out: see ``setSealedSession(_:_:)``.
    public func remember(_ network: NetworkID, _ choice: Remembered) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO choices VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(key), .text(choice.helper), Value(choice.portal?.origin), Value(choice.portal?.pin),
                    Value(choice.portal?.kind), Value(choice.portal?.title), .integer(choice.committed), .integer(choice.expires),
                ])
            if let session = choice.session { try Self.put(session, key, database) }
        }
    }

    /// Forgets the choice and the session that belongs to it.
    public func dropChoice(_ network: NetworkID) throws(StoreError) {
        try delete(network, from: ["choices", "sessions"])
    }

    /// What a helper said of the running session, without its memory.
    public func session(_ network: NetworkID) -> Session? {
        guard let key = network.key else { return nil }
        return read(
            "SELECT secondsRemaining, bytesRemaining, canExtend, venueURL FROM sessions WHERE network = ?", [.text(key)]
        ) {
            Session(
                secondsRemaining: Session.remaining($0.integer(0), upTo: Session.secondsLimit),
                bytesRemaining: Session.remaining($0.integer(1), upTo: Session.bytesLimit),
                canExtend: $0.integer(2).map { $0 != 0 },
                venueURL: $0.text(3))
        }.first
    }

    /// Replaces the session, without its memory; `nil` deletes it together with the sealed memory.
    public func setSession(_ network: NetworkID, _ session: Session?) throws(StoreError) {
        guard let key = network.key else { return }
        guard let session else { return try delete(network, from: ["sessions"]) }
        try write { database throws(SQLiteFailure) in try Self.put(session, key, database) }
    }

    /// The sealed memory of the session, as the vault made it.
    public func sealedSession(_ network: NetworkID) -> [UInt8]? {
        guard let key = network.key else { return nil }
        return read("SELECT sealed FROM sessions WHERE network = ? AND sealed IS NOT NULL", [.text(key)]) { $0.blob(0) }.first
    }

    /// Keeps the sealed memory of the session; `nil` deletes it.
    public func setSealedSession(_ network: NetworkID, _ sealed: [UInt8]?) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT INTO sessions (network, sealed) VALUES (?, ?) ON CONFLICT (network) DO UPDATE SET sealed = excluded.sealed",
                [.text(key), sealed.map(Value.blob) ?? .null])
        }
    }

    /// The terms that the user accepted here for this portal when this program of the helper showed them.
    public func consent(_ network: NetworkID, origin: String, helper: String, program: String?) -> String? {
        guard let key = network.key else { return nil }
        return read(
            """
            SELECT terms FROM consents
            WHERE network = ? AND origin = ? AND helper = ? AND (program IS NULL OR program IS ?)
            """, [.text(key), .text(origin), .text(helper), Value(program)]
        ) { $0.text(0) }.first
    }

    /// How long a consent is kept after it was given: 400 days, in milliseconds.
    public static let consentLifetime = 400 * 24 * 60 * 60 * 1000

    /// Keeps the accepted terms; `nil` withdraws the consent.
    ///
    /// - Parameters:
    ///   - program: what showed them under the helper's name.
    ///   - now: Unix time in milliseconds at which it was given.
    public func setConsent(
        _ network: NetworkID, origin: String, helper: String, program: String?, terms: String?, now: Int
    ) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            if let terms {
                try database.run(
                    """
                    INSERT OR REPLACE INTO consents (network, origin, helper, program, terms, time) VALUES (?, ?, ?, ?, ?, ?)
                    """, [.text(key), .text(origin), .text(helper), Value(program), .text(terms), .integer(now)])
            } else {
                try database.run(
                    "DELETE FROM consents WHERE network = ? AND origin = ? AND helper = ?",
                    [.text(key), .text(origin), .text(helper)])
            }
        }
    }

    /// What holds this network back, if that lasts at `now` (Unix time in milliseconds).
    public func hold(_ network: NetworkID, now: Int) -> StoredHold? {
        guard let key = network.key else { return nil }
        return read(
            "SELECT reason, until, helper, sentence FROM holds WHERE network = ? AND (until IS NULL OR until > ?)",
            [.text(key), .integer(now)]
        ) { row -> StoredHold? in
            guard let reason = row.text(0).flatMap(StoredHold.Reason.init), let sentence = row.text(3) else { return nil }
            return StoredHold(reason: reason, until: row.integer(1), helper: row.text(2), sentence: sentence)
        }.first
    }

    /// Holds a network.
    public func setHold(_ network: NetworkID, _ hold: StoredHold) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?, ?)",
                [.text(key), .text(hold.reason.rawValue), Value(hold.until), Value(hold.helper), .text(hold.sentence)])
        }
    }

    /// Lets a network go.
    public func releaseHold(_ network: NetworkID) throws(StoreError) { try delete(network, from: ["holds"]) }

    /// How the last visit ended.
    public func lastOutcome(_ network: NetworkID) -> StoredOutcome? {
        guard let key = network.key else { return nil }
        return read("SELECT word, time FROM outcomes WHERE network = ?", [.text(key)]) { row -> StoredOutcome? in
            guard let word = row.text(0), let time = row.integer(1) else { return nil }
            return StoredOutcome(word: word, time: time)
        }.first
    }

    /// Keeps how a visit ended.
    public func setOutcome(_ network: NetworkID, _ outcome: StoredOutcome) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", [.text(key), .text(outcome.word), .integer(outcome.time)])
        }
    }

    /// Forgets everything about a network but the journal and the switches: choice, session, consents, hold, outcome, credentials.
    /// `true` if there was anything.
    @discardableResult
    public func forget(_ network: NetworkID) throws(StoreError) -> Bool {
        guard let key = network.key else { return false }
        return try forget("network = ?", key)
    }

    /// Forgets every network of this name, whatever its security.
    @discardableResult
    public func forget(_ ssid: SSID) throws(StoreError) -> Bool {
        // Hexadecimal digits and colons mean nothing else in a glob.
        try forget("network GLOB ?", "wifi:\(ssid.hex):*")
    }

    private static let tables = ["choices", "sessions", "consents", "holds", "outcomes", "credentials"]

    private func forget(_ condition: String, _ value: String) throws(StoreError) -> Bool {
        var changes = 0
        var failure: StoreError?
        do {
            try write { database throws(SQLiteFailure) in
                changes = 0
                for table in Self.tables {
                    try database.run("DELETE FROM \(table) WHERE \(condition)", [.text(value)])
                    changes += database.changes
                }
            }
        } catch { failure = error }
        if let failure { throw failure }
        return changes > 0
    }

    private func delete(_ network: NetworkID, from tables: [String]) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            for table in tables { try database.run("DELETE FROM \(table) WHERE network = ?", [.text(key)]) }
        }
    }

    private static func put(_ session: Session, _ key: String, _ database: borrowing Database) throws(SQLiteFailure) {
        try database.run(
            """
            INSERT INTO sessions (network, secondsRemaining, bytesRemaining, canExtend, venueURL) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (network) DO UPDATE SET secondsRemaining = excluded.secondsRemaining,
                bytesRemaining = excluded.bytesRemaining, canExtend = excluded.canExtend, venueURL = excluded.venueURL
            """,
            [
                .text(key), Value(session.secondsRemaining), Value(session.bytesRemaining),
                Value(session.canExtend.map { $0 ? 1 : 0 }), Value(session.venueURL),
            ])
    }
}
