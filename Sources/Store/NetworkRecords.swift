import HotspotCore

/// The remembered choice of a helper for a network.
public struct RememberedChoice: Hashable, Sendable {
    /// 90 days, in milliseconds.
    public static let lifetime = 90 * 24 * 60 * 60 * 1000

    /// The helper that won the race.
    public var helper: String
    /// The names and editions of the helpers that could have won, including the winner's; `nil` if they are not known.
    public var contenders: Set<String>?
    /// The portal to which the helper logged in.
    public var portal: Portal?
    /// This computer's hardware address in this network, by which a portal recognises it; `nil` if it is not known.
    public var hardware: HardwareAddress?
    /// The time of the choice, in milliseconds of Unix time.
    public var committed: Int
    /// The time at which the choice expires, in milliseconds of Unix time.
    public var expires: Int

    /// - Parameter expires: the time at which the record expires; `nil` means after ``lifetime``.
    public init(
        helper: String, contenders: Set<String>? = nil, portal: Portal? = nil, hardware: HardwareAddress? = nil, committed: Int,
        expires: Int? = nil
    ) {
        self.helper = helper
        self.contenders = contenders
        self.portal = portal
        self.hardware = hardware
        self.committed = committed
        self.expires = expires ?? committed + Self.lifetime
    }
}

/// An association in which a helper logged in; kept for a daemon that restarts during the association.
public struct StoredAssociation: Codable, Hashable, Sendable {
    /// The index of the interface.
    public var interface: Int
    public var helper: String
    /// Identifies the link's association: equal texts mean the same association.
    public var link: String
    /// The association's identifier, as helpers see it.
    public var id: String
    /// Unix time in milliseconds at which the session ends; `nil` if that is not known.
    public var ends: Int?
    /// Until this time, in milliseconds of Unix time, an open network proves the login; `nil` if the login is already proven.
    public var until: Int?

    public init(interface: Int, helper: String, link: String, id: String, ends: Int? = nil, until: Int? = nil) {
        self.interface = interface
        self.helper = helper
        self.link = link
        self.id = id
        self.ends = ends
        self.until = until
    }
}

/// The reason why hotspotd starts no login on a network.
public struct StoredHold: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        case loggedOff, dismissed, autoJoinOff
    }

    public var reason: Reason
    /// Unix time in milliseconds at which the hold ends; `nil` if it has no end.
    public var until: Int?
    /// One sentence for the user.
    public var sentence: String

    public init(reason: Reason, until: Int? = nil, sentence: String) {
        self.reason = reason
        self.until = until
        self.sentence = sentence
    }
}

/// The outcome of the last visit to a network.
public struct StoredOutcome: Codable, Hashable, Sendable {
    /// The outcome, as a stable word.
    public var word: String
    /// Unix time in milliseconds.
    public var time: Int

    public init(word: String, time: Int) {
        self.word = word
        self.time = time
    }
}

/// A network's records, as a list of networks shows them.
public struct NetworkRecord: Hashable, Sendable {
    /// The helper that won the race on this network before.
    public var helper: String?
    /// The helper's name for the kind of portal.
    public var portalKind: String?
    public var hold: StoredHold?
    public var outcome: StoredOutcome?
    /// The helpers with a sealed credential.
    public var credentials: Set<String> = []

    public init() {}
}

/// The records of all networks at one moment.
public struct NetworkRecords: Sendable {
    var byKey: [String: NetworkRecord] = [:]

    /// Returns whether a network with this ``NetworkID/switchName`` has a record.
    public func has(name: String) -> Bool { byKey.keys.contains { NetworkID(key: $0)?.switchName == name } }

    /// Returns whether a network with this ``NetworkID/switchName`` has a hold.
    public func holds(name: String) -> Bool {
        byKey.contains { $0.value.hold != nil && NetworkID(key: $0.key)?.switchName == name }
    }

    public var networks: [NetworkID] { byKey.keys.compactMap { NetworkID(key: $0) } }

    /// The record of a network; an empty one for an anonymous or unknown network.
    public subscript(network: NetworkID) -> NetworkRecord {
        guard !byKey.isEmpty, let key = network.key else { return NetworkRecord() }
        return byKey[key] ?? NetworkRecord()
    }
}
