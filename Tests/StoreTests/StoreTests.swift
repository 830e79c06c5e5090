import Foundation
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Store

@Suite struct StoreTests {
    let folder = TemporaryFolder()

    private func write(_ octets: [UInt8], to path: String, at offset: Int = 0) {
        let file = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        #expect(pwrite(file, octets, octets.count, off_t(offset)) == octets.count)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        #expect(lstat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    @Test func onlyTheDaemonsUserMayReadTheFolder() throws {
        let store = try folder.open()
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        #expect(mode(folder.state) == 0o700)
        for name in folder.names { #expect(mode(folder.state + "/" + name) == 0o600, "\(name)") }
        #expect(folder.names.contains("hotspotd.db-wal"))
        #expect(store.problem == nil && store.isSaving)
    }

    @Test func theProbesAddressOutlivesTheDaemon() throws {
        do {
            let store = try folder.open()
            try store.setProbeAddress("192.0.2.1", of: "http://old.example/")
            try store.setProbeAddress("192.0.2.2", of: "http://probe.example/")
        }
        let store = try folder.open()
        #expect(store.probeAddresses() == ["http://probe.example/": "192.0.2.2"])
        try store.forgetEverything()
        #expect(store.probeAddresses().isEmpty)
    }

    @Test func aLongLogIsMovedIntoTheDatabase() throws {
        func size() -> off_t {
            var status = stat()
            return stat(folder.state + "/hotspotd.db", &status) == 0 ? status.st_size : 0
        }
        let store = try folder.open()
        let before = size()
        store.checkpoint()
        #expect(size() == before, "a short log stays")
        let sealed = [UInt8](repeating: 7, count: 100_000)
        let networks = (10..<70).map { NetworkID.wired(HardwareAddress("02:00:00:00:00:\($0)")!) }
        for network in networks { try store.setSealedSession(network, sealed) }
        #expect(size() == before)
        store.checkpoint()
        #expect(size() > 5_000_000)
        #expect(store.problem == nil && store.sealedSession(networks[0]) == sealed)
    }

    @Test func anotherUsersFolderIsRefusedWithAReason() throws {
        #expect(symlink("/tmp", folder.path + "/link") == 0)
        #expect(throws: StoreError.folder(path: folder.path + "/link", reason: "is a symbolic link; name the folder itself")) {
            try Store(directory: folder.path + "/link")
        }
        write([1], to: folder.path + "/file")
        #expect(throws: StoreError.folder(path: folder.path + "/file", reason: "is not a folder")) {
            try Store(directory: folder.path + "/file")
        }
        #expect(throws: StoreError.self) { try Store(directory: "relative/path") }
        #expect(throws: StoreError.self) { try Store(directory: folder.path + "/missing/state") }
        #expect(mkdir(folder.path + "/wide", 0o700) == 0 && chmod(folder.path + "/wide", 0o777) == 0)
        #expect(throws: StoreError.self) { try Store(directory: folder.path + "/wide") }
        #expect(mkdir(folder.path + "/loose", 0o700) == 0 && chmod(folder.path + "/loose", 0o755) == 0)
        _ = try Store(directory: folder.path + "/loose")
        #expect(mode(folder.path + "/loose") == 0o700)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away")) func aForeignOwnerIsRefused() throws {
        #expect(mkdir(folder.state, 0o700) == 0 && chown(folder.state, 12345, 0) == 0)
        let error = #expect(throws: StoreError.self) { try folder.open() }
        #expect(error?.description.contains("belongs to user 12345") == true)
    }

    @Test func aDatabaseThatIsALinkIsRefused() throws {
        #expect(mkdir(folder.state, 0o700) == 0)
        write([1, 2, 3], to: folder.path + "/elsewhere")
        #expect(symlink(folder.path + "/elsewhere", folder.state + "/hotspotd.db") == 0)
        #expect(throws: StoreError.self) { try folder.open() }
    }

    @Test func aParentMayBeALink() throws {
        #expect(symlink(folder.path, folder.path + "/around") == 0)
        let store = try Store(directory: folder.path + "/around/state")
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        #expect(try folder.open().lastOutcome(cafe) != nil)
    }

    @Test func aFileThatIsNotADatabaseIsRenamed() throws {
        #expect(mkdir(folder.state, 0o700) == 0)
        write(Array(repeating: 0x41, count: 5000), to: folder.state + "/hotspotd.db")
        let store = try folder.open()
        #expect(store.problem?.code == .storeDamaged)
        #expect(store.isSaving)
        #expect(folder.names.contains { $0.hasPrefix("hotspotd.db.damaged-") })
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        #expect(try folder.open().lastOutcome(cafe)?.word == "online")
    }

    @Test func noDamageIsEverFatal() throws {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<20 {
            let folder = TemporaryFolder()
            do {
                let store = try folder.open()
                for number in 0..<30 { try store.setOutcome(cafe, StoredOutcome(word: "online \(number)", time: number)) }
                try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5)
                try store.addSteps("a", [Step(at: 1, kind: "problem", detail: String(repeating: "x", count: 500))])
            }
            let file = folder.state + "/hotspotd.db"
            var status = stat()
            #expect(stat(file, &status) == 0)
            if round.isMultiple(of: 2) {
                let octets = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
                write(octets, to: file, at: Int.random(in: 0..<Int(status.st_size) - 64, using: &generator))
            } else {
                #expect(truncate(file, off_t.random(in: 0..<off_t(status.st_size), using: &generator)) == 0)
            }
            let store = try folder.open()
            _ = store.lastOutcome(cafe)
            _ = store.steps("a")
            _ = store.attempts()
            // The first write may meet damage and be lost, but never the second write.
            try? store.setOutcome(cafe, StoredOutcome(word: "after", time: 1))
            try? store.setOutcome(cafe, StoredOutcome(word: "after", time: 1))
            #expect(store.lastOutcome(cafe)?.word == "after", "round \(round)")
        }
    }

    @Test func aNewerDatabaseIsReadAndLeftAlone() throws {
        do {
            let store = try folder.open()
            try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
            let raw = try Database(path: store.path)
            try raw.run("PRAGMA user_version = 99")
        }
        do {
            let store = try folder.open()
            #expect(store.problem?.code == .storeNewer)
            #expect(store.lastOutcome(cafe)?.word == "online")
            #expect(throws: StoreError.self) { try store.setOutcome(cafe, StoredOutcome(word: "changed", time: 2)) }
            #expect(store.lastOutcome(cafe)?.word == "changed")
            store.save()
            #expect(!store.isSaving)
        }
        let raw = try Database(path: folder.state + "/hotspotd.db")
        #expect(try Schema.version(of: raw) == 99)
        #expect(try raw.rows("SELECT word FROM outcomes") { $0.text(0) }.rows == ["online"])
    }

    @Test func aDatabaseOfAnUnreleasedProgramIsKeptAside() throws {
        do {
            let store = try folder.open()
            try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
            let raw = try Database(path: store.path)
            try raw.run("PRAGMA user_version = \(Schema.version - 1)")
        }
        let store = try folder.open()
        let aside = try #require(folder.names.first { $0.hasPrefix("hotspotd.db.earlier-") })
        #expect(store.problem?.code == .storeReplaced && store.problem?.message.contains(aside) == true)
        #expect(store.isSaving && store.lastOutcome(cafe) == nil)
        try store.setOutcome(cafe, StoredOutcome(word: "new", time: 2))
        let kept = try Database(path: folder.state + "/" + aside)
        #expect(try kept.rows("SELECT word FROM outcomes") { $0.text(0) }.rows == ["online"])
        let again = try folder.open()
        #expect(again.problem == nil && again.lastOutcome(cafe)?.word == "new")
    }

    @Test func aFullDiskIsSurvivedInMemoryAndSavedLater() throws {
        let store = try folder.open(retry: .seconds(3600), pages: 20)
        try store.setOutcome(hotel, StoredOutcome(word: "online", time: 1))
        try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5)
        var failure: StoreError?
        var written = 0
        while failure == nil, written < 200 {
            written += 1
            do {
                try store.addSteps("a", [Step(at: written, kind: "trace", detail: String(repeating: "x", count: 3000))])
            } catch { failure = error }
        }
        #expect(failure == .notSaved(reason: "database or disk is full"))
        #expect(store.problem?.code == .storeNotSaving)
        // Everything is there, even what was written while the disk was full, and the store continues.
        #expect(store.steps("a").count == written)
        #expect(store.lastOutcome(hotel)?.word == "online")
        #expect(throws: StoreError.self) { try store.setOutcome(cafe, StoredOutcome(word: "later", time: 2)) }
        #expect(store.lastOutcome(cafe)?.word == "later")
        store.save()
        #expect(!store.isSaving, "the disk is still full")
        store.pageLimit = nil
        store.save()
        #expect(store.isSaving && store.problem == nil)
        try store.setOutcome(cafe, StoredOutcome(word: "saved", time: 3))
        let again = try folder.open()
        #expect(again.lastOutcome(cafe)?.word == "saved")
        #expect(again.steps("a").count == written)
    }

    @Test func aLockedDatabaseIsSurvivedAndSavedByALaterWrite() throws {
        let store = try folder.open(retry: .zero)
        try store.setOutcome(hotel, StoredOutcome(word: "before", time: 1))
        do {
            let other = try Database(path: store.path)
            try other.run("BEGIN IMMEDIATE")
            #expect(throws: StoreError.notSaved(reason: "database is locked")) {
                try store.setOutcome(cafe, StoredOutcome(word: "during", time: 2))
            }
            #expect(store.lastOutcome(cafe)?.word == "during")
            #expect(throws: StoreError.self) { try store.setOutcome(cafe, StoredOutcome(word: "still", time: 2)) }
        }
        try store.setOutcome(twin, StoredOutcome(word: "after", time: 3))
        #expect(store.isSaving)
        let again = try folder.open()
        #expect(again.lastOutcome(cafe)?.word == "still")
        #expect(again.lastOutcome(twin)?.word == "after")
        #expect(again.lastOutcome(hotel)?.word == "before")
    }

    @Test func aRowThatMakesNoSenseIsSkippedAndCounted() throws {
        let store = try folder.open()
        let raw = try Database(path: store.path)
        try raw.run("INSERT INTO holds VALUES (?, 'struckByLightning', NULL, 'x')", [.text(cafe.key!)])
        try raw.run(
            "INSERT INTO choices (network, helper, committed, expires) VALUES (?, CAST(x'ff41' AS TEXT), 1, 99)",
            [.text(cafe.key!)])
        #expect(store.hold(cafe, now: 1) == nil)
        #expect(store.remembered(cafe, now: 1) == nil)
        #expect(store.skippedRows == 2)
        try store.setHold(cafe, StoredHold(reason: .dismissed, sentence: "x"))
        #expect(store.hold(cafe, now: 1)?.reason == .dismissed)
    }

    /// The ways in which an open database is removed or replaced.
    enum Loss: CaseIterable { case folderRemoved, folderMoved, folderEmptied, folderReplaced, databaseReplaced }

    private func suffer(_ loss: Loss) throws {
        let files = FileManager.default
        switch loss {
        case .folderRemoved: try files.removeItem(atPath: folder.state)
        case .folderMoved: try files.moveItem(atPath: folder.state, toPath: folder.path + "/elsewhere")
        case .folderEmptied: for name in folder.names { try files.removeItem(atPath: "\(folder.state)/\(name)") }
        case .folderReplaced:
            try files.moveItem(atPath: folder.state, toPath: folder.path + "/elsewhere")
            _ = mkdir(folder.state, 0o700)
        case .databaseReplaced:
            for name in folder.names { try files.removeItem(atPath: "\(folder.state)/\(name)") }
            let other = try folder.open()
            try other.setOutcome(cafe, StoredOutcome(word: "other", time: 99))
        }
    }

    @Test(arguments: Loss.allCases) func whatIsAcknowledgedAfterTheLossOfTheFolderSurvives(loss: Loss) throws {
        var store: Store? = try folder.open()
        try store?.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        try suffer(loss)
        try store?.setOutcome(twin, StoredOutcome(word: "online", time: 2))
        let problem = try #require(store?.problems.first { $0.code == .storeReplaced })
        #expect(store?.isSaving == true && store?.problems.count == 1)
        let aside = folder.names.filter { $0.contains(".replaced-") && !$0.hasSuffix("-wal") }
        #expect(aside.count == (loss == .databaseReplaced ? 1 : 0))
        #expect(aside.allSatisfy { problem.message.contains($0) })
        try store?.setOutcome(hotel, StoredOutcome(word: "online", time: 3))
        #expect(folder.names.filter { $0.contains(".replaced-") && !$0.hasSuffix("-wal") } == aside, "once")
        store = nil
        let again = try folder.open()
        #expect([cafe, twin, hotel].map { again.lastOutcome($0)?.time } == [1, 2, 3])
    }

    /// A read does not notice the loss; the daemon's watch of the folder does.
    @Test func theLossIsRepairedWithoutAWrite() throws {
        let store = try folder.open()
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        store.reclaim()
        #expect(store.problems.isEmpty)
        try suffer(.folderRemoved)
        store.reclaim()
        #expect(store.problems.map(\.code) == [.storeReplaced])
        let copy = folder.path + "/copy"
        #expect(mkdir(copy, 0o700) == 0)
        for name in ["hotspotd.db", "hotspotd.db-wal"] where access("\(folder.state)/\(name)", F_OK) == 0 {
            duplicate("\(folder.state)/\(name)", "\(copy)/\(name)")
        }
        #expect(try Store(directory: copy).lastOutcome(cafe)?.time == 1)
    }

    @Test func anAcknowledgedWriteSurvivesTheKill() throws {
        // A killed process leaves its files with the log, without a clean close.
        let store = try folder.open()
        for number in 0..<20 { try store.setOutcome(cafe, StoredOutcome(word: "online", time: number)) }
        try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5)
        let copy = folder.path + "/copy"
        #expect(mkdir(copy, 0o700) == 0)
        for name in ["hotspotd.db", "hotspotd.db-wal"] { duplicate(folder.state + "/" + name, copy + "/" + name) }
        let again = try Store(directory: copy)
        #expect(again.lastOutcome(cafe)?.time == 19)
        #expect(again.attempt("a")?.outcome == Attempt.interrupted)
    }
}
