import HotspotCore

/// Made-up networks that the helper's file covers.
struct RehearsalNetworks {
    /// The joined network.
    let joined: Network
    /// The networks of the scan.
    let inSight: [Network]

    /// Makes networks for a helper; `ssid` is the name of the joined network. Throws ``CannotTest`` if the daemon would never
    /// ask the helper about that network.
    init(_ spec: HelperSpec, ssid: SSID? = nil) throws(CannotTest) {
        func security(_ wanted: Security) -> Security? {
            spec.security.isEmpty || spec.security.contains(wanted) ? wanted : nil
        }
        let usual = security(.open) ?? spec.security.min { $0.rawValue < $1.rawValue } ?? .open
        // The names in the helper's file; names with wildcards are also tried without them.
        let names = spec.ssids.lazy.compactMap {
            SSID(printable: $0.source) ?? SSID(printable: $0.source.filter { $0 != "*" && $0 != "?" })
        }
        if let ssid, !spec.covers(ssid, usual) {
            throw CannotTest("SSID= does not cover \"\(ssid)\": the daemon would never ask this helper about it.")
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
            // Adds another network only without SSID=: with SSID=, the daemon asks only about networks in that list.
            if security(other) != nil, spec.ssids.isEmpty {
                seen.append(network(SSID(printable: "Another network")!, other, index + 2))
            }
            if security(other) != nil, other != usual, !spec.ssids.isEmpty { seen.append(network(name, other, index + 4)) }
        }
        inSight = seen
    }
}
