import ArgumentParser
import ControlAPI
import HotspotCore

struct ListVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the networks in sight and the helpers that claim them.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Show the list again after each scan.")
    var watch = false

    @Argument(help: "Only this interface.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let client = try common.connect()
        let parameters = JSONValue.members(["interface": interface])
        let lines = { (renderer: Renderer, list: ListReply) in renderer.lines(list) }
        guard watch else { return try common.show(try client.call("List", parameters), lines) }
        try client.subscribe("List", parameters)
        var isFirst = true
        while let reply = try client.next() {
            if !isFirst, common.jsonMode == nil { Output.print([""]) }
            isFirst = false
            try common.show(reply, lines)
        }
    }
}

extension Renderer {
    func lines(_ list: ListReply) -> [String] {
        guard !list.networks.isEmpty else { return ["No network is in sight."] }
        let networks = list.networks.sorted { ($0.joined ? 1 : 0, $0.signal) > ($1.joined ? 1 : 0, $1.signal) }
        let lines = table(
            ["  SSID", "SIGNAL", "SECURITY", "HELPER", "READY", "LAST TIME"],
            networks.map { network in
                let mark = network.joined ? tone(sign("●", "*"), .good) : " "
                let name =
                    network.security == Security.wired.rawValue ? "wired:\(safe(network.bssid, limit: 17))" : name(network.ssid)
                return [
                    "\(mark) \(name)", signal(network.signal), security(network.security), helpers(network), ready(network),
                    network.lastOutcome.map { safe($0, limit: 100) } ?? nothing,
                ]
            })
        return lines + more(list.omitted, "networks")
    }

    private func helpers(_ network: ScannedNetwork) -> String {
        if network.disabled { return "switched off" }
        guard !network.claims.isEmpty else { return nothing }
        let claims = network.claims.sorted { confidence($0) > confidence($1) }
        let shown = claims.prefix(2).map { "\(safe($0.displayName, limit: 64)) (\(safe($0.confidence, limit: 16)))" }
        let rest = claims.count + max(0, network.moreClaims ?? 0) - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? ", +\(rest)" : "")
    }

    private func ready(_ network: ScannedNetwork) -> String {
        network.claims.isEmpty || network.disabled ? nothing : network.claims.contains(where: \.ready) ? "yes" : "no"
    }

    private func confidence(_ claim: ClaimStatus) -> Int { Confidence(rawValue: claim.confidence)?.appleValue ?? 0 }
}
