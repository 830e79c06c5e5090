import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Vault

private let network = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .open)
private let other = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .psk)
private let purpose = Purpose.credential(network: network, helper: "form", origin: "https://p.example", pin: "cGlu")

@Suite final class VaultTests {
    private let ownFolder = TemporaryFolder()
    var folder: String { ownFolder.path }
    var file: String { folder + "/vault.key" }

    private func write(_ octets: [UInt8], mode: mode_t = 0o600) {
        let file = Glibc.open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        #expect(Glibc.write(file, octets, octets.count) == octets.count)
        #expect(fchmod(file, mode) == 0)
    }

    private func text(_ secret: borrowing SecretBytes) -> String { secret.withBytes { String(decoding: $0, as: UTF8.self) } }

    @Test func aVaultGetsItsKeyOnceTheFolderCanBeWritten() throws {
        rmdir(folder)
        let vault: Vault
        do throws(VaultError) {
            vault = try Vault(keyFile: file, hasSealedRows: false)
        } catch {
            vault = Vault(locked: error)
        }
        vault.retry(keyFile: file, hasSealedRows: false)
        #expect(vault.lock != nil)
        mkdir(folder, 0o700)
        vault.retry(keyFile: file, hasSealedRows: true)
        #expect(vault.lock == .keyMissing(path: file), "a key that sealed something is never replaced")
        vault.retry(keyFile: file, hasSealedRows: false)
        let sealed = try vault.seal(Array("geheim".utf8), for: purpose)
        vault.retry(keyFile: folder + "/link", hasSealedRows: false)
        #expect(text(try vault.open(sealed, for: purpose)) == "geheim", "it stays as long as the vault is open")
    }

