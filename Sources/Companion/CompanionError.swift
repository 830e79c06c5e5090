/// The reason why octets of a peer were refused. It never contains octets of the peer.
public enum CompanionError: Error, Hashable, Sendable, CaseIterable {
    /// The octets were not sealed with this key and number: they were altered or repeated, belong to another key, or follow a lost message.
    case notOpened
    /// A point that is not in the group, or whose product is the neutral element.
    case invalidPoint
    /// The octets do not follow this protocol, or exceed its limits.
    case malformed
    /// One message has too many octets.
    case tooLarge
    /// A chunk before this one is missing.
    case chunkLost
    /// A message came at the wrong time.
    case unexpected
    /// The key has sealed as many messages as one key may.
    case keyWornOut
    /// There is no memory for keys.
    case unavailable

    /// One sentence for the user.
    public var message: String {
        switch self {
        case .notOpened: "A message from the other laptop could not be decrypted."
        case .invalidPoint: "The other laptop sent an invalid key."
        case .malformed: "The other laptop sent a message that this version cannot read."
        case .tooLarge: "The other laptop sent too much at once."
        case .chunkLost: "A part of a message was lost over Bluetooth."
        case .unexpected: "The other laptop sent a message at the wrong time."
        case .keyWornOut: "The other laptop used one key for too long."
        case .unavailable: "The keys need locked memory, but none is available."
        }
    }
}
