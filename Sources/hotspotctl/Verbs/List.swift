import ArgumentParser
import ControlAPI
import EventLoop
import HotspotCore

struct ListVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the networks in sight and the helpers that claim them.",
        discussion: """
            The word after a helper shows how sure it is that it knows the network (high or low), that it logged in there \
            before (remembered), or that it is switched off (off). A helper without such a word works in the network that you \
            are in. READY shows whether a password or answers are stored for a helper that is switched on; 'credentials' shows \
            whether they are sent without asking you.

            ANNOUNCES shows an access point's announcement: that its network expects a login, or offers OpenRoaming or \
            Passpoint. Anyone nearby can send such an announcement. A login depends only on the portal that answers after you \
            join.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help:
            "Keep the list up to date: on a terminal in place, otherwise as new lines with the time after each change."
    )
    var watch = false

    @Flag(help: "Also show known or switched-off networks that are not in sight.")
    var all = false

    @Flag(help: "Also query access points that answer before you join (ANQP), and show their announcements.")
    var verbose = false

    @Argument(help: "Only this interface.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let client = try common.connect()
        let parameters = ListParameters(interface: interface, all: all ? true : nil, verbose: verbose ? true : nil)
        guard watch else {
            return try common.show(try client.call("List", parameters)) { renderer, list in lines(list, status(), renderer) }
        }
        try client.subscribe("List", parameters)
        let began = WallClock.now
        var last: [String] = []
        while let reply = try client.next() {
            if common.jsonMode == nil, Output.isTerminal { Output.clear() }
            try common.show(reply) { (renderer: Renderer, list: ListReply) in
                let status = status()
                let lines = lines(list, status, renderer)
                guard let rows = Output.rows else {
                    // Relative times change by themselves, so they do not count as a change of the list.
                    var still = renderer
                    still.now = began
                    let compared = self.lines(list, status, still)
                    if compared == last { return [] }
                    last = compared
                    let time = renderer.clock(renderer.now, seconds: true)
                    return lines.map { "\(time)  \($0)" }
                }
                // Leaves the last line of the terminal free for the cursor.
                return Array(lines.prefix(max(2, rows - 1)))
            }
        }
    }

    private func status() -> StatusReply? { try? common.connect().call("Status", as: StatusReply.self) }

    /// Returns the table, with the switches and the helper of each interface's current login, if the daemon reports them.
    private func lines(_ list: ListReply, _ status: StatusReply?, _ renderer: Renderer) -> [String] {
        let present = Dictionary(
            (status?.interfaces ?? []).compactMap { status in status.helper.map { (status.interface, $0) } },
            uniquingKeysWith: { first, _ in first })
        let kinds = Dictionary(
            (status?.interfaces ?? []).compactMap { status in status.portalKind.map { (status.interface, $0) } },
            uniquingKeysWith: { first, _ in first })
        return renderer.lines(list, status?.off ?? [], present: present, kinds: kinds, showsUnseen: all)
            + (verbose ? list.networks.sorted { $0.comesBefore($1) }.flatMap(renderer.announcement) : [])
    }
}

extension Renderer {
    /// Returns the list as a table.
    ///
    /// - Parameters:
    ///   - off: the switches.
    ///   - present: the helper of each interface's current login, which may be the first login in this network.
    ///   - kinds: the kind of each interface's current portal.
    ///   - showsUnseen: whether to show networks that are switched off and not in the list.
    func lines(
        _ list: ListReply, _ off: [SwitchedOff] = [], present: [String: String] = [:], kinds: [String: String] = [:],
        showsUnseen: Bool = false
    ) -> [String] {
        let names = Set(list.networks.map(\.ssid))
        let unseen = off.filter { showsUnseen && $0.helper == nil }.compactMap(\.ssid).filter { !names.contains($0) }
        guard !list.networks.isEmpty || !unseen.isEmpty else { return ["No network is in sight."] }
        let announces = list.networks.contains { !marks($0).isEmpty }
        let lines = table(
            [
                Column(heading: "  SSID"), Column(heading: "SIGNAL", leaves: 3), Column(heading: "SECURITY", leaves: 2),
                Column(heading: "HELPER", least: 5), Column(heading: "READY", leaves: 1),
                // In a narrow terminal, the time after the outcome is cut off.
                Column(heading: "LAST TIME", least: 17),
            ] + (announces ? [Column(heading: "ANNOUNCES", leaves: 4)] : []),
            list.networks.sorted { $0.comesBefore($1) }.map { network in
                let mark = network.joined ? tone(sign("●", "*"), .strong) : " "
                let here = network.joined ? present[network.interface] : nil
                let switchedOff = off.filter {
                    $0.ssid == network.ssid || (network.claims.isEmpty && $0.ssid == nil && $0.helper == here)
                }.compactMap(\.helper)
                return [
                    "\(mark) \(name(network.ssid))", signal(network.signal), security(network.security),
                    helpers(network, here, kinds[network.interface], off: Set(switchedOff).sorted()),
                    ready(network),
                    lastTime(network),
                ] + (announces ? [marks(network).isEmpty ? nothing : marks(network).joined(separator: ", ")] : [])
            }
                + unseen.map {
                    ["  \(name($0))", nothing, nothing, "switched off", nothing, nothing] + (announces ? [nothing] : [])
                })
        return lines + more(list.omitted, "networks")
    }

    /// Returns the last outcome in words.
    private func lastTime(_ network: ScannedNetwork) -> String {
        guard let word = network.lastOutcome else { return nothing }
        return outcome(word) + (network.lastOutcomeTime.map { ", \(ago($0))" } ?? "")
    }

    /// - Parameter off: the helpers that are switched off for this network, and the helper `present` if it is switched off everywhere.
    private func helpers(_ network: ScannedNetwork, _ present: String?, _ kind: String?, off: [String]) -> String {
        if network.disabled { return "switched off" }
        let switchedOff = off.map { "\(safe($0, limit: 64)) (off)" }
        guard !network.claims.isEmpty else {
            let here = present.map { off.contains($0) ? [] : [portalName(kind, by: $0) ?? safe($0, limit: 64)] } ?? []
            let shown = here + switchedOff
            return shown.isEmpty ? nothing : shown.joined(separator: ", ")
        }
        let claims = network.claims.sorted { confidence($0) > confidence($1) }
        // Shows no confidence for a remembered helper, because it logs in without a race.
        let shown = claims.prefix(2).map { claim in
            let word = claim.source == "remembered" ? claim.source : claim.confidence
            let name = portalName(claim.portalKind, by: claim.helper) ?? safe(claim.helper, limit: 64)
            return "\(name) (\(safe(word, limit: 16)))"
        }
        let rest = claims.count + max(0, network.moreClaims ?? 0) - shown.count
        return ((shown + (rest > 0 ? ["+\(rest)"] : [])) + switchedOff).joined(separator: ", ")
    }

    /// Returns whether a helper that claims the network has its answers. Returns a dash if only a remembered helper claims the network, because
    /// that helper may need no answers.
    private func ready(_ network: ScannedNetwork) -> String {
        if network.disabled { return nothing }
        if network.claims.contains(where: \.ready) { return "yes" }
        return network.claims.contains { $0.source != "remembered" } ? "no" : nothing
    }

    private func confidence(_ claim: ClaimStatus) -> Int { Confidence(rawValue: claim.confidence)?.appleValue ?? 0 }
}
