/// The type `Announced` of org.hotspotd.Control and org.hotspotd.Helper: an access point's description of its network.
///
/// The description is not signed, and anyone nearby can send such a description. So it is a hint for people and helpers, never a reason to send,
/// open or trust something. All texts are printable.
public struct AnnouncedAccess: Codable, Hashable, Sendable {
    /// Whether access takes an additional step, such as a login. Like all flags of this type, it is `true` or absent.
    public var additionalStep: Bool?
    public var internet: Bool?
    /// The raw value of an ``AccessNetworkType``.
    public var networkType: String?
    /// Numbers of the Venue Info field (IEEE 802.11-2020).
    public var venueGroup: Int?
    public var venueType: Int?
    public var hessid: String?
    /// Identifiers of roaming consortia, lower-case hexadecimal.
    public var consortia: [String]?
    public var openRoaming: Bool?
    /// Whether the access point has a Hotspot 2.0 indication.
    public var passpoint: Bool?
    /// Whether the access point answers ANQP; the members below are from its answers.
    public var anqp: Bool?
    /// Raw values of ``AuthenticationStep``.
    public var steps: [String]?
    public var loginURL: String?
    /// The origin of ``loginURL``.
    public var loginOrigin: String?
    public var venueNames: [String]?
    public var venueURL: String?
    public var operators: [String]?
    public var realms: [String]?
    public var domains: [String]?

    public init() {}

    /// Whether the network expects a login.
    public var expectsLogin: Bool { additionalStep == true || steps?.isEmpty == false }

    /// Returns the part for helpers: without the access point's texts and URLs, but with the origin of the login's URL.
    public var forHelpers: AnnouncedAccess {
        var known = self
        (known.loginURL, known.venueURL, known.venueNames) = (nil, nil, nil)
        (known.operators, known.realms, known.domains) = (nil, nil, nil)
        return known
    }
}

/// The access network type of the interworking element (IEEE 802.11-2020, 9.4.2.91). ``AnnouncedAccess`` contains the raw value.
public enum AccessNetworkType: String, Hashable, Sendable, CaseIterable {
    case privateNetwork = "private"
    case privateWithGuests
    case chargeable
    case free
    case personal
    case emergency
    case test
    case wildcard

    /// Returns `nil` for a reserved number.
    public init?(number: UInt8) {
        switch number {
        case 0: self = .privateNetwork
        case 1: self = .privateWithGuests
        case 2: self = .chargeable
        case 3: self = .free
        case 4: self = .personal
        case 5: self = .emergency
        case 14: self = .test
        case 15: self = .wildcard
        default: return nil
        }
    }
}

/// The additional step that a network authentication type indicates (IEEE 802.11-2020, 9.4.5.6). ``AnnouncedAccess`` contains the raw values.
public enum AuthenticationStep: String, Hashable, Sendable, CaseIterable {
    /// Acceptance of terms and conditions.
    case terms
    /// Online enrolment.
    case enrolment
    /// A redirection of HTTP or HTTPS, as captive portals do it.
    case redirection
    /// A redirection by DNS.
    case dns

    /// Returns `nil` for a reserved number.
    public init?(number: UInt8) {
        guard Int(number) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(number)]
    }
}
