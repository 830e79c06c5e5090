/// The record of the PIN that guards the credentials, and the number of wrong guesses in a row. Guesses do not expire, so changing the clock does not
/// allow another guess.
public struct StoredPIN: Hashable, Sendable {
    public var salt: [UInt8]
    /// The work for one guess.
    public var passes: Int
    public var memory: Int
    /// Identifies the keys to which the PIN belongs.
    public var names: [UInt8]
    public var guesses: Int

    public init(salt: [UInt8], passes: Int, memory: Int, names: [UInt8], guesses: Int = 0) {
        self.salt = salt
        self.passes = passes
        self.memory = memory
        self.names = names
        self.guesses = guesses
    }
}

extension Store {
    public var pin: StoredPIN? {
        read("SELECT salt, passes, memory, names, guesses FROM pin") { row -> StoredPIN? in
            guard let salt = row.blob(0), let passes = row.integer(1), let memory = row.integer(2), let names = row.blob(3),
                let guesses = row.integer(4)
            else { return nil }
            return StoredPIN(salt: salt, passes: passes, memory: memory, names: names, guesses: guesses)
        }.first
    }

    /// Stores a PIN, or removes it, together with the credentials that were sealed again with or without that PIN.
    public func setPIN(_ pin: StoredPIN?, credentials: [StoredCredential]) throws(StoreError) {
        try writeFlushed { database throws(SQLiteFailure) in
            try database.run("DELETE FROM pin")
            if let pin {
                try database.run(
                    "INSERT INTO pin VALUES (1, ?, ?, ?, ?, ?)",
                    [
                        .blob(pin.salt), .integer(pin.passes), .integer(pin.memory), .blob(pin.names), .integer(pin.guesses),
                    ])
            }
            for credential in credentials {
                try database.run(
                    "UPDATE credentials SET sealed = ? WHERE network = ? AND helper = ? AND origin = ? AND pin = ?",
                    [
                        .blob(credential.sealed), .text(credential.network), .text(credential.helper), .text(credential.origin),
                        .text(credential.pin ?? ""),
                    ])
            }
        }
        scrub()
    }

    /// Counts a guess. The count must be on the disk before the PIN is checked, so that the guess is used up even if the daemon is killed in between.
    /// Throws if the count could not be saved.
    public func countGuess() throws(StoreError) {
        try writeFlushed { database throws(SQLiteFailure) in try database.run("UPDATE pin SET guesses = guesses + 1") }
    }

    /// Resets the counter of guesses after a correct PIN.
    public func forgiveGuesses() throws(StoreError) {
        try writeFlushed { database throws(SQLiteFailure) in try database.run("UPDATE pin SET guesses = 0") }
    }

    /// Erases all credentials and the PIN that guarded them.
    public func eraseCredentials() throws(StoreError) {
        try writeFlushed { database throws(SQLiteFailure) in
            for table in ["credentials", "pin"] { try database.run("DELETE FROM \(table)") }
        }
        scrub()
    }
}
