import CSodium

/// Octets that are locked in memory, kept out of core dumps, guarded on both sides, and wiped when their owner is gone.
public struct SecretBytes: ~Copyable {
    private let start: UnsafeMutableRawPointer
    /// Their number.
    public let count: Int

    /// As many zero octets. Throws ``VaultError/unavailable`` if there is no memory for them.
    public init(count: Int) throws(VaultError) {
        // Every use of libsodium is behind memory from here, so this is where it starts; starting it again does nothing.
        guard sodium_init() >= 0, let start = sodium_malloc(max(count, 1)) else { throw .unavailable }
        sodium_memzero(start, max(count, 1))
        self.start = start
        self.count = count
    }

    /// Copies octets in. The source is the caller's to wipe.
    public init(copying octets: [UInt8]) throws(VaultError) {
        try self.init(count: octets.count)
        withMutableBytes { $0.copyBytes(from: octets) }
    }

    deinit { sodium_free(start) }

    /// Lends the octets; they must not leave the closure.
    public borrowing func withBytes<T: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Lends the octets for writing; they must not leave the closure.
    public borrowing func withMutableBytes<T: ~Copyable>(_ body: (UnsafeMutableRawBufferPointer) -> T) -> T {
        body(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
}
