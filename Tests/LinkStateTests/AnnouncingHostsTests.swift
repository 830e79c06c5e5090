import HotspotCore
import PortalAnnouncement
import Testing

@testable import LinkState

/// The hosts whose announcements count, from the routes, the lease and the table of neighbours.
@Suite struct AnnouncingHostsTests {
    private let link = LinkSnapshot(
        index: 7, name: "wlan0", addresses: ["10.9.0.50/24", "2001:db8::5/64"], gateways: ["10.9.0.1", "fe80::1"])
    private let hardware = Dictionary(
        uniqueKeysWithValues: [("10.9.0.1", 1), ("10.9.0.2", 2), ("fe80::1", 3)].map { address, number in
            (address, HardwareAddress(octets: [2, 0, 0, 0, 0, number])!)
        })

    @Test(
        arguments: [
            ("no lease", nil, ["10.9.0.1", "fe80::1"], ["10.9.0.1/1", "fe80::1/3"]),
            ("the router is the server", "10.9.0.1", ["10.9.0.1", "fe80::1"], ["10.9.0.1/1", "fe80::1/3"]),
            ("a server on the link", "10.9.0.2", ["10.9.0.2", "fe80::1"], ["10.9.0.2/2", "fe80::1/3"]),
            ("a server behind the router", "10.8.0.2", ["10.9.0.1", "fe80::1"], ["10.8.0.2/1", "10.9.0.1/1", "fe80::1/3"]),
            ("a silent server on the link", "10.9.0.3", ["10.9.0.3", "fe80::1"], ["fe80::1/3"]),
        ] as [(String, String?, [String], [String])])
    func theServerOfTheLeaseCountsElseTheRouter(lease: String, server: String?, wanted: [String], hosts: [String]) {
        #expect(link.announcingAddresses(leaseServer: server) == wanted, "\(lease)")
        let found = link.announcers(leaseServer: server, hardware: hardware)
        #expect(found.leaseServer == server)
        #expect(found.hosts.map(\.description).sorted() == hosts.map { $0.replacing("/", with: "/02:00:00:00:00:0") })
    }

    @Test func withoutRoutersAndALeaseThereAreNoHosts() {
        var lone = link
        lone.gateways = []
        #expect(lone.announcingAddresses(leaseServer: nil) == [] && lone.announcingAddresses(leaseServer: "10.8.0.2") == [])
        #expect(lone.announcers(leaseServer: "10.8.0.2", hardware: hardware).hosts.isEmpty)
        #expect(link.announcers(leaseServer: nil, hardware: [:]).hosts.isEmpty, "no MAC address is known")
    }

    @Test func manyRoutersAreCut() {
        var crowd = link
        crowd.gateways = (1...100).map { "fe80::\($0)" }
        #expect(crowd.announcingAddresses(leaseServer: "10.9.0.2").count == LinkSnapshot.announcingLimit)
        #expect(crowd.announcingAddresses(leaseServer: "10.9.0.2").first == "10.9.0.2")
    }
}
