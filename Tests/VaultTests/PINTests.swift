import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Vault

@Suite final class PINTests {
    private let folder = TemporaryFolder()
    private var file: String { folder.path + "/vault.key" }
    private let credential = Purpose.credential(
        network: .wired(HardwareAddress("02:00:00:00:00:01")!), helper: "form", origin: "https://p.example", pin: "cGlu")
    private let session = Purpose.session(network: .wired(HardwareAddress("02:00:00:00:00:01")!), helper: "form")

    /// Sets a PIN whose key is cheap to derive, and returns its lock and the credential under it.
    private func set(_ pin: String?, in vault: Vault, _ sealed: [UInt8]) throws -> (lock: PINLock?, sealed: [UInt8]) {
        var saved: (PINLock?, [UInt8])?
        try vault.changePIN(to: pin, passes: 1, memory: 8192, credentials: [(sealed, credential)]) { saved = ($0, $1[0]) }
        return try #require(saved)
    }

    @Test func thePINIsPartOfTheKey() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let plain = try vault.seal(["room": "214"], for: credential)
        let memory = try vault.seal([7], for: session)
        let (lock, sealed) = try set("4711", in: vault, plain)
        #expect(vault.hasPIN && !vault.isLocked && sealed != plain)
        #expect(try vault.openAnswers(sealed, for: credential) == ["room": "214"])
        #expect(throws: VaultError.otherKey) { try vault.openAnswers(plain, for: credential) }

        // As after a restart. First without the lock, by the vault's key alone.
        let next = try Vault(keyFile: file)
        #expect(throws: VaultError.otherKey) { try next.openAnswers(sealed, for: credential) }
        next.guardCredentials(by: lock)
        #expect(next.isLocked)
        #expect(throws: VaultError.pinNeeded) { try next.openAnswers(sealed, for: credential) }
        #expect(throws: VaultError.pinNeeded) { try next.seal(["room": "1"], for: credential) }
        #expect(try next.open(memory, for: session).count == 1, "a session is maintained without the user")
        for wrong in ["4712", "", "47110"] { #expect(try !next.unlock(wrong) && next.isLocked) }
        #expect(try next.unlock("4711") && !next.isLocked)
        #expect(try next.openAnswers(sealed, for: credential) == ["room": "214"])
    }

    @Test func aPINIsChangedAndRemoved() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let first = try set("4711", in: vault, try vault.seal(["room": "214"], for: credential))
        let second = try set("0815", in: vault, first.sealed)
        #expect(second.lock?.salt != first.lock?.salt)
        vault.guardCredentials(by: second.lock)
        #expect(try !vault.unlock("4711"))
        #expect(throws: VaultError.pinNeeded, "the credentials must be open") { try set("1234", in: vault, second.sealed) }
        #expect(try vault.unlock("0815"))
        let none = try set(nil, in: vault, second.sealed)
        #expect(none.lock == nil && !vault.hasPIN)
        #expect(try vault.openAnswers(none.sealed, for: credential) == ["room": "214"])
    }

    @Test func whatCannotBeSavedChangesNothing() throws {
        struct Full: Error {}
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let plain = try vault.seal(["room": "214"], for: credential)
        #expect(throws: Full.self) {
            try vault.changePIN(to: "4711", passes: 1, memory: 8192, credentials: [(plain, credential)]) { _, _ in throw Full() }
        }
        #expect(!vault.hasPIN)
        #expect(try vault.openAnswers(plain, for: credential) == ["room": "214"])
    }

    @Test func aLockOfAnotherKeyIsCalledSoBeforeAnyGuess() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let (lock, _) = try set("4711", in: vault, try vault.seal(["room": "214"], for: credential))
        unlink(file)
        let other = try Vault(keyFile: file, hasSealedRows: false)
        other.guardCredentials(by: lock)
        #expect(throws: VaultError.otherKey) { try other.checkLock() }
        #expect(throws: VaultError.otherKey) { try other.unlock("4711") }
    }
}
