import CSodium
import Vault

/// One direction's key and the number of its next message (Noise, revision 34, section 5.1), with ChaCha20-Poly1305.
struct CipherState: ~Copyable {
    /// The largest number of messages that one key may seal before it is replaced. The peer refuses more.
    static let messageLimit = 1024
    static let tagLength = 16

    private var key: SecretBytes
    /// The number of the next message. Both sides count it, so it is not sent.
    private(set) var number: UInt64 = 0
    /// The number of messages under this key.
    private(set) var count = 0

    init(key: consuming SecretBytes) { self.key = key }

    /// Returns the ciphertext and its tag.
    mutating func seal(_ plain: [UInt8], with data: [UInt8] = []) throws(CompanionError) -> [UInt8] {
        guard count < Self.messageLimit else { throw .keyWornOut }
        var sealed = [UInt8](repeating: 0, count: plain.count + Self.tagLength)
        let nonce = Self.nonce(number)
        let code = key.withOctets {
            crypto_aead_chacha20poly1305_ietf_encrypt(
                &sealed, nil, plain, UInt64(plain.count), data, UInt64(data.count), nil, nonce, $0)
        }
        guard code == 0 else { throw .unavailable }
        (number, count) = (number + 1, count + 1)
        return sealed
    }

    /// Returns the plain octets. If it throws ``CompanionError/notOpened``, the number is unchanged.
    mutating func open(_ sealed: [UInt8], with data: [UInt8] = []) throws(CompanionError) -> [UInt8] {
        guard count < Self.messageLimit else { throw .keyWornOut }
        guard sealed.count >= Self.tagLength else { throw .notOpened }
        var plain = [UInt8](repeating: 0, count: sealed.count - Self.tagLength)
        let nonce = Self.nonce(number)
        let code = key.withOctets {
            crypto_aead_chacha20poly1305_ietf_decrypt(
                &plain, nil, nil, sealed, UInt64(sealed.count), data, UInt64(data.count), nonce, $0)
        }
        guard code == 0 else { throw .notOpened }
        (number, count) = (number + 1, count + 1)
        return plain
    }

    /// Replaces the key with a new key from which the old key cannot be computed (section 11.3); the number continues.
    mutating func rekey() throws(CompanionError) {
        let next = try SecretBytes.zeroes(32 + Self.tagLength)
        let zeroes = [UInt8](repeating: 0, count: 32)
        let code = next.withOctets { next in
            key.withOctets {
                crypto_aead_chacha20poly1305_ietf_encrypt(next, nil, zeroes, 32, nil, 0, nil, Self.nonce(.max), $0)
            }
        }
        guard code == 0 else { throw .unavailable }
        key = try next.part()
        count = 0
    }

    /// Returns a key for another purpose, from which this key cannot be computed.
    borrowing func derived(for purpose: String) throws(CompanionError) -> CipherState {
        let derived = try SecretBytes.zeroes(32)
        let word = Array(purpose.utf8)
        let code = derived.withOctets { derived in
            key.withOctets { crypto_generichash(derived, 32, word, UInt64(word.count), $0, 32) }
        }
        guard code == 0 else { throw .unavailable }
        return CipherState(key: derived)
    }

    private static func nonce(_ number: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// The keys of both directions.
struct CipherPair: ~Copyable {
    var sending: CipherState
    var receiving: CipherState
}
