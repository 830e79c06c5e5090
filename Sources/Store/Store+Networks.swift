import ForeignText
import HotspotCore

/// The records of one network. For an anonymous network, writing does nothing, and reading returns `nil`.
extension Store {
    /// Returns the remembered choice of a helper for this network, unless the choice has expired. `now` is Unix time in milliseconds.
    public func remembered(_ network: NetworkID, now: Int) -> RememberedChoice? {
        guard let key = network.key else { return nil }
        return read(
            """
            SELECT helper, origin, pin, kind, title, committed, expires, field, hardware FROM choices
            WHERE network = ? AND expires > ?
            """, [.text(key), .integer(now)]
        ) { row -> RememberedChoice? in
            guard let helper = row.text(0), let committed = row.integer(5), let expires = row.integer(6) else { return nil }
            let origin = row.text(1).flatMap { Origin.isValid($0) ? $0 : nil }
            let portal = origin.flatMap { origin in
                row.text(3).map { Portal(origin: origin, pin: row.text(2), kind: $0, title: row.text(4)) }
            }
            let contenders = row.text(7).map { Set($0.split(separator: "\n").map(String.init)) }
            return RememberedChoice(
                helper: helper, contenders: contenders, portal: portal, hardware: row.text(8).flatMap { HardwareAddress($0) },
                committed: committed, expires: expires)
        }.first
    }

