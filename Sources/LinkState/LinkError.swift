import Glibc
import Netlink

/// Why the links cannot be watched.
public struct LinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, in a few words.
    public let operation: String
    /// A positive errno.
    public let code: Int32

    init(_ error: NetlinkError) {
        operation = error.operation
        code = error.code
    }

    /// One sentence for the user.
    public var description: String { "The kernel's links cannot be watched: \(operation): \(String(cString: strerror(code)))." }
}
