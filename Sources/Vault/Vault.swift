import CSodium
import HotspotCore

/// Seals secrets, and opens them only for the same purpose. This target also contains the PIN, and the rule for releasing answers.
///
/// Uses XChaCha20-Poly1305, with a key in a file outside the database. Sealed octets consist of one octet for the version, 8 that identify the key,
/// 24 of nonce, and the ciphertext with its tag.
public final class Vault {
    /// The largest size that can be sealed at a time, in octets.
    public static let limit = 64 * 1024

    private static let version: UInt8 = 1
    static let keyNameLength = 8
    private static let nonceLength = 24
    private static let tagLength = 16
    private static let headerLength = 1 + keyNameLength + nonceLength

    /// A key, with a name that reveals nothing about it.
    final class NamedKey {
        let secret: SecretBytes
        let name: [UInt8]

        init(_ secret: consuming SecretBytes) {
            name = Vault.name(of: secret)
            self.secret = secret
        }
    }

    private(set) var key: Result<NamedKey, VaultError>
    /// The PIN that guards credentials, if there is one, and the key derived from it once the PIN was typed.
    var pin: (lock: PINLock, key: NamedKey?)?

    /// The reason why the vault cannot seal or open; `nil` if it has its key.
    public var lock: VaultError? { if case .failure(let error) = key { error } else { nil } }

    /// Reads the key, or creates one if the file is missing and nothing is sealed yet.
    ///
    /// - Parameter hasSealedRows: whether the store has sealed rows, in which case a missing key is an error and is not replaced.
    /// - Throws: ``VaultError/keyMissing(path:)``, ``VaultError/keyRefused(path:reason:)`` or ``VaultError/unavailable``.
    public init(keyFile: String, hasSealedRows: Bool = true) throws(VaultError) {
        key = .success(try Self.key(in: keyFile, hasSealedRows: hasSealedRows))
    }

    private static func key(in file: String, hasSealedRows: Bool) throws(VaultError) -> NamedKey {
        if let key = try KeyFile.read(file) { return NamedKey(key) }
        guard !hasSealedRows else { throw .keyMissing(path: file) }
        return NamedKey(try KeyFile.make(file))
    }

    /// If the vault has no key, reads or creates one as ``init(keyFile:hasSealedRows:)`` does.
    public func retry(keyFile: String, hasSealedRows: Bool) {
        guard lock != nil else { return }
        do throws(VaultError) { key = .success(try Self.key(in: keyFile, hasSealedRows: hasSealedRows)) } catch {
            key = .failure(error)
        }
    }

    /// Writes the key again if another program removed or replaced its file, so that sealed data can be opened after the next start. A file with a
    /// different key is kept under another name. Returns whether the file was written.
    public func restore(keyFile: String) throws(VaultError) -> Bool {
        guard case .success(let key) = key else { return false }
        if let other = try KeyFile.read(keyFile) {
            guard Self.name(of: other) != key.name else { return false }
            try KeyFile.putAside(keyFile)
        }
        try KeyFile.write(key.secret, to: keyFile)
        return true
    }

    /// Creates a vault without a key: the daemon then works without secrets, and sealing and opening throw the given error.
    ///
    /// Sealed octets are kept, and can be opened again with the right key.
    public init(locked error: VaultError) { key = .failure(error) }

    /// Returns the key for a purpose. A PIN guards credentials but not sessions, because sessions are maintained without the user.
    private func key(for purpose: Purpose) throws(VaultError) -> NamedKey {
        let key = try key.get()
        switch purpose {
        case .session: return key
        case .credential:
            guard let pin else { return key }
            guard let opened = pin.key else { throw .pinNeeded }
            return opened
        }
    }

    /// Seals octets.
    public func seal(_ octets: [UInt8], for purpose: Purpose) throws(VaultError) -> [UInt8] {
        _ = try key(for: purpose)
        return try seal(try SecretBytes(copying: octets), for: purpose)
    }

    public func seal(_ secret: borrowing SecretBytes, for purpose: Purpose) throws(VaultError) -> [UInt8] {
        try seal(secret, for: purpose, with: try key(for: purpose))
    }