    /// Stores a choice, and the association in which it was made.
    public func remember(
        _ network: NetworkID, _ choice: RememberedChoice, in association: StoredAssociation? = nil
    ) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO choices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(key), .text(choice.helper), SQLValue(choice.portal?.origin), SQLValue(choice.portal?.pin),
                    SQLValue(choice.portal?.kind), SQLValue(choice.portal?.title), .integer(choice.committed),
                    .integer(choice.expires), SQLValue(choice.contenders?.sorted().joined(separator: "\n")),
                    SQLValue(choice.hardware?.description),
                ])
            if let association { try Self.put(association, key, nil, into: database) }
        }
    }

    /// Stores an association without a choice, and the sealed memory of its session.
    public func setAssociation(
        _ network: NetworkID, _ association: StoredAssociation, sealed: [UInt8]?
    ) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in try Self.put(association, key, sealed, into: database) }
    }

    private static func put(
        _ association: StoredAssociation, _ key: String, _ sealed: [UInt8]?, into database: borrowing Database
    ) throws(SQLiteFailure) {
        try database.run(
            """
            INSERT OR REPLACE INTO associations (network, interface, helper, link, association, ends, until, sealed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(key), .integer(association.interface), .text(association.helper), .text(association.link),
                .text(association.id), SQLValue(association.ends), SQLValue(association.until),
                sealed.map { .blob($0) } ?? .null,
            ])
    }

    /// Returns the association of an interface in which a helper logged in.
    public func association(_ network: NetworkID, of interface: Int) -> StoredAssociation? {
        guard let key = network.key else { return nil }
        return read(
            "SELECT helper, link, association, ends, until FROM associations WHERE network = ? AND interface = ?",
            [.text(key), .integer(interface)]
        ) { row -> StoredAssociation? in
            guard let helper = row.text(0), let link = row.text(1), let id = row.text(2) else { return nil }
            return StoredAssociation(
                interface: interface, helper: helper, link: link, id: id, ends: row.integer(3), until: row.integer(4))
        }.first
    }

    /// Notes the text that identifies an interface's association now, after a roam or with another address. Does nothing if none is stored.
    public func followAssociation(_ network: NetworkID, of interface: Int, as link: String) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "UPDATE associations SET link = ? WHERE network = ? AND interface = ?",
                [.text(link), .text(key), .integer(interface)])
        }
    }

    /// Deletes the association of an interface, so that the next daemon does not continue it.
    public func endAssociation(_ network: NetworkID, of interface: Int) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "DELETE FROM associations WHERE network = ? AND interface = ?", [.text(key), .integer(interface)])
        }
    }

    /// Withdraws the consent to all terms of this network.
    public func dropConsents(_ network: NetworkID) throws(StoreError) { try delete(network, from: ["consents"]) }

    /// Deletes the choice, its session and its associations.
    public func dropChoice(_ network: NetworkID) throws(StoreError) {
        try delete(network, from: ["choices", "sessions", "associations"])
    }

    /// Returns the sealed memory of the session in the interface's association, otherwise of the network's last session.
    public func sealedSession(_ network: NetworkID, of interface: Int? = nil) -> [UInt8]? {
        guard let key = network.key else { return nil }
        let own = interface.flatMap { interface in
            read(
                "SELECT sealed FROM associations WHERE network = ? AND interface = ? AND sealed IS NOT NULL",
                [.text(key), .integer(interface)]
            ) { $0.blob(0) }.first
        }
        return own ?? read("SELECT sealed FROM sessions WHERE network = ?", [.text(key)]) { $0.blob(0) }.first
    }

    /// Stores the sealed memory of the session, also in the interface's association if there is one; `nil` deletes the memory.
    public func setSealedSession(
        _ network: NetworkID, of interface: Int? = nil, _ sealed: [UInt8]?
    ) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            if let sealed {
                try database.run("INSERT OR REPLACE INTO sessions VALUES (?, ?)", [.text(key), .blob(sealed)])
            } else {
                try database.run("DELETE FROM sessions WHERE network = ?", [.text(key)])
            }
            guard let interface else { return }
            try database.run(
                "UPDATE associations SET sealed = ? WHERE network = ? AND interface = ?",
                [sealed.map { .blob($0) } ?? .null, .text(key), .integer(interface)])
        }
    }

    /// Returns the terms of this portal that the user accepted on this network, if this program of the helper showed them.
    ///
    /// - Parameter hasMemory: whether the helper still has its memory of that session. A helper that lost that memory would not notice changed terms,
    ///   so a consent that was given with a memory does not count without it.
    public func consent(_ network: NetworkID, origin: String, helper: String, program: String?, hasMemory: Bool) -> String? {
        guard let key = network.key else { return nil }
        return read(
            """
            SELECT terms FROM consents
            WHERE network = ? AND origin = ? AND helper = ? AND (program IS NULL OR program IS ?) AND hasMemory <= ?
            """, [.text(key), .text(origin), .text(helper), SQLValue(program), .integer(hasMemory ? 1 : 0)]
        ) { $0.text(0) }.first
    }

    /// 400 days, in milliseconds.
    public static let consentLifetime = 400 * 24 * 60 * 60 * 1000

    /// Stores the accepted terms; `nil` withdraws the consent.
    ///
    /// - Parameters:
    ///   - program: the program of the helper that showed the terms.
    ///   - hasMemory: whether the helper keeps a memory of the session.
    ///   - now: Unix time in milliseconds of the consent.
    public func setConsent(
        _ network: NetworkID, origin: String, helper: String, program: String?, terms: String?, hasMemory: Bool, now: Int
    ) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            if let terms {
                try database.run(
                    """
                    INSERT OR REPLACE INTO consents (network, origin, helper, program, terms, hasMemory, time)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        .text(key), .text(origin), .text(helper), SQLValue(program), .text(terms),
                        .integer(hasMemory ? 1 : 0), .integer(now),
                    ])
            } else {
                try database.run(
                    "DELETE FROM consents WHERE network = ? AND origin = ? AND helper = ?",
                    [.text(key), .text(origin), .text(helper)])
            }
        }
    }

    /// Returns the network's hold at `now` (Unix time in milliseconds).
    public func hold(_ network: NetworkID, now: Int) -> StoredHold? {
        guard let key = network.key else { return nil }
        return read(
            "SELECT reason, until, sentence FROM holds WHERE network = ? AND (until IS NULL OR until > ?)",
            [.text(key), .integer(now)]
        ) { row -> StoredHold? in
            guard let reason = row.text(0).flatMap(StoredHold.Reason.init), let sentence = row.text(2) else { return nil }
            return StoredHold(reason: reason, until: row.integer(1), sentence: sentence)
        }.first
    }

    public func setHold(_ network: NetworkID, _ hold: StoredHold) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO holds VALUES (?, ?, ?, ?)",
                [.text(key), .text(hold.reason.rawValue), SQLValue(hold.until), .text(hold.sentence)])
        }
    }

    public func releaseHold(_ network: NetworkID) throws(StoreError) { try delete(network, from: ["holds"]) }

    /// Returns how the last visit ended.
    public func lastOutcome(_ network: NetworkID) -> StoredOutcome? {
        guard let key = network.key else { return nil }
        return read("SELECT word, time FROM outcomes WHERE network = ?", [.text(key)]) { row -> StoredOutcome? in
            guard let word = row.text(0), let time = row.integer(1) else { return nil }
            return StoredOutcome(word: word, time: time)
        }.first
    }

    public func setOutcome(_ network: NetworkID, _ outcome: StoredOutcome) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            try database.run(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", [.text(key), .text(outcome.word), .integer(outcome.time)])
        }
    }

    /// Deletes everything about a network except the switches: choice, session, consents, hold, outcome, credentials, attempts. Returns `true` if
    /// something was deleted.
    @discardableResult
    public func forget(_ network: NetworkID) throws(StoreError) -> Bool {
        guard let key = network.key else { return false }
        return try forget("network = ?", key)
    }

    /// Deletes everything except the switches for all networks with this name, whatever their security.
    @discardableResult
    public func forget(_ ssid: SSID) throws(StoreError) -> Bool {
        // Hexadecimal digits and colons have no special meaning in a glob, so the name needs no escapes.
        try forget("network GLOB ?", "wifi:\(ssid.hex):*")
    }

    /// Deletes everything about all networks, including their switches, the PIN (which has nothing left to guard) and the addresses of probes.
    public func forgetEverything() throws(StoreError) {
        defer { knownSwitches = nil }
        _ = try forget("? = ''", "")
        try write { database throws(SQLiteFailure) in
            for rows in ["disabled WHERE ssid != '*'", "pin", "probes"] { try database.run("DELETE FROM \(rows)") }
        }
        emptyLog()
    }

    /// Reads the records of all networks in four statements. `now` is Unix time in milliseconds.
    public func records(now: Int) -> NetworkRecords {
        var records = NetworkRecords()
        func collect(_ sql: String, _ values: [SQLValue] = [], _ read: (SQLRow, inout NetworkRecord) -> Bool) {
            _ = self.read(sql, values) { row -> Void? in
                guard let key = row.text(0), read(row, &records.byKey[key, default: NetworkRecord()]) else { return nil }
                return ()
            }
        }
        collect("SELECT network, helper, kind FROM choices WHERE expires > ?", [.integer(now)]) { row, record in
            (record.helper, record.portalKind) = (row.text(1), row.text(2))
            return record.helper != nil
        }
        collect(
            "SELECT network, reason, until, sentence FROM holds WHERE until IS NULL OR until > ?", [.integer(now)]
        ) { row, record in
            guard let reason = row.text(1).flatMap(StoredHold.Reason.init), let sentence = row.text(3) else { return false }
            record.hold = StoredHold(reason: reason, until: row.integer(2), sentence: sentence)
            return true
        }
        collect("SELECT network, word, time FROM outcomes") { row, record in
            guard let word = row.text(1), let time = row.integer(2) else { return false }
            record.outcome = StoredOutcome(word: word, time: time)
            return true
        }
        collect("SELECT DISTINCT network, helper FROM credentials") { row, record in
            guard let helper = row.text(1) else { return false }
            record.credentials.insert(helper)
            return true
        }
        return records
    }

    private static let tables = [
        "choices", "sessions", "associations", "consents", "holds", "outcomes", "credentials", "attempts",
    ]

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
        emptyLog()
        return changes > 0
    }

    private func delete(_ network: NetworkID, from tables: [String]) throws(StoreError) {
        guard let key = network.key else { return }
        try write { database throws(SQLiteFailure) in
            for table in tables { try database.run("DELETE FROM \(table) WHERE network = ?", [.text(key)]) }
        }
    }
}
