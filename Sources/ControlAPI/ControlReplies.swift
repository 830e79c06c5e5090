import HotspotCore

// The replies of org.hotspotd.Control. `omitted` counts the elements that did not fit into one reply.

public struct StatusReply: Codable, Sendable {
    public var interfaces: [InterfaceStatus]
    public var version: String?
    /// The path of the settings file, whether or not that file exists.
    public var settings: String?
    public var problems: [Problem]?
    public var off: [SwitchedOff]?
    /// Whether names are left out, because only callers with permission may see them: `true` or absent.
    public var withheld: Bool?
    public var omitted: Int?
}

public struct SwitchReply: Codable, Sendable {
    /// Whether the call ended a hold, so that hotspotd acts on the network again: `true` or absent.
    public var released: Bool?

    public init(released: Bool?) { self.released = released }
}

/// The reply of `Login` and `Logoff`.
public struct InterfaceReply: Codable, Sendable {
    public var interface: String?
    /// Whether the request joined a login that was already running: `true` or absent.
    public var underWay: Bool?

    public init(interface: String, underWay: Bool? = nil) {
        self.interface = interface
        self.underWay = underWay
    }
}

/// The reply of `Join` and `Leave`.
public struct AssociationReply: Codable, Hashable, Sendable {
    public var interface: String?
    /// The program that joined or left the network; absent if no program manages the interface.
    public var manager: String?

    public init(interface: String?, manager: String?) {
        self.interface = interface
        self.manager = manager
    }
}

public struct CheckReply: Codable, Hashable, Sendable {
    /// `online`, `captive`, `limited`, `none` or `unknown`.
    public var verdict: String
    public var interface: String?
    public var detail: String?
    /// The requests of the probe, each with its answer.
    public var requests: [String]?
    /// `URL=` and `HTTPSURL=` of the settings, if they differ from the default.
    public var url: String?
    public var httpsURL: String?
    /// The path of the settings file, whether or not that file exists.
    public var settings: String?

    public init(verdict: String, interface: String? = nil, detail: String? = nil) {
        self.verdict = verdict
        self.interface = interface
        self.detail = detail
    }
}

/// The facts that a browser on one link needs.
public struct BrowseReply: Codable, Hashable, Sendable {
    /// The name of the helper to which this login belongs.
    public static let helper = "browser"
    public var interface: String
    /// The page to open.
    public var start: String
    /// The addresses of the link in CIDR notation.
    public var addresses: [String]
    public var gateways: [String]
    public var nameservers: [String]

    public init(interface: String, start: String, addresses: [String], gateways: [String], nameservers: [String]) {
        self.interface = interface
        self.start = start
        self.addresses = addresses
        self.gateways = gateways
        self.nameservers = nameservers
    }
}

public struct ListReply: Codable, Sendable {
    public var networks: [ScannedNetwork]
    public var omitted: Int?
}

public struct HelpersReply: Codable, Sendable {
    public var helpers: [HelperStatus]
    public var omitted: Int?
}

public struct PromptsReply: Codable, Sendable {
    public var prompts: [PendingPrompt]
    public var omitted: Int?
    /// How the requested prompt ended, if it was waiting a moment ago.
    public var gone: String?
}

public struct CredentialsReply: Codable, Sendable {
    public var credentials: [CredentialStatus]
    /// `none`, `locked` or `open`.
    public var pin: String
    public var omitted: Int?
}

public struct AddedReply: Codable, Sendable {
    public var credential: CredentialStatus

    public init(credential: CredentialStatus) { self.credential = credential }
}

/// The reply of `SharedAnswers`: values of stored answers.
public struct SharedReply: Codable, Sendable {
    /// The key of a ``NetworkID``.
    public var network: String
    public var helper: String
    /// The origin of the portal.
    public var portal: String
    public var portalKey: String?
    public var answers: [String: String]

    public init(network: String, helper: String, portal: String, portalKey: String?, answers: [String: String]) {
        (self.network, self.helper, self.portal) = (network, helper, portal)
        (self.portalKey, self.answers) = (portalKey, answers)
    }
}

/// The reply of `AddOffered`.
public struct OfferedReply: Codable, Sendable {
    public var interface: String
    public var helper: String
    /// Whether a question was answered; if not, the answers are stored.
    public var answered: Bool

    public init(interface: String, helper: String, answered: Bool) {
        (self.interface, self.helper, self.answered) = (interface, helper, answered)
    }
}

public struct RemovedReply: Codable, Sendable {
    public var removed: Int

    public init(removed: Int) { self.removed = removed }
}

public struct MonitorReply: Codable, Sendable {
    public var interface: String
    public var step: Step

    public init(interface: String, step: Step) {
        self.interface = interface
        self.step = step
    }
}

public struct ExplainReply: Codable, Sendable {
    public var steps: [Step]
    public var verdict: String
    public var attempt: AttemptStatus?
}

public struct HistoryReply: Codable, Sendable {
    public var attempts: [AttemptStatus]
    public var more: Bool?
}

/// The reply to `Current`. Without a link, `interface` and `ssidHex` are absent.
public struct CurrentNetwork: Codable, Hashable, Sendable {
    public var interface: String?
    /// The SSID in hexadecimal; empty for a wired network.
    public var ssidHex: String?
    public var chosenHelper: Bool

    public init(interface: String? = nil, ssidHex: String? = nil, chosenHelper: Bool = false) {
        self.interface = interface
        self.ssidHex = ssidHex
        self.chosenHelper = chosenHelper
    }
}
