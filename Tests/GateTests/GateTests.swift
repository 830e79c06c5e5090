import Glibc
import NamespaceThread
import Testing

@testable import Gate

/// The gate in the real kernel, in network namespaces of the tests' own. Needs root; in CI it must be there.
@Suite(.serialized, .enabled(if: geteuid() == 0 || getenv("CI") != nil, "a network namespace needs root"))
struct GateTests {
    private func play(secondLink: Bool = true, _ scene: @escaping (GateStage) throws -> Void) throws {
        try GateStage.play(secondLink: secondLink, scene)
    }

    /// Whether nft and its check of return paths work in this kernel.
    private static let hasPacketFilter =
        NamespaceThread.run { NamespaceThread.shell(packetFilter + " 2>/dev/null") } == 0
    private static let packetFilter = """
        nft 'add table ip6 check; add chain ip6 check in { type filter hook prerouting priority -290; };
            add rule ip6 check in icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept;
            add rule ip6 check in fib saddr . mark . iif oif missing drop'
        """

    /// Index of a link in the namespace.
    private func index(_ name: String) -> Int { Int(if_nametoindex(name)) }

    /// These links, as ``Gate/apply(closed:strays:)`` takes them.
    private func links(_ names: String...) -> [Int: String] {
        Dictionary(uniqueKeysWithValues: names.map { (index($0), $0) })
    }

    /// With every kind of return-path check: answers to bound sockets must arrive.
    @Test(arguments: [0, 1, 2]) func aClosedLinkIsForBoundSocketsAlone(returnPath: Int) throws {
        try play(secondLink: false) { stage in
            stage.shell("for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo \(returnPath) >$f; done")
            // IPv6 has no such setting. Firewalls check the return path instead, for example firewalld with these rules.
            if returnPath > 0, Self.hasPacketFilter {
                stage.expect(stage.shell(Self.packetFilter))
            }
            stage.expect(stage.reached() == GateStage.targets)
            let gate = try Gate()
            stage.expect(stage.reached() == GateStage.targets, "no link is closed yet")
            try gate.apply(closed: links("w0"))
            stage.expect(stage.reached() == [])
            stage.expect(stage.reached(device: "w0") == GateStage.targets)
            // An ordinary user cannot get around the gate by binding to the source address either.
            let status = NamespaceThread.shell(
                """
                python3 -c '
                import os, socket
                os.setgid(65534); os.setuid(65534)
                for source, target in (("10.0.0.2", "10.0.0.1"), ("fd00::2", "fd00::1")):
                    one = socket.socket(socket.AF_INET6 if ":" in target else socket.AF_INET)
                    one.settimeout(1)
                    one.bind((source, 0))
                    if one.connect_ex((target, 80)) == 0: raise SystemExit(3)
                '
                """)
            stage.expect(status == 0)
            try gate.apply(closed: [:])
            stage.expect(stage.reached() == GateStage.targets)
            stage.expect(stage.reached(device: "w0") == GateStage.targets)
            try gate.stop()
        }
    }

    @Test func otherLinksCarryOn() throws {
        try play { stage in
            // Main's best route leads over the closed link; main's other routes are still found.
            let (rules, routes) = (stage.rules, stage.routes)
            stage.expect(stage.source(to: "198.51.100.1") == "10.0.0.2")
            let gate = try Gate()
            try gate.apply(closed: links("w0"))
            stage.expect(stage.source(to: "198.51.100.1") == "10.1.0.2")
            stage.expect(stage.source(to: "2001:db8::1") == "fd01::2")
            stage.expect(stage.source(to: "10.1.0.1") == "10.1.0.2")
            stage.expect(stage.source(to: "fd01::1") == "fd01::2")
            stage.expect(stage.source(to: "198.51.100.1", device: "w0") == "10.0.0.2")
            stage.expect(stage.source(to: "198.51.100.1", device: "w1") == "10.1.0.2")
            stage.expect(stage.routes == routes)
            // One route is added, and another is removed.
            stage.shell("ip route add 203.0.113.0/24 via 10.1.0.1 dev w1; ip route del default via fd01::1")
            try gate.apply(closed: links("w0"))
            stage.expect(stage.copies.contains("203.0.113.0/24") && !stage.copies.contains("fd01::1"))
            stage.expect(stage.source(to: "2001:db8::1") == nil)
            stage.shell("ip route del 203.0.113.0/24; ip route add default via fd01::1 dev w1 metric 11")
            // Both links are closed, then one is opened.
            try gate.apply(closed: links("w0", "w1"))
            stage.expect(stage.source(to: "198.51.100.1") == nil && stage.source(to: "10.1.0.1") == nil && stage.copies.isEmpty)
            stage.expect(stage.source(to: "10.1.0.1", device: "w1") == "10.1.0.2")
            try gate.apply(closed: links("w1"))
            stage.expect(stage.source(to: "198.51.100.1") == "10.0.0.2" && stage.source(to: "10.1.0.1") == "10.0.0.2")
            try gate.stop()
            stage.expect(stage.rules == rules && stage.routes == routes && stage.copies.isEmpty)
        }
    }

