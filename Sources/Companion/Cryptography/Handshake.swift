import Vault

/// A handshake of Noise (revision 34, section 5.3) by one of the two patterns of this protocol.
struct Handshake: ~Copyable {
    enum Pattern: String, CaseIterable {
        /// Exchanges the long-term keys of two machines that already share a key.
        case pairing = "Noise_XXpsk0_25519_ChaChaPoly_SHA256"
        /// Begins a session with a machine whose long-term key is known.
        case session = "Noise_IK_25519_ChaChaPoly_SHA256"

        fileprivate var messages: [[Token]] {
            switch self {
            case .pairing: [[.psk, .e], [.e, .ee, .s, .es], [.s, .se]]
            case .session: [[.e, .es, .s, .ss], [.e, .ee, .se]]
            }
        }
    }

    fileprivate enum Token { case e, s, ee, es, se, ss, psk }

    private let pattern: Pattern
    private let isInitiator: Bool
    private var symmetric: SymmetricState
    private var ephemeral: KeyPair
    private var remoteEphemeral: [UInt8]
    /// The peer's long-term key, as soon as it is known.
    private(set) var remoteStatic: [UInt8]
    // Not written `SecretBytes?`, which would begin as nil: the compiler of Swift 6.2, built with assertions, rejects an initializer that can fail
    // after a member is stored.
    private var sharedKey: Optional<SecretBytes>
    private var rest: ArraySlice<[Token]>

    /// - Parameters:
    ///   - prologue: data that must be equal on both sides.
    ///   - own: our own long-term key, which each message needs again.
    ///   - remoteStatic: the peer's long-term key, only for the initiator of ``Pattern/session``.
    ///   - sharedKey: the shared key for ``Pattern/pairing``, 32 octets.
    ///   - ephemeral: the ephemeral key; fresh except in tests.
    init(
        _ pattern: Pattern, isInitiator: Bool, prologue: [UInt8], own: borrowing KeyPair, remoteStatic: [UInt8] = [],
        sharedKey: consuming SecretBytes? = nil, ephemeral: consuming KeyPair? = nil
    ) throws(CompanionError) {
        var symmetric = try SymmetricState(protocolName: pattern.rawValue)
        let ephemeral = if let ephemeral { ephemeral } else { try KeyPair() }
        symmetric.mixHash(prologue)
        switch pattern {
        case .pairing: break
        // Both sides know the responder's key beforehand, so they mix it in first.
        case .session: symmetric.mixHash(isInitiator ? remoteStatic : own.publicKey)
        }
        self.pattern = pattern
        self.isInitiator = isInitiator
        self.symmetric = symmetric
        self.ephemeral = ephemeral
        remoteEphemeral = []
        self.remoteStatic = remoteStatic
        self.sharedKey = sharedKey
        rest = pattern.messages[...]
    }

    /// Whether all messages were written and read.
    var isDone: Bool { rest.isEmpty }

    /// The name of this handshake in frames: the beginning of its hash.
    var name: KeyID { KeyID(octets: symmetric.hash.prefix(4)) }

    /// Writes the next message.
    mutating func write(_ payload: [UInt8] = [], own: borrowing KeyPair) throws(CompanionError) -> [UInt8] {
        guard let tokens = rest.popFirst() else { throw .unexpected }
        var message: [UInt8] = []
        for token in tokens {
            switch token {
            case .e:
                message += ephemeral.publicKey
                try mixEphemeral(ephemeral.publicKey)
            case .s: message += try symmetric.encryptAndHash(own.publicKey)
            case .ee, .es, .se, .ss, .psk: try mix(token, own: own)
            }
        }
        return message + (try symmetric.encryptAndHash(payload))
    }

    /// Reads the next message, and returns its payload.
    mutating func read(_ message: [UInt8], own: borrowing KeyPair) throws(CompanionError) -> [UInt8] {
        guard let tokens = rest.popFirst() else { throw .unexpected }
        var left = message[...]
        func next(_ count: Int) throws(CompanionError) -> [UInt8] {
            guard left.count >= count else { throw .malformed }
            defer { left = left.dropFirst(count) }
            return Array(left.prefix(count))
        }
        for token in tokens {
            switch token {
            case .e:
                remoteEphemeral = try next(32)
                try mixEphemeral(remoteEphemeral)
            case .s: remoteStatic = try symmetric.decryptAndHash(try next(32 + symmetric.tagLength))
            case .ee, .es, .se, .ss, .psk: try mix(token, own: own)
            }
        }
        return try symmetric.decryptAndHash(Array(left))
    }

    private mutating func mixEphemeral(_ key: [UInt8]) throws(CompanionError) {
        symmetric.mixHash(key)
        // With a shared key, the ephemeral key is also mixed into the chaining key (section 9.2).
        if pattern == .pairing { try symmetric.mixKey(try .copy(of: key)) }
    }

    private mutating func mix(_ token: Token, own: borrowing KeyPair) throws(CompanionError) {
        switch (token, isInitiator) {
        case (.ee, _): try symmetric.mixKey(try ephemeral.product(with: remoteEphemeral))
        case (.es, true), (.se, false): try symmetric.mixKey(try ephemeral.product(with: remoteStatic))
        case (.es, false), (.se, true): try symmetric.mixKey(try own.product(with: remoteEphemeral))
        case (.ss, _): try symmetric.mixKey(try own.product(with: remoteStatic))
        case (.psk, _):
            guard let key = sharedKey.take() else { throw .unexpected }
            try symmetric.mixKeyAndHash(key)
        case (.e, _), (.s, _): break
        }
    }

    /// Returns the keys of the session that begins now.
    consuming func split() throws(CompanionError) -> CipherPair {
        guard rest.isEmpty else { throw .unexpected }
        return try symmetric.split(isInitiator: isInitiator)
    }
}
