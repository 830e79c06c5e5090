import HotspotCore

/// A helper's claim on a network in sight: `Claim` of org.hotspotd.Control.
public struct ClaimStatus: Codable, Hashable, Sendable {
    /// Name of the helper.
    public var helper: String
    /// What people read, at most 15 characters.
    public var displayName: String
    /// Low or high.
    public var confidence: Confidence
    /// `manifest`, `filter` or `remembered`.
    public var source: String
    /// Joining asks nothing.
    public var ready: Bool

    /// A claim.
    public init(helper: String, displayName: String, confidence: Confidence, source: String, ready: Bool) {
        self.helper = helper
        self.displayName = displayName
        self.confidence = confidence
        self.source = source
        self.ready = ready
    }
}

/// A network in sight: `ScannedNetwork` of org.hotspotd.Control.
public struct ScannedNetwork: Codable, Hashable, Sendable {
    /// Printable SSID; `wired:ADDRESS` for a wire.
    public var ssid: String
    /// The octets of the SSID, lower-case hexadecimal.
    public var ssidHex: String
    /// The strongest access point, or the gateway of a wire.
    public var bssid: String
    /// Name of the interface.
    public var interface: String
    /// MHz
    public var frequency: Int
    /// dBm
    public var signal: Int
    /// 0.0 to 1.0
    public var signalStrength: Double
    /// How the air interface is guarded.
    public var security: Security
    /// BSSs with this name and security.
    public var stations: Int
    /// Unix time in milliseconds.
    public var lastSeen: Int
    /// The interface is in this network.
    public var joined: Bool
    /// Who would take care of it.
    public var claims: [ClaimStatus]
    /// So many more claims are left out. An addition of ours.
    public var moreClaims: Int?
    /// Handling is switched off for this name.
    public var disabled: Bool
    /// Absent if nothing is known; `false` after a failure for good (D14).
    public var autoJoin: Bool?
    /// Word of the last outcome, and when (Unix time in milliseconds).
    public var lastOutcome: String?

    /// A network.
    public init(
        ssid: SSID, bssid: HardwareAddress, interface: String, frequency: Int, signal: Int, security: Security, stations: Int,
        lastSeen: Int, joined: Bool, claims: [ClaimStatus], disabled: Bool, autoJoin: Bool?, lastOutcome: String?
    ) {
        self.ssid = ssid.description
        ssidHex = ssid.hex
        self.bssid = bssid.description
        self.interface = interface
        self.frequency = frequency
        self.signal = signal
        signalStrength = SignalScale.strength(dBm: signal)
        self.security = security
        self.stations = stations
        self.lastSeen = lastSeen
        self.joined = joined
        self.claims = claims
        self.disabled = disabled
        self.autoJoin = autoJoin
        self.lastOutcome = lastOutcome
    }
}

/// Where an interface stands: `InterfaceStatus` of org.hotspotd.Control.
public struct InterfaceStatus: Codable, Hashable, Sendable {
    /// Name of the interface.
    public var interface: String
    /// Where the machine stands.
    public var state: StateName
    /// Unix time in milliseconds.
    public var since: Int
    /// Printable SSID; `wired:ADDRESS` for a wire.
    public var ssid: String?
    /// The octets of the SSID, lower-case hexadecimal.
    public var ssidHex: String?
    /// The strongest access point, or the gateway of a wire.
    public var bssid: String?
    /// Name of the helper.
    public var helper: String?
    /// The portal's origin.
    public var portal: String?
    /// What the prober said last; absent if it told nothing.
    public var captive: Bool?
    /// Until the portal ends the session.
    public var secondsRemaining: Int?
    /// Until the portal ends the session.
    public var bytesRemaining: Int?
    /// Unix time in milliseconds.
    public var nextMaintain: Int?
    /// A login that nobody asked for waits until then (D23), Unix time in milliseconds. An addition of ours.
    public var nextLogin: Int?
    /// The prompt that waits.
    public var prompt: String?
    /// What a person should know of.
    public var problems: [Problem]

