import ControlAPI
import HotspotCore

extension Renderer {
    /// Returns the main facts of an access point's announcement, for a table.
    func marks(_ network: ScannedNetwork) -> [String] {
        guard let announced = network.announced else { return [] }
        return (announced.expectsLogin ? ["login expected"] : [])
            + (announced.openRoaming == true ? ["OpenRoaming"] : announced.passpoint == true ? ["Passpoint"] : [])
    }

    /// Returns an access point's announcement as lines: its numbers in hotspotd's words, and its texts behind the bar.
    func announcement(_ network: ScannedNetwork) -> [String] {
        guard let announced = network.announced else { return [] }
        var facts = marks(network)
        if let type = announced.networkType { facts.append(networkType(type)) }
        if announced.internet == true { facts.append("Internet") }
        if let consortia = announced.consortia {
            facts.append("consortia " + consortia.prefix(8).map { safe($0, limit: 16) }.joined(separator: ", "))
        }
        let summary = facts.isEmpty ? nothing : facts.joined(separator: ", ")
        var lines = ["", "\(quoted(network.ssid)) announces (not verified): \(summary)"]
        func quote(_ label: String, _ words: [String]?) {
            guard let words, !words.isEmpty else { return }
            lines.append("  \(bar) \(label): \(words.prefix(8).map { safe($0, limit: 512) }.joined(separator: ", "))")
        }
        quote("login", announced.loginURL.map { [$0] })
        quote("venue", announced.venueNames)
        quote("venue's page", announced.venueURL.map { [$0] })
        quote("operator", announced.operators)
        quote("realms", announced.realms)
        quote("domains", announced.domains)
        return lines
    }

    private func networkType(_ word: String) -> String {
        switch AccessNetworkType(rawValue: word) {
        case .privateNetwork: "private network"
        case .privateWithGuests: "private network with guest access"
        case .chargeable: "chargeable public network"
        case .free: "free public network"
        case .personal: "personal device network"
        case .emergency: "emergency services only"
        case .test: "test network"
        case .wildcard, nil: safe(word, limit: 32)
        }
    }
}
