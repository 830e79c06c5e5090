import ForeignText
import HotspotCore

/// A laptop's long-term public key.
public struct PeerID: Hashable, Sendable, CustomStringConvertible {
    public let octets: [UInt8]

    /// Returns `nil` unless there are 32 octets.
    public init?(_ octets: some Sequence<UInt8>) {
        let octets = Array(octets)
        guard octets.count == 32 else { return nil }
        self.octets = octets
    }

    init(octets: [UInt8]) { self.octets = octets }

    /// Lower-case hexadecimal.
    public var description: String { Hex.encode(octets) }
}

/// A paired laptop.
public struct Peer: Hashable, Sendable {
    public var id: PeerID
    /// The name that its user chose: printable, at most 64 octets. Two laptops may have the same name.
    public var name: String

    public init(id: PeerID, name: String) { (self.id, self.name) = (id, Self.name(name)) }

    /// Returns the name, or `laptop` for a name that looks like an identifier: commands accept names and identifiers.
    static func name(_ text: String) -> String { Hex.decode(text)?.count == 32 ? "laptop" : text }
}

/// A connection, by the number that the transport gave it.
public struct PeerLinkID: Hashable, Sendable {
    public var number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// This machine's role in a connection.
public enum Role: Hashable, Sendable, CaseIterable {
    /// This machine connected, and writes.
    case central
    /// This machine advertised, and notifies.
    case peripheral
}

/// The channels for chunks on one connection.
public enum Channel: Hashable, Sendable, CaseIterable {
    /// Chunks are written with a response, or notified; they keep their order.
    case control
    /// Chunks are written without a response, or notified; at most ``Frame/window`` chunks are unanswered.
    case bulk
    /// Chunks of long messages over an L2CAP channel, if both laptops have switched L2CAP on. Size, numbers and window are the same as in ``bulk``,
    /// so that a chunk can be sent again over either channel.
    case l2cap
}
