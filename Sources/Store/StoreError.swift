import CSQLite

/// An error of the store.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The state folder cannot be used or trusted; the daemon should not start.
    case folder(path: String, reason: String)
    /// The database cannot be opened at all; the daemon should not start.
    case database(path: String, reason: String)
    /// The change is only in memory; the store will try again to save it.
    case notSaved(reason: String)
    /// The change can never be stored, for example because a value is too large.
    case refused(reason: String)

    /// One sentence.
    public var description: String {
        switch self {
        case .folder(let path, let reason), .database(let path, let reason): "\(path): \(reason)"
        case .notSaved(let reason): "not saved: \(reason)"
        case .refused(let reason): "refused: \(reason)"
        }
    }
}

/// A result code of SQLite, and the store's reaction to it.
struct SQLiteFailure: Error {
    enum FailureConsequence {
        /// The file is damaged, or is not a database.
        case damaged
        /// An unreleased program wrote the file.
        case earlier
        /// The value is invalid; the file is not damaged.
        case refused
        /// The storage is full, read-only, locked or broken: the store continues in memory.
        case unsaved
    }

    /// Extended result code (sqlite3.h).
    let code: Int32

    init(_ code: Int32) { self.code = code }

    /// The code for the database of a version that was never released. SQLite's own codes are never negative.
    static let earlierSchema = SQLiteFailure(-1)

    /// The store's reaction to the class of the result code, which is the code's low octet.
    var consequence: FailureConsequence {
        if code == Self.earlierSchema.code { return .earlier }
        return switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_ERROR, SQLITE_MISUSE: .refused
        default: .unsaved
        }
    }

    /// SQLite's own words, such as "database or disk is full", which never contain a value.
    var reason: String {
        code == Self.earlierSchema.code ? "an unreleased hotspotd wrote the database" : String(cString: sqlite3_errstr(code))
    }
}
