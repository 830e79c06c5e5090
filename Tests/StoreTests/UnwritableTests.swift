import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Store

private let canMount: Bool = {
    let folder = TemporaryFolder()
    defer { umount2(folder.path, Int32(MNT_DETACH)) }
    return geteuid() == 0 && mount("tmpfs", folder.path, "tmpfs", 0, nil) == 0
}()

/// A state folder on a file system of its own that is full or read-only when the daemon starts.
@Suite(.serialized, .enabled(if: canMount, "only root can mount a file system"))
struct UnwritableTests {
    /// A file system in memory, until this value is gone.
    final class Disk {
        let folder = TemporaryFolder()
        var path: String { folder.path + "/disk" }
        var state: String { path + "/state" }

        init() {
            mkdir(path, 0o700)
            #expect(mount("tmpfs", path, "tmpfs", 0, "size=512k") == 0)
        }

        deinit { umount2(path, Int32(MNT_DETACH)) }

        func remount(readOnly: Bool) {
            #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0), "size=512k") == 0)
        }

        func fill() {
            let file = Glibc.open(path + "/filler", O_WRONLY | O_CREAT, 0o600)
            defer { close(file) }
            let octets = [UInt8](repeating: 1, count: 4096)
            while Glibc.write(file, octets, octets.count) > 0 {}
        }

        func open() throws -> Store {
            try Store(directory: state, retryInterval: .zero, busyTimeout: 50, pageLimit: nil)
        }
    }

    private func write(_ word: String, for network: NetworkID, to store: Store) {
        let error = #expect(throws: StoreError.self) { try store.setOutcome(network, StoredOutcome(word: word, time: 1)) }
        if case .notSaved(let reason)? = error, !reason.contains("not saved") {
        } else {
            Issue.record("\(String(describing: error))")
        }
        #expect(store.lastOutcome(network)?.word == word && store.problem?.code == .storeNotSaving)
    }

    @Test("Goes on from memory with what was stored, and saves both later", arguments: [true, false])
    func unwritable(isFull: Bool) throws {
        let disk = Disk()
        do { try disk.open().setOutcome(cafe, StoredOutcome(word: "before", time: 1)) }
        if isFull { disk.fill() } else { disk.remount(readOnly: true) }
        do {
            let store = try disk.open()
            #expect(!store.isSaving && store.problem?.code == .storeNotSaving && store.lastOutcome(cafe)?.word == "before")
            write("meanwhile", for: hotel, to: store)
            if isFull { unlink(disk.path + "/filler") } else { disk.remount(readOnly: false) }
            store.save()
            #expect(store.isSaving && store.problem == nil)
        }
        let store = try disk.open()
        #expect(store.lastOutcome(cafe)?.word == "before" && store.lastOutcome(hotel)?.word == "meanwhile")
    }

    @Test("Data in the log alone is not lost to an older copy") func unread() throws {
        let disk = Disk()
        // A process that was killed leaves its log behind.
        let killed = try disk.folder.open()
        try killed.setOutcome(cafe, StoredOutcome(word: "before", time: 1))
        #expect(mkdir(disk.state, 0o700) == 0)
        for name in ["hotspotd.db", "hotspotd.db-wal"] { duplicate(disk.folder.state + "/" + name, disk.state + "/" + name) }
        disk.remount(readOnly: true)
        let store = try disk.open()
        write("meanwhile", for: hotel, to: store)
        disk.remount(readOnly: false)
        store.save()
        #expect(store.isSaving && store.lastOutcome(cafe)?.word == "before")
    }

    @Test("A folder that cannot be made yet is made later", arguments: [true, false]) func missing(isFull: Bool) throws {
        let disk = Disk()
        if isFull { disk.fill() } else { disk.remount(readOnly: true) }
        let store = try disk.open()
        write("meanwhile", for: hotel, to: store)
        if isFull { unlink(disk.path + "/filler") } else { disk.remount(readOnly: false) }
        store.save()
        #expect(store.isSaving && store.problem == nil)
        #expect(try disk.open().lastOutcome(hotel)?.word == "meanwhile")
    }
}