    /// An interface of which nothing is known but its state.
    public init(interface: String, state: StateName, since: Int) {
        self.interface = interface
        self.state = state
        self.since = since
        problems = []
    }
}

/// A helper as its host sees it: `HelperStatus` of org.hotspotd.Control.
public struct HelperStatus: Codable, Hashable, Sendable {
    /// Name of the helper, or the file of one that was refused.
    public var name: String
    /// What people read, at most 15 characters.
    public var displayName: String
    /// Absent: nobody starts a helper just to ask it.
    public var version: String?
    /// Switched on in its file and by the user.
    public var enabled: Bool
    /// Printable SSIDs.
    public var disabledFor: [String]
    /// 0 to 100; higher wins among lows.
    public var priority: Int
    /// The list of its file, as written.
    public var ssids: [String]
    /// `stdio`, `socket` or `external`.
    public var activation: String
    /// A process of it runs.
    public var running: Bool
    /// Missed deadlines and deaths in a row.
    public var strikes: Int
    /// Asked, not waited for.
    public var quarantined: Bool
    /// What a person should know of.
    public var problems: [Problem]
    /// Its file. An addition of ours.
    public var file: String?
    /// What keeps its last process in its place, such as `own process namespace` or `Landlock`. An addition of ours.
    public var containment: [String]?
    /// What should keep it in its place and could not be had here. An addition of ours.
    public var missing: [String]?
    /// It hears of every network in sight. An addition of ours.
    public var scanList: Bool?
    /// What it was told lately, the newest first. An addition of ours.
    public var given: [GivenStatus]?
    /// So many more of its list are left out. An addition of ours.
    public var moreSSIDs: Int?
    /// So many more names for which it is switched off are left out. An addition of ours.
    public var moreDisabledFor: Int?

    /// A helper.
    public init(
        name: String, displayName: String, enabled: Bool, disabledFor: [String] = [], priority: Int, ssids: [String],
        activation: String, running: Bool, strikes: Int, quarantined: Bool, problems: [Problem] = [], file: String? = nil,
        containment: [String]? = nil, missing: [String]? = nil, scanList: Bool? = nil, given: [GivenStatus]? = nil
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
        self.given = given
    }
}

/// What a helper was told since the daemon started: `Given` of org.hotspotd.Control.
public struct GivenStatus: Codable, Hashable, Sendable {
    /// Printable SSIDs or `wired:ADDRESS`; the first ones of a long list.
    public var networks: [String]
    /// How many networks in all.
    public var count: Int
    /// The list of networks in sight; otherwise the network that was joined.
    public var scanList: Bool
    /// A stored credential was sent for this network.
    public var credential: Bool
    /// The last time, Unix time in milliseconds.
    public var at: Int

    /// What was told.
    public init(networks: [String], count: Int, scanList: Bool, credential: Bool, at: Int) {
        self.networks = networks
        self.count = count
        self.scanList = scanList
        self.credential = credential
        self.at = at
    }
}

/// A question that waits for the user: `PendingPrompt` of org.hotspotd.Control.
public struct PendingPrompt: Codable, Hashable, Sendable {
    /// Unique name.
    public var id: String
    /// Name of the interface.
    public var interface: String
    /// Printable SSID; `wired:ADDRESS` for a wire.
    public var ssid: String
    /// Name of the helper.
    public var helper: String
    /// The portal's origin.
    public var portal: String?
    /// Who asks.
    public var title: String
    /// Why.
    public var message: String?
    /// What.
    public var fields: [Field]
    /// Where the terms can be read.
    public var termsURL: String?
    /// Their text.
    public var terms: String?
    /// Unix time in milliseconds.
    public var since: Int
    /// Message, fields and terms are left out: this reader may not answer. An addition of ours.
    public var withheld: Bool?

    /// A prompt as it waits.
    public init(
        id: String, interface: String, ssid: String, helper: String, portal: String?, prompt: Prompt, since: Int
    ) {
        self.id = id
        self.interface = interface
        self.ssid = ssid
        self.helper = helper
        self.portal = portal
        title = prompt.title
        message = prompt.message
        fields = prompt.fields
        termsURL = prompt.termsURL
        terms = prompt.terms
        self.since = since
    }

