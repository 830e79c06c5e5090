/// The security of a network, from its RSN, WPA, OWE and privacy information.
public enum Security: String, Codable, Hashable, Sendable, CaseIterable {
    /// No encryption at all.
    case open
    /// Opportunistic Wireless Encryption (RFC 8110): encrypted without a password.
    case owe
    /// WEP, the broken cipher of 1999.
    case wep
    /// WPA or WPA2 with a pre-shared key.
    case psk
    /// WPA3 with Simultaneous Authentication of Equals.
    case sae
    /// 802.1X.
    case enterprise
    /// A wired network.
    case wired
    /// Unreadable information; never counts as open.
    case unknown

    /// Whether a station needs a password or a certificate to join.
    public var isSecured: Bool {
        switch self {
        case .open, .owe, .wired: false
        case .wep, .psk, .sae, .enterprise, .unknown: true
        }
    }
}

/// The identity of a network: SSID and security for Wi-Fi, the gateway's hardware address for a cable (D5).
public enum NetworkID: Hashable, Sendable {
    case wireless(SSID, Security)
    /// A wired network, by its gateway's address.
    case wired(HardwareAddress)
    /// A wired network whose gateway's address is unknown; nothing about it is stored.
    case anonymous

    /// The key under which the store and the vault keep the network's records: `wifi:<hex>:<security>` or `wired:<address>`.
    public var key: String? {
        switch self {
        case .wireless(let ssid, let security): "wifi:\(ssid.hex):\(security.rawValue)"
        case .wired(let gateway): "wired:\(gateway)"
        case .anonymous: nil
        }
    }

    /// The name that people see: the SSID, or `wired:ADDRESS`.
    public var label: String {
        switch self {
        case .wireless(let ssid, _): ssid.description
        case .wired(let gateway): "wired:\(gateway)"
        case .anonymous: "wired"
        }
    }

    public var security: Security {
        switch self {
        case .wireless(_, let security): security
        case .wired, .anonymous: .wired
        }
    }

    /// Reads ``key`` back.
    public init?(key: String) {
        if key.hasPrefix("wired:"), let gateway = HardwareAddress(String(key.dropFirst(6))) {
            self = .wired(gateway)
            return
        }
        let parts = key.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "wifi", let ssid = SSID(hex: String(parts[1])),
            let security = Security(rawValue: String(parts[2]))
        else { return nil }
        self = .wireless(ssid, security)
    }
}

/// The type `Network` of org.hotspotd.Helper.
public struct Network: Codable, Hashable, Sendable {
    /// Printable form of the SSID.
    public var ssid: String
    /// The octets of the SSID, lower-case hexadecimal.
    public var ssidHex: String
    /// The access point, or the gateway of a wired network.
    public var bssid: String?
    public var interface: String
    /// The signal strength, from 0.0 (weak or none) to 1.0 (strong).
    public var signalStrength: Double?
    public var security: Security
    /// Whether the system joined the network by itself, without the user (D22).
    public var autoJoined: Bool
    /// Whether this Maintain follows a join, rather than the periodic timer.
    public var justJoined: Bool
    /// Whether the helper that receives this value is the chosen helper.
    public var chosenHelper: Bool
    /// The announcement of the access point, which is only a hint, because anyone nearby can send one.
    public var announced: AnnouncedAccess?

    public init(
        ssid: SSID, bssid: HardwareAddress? = nil, interface: String, signalStrength: Double? = nil, security: Security,
        autoJoined: Bool = true, justJoined: Bool = false, chosenHelper: Bool = false, announced: AnnouncedAccess? = nil
    ) {
        self.ssid = ssid.description
        self.ssidHex = ssid.hex
        self.bssid = bssid?.description
        self.interface = interface
        self.signalStrength = signalStrength
        self.security = security
        self.autoJoined = autoJoined
        self.justJoined = justJoined
        self.chosenHelper = chosenHelper
        self.announced = announced
    }
}

/// The scale of Apple's `signalStrength`: 0.0 at -90 dBm and below, 1.0 at -40 dBm and above, linear between.
public enum SignalScale {
    /// Returns the strength of a received power.
    ///
    /// - Parameter dBm: received power in dBm.
    public static func strength(dBm: Int) -> Double { min(1, max(0, Double(dBm + 90) / 50)) }
}

/// The type `Link` of org.hotspotd.Helper and org.hotspotd.Probe: the facts needed to reach one network and no other.
public struct Link: Codable, Hashable, Sendable {
    /// The identifier of the attempt: new whenever the machine enters evaluating or maintaining, or goes from maintaining to authenticating.
    public var attempt: String
    /// The identifier of the association: the same from joining to leaving.
    public var association: String
    /// The interface to bind to.
    public var interface: String
    /// The kernel's index of the interface.
    public var index: Int
    /// The addresses in CIDR notation, most preferred first.
    public var addresses: [String]
    /// Default routers.
    public var gateways: [String]
    /// Resolvers of this link.
    public var nameservers: [String]
    /// The address of the portal's API (RFC 8910).
    public var portalAPI: String?
    /// The address of the current probe, for helpers that probe by themselves.
    public var probeURL: String?
    /// The probe's expected answer: a status, or the exact body.
    public var probeExpect: String?
    /// The HTTPS endpoint of this probe; `nil` if the probe has none, or is the usual probe with its usual endpoint.
    public var probeHTTPSURL: String?
    /// The address at which the probe's server last answered, on any link. The address may meanwhile belong to another server.
    public var probeAddress: String?
    /// The time-out of a command in milliseconds; `nil` for 45,000.
    public var commandTimeout: Int?

    public init(
        attempt: String, association: String, interface: String, index: Int, addresses: [String] = [], gateways: [String] = [],
        nameservers: [String] = [], portalAPI: String? = nil, probeURL: String? = nil, probeExpect: String? = nil,
        probeHTTPSURL: String? = nil, probeAddress: String? = nil, commandTimeout: Int? = nil
    ) {
        self.attempt = attempt
        self.association = association
        self.interface = interface
        self.index = index
        self.addresses = addresses
        self.gateways = gateways
        self.nameservers = nameservers
        self.portalAPI = portalAPI
        self.probeURL = probeURL
        self.probeExpect = probeExpect
        self.probeHTTPSURL = probeHTTPSURL
        self.probeAddress = probeAddress
        self.commandTimeout = commandTimeout
    }

    /// The probe that is used if the settings name none. HelperKit then also asks other operators' endpoints.
    public static let usualProbe = (url: "http://connectivitycheck.gstatic.com/generate_204", expect: "204")
}
