/// The tables of the database.
///
/// `NetworkID.key` is the key of a network. All times are Unix milliseconds. To change a released version, add the steps from that version to the
/// next one here.
enum Schema {
    /// The version that this program writes. No released program wrote a lower version.
    static let version = 18

    static let tables = [
        // Field: the names of the helpers that could have been chosen, separated by line feeds. Hardware: this computer's MAC address at the login.
        """
        CREATE TABLE choices (
            network TEXT PRIMARY KEY, helper TEXT NOT NULL,
            origin TEXT, pin TEXT, kind TEXT, title TEXT,
            committed INTEGER NOT NULL, expires INTEGER NOT NULL, field TEXT, hardware TEXT) STRICT, WITHOUT ROWID
        """,
        // Two interfaces may be in the same network, each with its own association and session. `until` is set while a login is not proven: an open
        // network proves the login until then.
        """
        CREATE TABLE associations (
            network TEXT NOT NULL, interface INTEGER NOT NULL, helper TEXT NOT NULL, link TEXT NOT NULL,
            association TEXT NOT NULL, ends INTEGER, sealed BLOB, until INTEGER,
            PRIMARY KEY (network, interface)) STRICT, WITHOUT ROWID
        """,
        // The session of the network, for the next visit.
        "CREATE TABLE sessions (network TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
        // A consent applies to the terms that one helper showed. To recognise changed terms, the helper needs its memory of the session; `hasMemory`
        // says whether it had one.
        """
        CREATE TABLE consents (
            network TEXT NOT NULL, origin TEXT NOT NULL, helper TEXT NOT NULL, program TEXT, terms TEXT NOT NULL,
            time INTEGER NOT NULL, hasMemory INTEGER NOT NULL, PRIMARY KEY (network, origin, helper)) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE holds (network TEXT PRIMARY KEY, reason TEXT NOT NULL, until INTEGER, sentence TEXT NOT NULL)
            STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE outcomes (network TEXT PRIMARY KEY, word TEXT NOT NULL, time INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        // An asterisk stands for all helpers, or for all networks.
        "CREATE TABLE disabled (helper TEXT NOT NULL, ssid TEXT NOT NULL, PRIMARY KEY (helper, ssid)) STRICT, WITHOUT ROWID",
        // An empty `pin` means a portal over plain HTTP. Line feeds separate field names; values are sealed. Program: the helper's program when the
        // answers were stored. Shown: fields whose answers may be displayed. Labels: one line for each field, an equals sign and the label, or empty
        // if the label is unknown. Refused: the portal refused the answers when they were last sent.
        """
        CREATE TABLE credentials (
            network TEXT NOT NULL, helper TEXT NOT NULL, origin TEXT NOT NULL, pin TEXT NOT NULL, fields TEXT NOT NULL,
            sealed BLOB NOT NULL, program TEXT, shown TEXT NOT NULL DEFAULT '', labels TEXT NOT NULL DEFAULT '',
            refused INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (network, helper, origin, pin)) STRICT, WITHOUT ROWID
        """,
        // At most one PIN guards the credentials. Guesses: the number of guesses in a row that are not known to be right.
        """
        CREATE TABLE pin (
            number INTEGER PRIMARY KEY CHECK (number = 1), salt BLOB NOT NULL, passes INTEGER NOT NULL, memory INTEGER NOT NULL,
            names BLOB NOT NULL, guesses INTEGER NOT NULL) STRICT
        """,
        // For each probe's URL, the address at which its server last answered.
        "CREATE TABLE probes (url TEXT PRIMARY KEY, address TEXT NOT NULL) STRICT, WITHOUT ROWID",
        // Uneventful attempts (routine) are deleted first when the journal is full.
        """
        CREATE TABLE attempts (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, interface TEXT NOT NULL, network TEXT,
            ssid TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER, outcome TEXT NOT NULL, helper TEXT, portal TEXT,
            verdict TEXT, routine INTEGER NOT NULL DEFAULT 0, kind TEXT) STRICT
        """,
        "CREATE INDEX attemptsBySSID ON attempts (ssid, number)",
        """
        CREATE TABLE steps (
            attempt INTEGER NOT NULL REFERENCES attempts (number) ON DELETE CASCADE, number INTEGER NOT NULL,
            at INTEGER NOT NULL, time INTEGER, "from" TEXT, "to" TEXT, kind TEXT NOT NULL, helper TEXT, detail TEXT NOT NULL,
            PRIMARY KEY (attempt, number)) STRICT, WITHOUT ROWID
        """,
    ]

    /// Returns the version of a database; 0 for an empty one.
    static func version(of database: borrowing Database) throws(SQLiteFailure) -> Int {
        try database.rows("PRAGMA user_version") { $0.integer(0) }.rows.first ?? 0
    }

    /// Makes the tables in an empty database, in one transaction. Throws ``SQLiteFailure/earlierSchema`` for the database of an unreleased program.
    static func prepare(_ database: borrowing Database) throws(SQLiteFailure) {
        let found = try version(of: database)
        guard found == 0 else {
            if found < version { throw .earlierSchema }
            return
        }
        try database.transaction { database throws(SQLiteFailure) in
            for statement in tables { try database.run(statement) }
            try database.run("PRAGMA user_version = \(version)")
        }
    }
}
