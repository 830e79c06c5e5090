import HotspotCore

// The types of org.hotspotd.Control; the `.varlink` file explains each member. The daemon makes values with the initializers of this file.
// Enumerations are strings, so that hotspotctl can show a value that only a newer daemon knows.

/// `Claim` of the contract.
public struct ClaimStatus: Codable, Hashable, Sendable {
    public var helper: String
    public var displayName: String
    /// The raw value of a ``Confidence``.
    public var confidence: String
    public var source: String
    public var ready: Bool
    /// The portal's kind as the helper reported it on an earlier visit.
    public var portalKind: String?
}

extension ClaimStatus {
    public init(
        helper: String, displayName: String, confidence: Confidence, source: String, ready: Bool, portalKind: String? = nil
    ) {
        self.init(
            helper: helper, displayName: displayName, confidence: confidence.rawValue, source: source, ready: ready,
            portalKind: portalKind)
    }
}

public struct ScannedNetwork: Codable, Hashable, Sendable {
    /// The SSID as printable text; `wired:ADDRESS` for a wired network.
    public var ssid: String
    public var ssidHex: String
    /// The address of the strongest access point, or of the gateway; empty if the network is not in sight.
    public var bssid: String
    public var interface: String
    /// In MHz.
    public var frequency: Int
    /// In dBm.
    public var signal: Int
    public var signalStrength: Double
    /// The raw value of a ``Security``.
    public var security: String
    public var stations: Int
    public var lastSeen: Int
    public var joined: Bool
    public var claims: [ClaimStatus]
    public var moreClaims: Int?
    public var disabled: Bool
    /// Whether the daemon logs in automatically; absent if nothing is known, `false` after a permanent failure (D14).
    public var autoJoin: Bool?
    /// How the last attempt ended, as in the history, and when.
    public var lastOutcome: String?
    public var lastOutcomeTime: Int?
    /// The announcement of the strongest access point, which is not signed.
    public var announced: AnnouncedAccess?
}

extension ScannedNetwork {
    /// Makes an entry for a wired network, or for a known network that is not in sight.
    public init(
        _ network: NetworkID, interface: String, lastSeen: Int, joined: Bool, claims: [ClaimStatus], disabled: Bool,
        autoJoin: Bool?, last: (outcome: String, time: Int)?
    ) {
        var (hex, gateway) = ("", "")
        switch network {
        case .wireless(let ssid, _): hex = ssid.hex
        case .wired(let address): gateway = address.description
        case .anonymous: break
        }
        self.init(
            ssid: network.label, ssidHex: hex, bssid: gateway, interface: interface, frequency: 0, signal: 0, signalStrength: 0,
            security: network.security.rawValue, stations: 0, lastSeen: lastSeen, joined: joined, claims: claims,
            disabled: disabled, autoJoin: autoJoin, lastOutcome: last?.outcome, lastOutcomeTime: last?.time)
    }

    public init(
        ssid: SSID, bssid: HardwareAddress, interface: String, frequency: Int, signal: Int, security: Security, stations: Int,
        lastSeen: Int, joined: Bool, claims: [ClaimStatus], disabled: Bool, autoJoin: Bool?, last: (outcome: String, time: Int)?,
        announced: AnnouncedAccess? = nil
    ) {
        self.init(
            ssid: ssid.description, ssidHex: ssid.hex, bssid: bssid.description, interface: interface, frequency: frequency,
            signal: signal, signalStrength: SignalScale.strength(dBm: signal), security: security.rawValue, stations: stations,
            lastSeen: lastSeen, joined: joined, claims: claims, disabled: disabled, autoJoin: autoJoin,
            lastOutcome: last?.outcome, lastOutcomeTime: last?.time, announced: announced)
    }
}

extension ScannedNetwork {
    /// Returns whether this network comes before another network in a list: first the joined network, then networks in sight by their strength, then
    /// networks that are not in sight. If a reply would be too long, it leaves out the last networks.
    public func comesBefore(_ other: ScannedNetwork) -> Bool { rank > other.rank }

    private var rank: (Int, Int) { (joined ? 2 : stations > 0 ? 1 : 0, signal) }
}

/// The event that a login waits for.
public enum Awaited: String, CaseIterable, Sendable {
    /// The answer of the portal.
    case portal
    /// The opening of the network by the gateway, after the portal's answer.
    case open
}

