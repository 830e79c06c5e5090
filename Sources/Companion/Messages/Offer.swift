import Answers
import HotspotCore

/// A login to hand over: answers for one network and one portal with its key, and perhaps the file that describes the portal.
public struct Offer: Hashable, Sendable {
    /// The identifier that the offering laptop chose: letters, digits, `-` and `_`, at most 64.
    public var id: String
    public var network: NetworkID
    public var portal: Portal
    public var answers: [String: SecretText]
    /// The text of a portal file, at most 32 KiB.
    public var portalFile: String?
    /// The time until the offer ends, at most seven days.
    public var seconds: Int

    public init(
        id: String, network: NetworkID, portal: Portal, answers: [String: SecretText], portalFile: String? = nil, seconds: Int
    ) {
        (self.id, self.network, self.portal) = (id, network, portal)
        (self.answers, self.portalFile, self.seconds) = (answers, portalFile, seconds)
    }

    /// Returns whether the offer is for this place: the same network, and a portal with the same origin and the same key.
    public func isFor(_ place: Place) -> Bool {
        network == place.network && portal.origin == place.portal.origin && portal.pin == place.portal.pin
    }

    var isValid: Bool {
        Limits.isIdentifier(id) && network.key != nil && Limits.isPortal(portal) && Limits.areAnswers(answers.texts)
            && portalFile.map(Limits.isPortalFile) != false && (1...Limits.expiry).contains(seconds)
            && !(answers.isEmpty && portalFile == nil)
    }
}

/// The network that this machine has joined, and the portal that asks for a login there.
public struct Place: Hashable, Sendable {
    public var network: NetworkID
    public var portal: Portal

    public init(network: NetworkID, portal: Portal) { (self.network, self.portal) = (network, portal) }
}

/// The reason why an offer was not accepted. The raw values are sent over the air.
public enum OfferRefusal: String, Codable, Hashable, Sendable, CaseIterable {
    /// The user declined.
    case declined
    /// The other laptop is on another network, or the portal there has another address or key.
    case otherPortal
    /// The user accepted, but the other laptop could not store the login.
    case notStored
    /// The decision came too late.
    case expired
}
