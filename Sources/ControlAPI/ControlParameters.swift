// The parameters of those methods of org.hotspotd.Control for which both client and server need a type.

public struct ListParameters: Codable, Hashable, Sendable {
    public var interface: String?
    /// Whether the list includes the known networks that are not in sight.
    public var all: Bool?
    /// Whether the daemon also queries the access points that answer queries.
    public var verbose: Bool?

    public init(interface: String?, all: Bool?, verbose: Bool? = nil) {
        self.interface = interface
        self.all = all
        self.verbose = verbose
    }
}

public struct LoginParameters: Codable, Sendable {
    public var interface: String?
    public var helper: String?
    public var fresh: Bool?

    public init(interface: String?, helper: String?, fresh: Bool?) {
        self.interface = interface
        self.helper = helper
        self.fresh = fresh
    }
}

public struct BrowseParameters: Codable, Sendable {
    public var interface: String?
    /// Whether the user agreed to open a portal in spite of a warning.
    public var anyway: Bool?

    public init(interface: String?, anyway: Bool?) {
        self.interface = interface
        self.anyway = anyway
    }
}

public struct JoinParameters: Codable, Sendable {
    public var ssid: String
    public var interface: String?
    public var password: String?
    public var once: Bool

    public init(ssid: String, interface: String?, password: String?, once: Bool) {
        (self.ssid, self.interface, self.password, self.once) = (ssid, interface, password, once)
    }
}

public struct AnswerParameters: Codable, Sendable {
    public var id: String
    public var answers: [String: String]
    public var remember: Bool
    public var stored: [String]?
    public var confirmed: Bool?
    /// The paired laptop on which the answers were typed.
    public var from: String?

    public init(
        id: String, answers: [String: String], remember: Bool, stored: [String]?, confirmed: Bool?, from: String? = nil
    ) {
        self.id = id
        self.answers = answers
        self.remember = remember
        self.stored = stored
        self.confirmed = confirmed
        self.from = from
    }
}

/// The parameters of `AddOffered`.
public struct OfferedParameters: Codable, Sendable {
    /// The key of a ``NetworkID``.
    public var network: String
    /// The origin of the portal.
    public var portal: String
    public var portalKey: String?
    public var answers: [String: String]
    /// The paired laptop that offered the answers.
    public var from: String

    public init(network: String, portal: String, portalKey: String?, answers: [String: String], from: String) {
        (self.network, self.portal, self.portalKey) = (network, portal, portalKey)
        (self.answers, self.from) = (answers, from)
    }
}

public struct AddParameters: Codable, Sendable {
    public var ssid: String
    public var helper: String?
    public var answers: [String: String]

    public init(ssid: String, helper: String?, answers: [String: String]) {
        self.ssid = ssid
        self.helper = helper
        self.answers = answers
    }
}

public struct SwitchParameters: Codable, Sendable {
    public var helper: String?
    public var ssid: String?
    public var enabled: Bool

    public init(helper: String?, ssid: String?, enabled: Bool) {
        self.helper = helper
        self.ssid = ssid
        self.enabled = enabled
    }
}
