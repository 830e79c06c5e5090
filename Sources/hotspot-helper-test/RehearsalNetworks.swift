import HotspotCore

/// Networks that do not exist, of kinds that the helper's file covers.
struct RehearsalNetworks {
    /// The network that is joined.
    let joined: Network
    /// What the scan shows.
    let inSight: [Network]

    /// Networks for a helper; the joined one has this name, if one is wanted. Throws ``Unusable`` if the helper would never hear of it.
    init(_ spec: HelperSpec, ssid: SSID? = nil) throws(Unusable) {
        func security(_ wanted: Security) -> Security? {
            spec.security.isEmpty || spec.security.contains(wanted) ? wanted : nil
        }
        let usual = security(.open) ?? spec.security.min { $0.rawValue < $1.rawValue } ?? .open
        // A name that its file has without wildcards, else one where the wildcards stand for nothing.
        let names = spec.ssids.lazy.compactMap {
            SSID(printable: $0.source) ?? SSID(printable: $0.source.filter { $0 != "*" && $0 != "?" })
        }
        if let ssid, !spec.covers(ssid, usual) {
            throw Unusable("SSID= does not cover «\(ssid)»: the daemon would never ask this helper about it.")
        }
        let name = ssid ?? names.first { spec.covers($0, usual) } ?? SSID(printable: "Rehearsal")!
        func network(_ name: SSID, _ security: Security, _ number: Int) -> Network {
            Network(
                ssid: name, bssid: HardwareAddress("02:00:00:00:00:0\(number)"), interface: "lo", signalStrength: 0.8,
                security: security)
        }
        joined = network(name, usual, 1)
        var seen = [joined]
        for (index, other) in [Security.open, .psk].enumerated() {
            // A helper with SSID= hears of its own networks only.
            if security(other) != nil, spec.ssids.isEmpty {
                seen.append(network(SSID(printable: "Somebody else's")!, other, index + 2))
            }
            if security(other) != nil, other != usual, !spec.ssids.isEmpty { seen.append(network(name, other, index + 4)) }
        }
        inSight = seen
    }
}
