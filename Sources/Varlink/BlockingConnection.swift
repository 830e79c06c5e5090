// This target implements the Varlink protocol: framing, client, server, introspection.

import Glibc
import HotspotCore

/// A connection for a program that blocks while it waits: hotspotctl, and a helper's own side.
public final class BlockingConnection {
    private let input: Int32
    private let output: Int32
    private let owned: Bool
    private var framer: Framer
    private var isOpen = true

    /// The longest message of a daemon or a helper, in octets.
    public static let limit = 4 * 1024 * 1024

    /// Connects to a service's socket.
    public convenience init(path: String) throws(VarlinkError) {
        self.init(descriptor: try Socket.connect(path: path).take())
    }

    /// Takes over a connected socket.
    public init(descriptor: Int32, limit: Int = BlockingConnection.limit) {
        input = descriptor
        output = descriptor
        owned = true
        framer = Framer(limit: limit)
    }

    /// Communicates over two descriptors that the caller keeps, such as standard input and output.
    public init(input: Int32, output: Int32, limit: Int = BlockingConnection.limit) {
        self.input = input
        self.output = output
        owned = false
        framer = Framer(limit: limit)
    }

    deinit { if owned { Glibc.close(input) } }

    /// The descriptor for poll(2), for a caller that also waits for something else.
    public var descriptor: Int32 { input }

    /// Sends a call and waits for its answer.
    public func call(_ method: String, _ parameters: JSONValue = [:]) throws(VarlinkError) -> JSONValue {
        try send(Call(method: method, parameters: parameters))
        return try receive(Answer.self).get()
    }

    /// Sends a call with `more`, and passes on each answer, until the last one or until the handler returns `false`.
    public func stream(
        _ method: String, _ parameters: JSONValue = [:], _ handler: (JSONValue) -> Bool
    ) throws(VarlinkError) {
        try send(Call(method: method, parameters: parameters, more: true))
        while true {
            let answer = try receive(Answer.self)
            guard handler(try answer.get()), answer.continues == true else { return }
        }
    }

    /// Sends one message.
    public func send(_ message: some Encodable) throws(VarlinkError) {
        var octets = Coding.encode(message)[...]
        octets.append(0)
        while !octets.isEmpty {
            let count = octets.withUnsafeBytes {
                owned
                    ? Glibc.send(output, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) : write(output, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE || errno == ECONNRESET { throw .closed }
                throw .system(operation: "write", code: errno)
            }
            octets = octets.dropFirst(count)
        }
    }

    /// Reads once, without waiting, and returns the messages that are complete by then; later octets wait for the next call. Throws if the peer has
    /// ended the connection.
    public func available() throws(VarlinkError) -> [[UInt8]] {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(input, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return [] }
            if errno == ECONNRESET { throw .closed }
            throw .system(operation: "read", code: errno)
        }
        guard count > 0 else { throw .closed }
        framer.append(chunk[..<count])
        var messages: [[UInt8]] = []
        while let message = try framer.next() { messages.append(message) }
        return messages
    }

    /// Waits for one message.
    public func receive<T: Decodable>(_ type: T.Type) throws(VarlinkError) -> T {
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            if let message = try framer.next() { return try Coding.decode(type, from: message) }
            let count = read(input, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                if errno == ECONNRESET { throw .closed }
                throw .system(operation: "read", code: errno)
            }
            guard count > 0 else { throw .closed }
            framer.append(chunk[..<count])
        }
    }
}
