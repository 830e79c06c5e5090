import HotspotCore

/// Decides whether a rule of this computer is the cause of an unanswered probe.
///
/// A VPN does not affect packets that are bound to the link, with two exceptions: a kill switch refuses the packets, and a strict reverse-path filter
/// drops their answers.
public struct ProbeLoss: Hashable, Sendable {
    /// How one request ended.
    public enum Ending: Hashable, Sendable {
        /// The kernel refused to send the request.
        case refusedHere
        /// The connection was refused by this computer or the other end, sooner than the kernel gives up on a silent neighbour.
        case refused
        case silent
        case other
    }

    /// The rule that is the cause.
    enum Cause: Hashable {
        case firewall
        /// The kernel drops the answers, because ordinary traffic leaves by this other link.
        case returnPath(String)
    }

    /// Milliseconds within which a failed connection counts as refused. The kernel waits 3 s for a silent neighbour (arp(7)), and then counts a
    /// refusal of its own.
    public static let refusedWithin = 1000

    let endings: [Ending]
    let before: LossCounters
    let after: LossCounters
    let rules: PacketRules

    public init(endings: [Ending], before: LossCounters, after: LossCounters, rules: PacketRules) {
        self.endings = endings
        self.before = before
        self.after = after
        self.rules = rules
    }

    var cause: Cause? {
        if endings.contains(.refusedHere) { return .firewall }
        let isSilent = endings.contains(.silent)
        if isSilent, rules.isStrict, after.filtered > before.filtered, let way = rules.otherWay { return .returnPath(way) }
        // Counts failed segments only if a firewall drops everything else, because other programs' segments also fail when a route is gone.
        let dropsTheRest = rules.chains.contains { $0.direction == .output && $0.dropsTheRest }
        if isSilent, after.unsent > before.unsent, dropsTheRest { return .firewall }
        let refused = endings.count { $0 == .refused }
        let refusedByUs = refused > 0 && !isSilent && after.refusals >= before.refusals + UInt64(refused)
        return refusedByUs && rules.otherWay != nil && !suspects.isEmpty ? .firewall : nil
    }

    /// Returns the problem with the smallest exception to the rule; adding it is up to the user. `nil` if no rule of this computer is the cause.
    ///
    /// - Parameters:
    ///   - link: the link's name.
    ///   - user: the user that sends the packets.
    public func problem(on link: String, of user: String) -> Problem? {
        switch cause {
        case nil: return nil
        case .returnPath(let way):
            // Uses slashes if a VLAN's name contains a dot.
            let separator = link.contains(".") ? "/" : "."
            let key = ["net", "ipv4", "conf", link, "rp_filter"].joined(separator: separator)
            return Problem(
                .vpnBlocksProbe,
                "The strict reverse-path filter of \(link) drops all answers, because this computer's traffic goes through \(way).",
                hint: "sysctl -w \(key)=2")
        case .firewall:
            // A chain is certainly a kill switch only if it drops everything else; any other chain may, for example, contain a rule for a port.
            let tunnel = suspects.contains { !$0.dropsTheRest } || suspects.isEmpty ? nil : rules.otherWay
            let refused = tunnel.map { "packets that do not go through \($0)" } ?? "packets of the probe on \(link)"
            let places = suspects.map { "chain \($0.name)" }.joined(separator: " or ")
            return Problem(
                .vpnBlocksProbe,
                "A firewall rule of this computer refuses \(refused)\(places.isEmpty ? "" : " (nftables, \(places))").",
                hint: exception(on: link, of: user))
        }
    }

    /// The chains that may contain the rule: those that drop everything else, otherwise all.
    private var suspects: [FilterChain] {
        let chains = rules.chains.filter { $0.direction == .output }
        let dropping = chains.filter(\.dropsTheRest)
        return dropping.isEmpty ? chains : dropping
    }

    /// Returns the command that admits the user's packets on the link, and their answers. A separate chain would not help, because a later chain
    /// would still drop the packets.
    private func exception(on link: String, of user: String) -> String {
        guard !suspects.isEmpty else { return "let the firewall accept packets of the user \(user) on \(link)" }
        let sending = suspects.map { #"insert rule \#($0.name) oifname "\#(link)" meta skuid \#(user) accept"# }
        let receiving = rules.chains.filter { $0.direction == .input && $0.dropsTheRest }.map {
            #"insert rule \#($0.name) iifname "\#(link)" ct state established accept"#
        }
        return "nft '\((sending + receiving).joined(separator: "; "))'"
    }
}
