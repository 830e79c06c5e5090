/// What a receive call gave.
public enum NetlinkReceived {
    /// A datagram of the kernel.
    case datagram([UInt8])
    /// A datagram of somebody else (CVE-2012-2320): dropped.
    case foreign
    /// The kernel had to leave out messages (`ENOBUFS`), or one was larger than the buffer: what is known is to be read anew.
    case overrun
    /// Nothing more for now.
    case nothing
    /// The socket is of no more use: a positive errno.
    case failed(Int32)
}

/// The seam between the kernel and everything that interprets: a socket, or a test's script.
public protocol NetlinkTransport: AnyObject {
    /// What the loop watches; `nil` in a script.
    var descriptor: Int32? { get }
    /// The socket's own port, by which answers are known.
    var port: UInt32 { get }
    /// Sends one message.
    func send(_ octets: [UInt8]) throws(NetlinkError)
    /// Receives one datagram, without waiting.
    func receive() -> NetlinkReceived
}
