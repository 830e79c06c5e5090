// This target keeps the records that survive a restart, in SQLite: networks, choices, the journal. ``Store`` provides the calls.

import CSQLite
import ForeignText

/// A parameter of a statement.
enum SQLValue {
    case null
    case integer(Int)
    case text(String)
    case blob([UInt8])

    init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }
    init(_ integer: Int?) { self = integer.map(SQLValue.integer) ?? .null }
}

/// One row of a result. If a column's type is not the requested one, its value is `nil`, like NULL.
struct SQLRow {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int? {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return Int(sqlite3_column_int64(statement, column))
    }

    func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT, let start = sqlite3_column_text(statement, column) else {
            return nil
        }
        let octets = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        return String(validating: octets, as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8]? {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        guard count > 0, let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// A connection to a database. `deinit` closes it.
struct Database: ~Copyable {
    /// The longest value that is stored or read, in octets.
    static let valueLimit: Int32 = 1024 * 1024

    /// Allocates the pages of databases one by one. Otherwise SQLite allocates 20 pages for each database and 20 for its temporary database, and
    /// never uses most of them: 0.13 MiB of the idle daemon's memory (SQLite 3.40).
    private static let allocatesPageByPage: Bool = hotspotd_sqlite_page_by_page() == SQLITE_OK

    private let handle: OpaquePointer

    /// Opens or creates a file, or opens `:memory:`.
    init(path: String) throws(SQLiteFailure) { try self.init(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) }

    /// Opens a file for reading only. Use `isImmutable` if no file can be created beside it; SQLite then ignores the write-ahead log.
    init(reading path: String, isImmutable: Bool) throws(SQLiteFailure) {
        var name = ""
        for octet in path.utf8 {
            name += Array("?#%".utf8).contains(octet) ? "%" + Hex.encode([octet]) : String(UnicodeScalar(octet))
        }
        try self.init("file:\(name)?immutable=\(isImmutable ? 1 : 0)", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    private init(_ name: String, _ flags: Int32) throws(SQLiteFailure) {
        _ = Self.allocatesPageByPage
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(
            name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw SQLiteFailure(code)
        }
        self.handle = handle
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.valueLimit)
        _ = hotspotd_sqlite_defensive(handle)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Sets how long a statement waits for another program's lock.
    func setBusyTimeout(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Runs one statement to its end.
    func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteFailure) {
        _ = try rows(sql, values) { _ in }
    }

    /// Runs one statement and reads each row. Rows for which the closure returns `nil` are left out and counted.
    func rows<T>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (SQLRow) -> T?
    ) throws(SQLiteFailure) -> (rows: [T], skipped: Int) {
        var statement: OpaquePointer?
        let prepared = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard prepared == SQLITE_OK, let statement else { throw SQLiteFailure(prepared) }
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            let code = Self.bind(value, statement, Int32(index + 1))
            guard code == SQLITE_OK else { throw SQLiteFailure(code) }
        }
        var rows: [T] = []
        var skipped = 0
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                if let row = read(SQLRow(statement: statement)) { rows.append(row) } else { skipped += 1 }
            case SQLITE_DONE: return (rows, skipped)
            case let code: throw SQLiteFailure(code)
            }
        }
    }

    /// Runs `work` in one transaction.
    func transaction(_ work: (borrowing Database) throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        try run("BEGIN IMMEDIATE")
        do {
            try work(self)
            try run("COMMIT")
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    /// Makes this database a copy of another, in one transaction.
    func copy(from source: borrowing Database) throws(SQLiteFailure) {
        guard let backup = sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw SQLiteFailure(sqlite3_extended_errcode(handle))
        }
        let step = sqlite3_backup_step(backup, -1)
        let finish = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE else { throw SQLiteFailure(step) }
        guard finish == SQLITE_OK else { throw SQLiteFailure(finish) }
    }

    private static func bind(_ value: SQLValue, _ statement: OpaquePointer, _ index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let integer): return sqlite3_bind_int64(statement, index, Int64(integer))
        case .text(let text):
            var text = text
            return text.withUTF8 { octets in
                guard octets.count <= valueLimit else { return SQLITE_TOOBIG }
                return octets.withMemoryRebound(to: CChar.self) {
                    hotspotd_sqlite_bind_text(statement, index, $0.baseAddress, Int32($0.count))
                }
            }
        case .blob(let octets):
            guard octets.count <= valueLimit else { return SQLITE_TOOBIG }
            return octets.withUnsafeBytes { hotspotd_sqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count)) }
        }
    }
}
