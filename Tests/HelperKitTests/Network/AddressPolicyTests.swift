import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit

@Suite struct AddressPolicyTests {
    private let policy = AddressPolicy(
        link: Link(
            attempt: "a", association: "b", interface: "wlan0", index: 3, addresses: ["192.168.1.7/24"], gateways: ["192.168.1.1"]
        ),
        interfaces: [
            InterfaceAddress(name: "wlan0", prefix: AddressPrefix("192.168.1.7/24")!),
            InterfaceAddress(name: "eth0", prefix: AddressPrefix("10.9.0.2/16")!),
            InterfaceAddress(name: "eth0", prefix: AddressPrefix("2001:db8:9::2/64")!),
        ])

    private func refusal(_ text: String) throws -> String? { policy.refusal(of: try #require(InternetAddress(text))) }

    @Test(arguments: [
        "127.0.0.1", "127.255.0.3", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "239.1.1.1", "255.255.255.255",
        "240.0.0.1",
        "::", "::1", "fe80::1", "febf::1", "ff02::1", "::ffff:192.168.1.1", "::192.168.1.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "64:ff9b::a9fe:a9fe", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "192.168.1.7", "10.9.0.2", "10.9.200.1", "2001:db8:9::77",
    ])
    func refuses(_ text: String) throws { #expect(try refusal(text) != nil) }

    @Test(arguments: [
        "192.168.1.1", "192.168.1.99", "10.0.0.1", "172.16.0.1", "1.1.1.1", "192.0.2.1", "203.0.113.9", "2001:db8:1::1",
        "64:ff9b::102:304", "2002:102:304::1", "fd00::1",
    ])
    func allows(_ text: String) throws { #expect(try refusal(text) == nil) }

    private static let cafe = Link(
        attempt: "a", association: "b", interface: "wlan0", index: 3, addresses: ["192.168.1.7/24", "fd12:9::7/64"],
        gateways: ["192.168.1.1"])

    private static func policy(
        _ interfaces: [(String, String)] = [], ipv4: String = "", ipv6: String = "", tunnels: Set<String> = []
    ) -> AddressPolicy {
        AddressPolicy(
            link: cafe, interfaces: interfaces.map { InterfaceAddress(name: $0, prefix: AddressPrefix($1)!) },
            routes: InterfaceRoute.parseIPv4(ipv4) + InterfaceRoute.parseIPv6(ipv6), tunnels: tunnels)
    }

    private func expect(_ policy: AddressPolicy, refuses: [String] = [], allows: [String] = []) throws {
        for text in refuses { #expect(policy.refusal(of: try #require(InternetAddress(text))) != nil, "\(text)") }
        for text in allows { #expect(policy.refusal(of: try #require(InternetAddress(text))) == nil, "\(text)") }
    }

    /// A VPN's route does not hide a portal behind the link's gateway, because a socket bound to the link cannot follow it.
    @Test func tunnelsHideNoPortal() throws {
        // 10.0.0.0/8 on the link of tun0, 172.16.0.0/12 by a router behind it, and WireGuard's default route in halves.
        let tunnel = Self.policy(
            [("tun0", "10.8.0.2/8"), ("wg0", "172.20.0.2/12"), ("wg0", "fd00:aa::2/16")],
            ipv4: """
                Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
                tun0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
                tun0\t000010AC\t0100080A\t0003\t0\t0\t0\t0000F0FF\t0\t0\t0
                wg0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
                wg0\t00000080\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
                """,
            ipv6: "fd000000000000000000000000000000 08 00000000000000000000000000000000 00 "
                + "00000000000000000000000000000000 400 1 0 1 wg0",
            tunnels: ["tun0", "wg0"])
        try expect(
            tunnel, refuses: ["10.8.0.2", "172.20.0.2", "fd00:aa::2"],
            allows: ["10.99.0.1", "10.8.0.1", "172.16.0.1", "172.31.9.9", "200.1.1.1", "fd00:aa::1", "fd12:10::1"])
    }

    /// A company's further network behind the router of a cable is not a neighbour; the cable's own networks are.
    @Test func otherLinksNeighboursAreRefused() throws {
        let cable = Self.policy(
            [("eth0", "10.9.0.2/24"), ("docker0", "172.17.0.1/16"), ("eth0", "2001:db8:7::5/128")],
            ipv4: """
                Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
                eth0\t0000140A\t0100090A\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0
                eth0\t0000630A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
                """,
            ipv6: """
                20010db8000700000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 100 1 0 1 eth0
                20010db8000800000000000000000000 40 00000000000000000000000000000000 00 fe800000000000000000000000000001 100 1 0 3 eth0
                """)
        try expect(
            cable, refuses: ["10.9.0.2", "10.9.0.77", "10.99.4.1", "172.17.0.1", "172.17.3.4", "2001:db8:7::9"],
            allows: ["10.9.1.1", "10.20.0.1", "172.18.0.1", "2001:db8:8::9"])
    }

    /// A bridge covers the portal's network, and the link has a route of its own to it.
    @Test func theLinksOwnRoutesWin() throws {
        let bridges = [("docker0", "172.17.0.1/16"), ("virbr0", "192.168.122.1/24"), ("podman0", "fd77::1/48")]
        let line = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        let policy = Self.policy(
            bridges,
            ipv4: line + "wlan0\t000011AC\t0101A8C0\t0003\t0\t0\t600\t0000FFFF\t0\t0\t0\n"
                + "wlan0\t0000A8C0\t0101A8C0\t0003\t0\t0\t600\t0000FFFF\t0\t0\t0\n",
            ipv6: "fd770000000000050000000000000000 40 00000000000000000000000000000000 00 "
                + "fe800000000000000000000000000001 100 1 0 3 wlan0")
        try expect(
            policy, refuses: ["172.17.0.1", "192.168.122.1", "192.168.122.9", "fd77::1", "fd77:0:0:6::1"],
            allows: ["172.17.2.1", "192.168.123.9", "fd77:0:0:5::1"])
    }

    @Test func readsGatewaysOfRoutes() {
        let routes = InterfaceRoute.parseIPv4(
            "eth0\t0000140A\t0100090A\t0003\t0\t0\t0\t0000FFFF\neth0\t0000630A\t00000000\t0001\t0\t0\t0\t0000FFFF")
        #expect(
            routes == [
                InterfaceRoute(interface: "eth0", prefix: AddressPrefix("10.20.0.0/16")!, hasGateway: true),
                InterfaceRoute(interface: "eth0", prefix: AddressPrefix("10.99.0.0/16")!),
            ])
        #expect(InterfaceAddress.withoutNeighbours(among: ["lo", "absent", "a name that is too long for one"]) == [])
    }

    @Test func comparesPrefixes() {
        #expect(AddressPrefix("10.1.2.3/12")!.contains(InternetAddress("10.15.0.1")!))
        #expect(!AddressPrefix("10.1.2.3/12")!.contains(InternetAddress("10.16.0.1")!))
        #expect(!AddressPrefix("10.1.2.3/8")!.contains(InternetAddress("::1")!))
        #expect(AddressPrefix("10.1.2.3/33") == nil)
    }
}
