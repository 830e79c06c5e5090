import Glibc
import HotspotCore
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite struct PINStoreTests {
    private let folder = TemporaryFolder()
    private let pin = StoredPIN(salt: [1], passes: 2, memory: 3, names: [4])

    private func store(flush: @escaping @Sendable (String) -> Int32 = LogSync.flush) throws -> Store {
        let store = try Store(directory: folder.state, retryInterval: .zero, busyTimeout: 0, pageLimit: nil, flush: flush)
        try store.setCredential(cafe, helper: "form", origin: "http://o", pin: nil, fieldNames: ["room"], sealed: [7])
        return store
    }

    @Test func aPINIsKeptWithTheCredentialsThatWereSealedForIt() throws {
        let store = try store()
        #expect(store.pin == nil)
        var credential = store.allCredentials[0]
        credential.sealed = [8]
        try store.setPIN(pin, credentials: [credential])
        #expect(try folder.open().pin == pin && folder.open().allCredentials == [credential])
        credential.sealed = [9]
        try store.setPIN(nil, credentials: [credential])
        #expect(store.pin == nil && store.allCredentials == [credential])
    }

    @Test func noClockGivesAGuessBack() throws {
        let first = try store()
        try first.setPIN(pin, credentials: [])
        for _ in 0..<3 { try first.countGuess() }
        // The clock of a machine without a battery, and one far ahead.
        for now in [0, Int.max / 2] {
            let store = try folder.open()
            try store.prune(now: now)
            try store.beginAttempt("at \(now)", interface: "w", network: cafe, ssid: "Cafe", began: now)
            #expect(try folder.open().pin?.guesses == 3)
        }
        try first.countGuess()
        #expect(try folder.open().pin?.guesses == 4 && folder.open().allCredentials.count == 1)
    }

    /// A daemon that is killed after the count has used up the guess: the octets on the disk show that.
    @Test func aGuessIsOnTheDiskWhenTheCountReturns() throws {
        let flushes = Mutex(0)
        let store = try store { _ in
            flushes.withLock { $0 += 1 }
            return 0
        }
        try store.setPIN(pin, credentials: [])
        let copy = TemporaryFolder()
        mkdir(copy.state, 0o700)
        for count in 1...3 {
            let before = flushes.withLock { $0 }
            try store.countGuess()
            #expect(flushes.withLock { $0 } > before)
            for name in ["hotspotd.db", "hotspotd.db-wal"] { try self.copy(name, to: copy.state) }
            unlink(copy.state + "/hotspotd.db-shm")
            #expect(try copy.open().pin?.guesses == count)
        }
        try store.forgiveGuesses()
        #expect(try folder.open().pin?.guesses == 0)
    }

    private func copy(_ name: String, to place: String) throws {
        var octets: [UInt8] = []
        let source = try #require(fopen("\(folder.state)/\(name)", "r"))
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, source), count > 0 { octets += chunk[..<count] }
        fclose(source)
        let target = try #require(fopen("\(place)/\(name)", "w"))
        #expect(fwrite(octets, 1, octets.count, target) == octets.count)
        fclose(target)
        chmod("\(place)/\(name)", 0o600)
    }

    @Test func aGuessThatTheDiskDoesNotKeepIsNone() throws {
        let code = Mutex(Int32(0))
        let store = try store { _ in code.withLock { $0 } }
        try store.setPIN(pin, credentials: [])
        code.withLock { $0 = EIO }
        #expect(throws: StoreError.self) { try store.countGuess() }
        code.withLock { $0 = 0 }
        #expect(store.pin?.guesses == 1, "it is counted all the same")
    }

    @Test func whatIsErasedIsInNoFile() throws {
        let store = try store()
        let canary = Array("canary-0815".utf8)
        try store.setCredential(cafe, helper: "form", origin: "http://o", pin: nil, fieldNames: ["room"], sealed: canary)
        try store.setPIN(pin, credentials: store.allCredentials)
        try store.eraseCredentials()
        #expect(store.pin == nil && store.allCredentials.isEmpty && !store.hasSealedRows)
        for name in folder.names {
            let file = try #require(fopen("\(folder.state)/\(name)", "r"))
            defer { fclose(file) }
            var octets = [UInt8](repeating: 0, count: 1 << 22)
            octets.removeLast(octets.count - fread(&octets, 1, octets.count, file))
            #expect(!octets.indices.contains { octets[$0...].starts(with: canary) }, "\(name)")
        }
    }

    @Test func oneCredentialIsDeletedAlone() throws {
        let store = try store()
        try store.setCredential(twin, helper: "form", origin: "http://o", pin: "p", fieldNames: ["room"], sealed: [8])
        try store.deleteCredential(try #require(store.credentials(cafe).first))
        #expect(store.allCredentials.map(\.network) == [twin.key!])
    }
}