    /// The file is removed, or has the key of another installation, while the vault is open.
    @Test(arguments: [false, true]) func theKeyIsWrittenAgain(isReplaced: Bool) throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let sealed = try vault.seal(Array("geheim".utf8), for: purpose)
        #expect(try !vault.restore(keyFile: file), "it is in its place")
        #expect(unlink(file) == 0)
        if isReplaced { _ = try Vault(keyFile: file, hasSealedRows: false) }
        #expect(try vault.restore(keyFile: file))
        #expect(text(try Vault(keyFile: file).open(sealed, for: purpose)) == "geheim")
    }

    @Test func sealedOctetsOpenForTheSamePurposeOnly() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let sealed = try vault.seal(Array("geheim".utf8), for: purpose)
        #expect(text(try vault.open(sealed, for: purpose)) == "geheim")
        #expect(!sealed.indices.contains { sealed[$0...].starts(with: Array("geheim".utf8)) })
        let moved: [Purpose] = [
            .credential(network: network, helper: "form", origin: "https://p.example", pin: "cGlu", program: "/usr/bin/form"),
            .credential(network: network, helper: "form", origin: "https://p.example", pin: "cGlu", program: ""),
            .credential(network: other, helper: "form", origin: "https://p.example", pin: "cGlu"),
            .credential(network: network, helper: "wispr", origin: "https://p.example", pin: "cGlu"),
            .credential(network: network, helper: "form", origin: "https://q.example", pin: "cGlu"),
            .credential(network: network, helper: "form", origin: "https://p.example", pin: nil),
            .credential(network: network, helper: "form", origin: "https://p.example", pin: ""),
            .credential(network: network, helper: "formh", origin: "ttps://p.example", pin: "cGlu"),
            .session(network: network, helper: "form"),
            .session(network: network, helper: "form", program: "/usr/bin/form"),
        ]
        for purpose in moved {
            #expect(throws: VaultError.notOpened) { _ = try vault.open(sealed, for: purpose) }
        }
    }

    @Test func everyChangedOctetIsNoticed() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        let sealed = try vault.seal([1, 2, 3], for: purpose)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: VaultError.self) { _ = try vault.open(changed, for: purpose) }
            #expect(throws: VaultError.self) { _ = try vault.open(Array(sealed.prefix(index)), for: purpose) }
        }
        #expect(try vault.seal([1, 2, 3], for: purpose) != sealed, "a nonce is never used twice")
    }

    @Test func answersComeBackAsTheyWere() throws {
        let vault = try Vault(keyFile: file, hasSealedRows: false)
        for answers in [
            [:], ["room": "214"], ["surname": "Müller \u{0} x", "": "", "pass": String(repeating: "p", count: 5000)],
        ] {
            #expect(try vault.openAnswers(try vault.seal(answers, for: purpose), for: purpose) == answers)
        }
        let odd = try vault.seal([0, 0, 0, 1, 65], for: purpose)
        #expect(throws: VaultError.notOpened) { try vault.openAnswers(odd, for: purpose) }
        let long = try vault.seal([0xff, 0xff, 0xff, 0xff, 65], for: purpose)
        #expect(throws: VaultError.notOpened) { try vault.openAnswers(long, for: purpose) }
        #expect(throws: VaultError.tooLarge(limit: Vault.limit)) {
            try vault.seal(["x": String(repeating: "y", count: Vault.limit)], for: purpose)
        }
        #expect(throws: VaultError.anonymousNetwork) { try vault.seal([1], for: .session(network: .anonymous, helper: "form")) }
    }

    @Test func theKeyIsMadeOnceAndOnlyForAnEmptyStore() throws {
        #expect(throws: VaultError.keyMissing(path: file)) { try Vault(keyFile: file) }
        #expect(access(file, F_OK) != 0)
        let sealed = try Vault(keyFile: file, hasSealedRows: false).seal([9], for: purpose)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_size == 32)
        #expect(try Vault(keyFile: file, hasSealedRows: true).open(sealed, for: purpose).count == 1)
        #expect(try Vault(keyFile: file, hasSealedRows: false).open(sealed, for: purpose).count == 1)
    }

    @Test func anotherKeyIsCalledSo() throws {
        let sealed = try Vault(keyFile: file, hasSealedRows: false).seal([9], for: purpose)
        write(Array(1...32))
        let vault = try Vault(keyFile: file)
        #expect(throws: VaultError.otherKey) { _ = try vault.open(sealed, for: purpose) }
    }

    @Test func aKeyThatCannotBeTrustedIsRefused() throws {
        for octets in [[], [1], Array(1...31), Array(1...33), Array(repeating: 0, count: 32)] as [[UInt8]] {
            write(octets)
            #expect(throws: VaultError.self) { try Vault(keyFile: file, hasSealedRows: false) }
        }
        for mode: mode_t in [0o640, 0o604, 0o620] {
            write(Array(1...32), mode: mode)
            #expect(throws: VaultError.self) { try Vault(keyFile: file, hasSealedRows: false) }
        }
        write(Array(1...32), mode: 0o400)
        _ = try Vault(keyFile: file)
        #expect(symlink(file, folder + "/link") == 0)
        #expect(throws: VaultError.keyRefused(path: folder + "/link", reason: "it is a symbolic link")) {
            try Vault(keyFile: folder + "/link", hasSealedRows: false)
        }
        #expect(throws: VaultError.self) { try Vault(keyFile: folder, hasSealedRows: false) }
    }

    @Test func aLockedVaultReportsWhyAndChangesNothing() throws {
        let sealed = try Vault(keyFile: file, hasSealedRows: false).seal(["room": "214"], for: purpose)
        unlink(file)
        let error = try #require(throws: VaultError.self) { try Vault(keyFile: file, hasSealedRows: true) }
        let vault = Vault(locked: error)
        #expect(vault.lock == .keyMissing(path: file))
        #expect(throws: error) { try vault.seal([1], for: purpose) }
        #expect(throws: error) { try vault.seal([UInt8](repeating: 0, count: Vault.limit + 1), for: purpose) }
        #expect(throws: error) { try vault.seal(["room": "214"], for: .session(network: .anonymous, helper: "form")) }
        #expect(throws: error) { _ = try vault.open(sealed, for: purpose) }
        #expect(throws: error) { _ = try vault.open([], for: purpose) }
        #expect(throws: error) { try vault.openAnswers(sealed, for: purpose) }
        #expect(access(file, F_OK) != 0)
        // Once everything sealed is forgotten, the next start makes a new key.
        let next = try Vault(keyFile: file, hasSealedRows: false)
        #expect(next.lock == nil)
        #expect(throws: VaultError.otherKey) { try next.openAnswers(sealed, for: purpose) }
    }
}