    func seal(_ secret: borrowing SecretBytes, for purpose: Purpose, with key: NamedKey) throws(VaultError) -> [UInt8] {
        guard secret.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
        let associated = try purpose.associatedData()
        var nonce = [UInt8](repeating: 0, count: Self.nonceLength)
        randombytes_buf(&nonce, nonce.count)
        var cipher = [UInt8](repeating: 0, count: secret.count + Self.tagLength)
        let code = secret.withBytes { plain in
            key.secret.withBytes { key in
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &cipher, nil, plain.bindMemory(to: UInt8.self).baseAddress, UInt64(plain.count), associated,
                    UInt64(associated.count), nil, nonce, key.bindMemory(to: UInt8.self).baseAddress!)
            }
        }
        guard code == 0 else { throw .unavailable }
        return [Self.version] + key.name + nonce + cipher
    }

    /// Opens octets that were sealed for exactly this purpose. Throws ``VaultError/otherKey`` or ``VaultError/notOpened``.
    public func open(_ sealed: [UInt8], for purpose: Purpose) throws(VaultError) -> SecretBytes {
        let key = try key(for: purpose)
        let associated = try purpose.associatedData()
        guard sealed.count >= Self.headerLength + Self.tagLength, sealed[0] == Self.version else { throw .notOpened }
        guard sealed.count <= Self.headerLength + Self.limit + Self.tagLength else { throw .tooLarge(limit: Self.limit) }
        guard Array(sealed[1..<1 + Self.keyNameLength]) == key.name else { throw .otherKey }
        let nonce = Array(sealed[1 + Self.keyNameLength..<Self.headerLength])
        let cipher = Array(sealed[Self.headerLength...])
        let plain = try SecretBytes(count: cipher.count - Self.tagLength)
        let code = plain.withMutableBytes { plain in
            key.secret.withBytes { key in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    plain.bindMemory(to: UInt8.self).baseAddress, nil, nil, cipher, UInt64(cipher.count), associated,
                    UInt64(associated.count), nonce, key.bindMemory(to: UInt8.self).baseAddress!)
            }
        }
        guard code == 0 else { throw .notOpened }
        return plain
    }

    /// Seals answers together with the names of their fields.
    public func seal(_ answers: [String: String], for purpose: Purpose) throws(VaultError) -> [UInt8] {
        _ = try key(for: purpose)
        let length = answers.reduce(0) { $0 + 8 + $1.key.utf8.count + $1.value.utf8.count }
        guard length <= Self.limit else { throw .tooLarge(limit: Self.limit) }
        let plain = try SecretBytes(count: length)
        plain.withMutableBytes { octets in
            var index = 0
            for text in answers.sorted(by: { $0.key < $1.key }).flatMap({ [$0.key, $0.value] }) {
                octets.storeBytes(of: UInt32(text.utf8.count).bigEndian, toByteOffset: index, as: UInt32.self)
                index += 4
                for octet in text.utf8 {
                    octets[index] = octet
                    index += 1
                }
            }
        }
        return try seal(plain, for: purpose)
    }

    /// Opens answers. The strings are in ordinary memory, so send them at once, and do not keep them.
    public func openAnswers(_ sealed: [UInt8], for purpose: Purpose) throws(VaultError) -> [String: String] {
        let plain = try open(sealed, for: purpose)
        let texts: [String]? = plain.withBytes { octets in
            var texts: [String] = []
            var index = 0
            while index < octets.count {
                guard octets.count - index >= 4 else { return nil }
                let length = Int(UInt32(bigEndian: octets.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
                index += 4
                guard length <= octets.count - index,
                    let text = String(validating: octets[index..<index + length], as: UTF8.self)
                else { return nil }
                texts.append(text)
                index += length
            }
            return texts
        }
        guard let texts, texts.count.isMultiple(of: 2) else { throw .notOpened }
        var answers: [String: String] = [:]
        for index in stride(from: 0, to: texts.count, by: 2) { answers[texts[index]] = texts[index + 1] }
        return answers
    }

    /// Returns the name of a key: a keyed hash of a fixed text.
    private static func name(of key: borrowing SecretBytes) -> [UInt8] {
        let word = Array("hotspotd vault key name".utf8)
        var hash = [UInt8](repeating: 0, count: 16)
        _ = key.withBytes {
            crypto_generichash(&hash, hash.count, word, UInt64(word.count), $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
        return Array(hash.prefix(keyNameLength))
    }
}
