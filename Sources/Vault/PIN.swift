import CSodium

/// The stored record of a PIN. The key of the credentials is derived from the PIN and the vault's key, so neither a copy of the database nor the PIN
/// alone opens the credentials.
public struct PINLock: Hashable, Sendable {
    /// The cost of one guess with Argon2id: passes, and octets of memory. One guess takes about 0.2 s.
    public static let (passes, memory) = (3, 64 << 20)
    /// The number of wrong guesses in a row that erases the credentials, and the number at which warnings begin.
    public static let (limit, warning) = (10, 8)

    public var salt: [UInt8]
    public var passes: Int
    public var memory: Int
    /// The name of the vault's key, followed by the name of the key that the right PIN derives from it.
    public var names: [UInt8]

    public init(salt: [UInt8], passes: Int, memory: Int, names: [UInt8]) {
        self.salt = salt
        self.passes = passes
        self.memory = memory
        self.names = names
    }
}

extension Vault {
    public var hasPIN: Bool { pin != nil }
    /// Whether a PIN guards the credentials and has not been typed yet.
    public var isLocked: Bool { pin.map { $0.key == nil } ?? false }

    /// Locks the credentials until the lock's PIN is typed; `nil` means that no PIN guards them.
    public func guardCredentials(by lock: PINLock?) { pin = lock.map { ($0, nil) } }

    /// Throws if the PIN was set with another vault's key, so that no guess could be right.
    public func checkLock() throws(VaultError) {
        guard let pin else { return }
        guard pin.lock.names.starts(with: try key.get().name) else { throw .otherKey }
    }

    /// Opens the credentials if the guess is right. The caller must count the guess first.
    public func unlock(_ guess: String) throws(VaultError) -> Bool {
        try checkLock()
        guard let lock = pin?.lock else { return true }
        let made = try makeKey(guess, lock)
        guard lock.names.dropFirst(Self.keyNameLength).elementsEqual(made.name) else { return false }
        pin = (lock, made)
        return true
    }

    /// Seals the credentials with the key of the new PIN, or with the vault's key if `next` is `nil`. Uses that key from the time they are saved.
    ///
    /// - Parameter save: stores the lock and the sealed credentials together; they have the order of `credentials`. A credential that cannot be
    ///   opened is passed unchanged.
    public func changePIN(
        to next: String?, passes: Int = PINLock.passes, memory: Int = PINLock.memory,
        credentials: [(sealed: [UInt8], purpose: Purpose)], save: (PINLock?, [[UInt8]]) throws -> Void
    ) throws {
        let base = try key.get()
        var lock = PINLock(
            salt: [UInt8](repeating: 0, count: Int(crypto_pwhash_saltbytes())), passes: passes, memory: memory, names: [])
        randombytes_buf(&lock.salt, lock.salt.count)
        let made = try next.map { text throws(VaultError) in try makeKey(text, lock) }
        if let made { lock.names = base.name + made.name }
        let sealed = try credentials.map { sealed, purpose throws(VaultError) -> [UInt8] in
            do throws(VaultError) {
                return try seal(try open(sealed, for: purpose), for: purpose, with: made ?? base)
            } catch {
                if error == .pinNeeded { throw error }
                return sealed
            }
        }
        try save(made == nil ? nil : lock, sealed)
        pin = made.map { (lock, $0) }
    }

    private func makeKey(_ text: String, _ lock: PINLock) throws(VaultError) -> NamedKey {
        let base = try key.get()
        guard lock.salt.count == Int(crypto_pwhash_saltbytes()) else { throw .notOpened }
        let stretched = try SecretBytes(count: KeyFile.length)
        let typed = try SecretBytes(copying: Array(text.utf8))
        let code = stretched.withMutableBytes { out in
            typed.withBytes { typed in
                crypto_pwhash(
                    out.bindMemory(to: UInt8.self).baseAddress!, UInt64(out.count), typed.bindMemory(to: CChar.self).baseAddress!,
                    UInt64(typed.count), lock.salt, UInt64(clamping: lock.passes), Int(clamping: lock.memory),
                    crypto_pwhash_alg_argon2id13())
            }
        }
        guard code == 0 else { throw .unavailable }
        let made = try SecretBytes(count: KeyFile.length)
        _ = made.withMutableBytes { made in
            stretched.withBytes { stretched in
                base.secret.withBytes { base in
                    crypto_generichash(
                        made.bindMemory(to: UInt8.self).baseAddress!, made.count,
                        stretched.bindMemory(to: UInt8.self).baseAddress, UInt64(stretched.count),
                        base.bindMemory(to: UInt8.self).baseAddress, base.count)
                }
            }
        }
        return NamedKey(made)
    }
}
