import CSodium

/// Octets in locked memory, excluded from core dumps, with guard pages on both sides; wiped when this value is destroyed.
public struct SecretBytes: ~Copyable {
    private let start: UnsafeMutableRawPointer
    public let count: Int

    /// Allocates `count` octets, all zero. Throws ``VaultError/unavailable`` if there is no memory for them.
    public init(count: Int) throws(VaultError) {
        // Initialises libsodium here, because every use of libsodium needs this memory. Repeated calls do nothing.
        guard sodium_init() >= 0, let start = sodium_malloc(max(count, 1)) else { throw .unavailable }
        sodium_memzero(start, max(count, 1))
        self.start = start
        self.count = count
    }

    /// Copies octets. The caller wipes the source.
    public init(copying octets: [UInt8]) throws(VaultError) {
        try self.init(count: octets.count)
        withMutableBytes { $0.copyBytes(from: octets) }
    }

    deinit { sodium_free(start) }

    /// Passes the octets to a closure, which must not let them escape.
    public borrowing func withBytes<T: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Passes the octets to a closure for writing; the closure must not let them escape.
    public borrowing func withMutableBytes<T: ~Copyable>(_ body: (UnsafeMutableRawBufferPointer) -> T) -> T {
        body(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
}
