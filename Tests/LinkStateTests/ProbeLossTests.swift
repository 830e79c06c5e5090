import HotspotCore
import Testing

@testable import LinkState

@Suite struct ProbeLossTests {
    private static let killSwitch = FilterChain("inet vpn out", .output, dropsTheRest: true)
    private static let rejecting = FilterChain("ip filter OUTPUT", .output, dropsTheRest: false)
    private static let incoming = FilterChain("inet vpn in", .input, dropsTheRest: true)

    private func cause(
        _ endings: [ProbeLoss.Ending], filtered: UInt64 = 0, unsent: UInt64 = 0, refusals: UInt64 = 0, _ rules: PacketRules
    ) -> ProbeLoss.Cause? {
        let before = LossCounters(filtered: 7, unsent: 7, refusals: 7)
        let after = LossCounters(filtered: 7 + filtered, unsent: 7 + unsent, refusals: 7 + refusals)
        return ProbeLoss(endings: endings, before: before, after: after, rules: rules).cause
    }

    @Test func aRefusalOfTheKernelIsTheFirewalls() {
        #expect(cause([.other, .refusedHere], PacketRules()) == .firewall)
        #expect(cause([.silent, .refusedHere], filtered: 3, PacketRules(otherWay: "wg0", isStrict: true)) == .firewall)
    }

    @Test func theReversePathFilterIsTheCauseOnlyWithAllSigns() {
        let rules = PacketRules(otherWay: "wg0", isStrict: true)
        #expect(cause([.silent], filtered: 1, rules) == .returnPath("wg0"))
        #expect(cause([.silent], rules) == nil)
        #expect(cause([.other], filtered: 1, rules) == nil)
        #expect(cause([.silent], filtered: 1, PacketRules(otherWay: "wg0")) == nil)
        #expect(cause([.silent], filtered: 1, PacketRules(isStrict: true)) == nil)
    }

    @Test func silenceIsTheFirewallsWhereNothingCouldBeSentAndTheRestIsDropped() {
        #expect(cause([.silent], unsent: 1, PacketRules(chains: [Self.killSwitch])) == .firewall)
        #expect(cause([.silent], PacketRules(otherWay: "wg0", chains: [Self.killSwitch])) == nil)
        #expect(cause([.silent], unsent: 1, PacketRules(otherWay: "wg0", chains: [Self.rejecting, Self.incoming])) == nil)
        #expect(cause([.other], unsent: 1, PacketRules(chains: [Self.killSwitch])) == nil)
    }

    @Test func refusalsAreTheFirewallsWhereThisComputerRefusedAsManyAndTrafficGoesElsewhere() {
        let rules = PacketRules(otherWay: "wg0", chains: [Self.rejecting])
        #expect(cause([.refused, .other], refusals: 2, rules) == .firewall)
        #expect(cause([.refused], rules) == nil)
        #expect(cause([.refused, .refused], refusals: 1, rules) == nil)
        #expect(cause([.refused, .silent], refusals: 2, rules) == nil)
        #expect(cause([.refused], refusals: 2, PacketRules(chains: [Self.rejecting])) == nil)
        #expect(cause([.refused], refusals: 2, PacketRules(otherWay: "wg0", chains: [Self.incoming])) == nil)
        #expect(cause([.other], refusals: 2, rules) == nil)
    }

    private func problem(_ endings: [ProbeLoss.Ending], filtered: UInt64 = 0, _ rules: PacketRules, link: String = "wlan0")
        -> Problem?
    {
        ProbeLoss(endings: endings, before: LossCounters(), after: LossCounters(filtered: filtered), rules: rules)
            .problem(on: link, of: "hotspotd")
    }

    @Test func theProblemNamesTheRuleAndTheSmallestException() {
        let strict = PacketRules(otherWay: "wg0", isStrict: true)
        #expect(
            problem([.silent], filtered: 1, strict)
                == Problem(
                    .vpnBlocksProbe,
                    "The strict reverse-path filter of wlan0 drops all answers, because this computer's traffic goes through wg0.",
                    hint: "sysctl -w net.ipv4.conf.wlan0.rp_filter=2"))
        #expect(problem([.silent], filtered: 1, strict, link: "eth0.7")?.hint == "sysctl -w net/ipv4/conf/eth0.7/rp_filter=2")
        #expect(
            problem([.refusedHere], PacketRules(otherWay: "wg0", chains: [Self.incoming, Self.rejecting, Self.killSwitch]))
                == Problem(
                    .vpnBlocksProbe,
                    "A firewall rule of this computer refuses packets that do not go through wg0 (nftables, chain inet vpn out).",
                    hint: #"nft 'insert rule inet vpn out oifname "wlan0" meta skuid hotspotd accept; "#
                        + #"insert rule inet vpn in iifname "wlan0" ct state established accept'"#))
        #expect(
            problem([.refusedHere], PacketRules(chains: [Self.rejecting]))
                == Problem(
                    .vpnBlocksProbe,
                    "A firewall rule of this computer refuses packets of the probe on wlan0 (nftables, chain ip filter OUTPUT).",
                    hint: #"nft 'insert rule ip filter OUTPUT oifname "wlan0" meta skuid hotspotd accept'"#))
        // A rule for a port, beside a VPN, is not a kill switch.
        #expect(
            problem([.refusedHere], PacketRules(otherWay: "wg0", chains: [Self.rejecting]))?.message
                == "A firewall rule of this computer refuses packets of the probe on wlan0 (nftables, chain ip filter OUTPUT).")
        #expect(
            problem([.refusedHere], PacketRules())
                == Problem(
                    .vpnBlocksProbe, "A firewall rule of this computer refuses packets of the probe on wlan0.",
                    hint: "let the firewall accept packets of the user hotspotd on wlan0"))
        #expect(problem([.silent, .other], PacketRules(otherWay: "wg0", chains: [Self.killSwitch])) == nil)
    }
}

@Suite struct LossCountersTests {
    private static let basic = """
        Icmp: InMsgs OutMsgs OutDestUnreachs
        Icmp: 1 2 30
        Tcp: OutSegs OutRsts
        Tcp: 100 4
        """
    private static let more = """
        TcpExt: IPReversePathFilter TCPRetransFail
        TcpExt: 5 6
        IpExt: InNoRoutes
        IpExt: 9
        """

    @Test func readsThreeTables() {
        #expect(LossCounters(basic: Self.basic, more: Self.more) == LossCounters(filtered: 5, unsent: 6, refusals: 34))
        #expect(LossCounters(basic: Self.more, more: Self.basic) == nil)
        #expect(LossCounters(basic: "", more: "TcpExt: IPReversePathFilter\nTcpExt: x") == nil)
    }

    @Test func theKernelShowsThem() { #expect(LossCounters.Record.now?.counters != nil) }
}
