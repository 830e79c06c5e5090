// The parameters of org.hotspotd.Control that client and server both make: each is named after its method.

public struct ListParameters: Codable, Hashable, Sendable {
    public var interface: String?
    /// Also the networks that are known and not in sight.
    public var all: Bool?
    /// Asks the access points that offer it.
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
    /// The user wants to open a portal with a warning.
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

    public init(id: String, answers: [String: String], remember: Bool, stored: [String]?, confirmed: Bool?) {
        self.id = id
        self.answers = answers
        self.remember = remember
        self.stored = stored
        self.confirmed = confirmed
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