    /// The same for who may not answer: that there is a question, where, and who asks. A helper may be wrong about what is secret,
    /// and nobody else needs the rest.
    var withheldFromStrangers: PendingPrompt {
        var known = self
        known.message = nil
        known.fields = []
        known.termsURL = nil
        known.terms = nil
        known.withheld = true
        return known
    }
}

/// A past attempt: `Attempt` of org.hotspotd.Control.
public struct AttemptStatus: Codable, Hashable, Sendable {
    /// Unique name.
    public var id: String
    /// Name of the interface.
    public var interface: String
    /// Printable SSID; `wired:ADDRESS` for a wire.
    public var ssid: String
    /// Unix time in milliseconds.
    public var began: Int
    /// Unix time in milliseconds.
    public var ended: Int?
    /// Name of the helper.
    public var helper: String?
    /// The portal's origin.
    public var portal: String?
    /// What it came to.
    public var outcome: String
    /// A timer's maintain that found everything well; absent for all others.
    public var routine: Bool?

    /// An attempt.
    public init(
        id: String, interface: String, ssid: String, began: Int, ended: Int?, helper: String?, portal: String?, outcome: String,
        routine: Bool? = nil
    ) {
        self.id = id
        self.interface = interface
        self.ssid = ssid
        self.began = began
        self.ended = ended
        self.helper = helper
        self.portal = portal
        self.outcome = outcome
        self.routine = routine
    }
}

/// The answer to `Current`: nothing at all where there is no link.
public struct CurrentNetwork: Codable, Hashable, Sendable {
    /// The interface.
    public var interface: String?
    /// The octets of the name, lower-case hexadecimal; empty for a wired network.
    public var ssidHex: String?
    /// Whether the helper that asks is the chosen one there.
    public var chosenHelper: Bool

    /// A network, or without arguments none.
    public init(interface: String? = nil, ssidHex: String? = nil, chosenHelper: Bool = false) {
        self.interface = interface
        self.ssidHex = ssidHex
        self.chosenHelper = chosenHelper
    }
}

/// The answer to `Check`.
public struct CheckAnswer: Codable, Hashable, Sendable {
    /// `online`, `captive`, `limited`, `none` or `unknown`.
    public var verdict: String
    /// Name of the interface.
    public var interface: String?
    /// One sentence.
    public var detail: String?

    /// An answer.
    public init(verdict: String, interface: String? = nil, detail: String? = nil) {
        self.verdict = verdict
        self.interface = interface
        self.detail = detail
    }
}

/// The errors of org.hotspotd.Control.
public enum ControlError: Error, Hashable, Sendable {
    case noSuchInterface(String)
    case noSuchHelper(String)
    case noSuchNetwork(String)
    case noSuchPrompt(String)
    case wrongState(interface: String, state: String)
    case invalidAnswer(field: String, message: String)
    case notPermitted(String)
    case failed(code: String, message: String)

    /// The error's name in the interface, and its parameters.
    var reply: (name: String, parameters: JSONValue) {
        switch self {
        case .noSuchInterface(let interface): ("NoSuchInterface", ["interface": .string(interface)])
        case .noSuchHelper(let helper): ("NoSuchHelper", ["helper": .string(helper)])
        case .noSuchNetwork(let ssid): ("NoSuchNetwork", ["ssid": .string(ssid)])
        case .noSuchPrompt(let id): ("NoSuchPrompt", ["id": .string(id)])
        case .wrongState(let interface, let state):
            ("WrongState", ["interface": .string(interface), "state": .string(state)])
        case .invalidAnswer(let field, let message):
            ("InvalidAnswer", ["field": .string(field), "message": .string(message)])
        case .notPermitted(let message): ("NotPermitted", ["message": .string(message)])
        case .failed(let code, let message): ("Failed", ["code": .string(code), "message": .string(message)])
        }
    }
}
