/// The tables, as a list of steps from each version to the next. Released steps are never changed: add a new one.
///
/// The key of a network is `NetworkID.key`. All times are Unix milliseconds.
enum Schema {
    /// The version that this program writes.
    static var version: Int { migrations.count }

    static let migrations: [[String]] = [
        [
            """
            CREATE TABLE choices (
                network TEXT PRIMARY KEY, helper TEXT NOT NULL,
                origin TEXT, pin TEXT, kind TEXT, title TEXT,
                committed INTEGER NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE sessions (
                network TEXT PRIMARY KEY, secondsRemaining INTEGER, bytesRemaining INTEGER, canExtend INTEGER, venueURL TEXT,
                sealed BLOB) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE consents (
                network TEXT NOT NULL, origin TEXT NOT NULL, terms TEXT NOT NULL,
                PRIMARY KEY (network, origin)) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE holds (
                network TEXT PRIMARY KEY, reason TEXT NOT NULL, until INTEGER, helper TEXT, sentence TEXT NOT NULL)
                STRICT, WITHOUT ROWID
            """,
            "CREATE TABLE outcomes (network TEXT PRIMARY KEY, word TEXT NOT NULL, time INTEGER NOT NULL) STRICT, WITHOUT ROWID",
            // An asterisk stands for "all".
            "CREATE TABLE disabled (helper TEXT NOT NULL, ssid TEXT NOT NULL, PRIMARY KEY (helper, ssid)) STRICT, WITHOUT ROWID",
            // An empty pin is a portal over plain HTTP. Names of fields are separated by line feeds; values are sealed.
            """
            CREATE TABLE credentials (
                network TEXT NOT NULL, helper TEXT NOT NULL, origin TEXT NOT NULL, pin TEXT NOT NULL, fields TEXT NOT NULL,
                sealed BLOB NOT NULL, PRIMARY KEY (network, helper, origin, pin)) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE attempts (
                number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, interface TEXT NOT NULL, network TEXT,
                ssid TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER, outcome TEXT NOT NULL, helper TEXT, portal TEXT,
                verdict TEXT) STRICT
            """,
            "CREATE INDEX attemptsBySSID ON attempts (ssid, number)",
            """
            CREATE TABLE steps (
                attempt INTEGER NOT NULL REFERENCES attempts (number) ON DELETE CASCADE, number INTEGER NOT NULL,
                at INTEGER NOT NULL, time INTEGER, "from" TEXT, "to" TEXT, kind TEXT NOT NULL, helper TEXT, detail TEXT NOT NULL,
                PRIMARY KEY (attempt, number)) STRICT, WITHOUT ROWID
            """,
        ],
        [
            "ALTER TABLE consents ADD COLUMN time INTEGER NOT NULL DEFAULT 0",
            // The time of older consents is not known; they count from today.
            "UPDATE consents SET time = CAST(strftime('%s', 'now') AS INTEGER) * 1000",
        ],
        // Uneventful attempts are the first to be deleted when the journal is full.
        ["ALTER TABLE attempts ADD COLUMN routine INTEGER NOT NULL DEFAULT 0"],
        // The program of the helper when its credential was stored. For older ones it is not known; they are bound to the program that
        // gets them next.
        ["ALTER TABLE credentials ADD COLUMN program TEXT"],
        // A consent is to the terms that one helper showed. For older ones that is the helper that logged in there last, with any
        // program.
        [
            """
            CREATE TABLE shownTerms (
                network TEXT NOT NULL, origin TEXT NOT NULL, helper TEXT NOT NULL, program TEXT, terms TEXT NOT NULL,
                time INTEGER NOT NULL, PRIMARY KEY (network, origin, helper)) STRICT, WITHOUT ROWID
            """,
            """
            INSERT INTO shownTerms (network, origin, helper, terms, time)
            SELECT consents.network, consents.origin, choices.helper, terms, time FROM consents JOIN choices USING (network)
            """,
            "DROP TABLE consents",
            "ALTER TABLE shownTerms RENAME TO consents",
        ],
        // Sessions without their clear columns and holds without a helper, which had no reader.
        [
            "CREATE TABLE sealedSessions (network TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
            "INSERT INTO sealedSessions SELECT network, sealed FROM sessions WHERE sealed IS NOT NULL",
            "DROP TABLE sessions",
            "ALTER TABLE sealedSessions RENAME TO sessions",
            """
            CREATE TABLE networkHolds (network TEXT PRIMARY KEY, reason TEXT NOT NULL, until INTEGER, sentence TEXT NOT NULL)
                STRICT, WITHOUT ROWID
            """,
            "INSERT INTO networkHolds SELECT network, reason, until, sentence FROM holds",
            "DROP TABLE holds",
            "ALTER TABLE networkHolds RENAME TO holds",
        ],
        // The association in which the choice keeps the network free now.
        [
            "ALTER TABLE choices ADD COLUMN link TEXT", "ALTER TABLE choices ADD COLUMN association TEXT",
            "ALTER TABLE choices ADD COLUMN ends INTEGER",
        ],
        // At most one PIN guards the credentials. The guesses are those in a row that are not known to be right.
        [
            """
            CREATE TABLE IF NOT EXISTS pin (
                number INTEGER PRIMARY KEY CHECK (number = 1), salt BLOB NOT NULL, passes INTEGER NOT NULL, memory INTEGER NOT NULL,
                names BLOB NOT NULL, guesses INTEGER NOT NULL) STRICT
            """,
            // The fields whose answers may be shown again. For older credentials they are not known: none.
            "ALTER TABLE credentials ADD COLUMN shown TEXT NOT NULL DEFAULT ''",
        ],
        // Two interfaces may be in one network, each in an association of its own. The second word of a link's mark is the interface.
        [
            """
            CREATE TABLE associations (
                network TEXT NOT NULL, interface INTEGER NOT NULL, helper TEXT NOT NULL, link TEXT NOT NULL,
                association TEXT NOT NULL, ends INTEGER, PRIMARY KEY (network, interface)) STRICT, WITHOUT ROWID
            """,
            """
            INSERT INTO associations
            SELECT network, CAST(substr(link, instr(link, ' ') + 1) AS INTEGER), helper, link, association, ends
            FROM choices WHERE link IS NOT NULL AND association IS NOT NULL
            """,
            "ALTER TABLE choices DROP COLUMN link", "ALTER TABLE choices DROP COLUMN association",
            "ALTER TABLE choices DROP COLUMN ends",
        ],
        // Each association has a session of its own; that of the network is for the next visit.
        ["ALTER TABLE associations ADD COLUMN sealed BLOB"],
        // The helpers among which a choice was made, separated by line feeds. For older choices they are not known.
        ["ALTER TABLE choices ADD COLUMN field TEXT"],
        // The helper kept a memory with the consent, by which it sees changed terms. Of older consents it is taken for granted.
        ["ALTER TABLE consents ADD COLUMN hasMemory INTEGER NOT NULL DEFAULT 1"],
        // Until when an open network proves the login of this association; for a proven one nothing.
        ["ALTER TABLE associations ADD COLUMN until INTEGER"],
        // What the portal called each of the fields, a line each behind an equals sign; an empty line where that is not known.
        ["ALTER TABLE credentials ADD COLUMN labels TEXT NOT NULL DEFAULT ''"],
        // The hardware address with which the helper logged in. Of older choices it is not known.
        ["ALTER TABLE choices ADD COLUMN hardware TEXT"],
        // The portal refused the answers when they were sent last.
        ["ALTER TABLE credentials ADD COLUMN refused INTEGER NOT NULL DEFAULT 0"],
    ]

    /// Returns the version of a database; 0 for an empty one.
    static func version(of database: borrowing Database) throws(SQLiteFailure) -> Int {
        try database.rows("PRAGMA user_version") { $0.integer(0) }.rows.first ?? 0
    }

    /// Updates an older database, each version in a transaction of its own.
    static func migrate(_ database: borrowing Database) throws(SQLiteFailure) {
        for (index, statements) in migrations.enumerated().dropFirst(try version(of: database)) {
            try database.transaction { database throws(SQLiteFailure) in
                for statement in statements { try database.run(statement) }
                try database.run("PRAGMA user_version = \(index + 1)")
            }
        }
    }
}
