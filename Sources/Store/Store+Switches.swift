import HotspotCore

/// What the user switched off: a helper, a helper for one name, or one name for all helpers.
public struct Disabled: Codable, Hashable, Sendable {
    /// `nil`: every helper.
    public var helper: String?
    /// The SSID's octets in hexadecimal, or `wired:ADDRESS`; `nil`: every network.
    public var ssid: String?

    /// A switch.
    public init(helper: String?, ssid: String?) {
        self.helper = helper
        self.ssid = ssid
    }
}

extension NetworkID {
    /// What the switches know a network by: the SSID's octets in hexadecimal, or `wired:ADDRESS`; `nil` for an anonymous one.
    public var switchName: String? {
        switch self {
        case .wireless(let ssid, _): ssid.hex
        case .wired(let gateway): "wired:\(gateway)"
        case .anonymous: nil
        }
    }
}

/// All switches, ready to be asked for every network and helper of a long list.
public struct Switches: Hashable, Sendable {
    /// Everything that is switched off.
    public let all: Set<Disabled>
    private var helpers: Set<String> = []
    private var networks: Set<String> = []
    private var pairs: [String: Set<String>] = [:]

    /// These are off, and all others on.
    public init(_ all: Set<Disabled>) {
        self.all = all
        for off in all {
            switch (off.helper, off.ssid) {
            case (let helper?, let ssid?): pairs[ssid, default: []].insert(helper)
            case (let helper?, nil): helpers.insert(helper)
            case (nil, let ssid?): networks.insert(ssid)
            case (nil, nil): break
            }
        }
    }

    /// The network is switched off for all helpers.
    public func isOff(_ network: NetworkID) -> Bool {
        !networks.isEmpty && isOff(helper: nil, name: network.switchName)
    }

    /// The helper is switched off, everywhere or here, or the network is.
    public func isOff(helper: String, _ network: NetworkID) -> Bool {
        // A network's name is made for the question, so it is asked for only where it matters.
        let name = networks.isEmpty && pairs.isEmpty ? nil : network.switchName
        return isOff(helper: helper, name: name)
    }

    /// The same by a network's ``NetworkID/switchName``. `nil` stands for all helpers, or for all networks.
    func isOff(helper: String?, name: String?) -> Bool {
        if let helper, helpers.contains(helper) { return true }
        guard let name else { return false }
        return networks.contains(name) || helper.map { pairs[name]?.contains($0) ?? false } ?? false
    }
}

extension Store {
    /// Everything that is switched off.
    public var allDisabled: Set<Disabled> { switches.all }

    /// The switches, from memory: a list of networks asks for each of them and each helper.
    public var switches: Switches {
        if let knownSwitches { return knownSwitches }
        let all = Set(
            read("SELECT helper, ssid FROM disabled") { row -> Disabled? in
                guard let helper = row.text(0), let ssid = row.text(1) else { return nil }
                return Disabled(helper: helper == "*" ? nil : helper, ssid: ssid == "*" ? nil : ssid)
            })
        let switches = Switches(all)
        knownSwitches = switches
        return switches
    }

    /// Whether the user switched this helper off, everywhere or for this network. `nil` asks for «all helpers» or «all networks».
    public func isDisabled(helper: String?, ssid: String?) -> Bool {
        switches.isOff(helper: helper, name: ssid)
    }

    /// Switches a helper on or off, everywhere or for one network, or (without helper) a network for all. Refuses to switch
    /// everything off at once.
    ///
    /// - Parameter releasingHolds: what holds the networks of this name, under any security, goes too: both, or neither.
    public func setEnabled(
        helper: String?, ssid: String?, enabled: Bool, releasingHolds: Bool = false
    ) throws(StoreError) {
        guard helper != nil || ssid != nil else { throw .refused(reason: "neither a helper nor a network is named") }
        guard helper != "*", ssid != "*" else { throw .refused(reason: "an asterisk is no name") }
        let values: [Value] = [.text(helper ?? "*"), .text(ssid ?? "*")]
        defer { knownSwitches = nil }
        try write { database throws(SQLiteFailure) in
            try database.run(
                enabled ? "DELETE FROM disabled WHERE helper = ? AND ssid = ?" : "INSERT OR IGNORE INTO disabled VALUES (?, ?)",
                values)
            guard releasingHolds, let ssid else { return }
            // A wire's name for the switches is its key; that of a radio network lacks the security. No name can smuggle a glob in.
            try database.run(
                "DELETE FROM holds WHERE network = ?1 OR substr(network, 1, length(?2)) = ?2",
                [.text(ssid), .text("wifi:\(ssid):")])
        }
    }
}
