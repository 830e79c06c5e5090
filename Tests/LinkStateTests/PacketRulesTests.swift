import Glibc
import NamespaceThread
import Testing

@testable import LinkState

/// The real kernel's rules, in a network namespace of the test's own. Needs root; in CI it must be there.
@Suite(.enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
struct PacketRulesTests {
    private func rules(_ script: String) throws -> PacketRules {
        let read = NamespaceThread.run { () -> PacketRules? in
            let links = """
                set -e
                ip link add net0 type veth peer name far
                ip link add wg0 type veth peer name gone
                for link in net0 far wg0 gone; do ip link set $link up; done
                ip address add 10.9.0.50/24 dev net0
                ip address add 10.66.0.2/32 dev wg0
                ip route add default via 10.9.0.1 metric 600
                for link in all net0; do echo 0 >/proc/sys/net/ipv4/conf/$link/rp_filter; done
                """
            guard NamespaceThread.shell(links + "\n" + script) == 0 else { return nil }
            return PacketRules(link: "net0", index: Int(if_nametoindex("net0")))
        }
        let rules = read ?? nil
        return try #require(rules)
    }

    @Test func withoutAVPNThereIsNothing() throws { #expect(try rules("") == PacketRules()) }

    @Test(arguments: [
        "ip route add 0.0.0.0/1 dev wg0; ip route add 128.0.0.0/1 dev wg0", "ip route add default dev wg0 metric 98",
        "ip route add default dev wg0 table 52; ip rule add priority 5270 table 52",
        """
        ip route add default dev wg0 table 51820; ip rule add not fwmark 51820 table 51820
        ip rule add table main suppress_prefixlength 0
        """,
    ]) func theOtherWayIsFoundHoweverItIsMade(_ script: String) throws {
        #expect(try rules(script) == PacketRules(otherWay: "wg0"))
    }

    @Test(arguments: [
        ("all", 1, "net0", 0, true), ("all", 0, "net0", 1, true), ("all", 1, "net0", 2, false), ("all", 2, "net0", 1, false),
    ]) func theLargerFilterCounts(_ one: String, _ first: Int, _ other: String, _ second: Int, _ isStrict: Bool) throws {
        let script =
            "echo \(first) >/proc/sys/net/ipv4/conf/\(one)/rp_filter; echo \(second) >/proc/sys/net/ipv4/conf/\(other)/rp_filter"
        #expect(try rules(script).isStrict == isStrict)
    }

    @Test func onlyChainsThatMayDropAProbeAreRead() throws {
        let chains = try rules(
            """
            nft -f - <<END
            table inet vpn {
             chain out { type filter hook output priority 0; policy drop; oif lo accept; }
             chain in { type filter hook input priority 0; policy drop; }
             chain marks { type route hook output priority 0; policy drop; }
             chain passing { type filter hook forward priority 0; policy drop; }
             chain called { drop; }
            }
            table ip filter {
             chain OUTPUT { type filter hook output priority 0; policy accept; oif lo accept; }
             chain INPUT { type filter hook input priority 0; policy accept; }
            }
            table ip6 vpn {
             chain out { type filter hook output priority 0; policy drop; }
            }
            END
            """
        ).chains
        #expect(
            Set(chains) == [
                FilterChain("inet vpn out", .output, dropsTheRest: true), FilterChain("inet vpn in", .input, dropsTheRest: true),
                FilterChain("ip filter OUTPUT", .output, dropsTheRest: false),
            ])
    }
}
