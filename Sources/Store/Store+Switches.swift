import HotspotCore

/// A switch that is off: for a helper, a helper on one network, or one network for all helpers.
public struct Disabled: Codable, Hashable, Sendable {
    /// `nil`: every helper.
    public var helper: String?
    /// The SSID's octets in hexadecimal, or `wired:ADDRESS`; `nil` for every network.
    public var ssid: String?

    public init(helper: String?, ssid: String?) {
        self.helper = helper
        self.ssid = ssid
    }
}

extension NetworkID {
    /// The name of a network in the switches: the SSID's octets in hexadecimal, or `wired:ADDRESS`; `nil` for an anonymous network.
    public var switchName: String? {
        switch self {
        case .wireless(let ssid, _): ssid.hex
        case .wired(let gateway): "wired:\(gateway)"
        case .anonymous: nil
        }
    }
}

/// All switches, indexed so that a long list of networks can look up each network and helper quickly.
public struct Switches: Hashable, Sendable {
    /// The switches that are off; all others are on.
    public let all: Set<Disabled>
    private var helpers: Set<String> = []
    private var networks: Set<String> = []
    private var pairs: [String: Set<String>] = [:]

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

    /// Returns whether the network is switched off for all helpers.
    public func isOff(_ network: NetworkID) -> Bool {
        !networks.isEmpty && isOff(helper: nil, name: network.switchName)
    }

    /// Returns whether the helper is switched off, for all networks or for this one, or the network is switched off.
    public func isOff(helper: String, _ network: NetworkID) -> Bool {
        // Make the network's name only if a switch needs it: making it takes time, and on most computers nothing is switched off.
        let name = networks.isEmpty && pairs.isEmpty ? nil : network.switchName
        return isOff(helper: helper, name: name)
    }

    /// Returns whether a helper is switched off for a ``NetworkID/switchName``. `nil` stands for all helpers, or for all networks.
    func isOff(helper: String?, name: String?) -> Bool {
        if let helper, helpers.contains(helper) { return true }
        guard let name else { return false }
        return networks.contains(name) || helper.map { pairs[name]?.contains($0) ?? false } ?? false
    }
}

extension Store {
    /// Everything that is switched off.
    public var allDisabled: Set<Disabled> { switches.all }

    /// All switches, from memory, because a list of networks looks up each network for each helper.
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

    /// Returns whether the user switched this helper off, everywhere or for this network. `nil` stands for "all helpers" or "all
    /// networks".
    public func isDisabled(helper: String?, ssid: String?) -> Bool {
        switches.isOff(helper: helper, name: ssid)
    }

    /// Switches a helper on or off, everywhere or for one network; without a helper, switches a network for all helpers. Refuses to switch everything
    /// off at once.
    ///
    /// - Parameter releasingHolds: whether to delete, in the same transaction, the holds of all networks with this name, whatever their security.
    public func setEnabled(
        helper: String?, ssid: String?, enabled: Bool, releasingHolds: Bool = false
    ) throws(StoreError) {
        guard helper != nil || ssid != nil else { throw .refused(reason: "neither a helper nor a network is named") }
        guard helper != "*", ssid != "*" else { throw .refused(reason: "an asterisk is not a name") }
        let values: [SQLValue] = [.text(helper ?? "*"), .text(ssid ?? "*")]
        defer { knownSwitches = nil }
        try write { database throws(SQLiteFailure) in
            try database.run(
                enabled ? "DELETE FROM disabled WHERE helper = ? AND ssid = ?" : "INSERT OR IGNORE INTO disabled VALUES (?, ?)",
                values)
            guard releasingHolds, let ssid else { return }
            // The name of a wired network is its key; the name of a Wi-Fi network is its key without the security. The comparison uses no glob,
            // because a name might contain one.
            try database.run(
                "DELETE FROM holds WHERE network = ?1 OR substr(network, 1, length(?2)) = ?2",
                [.text(ssid), .text("wifi:\(ssid):")])
        }
    }
}
