/// An error of the vault. No case contains a secret.
public enum VaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libsodium or locked memory is not available.
    case unavailable
    /// There are sealed rows, but the key's file is missing. No new key is created, because it would not open them.
    case keyMissing(path: String)
    /// The key's file exists but cannot be used.
    case keyRefused(path: String, reason: String)
    /// The octets were sealed with another key, such as another machine's.
    case otherKey
    /// The octets were changed, cut, or sealed for another network, helper, portal or purpose.
    case notOpened
    /// There are more octets than can be sealed.
    case tooLarge(limit: Int)
    /// The answers are locked until the PIN is typed.
    case pinNeeded
    /// Nothing is sealed for a network that cannot be recognised again.
    case anonymousNetwork

    /// One sentence.
    public var description: String {
        switch self {
        case .unavailable: "libsodium cannot be used"
        case .keyMissing(let path):
            "the key \(path) is missing, so the data sealed with it cannot be opened: restore the file, or forget the networks"
        case .keyRefused(let path, let reason): "the key \(path) is refused: \(reason)"
        case .otherKey: "it was sealed with another key, perhaps on another machine"
        case .notOpened: "it was changed, or sealed for another network, helper or portal"
        case .tooLarge(let limit): "it is longer than \(limit) octets"
        case .pinNeeded: "the PIN has not been typed since hotspotd started (hotspotctl credentials unlock)"
        case .anonymousNetwork: "hotspotd cannot recognise this network again, so nothing is kept for it"
        }
    }
}
