import CSQLite
import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// The daemon's database: choices, sessions, consents, holds, switches, outcomes, sealed credentials and the journal.
///
/// hotspotd is the only writer, and calls the store on one thread. If the disk is full, locked or read-only, the store continues in memory: writing
/// throws ``StoreError/notSaved(reason:)``, but later reads see the change, and everything is saved once the disk works again.
public final class Store {
    /// The failures that a write survives, besides the end of the process.
    enum Durability {
        /// A power cut after the next flush; see ``LogSync``.
        case full
        /// A power cut some time after the write. Used for the journal's many steps, which must not delay a login.
        case process
    }

    private enum Mode {
        case disk
        case memory(reason: String, retries: Bool)
    }

    /// The most urgent problem.
    public var problem: Problem? { problems.first }
    /// Problems for the user, the most urgent first: changes cannot be saved, the file was damaged or replaced, or a newer hotspotd wrote it.
    public var problems: [Problem] {
        var problems: [Problem] = []
        if case .memory(let reason, let retries) = mode, retries {
            problems.append(
                Problem(
                    .storeNotSaving, "hotspotd cannot save data (\(reason)); logins continue from memory.",
                    hint: ShellWord.quoted(folder).map { "df -h \($0)" }))
        }
        if log.failure != 0 {
            problems.append(
                Problem(
                    .storeNotSaving, "The disk does not store data (\(String(cString: strerror(log.failure)))).",
                    hint: "journalctl -k"))
        }
        return problems + notes
    }
    /// The number of rows that were left out because they could not be read.
    public internal(set) var skippedRows = 0
    public let path: String

    private let folder: String
    private let retryInterval: Duration
    private let busyTimeout: Int32
    private let log: LogSync
    private var database: Database
    private var mode: Mode
    private var nextRetry: Instant
    /// Whether the copy in memory is complete, so that it may replace the database on disk.
    private var replacesDisk = true
    private var notes: [Problem] = []
    /// The identity of the database's file.
    private var identity: FileIdentity?
    /// The switches as last read; `nil` after a change.
    var knownSwitches: Switches?
    /// How long attempts and outcomes are kept, in milliseconds.
    public var journalLifetime = RememberedChoice.lifetime
    /// The largest number of pages in the file; for tests, which cannot fill a disk.
    var pageLimit: Int?

