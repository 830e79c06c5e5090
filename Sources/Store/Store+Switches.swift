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

extension Store {
    /// Everything that is switched off.
    public var allDisabled: Set<Disabled> {
        if let disabled { return disabled }
        let all = Set(
            read("SELECT helper, ssid FROM disabled") { row -> Disabled? in
                guard let helper = row.text(0), let ssid = row.text(1) else { return nil }
                return Disabled(helper: helper == "*" ? nil : helper, ssid: ssid == "*" ? nil : ssid)
            })
        disabled = all
        return all
    }

    /// Whether the user switched this helper off, everywhere or for this network. `nil` asks for «all helpers» or «all networks».
    public func isDisabled(helper: String?, ssid: String?) -> Bool {
        // From memory: a list of networks asks this for each of them and each helper.
        let all = allDisabled
        return all.contains(Disabled(helper: helper, ssid: ssid)) || all.contains(Disabled(helper: helper, ssid: nil))
            || all.contains(Disabled(helper: nil, ssid: ssid))
    }

    /// Switches a helper on or off, everywhere or for one network, or (without helper) a network for all. Refuses to switch
    /// everything off at once.
    public func setEnabled(helper: String?, ssid: String?, enabled: Bool) throws(StoreError) {
        guard helper != nil || ssid != nil else { throw .refused(reason: "neither a helper nor a network is named") }
        guard helper != "*", ssid != "*" else { throw .refused(reason: "an asterisk is no name") }
        let values: [Value] = [.text(helper ?? "*"), .text(ssid ?? "*")]
        defer { disabled = nil }
        try write { database throws(SQLiteFailure) in
            try database.run(
                enabled ? "DELETE FROM disabled WHERE helper = ? AND ssid = ?" : "INSERT OR IGNORE INTO disabled VALUES (?, ?)",
                values)
        }
    }
}
