import HotspotCore

/// A question of a portal, which another laptop's user may answer.
public struct PeerQuestion: Codable, Hashable, Sendable {
    /// The identifier of the prompt, which the asking laptop chose: letters, digits, `-` and `_`, at most 64.
    public var id: String
    /// The network, as ``NetworkID/key``; `nil` for a cable without a gateway.
    public var network: String?
    public var portal: Portal?
    public var hearsay: Prompt

    public init(id: String, network: NetworkID, portal: Portal?, hearsay: Prompt) {
        (self.id, self.network, self.portal, self.hearsay) = (id, network.key, portal, hearsay)
    }

    /// Returns the question, cut to a size that a person can answer.
    var limited: PeerQuestion {
        var limited = self
        limited.hearsay = hearsay.limited
        // Removes the list of unsent answers, which matters only to the laptop that logs in.
        limited.hearsay.unsent = nil
        // Removes a secret field's default, because it may be a stored answer.
        for index in limited.hearsay.fields.indices where hearsay.fields[index].kind.isSecret {
            limited.hearsay.fields[index].value = nil
        }
        return limited
    }

    var isValid: Bool {
        Limits.isIdentifier(id) && network.map { NetworkID(key: $0) != nil } != false && portal.map(Limits.isPortal) != false
    }
}
