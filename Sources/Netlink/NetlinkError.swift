import Glibc

/// A call to the kernel over netlink that failed.
public struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, in a few words.
    public let operation: String
    /// A positive errno.
    public let code: Int32

    /// What was tried, and the errno.
    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// What was tried and the system's own words.
    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}
