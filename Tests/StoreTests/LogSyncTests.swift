import Glibc
import HotspotCore
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite struct LogSyncTests {
    /// A disk that is as slow as a test wants, and then succeeds or fails.
    private final class Disk: Sendable {
        struct State {
            var isSlow = true
            var code: Int32 = 0
            var begun = 0
            var done = 0
            var path = ""
        }
        let state = Mutex(State())

        func flush(_ path: String) -> Int32 {
            state.withLock {
                $0.begun += 1
                $0.path = path
            }
            while state.withLock({ $0.isSlow }) { usleep(1000) }
            return state.withLock {
                $0.done += 1
                return $0.code
            }
        }

        func wait(_ condition: (State) -> Bool) {
            while !state.withLock({ condition($0) }) { usleep(1000) }
        }
    }

    private let folder = TemporaryFolder()

    @Test(.timeLimit(.minutes(10))) func writesDoNotWaitForTheDisk() throws {
        let disk = Disk()
        let store = try Store(
            directory: folder.state, retryInterval: .seconds(10), busyTimeout: 0, pageLimit: nil, flush: { disk.flush($0) })
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        disk.wait { $0.begun == 1 }
        for time in 2..<50 { try store.setOutcome(cafe, StoredOutcome(word: "online", time: time)) }
        #expect(disk.state.withLock { $0.done } == 0 && disk.state.withLock { $0.path } == folder.state + "/hotspotd.db-wal")
        #expect(try folder.open().lastOutcome(cafe)?.time == 49, "other connections see it")
        // One flush is enough for all writes in the meantime.
        disk.state.withLock { $0.isSlow = false }
        disk.wait { $0.done == 2 }
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 50))
        disk.wait { $0.done == 3 }
        #expect(store.problem == nil)
    }

    @Test(.timeLimit(.minutes(10))) func aDiskThatDoesNotStoreItIsReported() throws {
        let disk = Disk()
        disk.state.withLock { ($0.isSlow, $0.code) = (false, EIO) }
        let store = try Store(
            directory: folder.state, retryInterval: .seconds(10), busyTimeout: 0, pageLimit: nil, flush: { disk.flush($0) })
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        while store.problem == nil { usleep(1000) }
        #expect(store.problem?.code == .storeNotSaving && store.problem?.message.contains("Input/output error") == true)
        disk.state.withLock { $0.code = 0 }
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 2))
        while store.problem != nil { usleep(1000) }
    }

    /// A deleted log needs no flush.
    @Test(.timeLimit(.minutes(10))) func theLogItselfIsFlushed() throws {
        let store = try folder.open()
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 1))
        #expect(LogSync.flush(folder.state + "/hotspotd.db-wal") == 0)
        #expect(LogSync.flush(folder.state + "/absent") == 0)
        symlink("hotspotd.db-wal", folder.state + "/link")
        #expect(LogSync.flush(folder.state + "/link") == ELOOP)
    }
}
