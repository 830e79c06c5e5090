import HotspotCore
import Testing

@testable import LinkState

/// Interfaces of this computer over the addresses of the network that is joined.
@Suite struct AddressConflictTests {
    private static func link(
        _ index: Int, _ name: String, _ addresses: [String], _ gateways: [String] = [], isUp: Bool = true, kind: String? = nil,
        type: Int = 1
    ) -> LinkSnapshot {
        LinkSnapshot(index: index, name: name, isUp: isUp, kind: kind, type: type, addresses: addresses, gateways: gateways)
    }

    private static let train = link(3, "wlan0", ["10.77.40.5/16", "fd12:7::5/64"], ["10.77.0.1", "fe80::1%wlan0"])

    private static func problem(_ other: LinkSnapshot, _ servers: [String] = ["10.77.0.1"]) -> Problem? {
        train.conflict(with: [train, other], nameservers: servers)
    }

    @Test(arguments: [
        (link(4, "docker0", ["10.77.0.1/16"], kind: "bridge"), ["10.77.0.1"], "gateway", "10.77.0.1/16"),
        (link(4, "virbr0", ["192.168.122.1/24", "10.77.0.1/24"], kind: "bridge"), ["1.1.1.1"], "gateway", "10.77.0.1/24"),
        (link(1, "lo", ["10.77.0.1/32"], type: 772), ["10.77.0.1"], "gateway", "10.77.0.1/32"),
        (link(5, "tun0", ["10.77.0.1/8"], kind: "tun", type: 65534), ["10.77.0.1"], "gateway", "10.77.0.1/8"),
        (link(6, "podman1", ["fd12:7::53/64"], kind: "bridge"), ["fd12:7::53"], "nameserver", "fd12:7::53/64"),
    ]) func anAddressOfThisComputerIsNamedWithItsInterface(
        other: LinkSnapshot, servers: [String], role: String, prefix: String
    ) {
        #expect(
            Self.problem(other, servers)
                == Problem(
                    .addressConflict,
                    "\(other.name) of this computer uses \(prefix), which is the address of the \(role) on wlan0, so that \(role) cannot answer.",
                    hint: "sudo ip address del \(prefix) dev \(other.name)"))
    }

    @Test(arguments: [
        (link(4, "docker0", ["10.77.9.1/16"], kind: "bridge"), ["10.77.0.1"], "gateway 10.77.0.1"),
        (link(4, "virbr0", ["10.77.53.1/24"], kind: "bridge"), ["10.77.53.53"], "nameserver 10.77.53.53"),
        (link(4, "br-1", ["172.18.0.1/16"], kind: "bridge"), ["172.18.0.53"], "nameserver 172.18.0.53"),
        (link(7, "eth1", ["fd12:7::9/64"]), ["fd12:7::53"], "nameserver fd12:7::53"),
    ]) func aNetworkOverTheLinksOwnIsNamed(other: LinkSnapshot, servers: [String], hidden: String) throws {
        let problem = try #require(Self.problem(other, servers))
        #expect(problem.code == .addressOverlap && problem.message.contains("\(hidden) of wlan0"))
        #expect(problem.message.hasPrefix("\(other.name) of this computer uses the network \(other.addresses[0]),"))
    }

    @Test(arguments: [
        // The other interface is down, elsewhere, wider than the link's network, a tunnel, or a second card at the same router.
        link(4, "docker0", ["10.77.0.1/16"], isUp: false), link(4, "docker0", ["172.17.0.1/16"], kind: "bridge"),
        link(4, "docker0", ["10.0.0.1/8"], kind: "bridge"), link(5, "tun0", ["10.77.0.9/16"], kind: "tun", type: 65534),
        link(7, "eth1", ["10.77.40.6/16"], ["10.77.0.1"]), link(3, "wlan0", ["10.77.0.1/16"]),
    ]) func othersAreNoProblem(other: LinkSnapshot) { #expect(Self.problem(other) == nil) }

    /// One of two nameservers is this computer's own, such as a filter that the user runs.
    @Test func oneNameserverThatAnswersIsEnough() {
        let other = Self.link(4, "docker0", ["172.17.0.1/32"], kind: "bridge")
        #expect(Self.problem(other, ["172.17.0.1"])?.code == .addressConflict)
        #expect(Self.problem(other, ["172.17.0.1", "10.77.0.1"]) == nil)
    }
}