public struct InterfaceStatus: Codable, Hashable, Sendable {
    public var interface: String
    /// The raw value of a ``StateName``.
    public var state: String
    public var since: Int
    /// The SSID as printable text; `wired:ADDRESS` for a wired network.
    public var ssid: String?
    public var ssidHex: String?
    /// The address of the access point, or of the gateway of a wired network.
    public var bssid: String?
    public var helper: String?
    public var portal: String?
    /// The portal's kind as the helper reports it.
    public var portalKind: String?
    public var captive: Bool?
    public var secondsRemaining: Int?
    public var bytesRemaining: Int?
    public var nextMaintain: Int?
    /// The time until which an automatic login waits (D23), or at which a failed login is tried again.
    public var nextLogin: Int?
    /// The event that the login waits for now (the raw value of an ``Awaited``), and the latest time at which that wait ends.
    public var awaits: String?
    public var awaitsUntil: Int?
    public var prompt: String?
    /// Whether the prompt sends the user to a browser: `true` or absent.
    public var handsOver: Bool?
    /// Why the helper asks, in the helper's words.
    public var reason: String?
    /// Why the user should not trust the portal, in the daemon's words.
    public var warning: String?
    /// How the answers to the last prompt were used, and whether they were kept, in one sentence.
    public var answers: String?
    /// The portal's own words in its answer to the last login.
    public var said: String?
    /// The outcome of the last attempt, as in the history.
    public var outcome: String?
    public var problems: [Problem]
    public var link: LinkDetails?
    /// The program that joins networks on this interface.
    public var manager: String?
    /// The key of the joined network's ``NetworkID``.
    public var network: String?
    /// The ``Portal/pin`` of the portal.
    public var portalKey: String?
}

/// `LinkDetails` of the contract: the facts about a link, and the source of each fact.
public struct LinkDetails: Codable, Hashable, Sendable {
    public var addresses: [String]
    public var gateways: [String]
    public var nameservers: [String]
    public var nameserversFrom: String
    /// The address of the portal's API, or the URN with which a network announces that it has no portal (RFC 8910, 2).
    public var portalAPI: String?
    public var portalAPIFrom: String?

    public init(
        addresses: [String], gateways: [String], nameservers: [String], nameserversFrom: String, portalAPI: String? = nil,
        portalAPIFrom: String? = nil
    ) {
        (self.addresses, self.gateways, self.nameservers) = (addresses, gateways, nameservers)
        (self.nameserversFrom, self.portalAPI, self.portalAPIFrom) = (nameserversFrom, portalAPI, portalAPIFrom)
    }
}

extension InterfaceStatus {
    /// Makes the status of an interface of which only the state is known.
    public init(interface: String, state: StateName, since: Int) {
        self.init(interface: interface, state: state.rawValue, since: since, problems: [])
    }
}

/// `Switch` of the contract: a network or helper that the user switched off. Without a helper, the network is switched off for all helpers; without a
/// network, the helper is switched off everywhere.
public struct SwitchedOff: Codable, Hashable, Sendable {
    public var helper: String?
    /// The SSID as printable text; `wired:ADDRESS` for a wired network.
    public var ssid: String?

    public init(helper: String?, ssid: String?) {
        self.helper = helper
        self.ssid = ssid
    }
}

public struct HelperStatus: Codable, Hashable, Sendable {
    /// The helper's name, or the path of a file that was refused.
    public var name: String
    public var displayName: String
    public var version: String?
    /// Whether both the helper's file and the user have switched the helper on.
    public var enabled: Bool
    /// The SSIDs for which the helper is switched off, as printable text.
    public var disabledFor: [String]
    public var priority: Int
    /// The list of SSIDs in the helper's file, as written there.
    public var ssids: [String]
    public var activation: String
    public var running: Bool
    public var strikes: Int
    public var quarantined: Bool
    public var problems: [Problem]
    public var file: String?
    /// `["sandboxed"]`, or empty for a helper without a sandbox.
    public var containment: [String]?
    /// The reasons why the helper is not sandboxed.
    public var missing: [String]?
    public var scanList: Bool?
    /// The path of the helper's browser; empty if the helper wants a browser and none is installed.
    public var browser: String?
    /// The data that the helper received, the newest first.
    public var given: [DisclosedNetworks]?
    public var moreSSIDs: Int?
    public var moreDisabledFor: Int?

