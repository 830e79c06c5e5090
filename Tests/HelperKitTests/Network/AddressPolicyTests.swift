import HotspotCore
import Testing

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

    /// A VPN's network behind a router, and a default route in halves, which hides nothing.
    @Test func refusesWhatRoutesReachByAnotherLink() throws {
        let routes =
            InterfaceRoute.parseIPv4(
                """
                Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
                tun0\t0000140A\t0100080A\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0
                tun0\t00000000\t0100080A\t0003\t0\t0\t0\t00000080\t0\t0\t0
                wlan0\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
                """)
            + InterfaceRoute.parseIPv6(
                "20010db8000700000000000000000000 30 00000000000000000000000000000000 00 fe800000000000000000000000000001 400 1 0 3 tun0"
            )
        #expect(routes.map(\.interface) == ["tun0", "wlan0", "tun0"])
        let link = Link(attempt: "a", association: "b", interface: "wlan0", index: 3, addresses: ["192.168.1.7/24"], gateways: [])
        let policy = AddressPolicy(link: link, interfaces: [], routes: routes)
        for text in ["10.20.0.1", "10.20.255.1", "2001:db8:7::9"] {
            #expect(policy.refusal(of: try #require(InternetAddress(text))) != nil)
        }
        for text in ["10.21.0.1", "192.168.9.1", "1.1.1.1", "2001:db8:8::9"] {
            #expect(policy.refusal(of: try #require(InternetAddress(text))) == nil)
        }
    }

    @Test func comparesPrefixes() {
        #expect(AddressPrefix("10.1.2.3/12")!.contains(InternetAddress("10.15.0.1")!))
        #expect(!AddressPrefix("10.1.2.3/12")!.contains(InternetAddress("10.16.0.1")!))
        #expect(!AddressPrefix("10.1.2.3/8")!.contains(InternetAddress("::1")!))
        #expect(AddressPrefix("10.1.2.3/33") == nil)
    }
}
