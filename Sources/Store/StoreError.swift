import CSQLite

/// What can go wrong with the store.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The state folder cannot be trusted or used. The daemon should not start.
    case folder(path: String, reason: String)
    /// The database cannot be opened at all. The daemon should not start.
    case database(path: String, reason: String)
    /// The change is kept in memory alone; the store tries again by itself.
    case notSaved(reason: String)
    /// The change cannot be stored in any case, such as a value above its limit.
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

/// A result code of SQLite and what the store makes of it.
struct SQLiteFailure: Error {
    /// What follows from a failure.
    enum Consequence {
        /// The file holds no database that can be trusted.
        case damaged
        /// The value is at fault, not the file.
        case refused
        /// Full, read-only, locked or broken storage: go on in memory.
        case unsaved
    }

    /// Extended result code (sqlite3.h).
    let code: Int32

    init(_ code: Int32) { self.code = code }

    /// The class of the result code, which is its low octet.
    var consequence: Consequence {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_ERROR, SQLITE_MISUSE: .refused
        default: .unsaved
        }
    }

    /// SQLite's own words, such as «database or disk is full». They never hold a value.
    var reason: String { String(cString: sqlite3_errstr(code)) }
}
