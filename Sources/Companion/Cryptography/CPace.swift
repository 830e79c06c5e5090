import CSodium
import Vault

/// Makes a key from a code that two people read to each other: CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21, with an initiator and a responder.
///
/// An eavesdropper cannot try codes afterwards; an active attacker learns only whether one code is right. A newer revision of the draft needs a new
/// ``Frame/version``.
struct CPace: ~Copyable {
    private static let name = Array("CPaceRistretto255".utf8)
    /// The block size of SHA-512, in octets.
    private static let block = 128

    private let scalar: SecretBytes
    private let session: [UInt8]
    /// The point that the peer gets.
    let share: [UInt8]

    /// - Parameters:
    ///   - code: the secret that both people know (PRS).
    ///   - channel: the parties' names (CI).
    ///   - session: the fresh octets of both sides (sid).
    ///   - scalar: 32 octets; random except in tests.
    init(
        code: borrowing SecretBytes, channel: [UInt8], session: [UInt8], scalar: consuming SecretBytes? = nil
    ) throws(CompanionError) {
        let generator = try Self.generator(code: code, channel: channel, session: session)
        let scalar = if let scalar { scalar } else { try Self.randomScalar() }
        share = try Self.product(of: scalar, generator).withBytes { Array($0) }
        self.scalar = scalar
        self.session = session
    }

    private static func randomScalar() throws(CompanionError) -> SecretBytes {
        let scalar = try SecretBytes.zeroes(32)
        scalar.withOctets { crypto_core_ristretto255_scalar_random($0) }
        return scalar
    }

    /// Returns the intermediate session key, 64 octets. Throws ``CompanionError/invalidPoint`` for a share that is not a point or
    /// gives the neutral element.
    ///
    /// - Parameters:
    ///   - data: the data that both parties authenticate beside their shares (ADa, ADb), the initiator's first.
    borrowing func key(
        with peer: [UInt8], isInitiator: Bool, data: (initiator: [UInt8], responder: [UInt8]) = ([], [])
    ) throws(CompanionError) -> SecretBytes {
        guard peer.count == 32 else { throw .malformed }
        let product = try Self.product(of: scalar, peer)
        let shares = isInitiator ? (share, peer) : (peer, share)
        let transcript = Self.joined([shares.0, data.initiator, shares.1, data.responder])
        let head = Self.joined([Self.name + Array("_ISK".utf8), session]) + Self.length(32)
        let key = try SecretBytes.zeroes(64)
        var state = crypto_hash_sha512_state()
        crypto_hash_sha512_init(&state)
        crypto_hash_sha512_update(&state, head, UInt64(head.count))
        product.withOctets { _ = crypto_hash_sha512_update(&state, $0, 32) }
        crypto_hash_sha512_update(&state, transcript, UInt64(transcript.count))
        key.withOctets { _ = crypto_hash_sha512_final(&state, $0) }
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
        return key
    }

    /// Returns the encoded generator (section 7.3 of the draft).
    static func generator(
        code: borrowing SecretBytes, channel: [UInt8], session: [UInt8]
    ) throws(CompanionError) -> [UInt8] {
        let (name, count) = (joined([Self.name]), length(code.count))
        let padding = max(0, block - name.count - count.count - code.count - 1)
        let head = name + count
        let tail = joined([[UInt8](repeating: 0, count: padding), channel, session])
        let digest = try SecretBytes.zeroes(64)
        var state = crypto_hash_sha512_state()
        crypto_hash_sha512_init(&state)
        crypto_hash_sha512_update(&state, head, UInt64(head.count))
        code.withOctets { _ = crypto_hash_sha512_update(&state, $0, UInt64(code.count)) }
        crypto_hash_sha512_update(&state, tail, UInt64(tail.count))
        digest.withOctets { _ = crypto_hash_sha512_final(&state, $0) }
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
        var point = [UInt8](repeating: 0, count: 32)
        guard digest.withOctets({ crypto_core_ristretto255_from_hash(&point, $0) }) == 0 else { throw .invalidPoint }
        return point
    }

    /// Returns the encoded product, which is never the neutral element (`scalar_mult_vfy`).
    static func product(of scalar: borrowing SecretBytes, _ point: [UInt8]) throws(CompanionError) -> SecretBytes {
        let product = try SecretBytes.zeroes(32)
        let code = product.withOctets { product in scalar.withOctets { crypto_scalarmult_ristretto255(product, $0, point) } }
        guard code == 0 else { throw .invalidPoint }
        return product
    }

    /// Joins octet strings, each after its length (`lv_cat`).
    static func joined(_ strings: [[UInt8]]) -> [UInt8] { strings.flatMap { length($0.count) + $0 } }

    /// Returns a length in LEB128.
    private static func length(_ count: Int) -> [UInt8] {
        var (rest, octets) = (count, [UInt8]())
        repeat {
            octets.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return octets
    }
}