    /// Opens or creates `hotspotd.db` in the folder. The folder must belong to the daemon's user alone; if it is missing, it is created with mode
    /// 0700.
    ///
    /// A damaged database, or the database of an unreleased program, gets a new name that contains the time, and an empty database replaces it. A
    /// newer program's database is read but not changed. Throws ``StoreError/folder(path:reason:)`` or ``StoreError/database(path:reason:)``.
    public convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, retryInterval: .seconds(10), busyTimeout: 2000, pageLimit: nil)
    }

    init(
        directory: String, retryInterval: Duration, busyTimeout: Int32, pageLimit: Int?,
        flush: @escaping @Sendable (String) -> Int32 = LogSync.flush
    ) throws(StoreError) {
        folder = try StateFolder.resolve(directory)
        path = folder + "/hotspotd.db"
        log = LogSync(path: folder + "/hotspotd.db-wal", flush: flush)
        self.retryInterval = retryInterval
        self.busyTimeout = busyTimeout
        self.pageLimit = pageLimit
        nextRetry = Instant(nanoseconds: 0)
        mode = .disk
        var unsaved: String?
        do throws(StoreError) {
            try StateFolder.prepare(folder)
            try StateFolder.prepareFile(path)
        } catch {
            guard case .notSaved(let reason) = error else { throw error }
            unsaved = reason
        }
        do throws(SQLiteFailure) {
            guard unsaved == nil else { throw SQLiteFailure(SQLITE_READONLY) }
            database = try Self.open(path, busyTimeout: busyTimeout, pageLimit: pageLimit)
        } catch {
            switch error.consequence {
            case .damaged, .earlier:
                if let note = try Self.quarantine(path, error.consequence) { notes.append(note) }
                try StateFolder.prepareFile(path)
                do {
                    database = try Self.open(path, busyTimeout: busyTimeout, pageLimit: pageLimit)
                } catch {
                    database = try Self.memory(for: path)
                    mode = .memory(reason: error.reason, retries: true)
                }
            case .unsaved, .refused:
                guard error.code & 0xff != SQLITE_CANTOPEN else { throw .database(path: path, reason: error.reason) }
                database = try Self.memory(for: path)
                replacesDisk = Self.copy(path, to: database)
                mode = .memory(reason: unsaved ?? error.reason, retries: true)
            }
        }
        if case .disk = mode, let version = try? Schema.version(of: database), version > Schema.version {
            let reason = "a newer hotspotd wrote it (version \(version), known is \(Schema.version))"
            notes.append(
                Problem(
                    .storeNewer, "hotspotd can read the database, but saves nothing: \(reason).",
                    hint: "start the newer hotspotd" + (ShellWord.quoted(path).map { ", or move \($0) away" } ?? "")))
            if let copy = try? Database(path: ":memory:"), (try? copy.copy(from: database)) != nil {
                database = copy
            } else {
                database = try Self.memory(for: path)
            }
            mode = .memory(reason: reason, retries: false)
        }
        identity = FileIdentity(path)
        endInterrupted()
    }

    /// For tests: whether writes reach the disk.
    package var isSaving: Bool { if case .disk = mode { true } else { false } }

    /// Tries to save the changes that are only in memory. Does nothing if everything is saved.
    public func save() {
        guard case .memory(_, retries: true) = mode else { return }
        nextRetry = EventLoop.now + retryInterval
        do {
            try StateFolder.prepare(folder)
            try StateFolder.prepareFile(path)
            // Do not wait for a lock: waiting at each attempt would block the loop.
            let disk = try Self.open(path, busyTimeout: 0, pageLimit: pageLimit)
            guard try Schema.version(of: disk) <= Schema.version else { return }
            if replacesDisk { try disk.copy(from: database) }
            try disk.run("PRAGMA journal_mode = WAL")
            disk.setBusyTimeout(busyTimeout)
            database = disk
            (mode, replacesDisk, knownSwitches, identity) = (.disk, true, nil, FileIdentity(path))
            log.request()
        } catch let error as SQLiteFailure {
            if let note = try? Self.quarantine(path, error.consequence) { notes.append(note) }
            mode = .memory(reason: error.reason, retries: true)
        } catch StoreError.notSaved(let reason) {
            mode = .memory(reason: reason, retries: true)
        } catch {
            mode = .memory(reason: "\(error)", retries: true)
        }
    }

    /// Writes everything to the disk again if another program removed or replaced the database or its folder. Does nothing if the file is still
    /// there. A file that replaced the database is kept under another name.
    ///
    /// SQLite does not notice the removal: it continues with its open files, which vanish when the process ends.
    public func reclaim() {
        guard case .disk = mode, FileIdentity(path) != identity else { return }
        var problem = "Another program removed or replaced the database in \(folder); hotspotd restored its records."
        if access(path, F_OK) == 0, let aside = try? Self.putAside(path, as: "replaced") {
            problem += " The other database is kept as \(aside)."
        }
        notes.removeAll { $0.code == .storeReplaced }
        notes.append(
            Problem(.storeReplaced, problem, hint: "stop hotspotd before you change \(folder): sudo systemctl stop hotspotd"))
        goOnInMemory("the database was removed")
        save()
    }

    /// Moves a long log into the database. This waits for the disk, so call it when nothing else waits.
    ///
    /// Do not checkpoint on a thread with its own connection: before SQLite 3.51.3, a write and a checkpoint on two connections at the same time may
    /// damage the file (sqlite.org/wal.html, the WAL-reset bug).
    public func checkpoint() {
        var status = stat()
        guard case .disk = mode, stat(path + "-wal", &status) == 0, status.st_size > Self.logLimit else { return }
        do throws(SQLiteFailure) { try database.run("PRAGMA wal_checkpoint(PASSIVE)") } catch {
            if error.consequence == .damaged { replaceDamaged() }
        }
    }

    /// Moves the whole log into the database, so that the log contains no deleted data.
    func emptyLog() { if case .disk = mode { try? database.run("PRAGMA wal_checkpoint(TRUNCATE)") } }

    /// The size of the log, in octets, above which ``checkpoint()`` moves it into the database.
    static let logLimit = 1 << 20

    // MARK: - Reading and writing

    /// Reads rows; leaves out and counts those that cannot be read.
    func read<T>(_ sql: String, _ values: [SQLValue] = [], _ row: (SQLRow) -> T?) -> [T] {
        do {
            let (rows, skipped) = try database.rows(sql, values, row)
            skippedRows += skipped
            return rows
        } catch {
            skippedRows += 1
            if error.consequence == .damaged, case .disk = mode { replaceDamaged() }
            return []
        }
    }

    /// Runs `work` in a transaction.
    func write(
        _ durability: Durability = .full, _ work: (borrowing Database) throws(SQLiteFailure) -> Void
    ) throws(StoreError) {
        if case .memory(_, retries: true) = mode, EventLoop.now >= nextRetry { save() }
        reclaim()
        if case .disk = mode {
            do {
                try database.transaction(work)
                if durability == .full { log.request() }
                return
            } catch {
                switch error.consequence {
                case .refused: throw .refused(reason: error.reason)
                case .damaged: replaceDamaged()
                case .unsaved, .earlier: goOnInMemory(error.reason)
                }
            }
        }
        do {
            try database.transaction(work)
        } catch {
            throw .refused(reason: error.reason)
        }
        if case .memory(let reason, _) = mode { throw .notSaved(reason: reason) }
    }

    /// Runs `work` in a transaction, and waits until the disk has the changes.
    func writeFlushed(_ work: (borrowing Database) throws(SQLiteFailure) -> Void) throws(StoreError) {
        try write(.full, work)
        let code = log.now()
        guard code == 0 else { throw .notSaved(reason: String(cString: strerror(code))) }
    }

    /// Moves the log into the database and empties it, so that neither contains replaced or deleted data.
    public func scrub() { _ = read("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } }

    private func goOnInMemory(_ reason: String) {
        nextRetry = EventLoop.now + retryInterval
        mode = .memory(reason: reason, retries: true)
        // This fails only for lack of memory; the store then continues with the open file.
        guard let copy = try? Database(path: ":memory:") else { return }
        if (try? copy.copy(from: database)) == nil { try? Schema.prepare(copy) }
        try? copy.run("PRAGMA foreign_keys = ON")
        database = copy
    }

    private func replaceDamaged() {
        knownSwitches = nil
        do {
            if let note = try Self.quarantine(path, .damaged) { notes.append(note) }
            try StateFolder.prepareFile(path)
            database = try Self.open(path, busyTimeout: busyTimeout, pageLimit: pageLimit)
            identity = FileIdentity(path)
        } catch {
            goOnInMemory("the database is damaged and cannot be replaced")
        }
    }

    // MARK: - Files

    /// Opens and checks a database, and makes the tables of an empty one; does not change a newer schema.
    private static func open(_ path: String, busyTimeout: Int32, pageLimit: Int?) throws(SQLiteFailure) -> Database {
        let database = try Database(path: path)
        database.setBusyTimeout(busyTimeout)
        try database.run("PRAGMA cell_size_check = ON")
        let check = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }.rows
        guard check == ["ok"] else { throw SQLiteFailure(SQLITE_CORRUPT) }
        guard try Schema.version(of: database) <= Schema.version else { return database }
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA synchronous = NORMAL")
        try database.run("PRAGMA foreign_keys = ON")
        try database.run("PRAGMA trusted_schema = OFF")
        try database.run("PRAGMA secure_delete = ON")
        try database.run("PRAGMA journal_size_limit = \(logLimit)")
        // Let SQLite move the log at 32 MiB, in case ``checkpoint()`` is never called.
        try database.run("PRAGMA wal_autocheckpoint = 8192")
        if let pageLimit { try database.run("PRAGMA max_page_count = \(pageLimit)") }
        try Schema.prepare(database)
        return database
    }

    private static func memory(for path: String) throws(StoreError) -> Database {
        do {
            let database = try Database(path: ":memory:")
            try database.run("PRAGMA foreign_keys = ON")
            try Schema.prepare(database)
            return database
        } catch {
            throw .database(path: path, reason: error.reason)
        }
    }

    /// Copies as much of the disk's content as can be read. Returns whether the copy is complete.
    private static func copy(_ path: String, to memory: borrowing Database) -> Bool {
        guard access(path, F_OK) == 0 else { return true }
        for isImmutable in [false, true] {
            guard let disk = try? Database(reading: path, isImmutable: isImmutable),
                let version = try? Schema.version(of: disk), [0, Schema.version].contains(version),
                (try? memory.copy(from: disk)) != nil, (try? Schema.prepare(memory)) != nil
            else { continue }
            // For an immutable file, SQLite does not read the log, so the copy is complete only if the log is empty.
            var log = stat()
            return !isImmutable || stat(path + "-wal", &log) != 0 || log.st_size == 0
        }
        return false
    }

    /// Renames a database and its log, and returns the new name.
    private static func putAside(_ path: String, as word: String) throws(StoreError) -> String {
        let stamp = WallClock.utc(WallClock.now, "%Y%m%dT%H%M%SZ")
        var aside = "\(path).\(word)-\(stamp)"
        var number = 1
        while access(aside, F_OK) == 0 {
            number += 1
            aside = "\(path).\(word)-\(stamp)-\(number)"
        }
        guard rename(path, aside) == 0 else {
            throw .database(path: path, reason: "is \(word) and cannot be moved aside: \(StateFolder.message(errno))")
        }
        rename(path + "-wal", aside + "-wal")
        unlink(path + "-shm")
        return aside
    }

    /// Renames an unusable database, and returns the note for the user; `nil` if the file must stay.
    private static func quarantine(_ path: String, _ consequence: SQLiteFailure.FailureConsequence) throws(StoreError) -> Problem?
    {
        switch consequence {
        case .damaged:
            let aside = try putAside(path, as: "damaged")
            return Problem(.storeDamaged, "The database was damaged. It is kept as \(aside); an empty one replaces it.")
        case .earlier:
            let aside = try putAside(path, as: "earlier")
            return Problem(
                .storeReplaced,
                "An unreleased hotspotd wrote the database. It is kept as \(aside); an empty one replaces it. Networks, "
                    + "answers and the history start empty.")
        case .unsaved, .refused: return nil
        }
    }
}