    public init(
        name: String, displayName: String, enabled: Bool, disabledFor: [String] = [], priority: Int, ssids: [String],
        activation: String, running: Bool, strikes: Int, quarantined: Bool, problems: [Problem] = [], file: String? = nil,
        containment: [String]? = nil, missing: [String]? = nil, scanList: Bool? = nil, browser: String? = nil,
        given: [DisclosedNetworks]? = nil
    ) {
        self.name = name
        self.displayName = displayName
        self.enabled = enabled
        self.disabledFor = disabledFor
        self.priority = priority
        self.ssids = ssids
        self.activation = activation
        self.running = running
        self.strikes = strikes
        self.quarantined = quarantined
        self.problems = problems
        self.file = file
        self.containment = containment
        self.missing = missing
        self.scanList = scanList
        self.browser = browser
        self.given = given
    }

    /// Whether the helper's file was refused: then one of the ``problems`` contains the reason, and only the path is known. Every other helper has
    /// ``file``.
    public var isRefused: Bool { file == nil && !enabled && !problems.isEmpty }
}

/// `Given` of the contract: the data that a helper received.
public struct DisclosedNetworks: Codable, Hashable, Sendable {
    /// Printable SSIDs or `wired:ADDRESS`; a long list is cut.
    public var networks: [String]
    public var count: Int
    public var scanList: Bool
    public var credential: Bool
    public var at: Int

    public init(networks: [String], count: Int, scanList: Bool, credential: Bool, at: Int) {
        self.networks = networks
        self.count = count
        self.scanList = scanList
        self.credential = credential
        self.at = at
    }
}

public struct PendingPrompt: Codable, Hashable, Sendable {
    public var id: String
    public var interface: String
    /// The SSID as printable text; `wired:ADDRESS` for a wired network.
    public var ssid: String
    public var helper: String
    /// The origin of the portal.
    public var portal: String?
    public var title: String
    public var message: String?
    public var fields: [Field]
    public var termsURL: String?
    public var terms: String?
    public var since: Int
    public var withheld: Bool?
    /// The daemon's warning about the portal.
    public var warning: String?
    /// The daemon's reason for a question about a value that is already stored.
    public var note: String?
    /// The names of the fields for which an answer is stored.
    public var stored: [String]?
    /// `never`, `ask` or `always`.
    public var remember: String?
    /// Whether stored answers cannot be read until the PIN is typed.
    public var locked: Bool?

    /// See ``Prompt/handsOver``.
    public var handsOver: Bool { withheld != true && fields.isEmpty && terms == nil && termsURL == nil }
}

extension PendingPrompt {
    public init(id: String, interface: String, ssid: String, helper: String, portal: String?, prompt: Prompt, since: Int) {
        self.init(
            id: id, interface: interface, ssid: ssid, helper: helper, portal: portal, title: prompt.title,
            message: prompt.message, fields: prompt.fields, termsURL: prompt.termsURL, terms: prompt.terms, since: since)
    }
}

/// `Credential` of the contract: facts about stored answers, such as the names of their fields, but not the values.
public struct CredentialStatus: Codable, Hashable, Sendable {
    /// The SSID as printable text; `wired:ADDRESS` for a wired network.
    public var ssid: String
    /// The raw value of a ``Security``.
    public var security: String
    public var helper: String
    /// The origin of the portal.
    public var portal: String
    /// The names of the fields that have a stored answer.
    public var fields: [String]
    /// The raw value of a ``CredentialRelease``.
    public var release: String
    /// Whether the answers belong to an earlier key of the portal: `true` or absent.
    public var earlierKey: Bool?

    public init(
        ssid: String, security: String, helper: String, portal: String, fields: [String],
        release: CredentialRelease
    ) {
        self.ssid = ssid
        self.security = security
        self.helper = helper
        self.portal = portal
        self.fields = fields
        self.release = release.rawValue
    }
}

/// When stored answers are sent: automatically, after the user confirms them, or never.
public enum CredentialRelease: String, CaseIterable, Sendable {
    case automatic, confirm, never
}

/// `Attempt` of the contract.
public struct AttemptStatus: Codable, Hashable, Sendable {
    public var id: String
    public var interface: String
    public var ssid: String
    public var began: Int
    public var ended: Int?
    public var helper: String?
    public var portal: String?
    public var portalKind: String?
    public var outcome: String
    /// Whether this attempt was only a successful periodic Maintain: `true` or absent.
    public var routine: Bool?

    public init(
        id: String, interface: String, ssid: String, began: Int, ended: Int? = nil, helper: String? = nil, portal: String? = nil,
        portalKind: String? = nil, outcome: String, routine: Bool? = nil
    ) {
        self.id = id
        self.interface = interface
        self.ssid = ssid
        self.began = began
        self.ended = ended
        self.helper = helper
        self.portal = portal
        self.portalKind = portalKind
        self.outcome = outcome
        self.routine = routine
    }
}