    @Test func theEndLeavesEverythingAsItWas() throws {
        try play(secondLink: false) { stage in
            stage.shell("ip rule add pref 32000 fwmark 9 lookup 9; ip link set w0 group 7")
            let (rules, routes) = (stage.rules, stage.routes)
            let gate = try Gate()
            // A second call with the same links does nothing.
            for _ in 0..<2 { stage.expect(try gate.apply(closed: links("w0")) == false) }
            let closed = stage.rules
            stage.expect(closed.count(of: "lookup main suppress_ifgroup 1752134771") == 2)
            stage.expect(closed.count(of: "oif w0 lookup main") == 2)
            stage.expect(stage.routes == routes)
            for _ in 0..<2 { try gate.apply(closed: [:]) }
            stage.expect(stage.output("ip link show w0").contains("group 7"))
            try gate.apply(closed: links("w0"))
            try gate.stop()
            stage.expect(stage.rules == rules && stage.routes == routes)
            stage.expect(stage.output("ip link show w0").contains("group 7"))
            stage.expect(try Gate.restore() == false)
        }
    }

    @Test func theRulesOfACrashedGateAreRemoved() throws {
        try play { stage in
            let (rules, routes) = (stage.rules, stage.routes)
            // A gate that is not stopped leaves all its rules.
            try Gate().apply(closed: links("w0"))
            stage.expect(stage.source(to: "10.0.0.1") != "10.0.0.2" && stage.rules != rules && !stage.copies.isEmpty)
            stage.expect(try Gate.restore())
            stage.expect(stage.rules == rules && stage.routes == routes && stage.copies.isEmpty)
            stage.expect(stage.reached() == GateStage.targets)
            // The next gate takes these rules over, and adds no second set.
            try Gate().apply(closed: links("w0"))
            let next = try Gate()
            stage.expect(stage.reached() == GateStage.targets && next.closedLinks.isEmpty)
            stage.expect(stage.rules.count(of: "suppress_ifgroup") == 2)
            try next.stop()
            stage.expect(stage.rules == rules)
        }
    }

    @Test func linksAreRenamedAndGoAway() throws {
        try play { stage in
            let rules = stage.rules
            let gate = try Gate()
            let number = index("w0")
            try gate.apply(closed: [number: "w0"])
            stage.shell("ip link set w0 down; ip link set w0 name cafe0 up; ip addr replace fd00::2/64 dev cafe0 nodad")
            stage.expect(try gate.apply(closed: [number: "cafe0"]) == false)
            stage.shell(
                "ip route add default via 10.0.0.1 dev cafe0 metric 10; ip route add default via fd00::1 dev cafe0 metric 10")
            try gate.apply(closed: [number: "cafe0"])
            stage.expect(stage.reached(device: "cafe0") == GateStage.targets)
            stage.expect(stage.source(to: "10.0.0.1") != "10.0.0.2")
            stage.expect(stage.rules.count(of: "oif cafe0") == 2 && !stage.rules.contains("w0"))
            stage.shell("ip link del cafe0")
            try gate.apply(closed: [:])
            stage.expect(!stage.rules.contains("cafe0") && gate.closedLinks.isEmpty)
            // A link that does not exist cannot be closed, which does no harm.
            try gate.apply(closed: [number: "cafe0", 0: "nothing"])
            stage.expect(gate.closedLinks.isEmpty && !stage.rules.contains("cafe0"))
            stage.expect(stage.source(to: "198.51.100.1") == "10.1.0.2")
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }

    /// systemd-networkd deletes foreign rules when it starts.
    @Test func deletedRulesOpenTheGateAndAreAddedAgain() throws {
        try play(secondLink: false) { stage in
            let rules = stage.rules
            let gate = try Gate()
            try gate.apply(closed: links("w0"))
            stage.shell("ip -4 rule flush proto 104; ip -6 rule flush proto 104")
            stage.expect(stage.rules == rules, "the plain rule was there all the time")
            stage.expect(stage.reached() == GateStage.targets)
            stage.expect(try gate.apply(closed: links("w0")))
            stage.expect(stage.reached() == [])
            stage.expect(stage.reached(device: "w0") == GateStage.targets)
            try gate.stop()
            stage.expect(stage.rules == rules)
        }
    }

    @Test func rulesOfAnAdministratorAreNotChanged() throws {
        try play(secondLink: false) { stage in
            stage.shell("ip rule add pref 100 lookup main; ip rule del pref 32766")
            let rules = stage.rules
            do {
                _ = try Gate()
                stage.expect(false, "the gate is there")
            } catch {
                stage.expect(error as? GateError == .noMainRule, "\(error)")
            }
            stage.expect(stage.rules == rules)
        }
    }

    /// A tunnel's rules still come before main, and before the gate's rules.
    @Test func aTunnelsRulesKeepTheirPlace() throws {
        try play { stage in
            stage.shell("ip rule add pref 32765 not fwmark 7 lookup 77; ip route add 198.51.100.1 via 10.1.0.1 dev w1 table 77")
            let gate = try Gate()
            stage.expect(stage.source(to: "198.51.100.1") == "10.1.0.2")
            try gate.apply(closed: links("w0"))
            stage.expect(stage.source(to: "198.51.100.1") == "10.1.0.2")
            stage.expect(stage.source(to: "10.0.0.1", device: "w0") == "10.0.0.2")
            try gate.stop()
        }
    }
}

extension String {
    fileprivate func count(of words: String) -> Int { split(separator: words, omittingEmptySubsequences: false).count - 1 }
}
