import CSodium
import Vault

/// Octets of keys: locked, wiped at the end of their owner's life, never printed. This extension also calls the functions of libsodium that read
/// them.
extension SecretBytes {
    static func zeroes(_ count: Int) throws(CompanionError) -> SecretBytes {
        do throws(VaultError) { return try SecretBytes(count: count) } catch { throw .unavailable }
    }

    /// Copies octets. If the source is secret, the caller wipes it.
    static func copy(of octets: [UInt8]) throws(CompanionError) -> SecretBytes {
        let secret = try zeroes(octets.count)
        secret.withMutableBytes { $0.copyBytes(from: octets) }
        return secret
    }

    /// Returns a copy of some octets, in its own memory.
    borrowing func part(from start: Int = 0, count: Int = 32) throws(CompanionError) -> SecretBytes {
        let part = try SecretBytes.zeroes(count)
        withBytes { whole in
            part.withMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: whole[start..<start + count])) }
        }
        return part
    }

    static func random(_ count: Int) throws(CompanionError) -> SecretBytes {
        let secret = try zeroes(count)
        secret.withMutableBytes { randombytes_buf($0.baseAddress!, count) }
        return secret
    }

    /// Returns 32 octets of BLAKE2b, derived for one purpose.
    ///
    /// - Parameter purpose: 16 to 64 octets.
    borrowing func hashed(for purpose: [UInt8]) throws(CompanionError) -> SecretBytes {
        let digest = try SecretBytes.zeroes(32)
        let code = digest.withOctets { digest in
            withOctets { crypto_generichash(digest, 32, $0, UInt64(count), purpose, purpose.count) }
        }
        guard code == 0 else { throw .unavailable }
        return digest
    }

    /// Passes the octets to a C function as a pointer.
    borrowing func withOctets<T: ~Copyable>(_ body: (UnsafeMutablePointer<UInt8>) -> T) -> T {
        withMutableBytes { body($0.baseAddress!.assumingMemoryBound(to: UInt8.self)) }
    }
}

/// A key pair of Curve25519.
public struct KeyPair: ~Copyable {
    let secret: SecretBytes
    public let publicKey: [UInt8]

    /// Makes a pair.
    public init() throws(CompanionError) { try self.init(secret: try .random(32)) }

    /// - Parameter secret: any 32 octets. Throws ``CompanionError/malformed`` for another number of octets.
    public init(secret: consuming SecretBytes) throws(CompanionError) {
        guard secret.count == crypto_scalarmult_curve25519_SCALARBYTES else { throw .malformed }
        var point = [UInt8](repeating: 0, count: 32)
        guard secret.withOctets({ crypto_scalarmult_curve25519_base(&point, $0) }) == 0 else { throw .invalidPoint }
        self.secret = secret
        publicKey = point
    }

    /// Passes the secret to a closure, in which a service seals the secret or writes it into its file. The secret must not leave the closure.
    public borrowing func withSecret<T: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> T) -> T { secret.withBytes(body) }

    /// Returns the product of the secret and a point. Throws ``CompanionError/invalidPoint`` for a point of small order.
    borrowing func product(with point: [UInt8]) throws(CompanionError) -> SecretBytes {
        guard point.count == 32 else { throw .malformed }
        let product = try SecretBytes.zeroes(32)
        let code = product.withOctets { product in secret.withOctets { crypto_scalarmult_curve25519(product, $0, point) } }
        guard code == 0 else { throw .invalidPoint }
        return product
    }
}

/// Returns random octets that are not secret.
func randomOctets(_ count: Int) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: count)
    randombytes_buf(&octets, count)
    return octets
}
