import Glibc

/// The result of one receive call.
public enum NetlinkReceived {
    /// A datagram of the kernel.
    case datagram([UInt8])
    /// A datagram that did not come from the kernel (CVE-2012-2320); dropped.
    case foreign
    /// The kernel left out messages (`ENOBUFS`), or a datagram was larger than the buffer: everything must be read again.
    case overrun
    /// No datagram is waiting.
    case nothing
    /// The socket is broken; the value is a positive errno.
    case failed(Int32)
}

/// The boundary between the kernel and the code that interprets its messages: a socket, or a script in tests.
public protocol NetlinkTransport: AnyObject {
    /// The descriptor that the loop watches; `nil` in a script.
    var descriptor: Int32? { get }
    /// The socket's own port, which answers carry.
    var port: UInt32 { get }
    func send(_ octets: [UInt8]) throws(NetlinkError)
    /// Receives one datagram, without waiting.
    func receive() -> NetlinkReceived
}

/// A failed call to the kernel over netlink.
public struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed, in a few words.
    public let operation: String
    /// A positive errno.
    public let code: Int32

    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}
