import ForeignText
import Glibc
import HotspotCore

/// Cuts a stream of octets into messages: each ends with one NUL octet.
public struct Framer: Sendable {
    /// The longest message that is accepted, in octets, without its NUL.
    public let limit: Int
    private var buffer: [UInt8] = []
    /// The octets before this position belong to messages that were already returned.
    private var start = 0
    private var scanned = 0
    private static let kept = 64 << 10

    public init(limit: Int) { self.limit = limit }

    /// Whether a message has begun and not ended.
    public var isPartial: Bool { start < buffer.count }

    /// Whether a whole message is waiting.
    public var hasMessage: Bool { buffer[start...].contains(0) }

    /// Adds octets. Before the next call, call ``next()`` until it returns `nil`.
    public mutating func append(_ octets: some Collection<UInt8>) {
        // Removes all returned messages together, because each removal moves the octets after it.
        buffer.removeSubrange(..<start)
        scanned -= start
        start = 0
        buffer += octets
    }

    /// Drops the octets of an incomplete message.
    mutating func clear() {
        buffer = []
        (start, scanned) = (0, 0)
    }

    /// Returns the next whole message without its NUL; `nil` until more octets come. Throws ``VarlinkError/tooLong(limit:)`` as soon as a message
    /// cannot end within the limit, and ``VarlinkError/malformed(_:)`` for text that is not ``StreamSafe``.
    public mutating func next() throws(VarlinkError) -> [UInt8]? {
        guard let end = buffer[scanned...].firstIndex(of: 0) else {
            scanned = buffer.count
            guard scanned - start <= limit else { throw .tooLong(limit: limit) }
            return nil
        }
        guard end - start <= limit else { throw .tooLong(limit: limit) }
        let message = Array(buffer[start..<end])
        // A peer that sends unsafe text gets no answer, so this check comes before the JSON is read.
        guard StreamSafe.isSafe(json: message) else { throw .unsafe }
        if end + 1 == buffer.count {
            // The memory of a long message is released, because another long one may never come.
            buffer.removeAll(keepingCapacity: end < Self.kept)
            (start, scanned) = (0, 0)
        } else {
            (start, scanned) = (end + 1, end + 1)
        }
        return message
    }
}

/// An error between two peers.
public enum VarlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A message exceeds the limit, in octets.
    case tooLong(limit: Int)
    /// A message is not a JSON object of the right shape.
    case malformed(String)
    /// The peer ended the connection before its answer.
    case closed
    /// The peer cannot be reached.
    case unreachable(path: String, code: Int32)
    /// A system call failed.
    case system(operation: String, code: Int32)
    /// The peer answered with an error of its interface.
    case reply(name: String, parameters: JSONValue)

    /// A text is not ``StreamSafe``.
    static let unsafe = malformed("a character in it has more than \(StreamSafe.limit) combining marks")

    /// One sentence.
    public var description: String {
        switch self {
        case .tooLong(let limit): "the message is longer than \(limit) octets"
        case .malformed(let what): "the message is malformed: \(what)"
        case .closed: "the connection was closed before an answer"
        case .unreachable(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .system(let operation, let code): "\(operation): \(String(cString: strerror(code)))"
        case .reply(let name, let parameters): Self.describe(name, parameters)
        }
    }

    private static func describe(_ name: String, _ parameters: JSONValue) -> String {
        let detail = parameters.object?.sorted { $0.key < $1.key }.map { key, value in "\(key) \(value.string ?? "")" }
        return ([name] + (detail ?? [])).joined(separator: ": ")
    }
}
