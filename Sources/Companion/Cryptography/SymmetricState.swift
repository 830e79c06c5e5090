import CSodium
import Vault

/// The hash and the chaining key of a handshake (Noise, revision 34, section 5.2), with SHA-256.
struct SymmetricState: ~Copyable {
    /// The hash of everything that both sides have seen.
    private(set) var hash: [UInt8]
    private var chain: SecretBytes
    private var cipher: Optional<CipherState>

    /// - Parameter protocolName: a name of at most 32 octets is used as the hash; a longer name is hashed.
    init(protocolName: String) throws(CompanionError) {
        let name = Array(protocolName.utf8)
        let hash = name.count <= 32 ? name + [UInt8](repeating: 0, count: 32 - name.count) : Self.sha256(name)
        // Nothing is stored before the last call that can fail: see `Handshake`.
        chain = try .copy(of: hash)
        self.hash = hash
        cipher = nil
    }

    mutating func mixHash(_ octets: [UInt8]) { hash = Self.sha256(hash + octets) }

    mutating func mixKey(_ input: borrowing SecretBytes) throws(CompanionError) {
        let keys = try expand(input, count: 2)
        chain = try keys.part()
        cipher = CipherState(key: try keys.part(from: 32))
    }

    mutating func mixKeyAndHash(_ input: borrowing SecretBytes) throws(CompanionError) {
        let keys = try expand(input, count: 3)
        chain = try keys.part()
        mixHash(keys.withBytes { Array($0[32..<64]) })
        cipher = CipherState(key: try keys.part(from: 64))
    }

    mutating func encryptAndHash(_ plain: [UInt8]) throws(CompanionError) -> [UInt8] {
        let sealed = try cipher?.seal(plain, with: hash) ?? plain
        mixHash(sealed)
        return sealed
    }

    mutating func decryptAndHash(_ sealed: [UInt8]) throws(CompanionError) -> [UInt8] {
        let plain = try cipher?.open(sealed, with: hash) ?? sealed
        mixHash(sealed)
        return plain
    }

    /// The number of octets by which sealing makes a message longer at this point.
    var tagLength: Int { cipher == nil ? 0 : CipherState.tagLength }

    /// Returns the keys of the session.
    consuming func split(isInitiator: Bool) throws(CompanionError) -> CipherPair {
        let keys = try expand(try .zeroes(0), count: 2)
        let first = CipherState(key: try keys.part())
        let second = CipherState(key: try keys.part(from: 32))
        return isInitiator ? CipherPair(sending: first, receiving: second) : CipherPair(sending: second, receiving: first)
    }

    /// Returns `count` keys of 32 octets (HKDF, RFC 5869, with HMAC-SHA256).
    private borrowing func expand(_ input: borrowing SecretBytes, count: Int) throws(CompanionError) -> SecretBytes {
        let temporary = try SecretBytes.zeroes(32)
        let keys = try SecretBytes.zeroes(32 * count)
        chain.withOctets { chain in
            input.withOctets { octets in
                temporary.withOctets { Self.authenticate([(octets, input.count)], with: chain, into: $0) }
            }
        }
        temporary.withOctets { key in
            keys.withOctets { keys in
                for index in 0..<count {
                    var number = UInt8(index + 1)
                    withUnsafeMutablePointer(to: &number) { number in
                        let before = index == 0 ? [] : [(keys + 32 * (index - 1), 32)]
                        Self.authenticate(before + [(number, 1)], with: key, into: keys + 32 * index)
                    }
                }
            }
        }
        return keys
    }

    private static func authenticate(
        _ parts: [(UnsafeMutablePointer<UInt8>, Int)], with key: UnsafeMutablePointer<UInt8>,
        into code: UnsafeMutablePointer<UInt8>
    ) {
        var state = crypto_auth_hmacsha256_state()
        crypto_auth_hmacsha256_init(&state, key, 32)
        for (octets, count) in parts { crypto_auth_hmacsha256_update(&state, octets, UInt64(count)) }
        crypto_auth_hmacsha256_final(&state, code)
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }

    private static func sha256(_ octets: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&digest, octets, UInt64(octets.count))
        return digest
    }
}
