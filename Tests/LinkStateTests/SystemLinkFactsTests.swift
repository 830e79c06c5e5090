import EventLoop
import Glibc
import HotspotCore
import PortalAnnouncement
import TestSupport
import Testing

@testable import LinkState

func fixture(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return try #require(RecordFile.read("/\(folder)/Fixtures/leases/\(name)")).octets
}

@Suite struct SystemLinkFactsTests {
    private let root = TemporaryFolder()
    private let link = LinkSnapshot(
        index: 7, name: "veth0", isUp: true, hasCarrier: true, addresses: ["192.168.77.50/24"], gateways: ["192.168.77.1"])
    /// Half an hour before the recorded leases end.
    private let then: Int64 = 1_795_240_800

    init() { EventLoop.startThread() }

    @LoopActor private func facts(
        extra: [String] = [], at time: Int64? = nil, for link: LinkSnapshot? = nil, after managers: [LinkFacts] = []
    ) -> LinkFacts? {
        let time = time ?? then
        return SystemLinkFacts(root: root.path, extraLeaseFiles: extra, now: { time }).facts(
            for: link ?? self.link, after: managers)
    }

    private static let servers = ["192.168.77.1", "9.9.9.9"]
    private static let server = "192.168.77.1"
    private static let api = "https://portal.example.net/api/v1"

    @Test @LoopActor func aClientsWriteToItsRecordIsReported() async throws {
        let facts = SystemLinkFacts(root: root.path, extraLeaseFiles: [root.path + "/own/lease"], now: { 0 })
        #expect(facts.folders.contains(root.path + "/var/lib/dhcp") && facts.folders.contains(root.path + "/own"))
        let path = root.write("var/lib/dhcp/dhclient.leases", "old\n")
        let watch = RecordWatch(facts.folders)
        let file = open(path, O_WRONLY | O_APPEND)
        defer { close(file) }
        await withCheckedContinuation { continuation in
            watch.onChange = {
                watch.onChange = {}
                continuation.resume()
            }
            // dhclient keeps its file open.
            #expect(Glibc.write(file, "new\n", 4) == 4)
        }
    }

    /// Root's own files may contain text from a stranger's network.
    @Test(arguments: ["interface \"a@\";", "a@ {", "@;", "fixed-address a@;", "option a@ 1;", "expire epoch a@;"])
    func leasesOfMarksTakeLinearTime(_ text: String) {
        let growth = ProcessorTime.growth { size in
            let marks = String(repeating: "\u{300}\u{323}", count: size / 4)
            _ = DHClientLeases(Array("lease { \(text.replacing("@", with: marks)) }".utf8)).leases
        }
        #expect(growth < 8)
    }

    @Test(arguments: ["dhclient-default-url.leases", "dhclient-own-name.leases"])
    @LoopActor func dhclientTellsThePortal(name: String) throws {
        root.write("var/lib/dhcp/dhclient.veth0.leases", try fixture(name))
        #expect(
            facts()
                == LinkFacts(nameservers: Self.servers, api: .url(Self.api), leaseServer: Self.server, source: "dhclient"))
        // Another link, an address that left the link, and a lease that ran out.
        var other = link
        other.name = "veth1"
        #expect(facts(for: other) == nil)
        other = link
        other.addresses = ["192.168.77.51/24"]
        #expect(facts(for: other) == nil)
        #expect(facts(at: then + 7200) == nil)
    }

    @Test @LoopActor func invalidPortalAddressesAreIgnored() throws {
        for name in ["dhclient-http.leases", "dhclient-not-ascii.leases"] {
            root.write("var/lib/dhcp/dhclient.leases", try fixture(name))
            #expect(facts() == LinkFacts(nameservers: Self.servers, leaseServer: Self.server, source: "dhclient"), "\(name)")
        }
        root.write("var/lib/dhcp/dhclient.leases", try fixture("dhclient-unrestricted.leases"))
        #expect(facts() == LinkFacts(nameservers: Self.servers, api: .unrestricted, leaseServer: Self.server, source: "dhclient"))
    }

    @Test @LoopActor func aLeaseFileElsewhereIsReadToo() throws {
        root.write("elsewhere", try fixture("dhclient-default-url.leases"))
        #expect(facts() == nil)
        #expect(facts(extra: ["\(root.path)/elsewhere"])?.portalAPI == Self.api)
    }

    @Test @LoopActor func theLastLeaseOfAFileCounts() throws {
        root.write(
            "var/lib/dhcp/dhclient.leases",
            try fixture("dhclient-http.leases") + fixture("dhclient-default-url.leases"))
        #expect(facts()?.portalAPI == Self.api)
    }

    @Test @LoopActor func unknownOptionsMayBeHexadecimal() throws {
        let digits = Self.api.utf8.map { String($0, radix: 16) }.joined(separator: ":")
        let lease = """
            lease { interface "veth0"; fixed-address 192.168.77.50; option unknown-114 \(digits);
              option domain-name-servers 9.9.9.9; expire never; }
            lease6 { interface "veth0"; ia-na 00:00 { starts 1; iaaddr 2001:db8::1 { starts 1; } }
              option dhcp6.name-servers fe80::1,2001:db8::53; }
            """
        root.write("var/lib/dhcp/dhclient.leases", lease.utf8)
        var both = link
        both.addresses.append("2001:db8::1/128")
        let facts = facts(for: both)
        #expect(facts?.portalAPI == Self.api)
        #expect(facts?.nameservers == ["9.9.9.9", "fe80::1%veth0", "2001:db8::53"])
    }

    @Test @LoopActor func aLeaseOfDHCPv6WhoseAddressIsNotOnTheLinkIsIgnored() throws {
        func lease(_ address: String?, _ server: String) -> String {
            let inner = address.map { "iaaddr \($0) { starts 1; max-life 60; }" } ?? ""
            return "lease6 { interface \"veth0\"; ia-na 00:00 { starts 1; \(inner) } option dhcp6.name-servers \(server); }\n"
        }
        let lease4 = """
            lease { interface "veth0"; fixed-address 192.168.77.50; option domain-name-servers 9.9.9.9; expire never; }

            """
        var both = link
        both.addresses.append("2001:db8::1/128")
        // The newest lease is from another café, and a lease without an address is ignored.
        let leases = lease4 + lease("2001:db8::1", "2001:db8::53") + lease("2001:db8:9::1", "2001:db8:9::53")
        root.write("var/lib/dhcp/dhclient.leases", (leases + lease(nil, "2001:db8:8::53")).utf8)
        #expect(facts()?.nameservers == ["9.9.9.9"])
        #expect(facts(for: both)?.nameservers == ["9.9.9.9", "2001:db8::53"])
    }

    @Test @LoopActor func programsThatManageLinksCountFirst() throws {
        root.write("var/lib/dhcp/dhclient.leases", try fixture("dhclient-default-url.leases"))
        let manager = LinkFacts(nameservers: ["192.168.77.9"], leaseServer: "192.168.77.2", source: "NetworkManager")
        #expect(facts(after: [manager]) == manager)
        // A source without resolvers leaves them to the next source, and keeps its other facts.
        let api = LinkFacts(api: .url("https://other.example/"), source: "networkd")
        #expect(
            facts(after: [api])
                == LinkFacts(
                    nameservers: Self.servers, api: .url("https://other.example/"), leaseServer: Self.server, source: "networkd"))
        let resolved = LinkFacts(nameservers: ["192.168.77.8"], source: "resolved")
        #expect(facts(after: [LinkFacts(source: "NetworkManager"), resolved])?.nameservers == ["192.168.77.8"])
        // resolved knows no lease, but the DHCP client's record does.
        #expect(facts(after: [resolved])?.leaseServer == Self.server)
    }

    @Test @LoopActor func theServerOfALeaseIsAnAddressOfIPv4() {
        for (word, wanted) in [("10.9.0.2", "10.9.0.2"), ("fe80::2", nil), ("1:2:3:4", nil), ("\"10.9.0.2\"", nil)] {
            let lease = """
                lease { interface "veth0"; fixed-address 192.168.77.50; option domain-name-servers 9.9.9.9;
                  option dhcp-server-identifier \(word); expire never; }
                """
            root.write("var/lib/dhcp/dhclient.leases", lease.utf8)
            #expect(facts()?.leaseServer == wanted, "\(word)")
        }
    }

    @Test @LoopActor func dhcpcdsPacket() throws {
        let now = Int64(time(nil))
        root.write("var/lib/dhcpcd/veth0-Cafe Aroma.lease", try fixture("dhcpcd.lease"))
        #expect(
            facts(at: now)
                == LinkFacts(nameservers: Self.servers, api: .url(Self.api), leaseServer: Self.server, source: "dhcpcd"))
        #expect(facts(at: now + 7200) == nil)
    }

    @Test @LoopActor func resolversOfLastResort() throws {
        root.write("etc/resolv.conf", "nameserver 127.0.0.53\nnameserver ::1\n".utf8)
        #expect(facts() == nil)
        root.write(
            "run/systemd/resolve/resolv.conf", "nameserver 9.9.9.9\nnameserver fe80::2%veth0\nnameserver fe80::3%wlan0\n".utf8)
        #expect(facts() == LinkFacts(nameservers: ["9.9.9.9", "fe80::2%veth0"], source: "resolv.conf"))
    }

    @Test @LoopActor func onlyRegularFilesOfLimitedSizeAreRead() throws {
        mkdir("\(root.path)/etc", 0o755)
        mkfifo("\(root.path)/etc/resolv.conf", 0o644)
        #expect(facts() == nil)
        root.write("run/systemd/resolve/resolv.conf", Array("nameserver 9.9.9.9\n".utf8) + [UInt8](repeating: 10, count: 300_000))
        #expect(facts() == nil)
        // If a lease file has grown too large, only its end is read.
        let old = Array(repeating: try fixture("dhclient-http.leases"), count: 600).flatMap { $0 }
        #expect(old.count > RecordFile.limit)
        root.write("var/lib/dhcp/dhclient.leases", try old + fixture("dhclient-default-url.leases"))
        #expect(facts()?.portalAPI == Self.api)
    }

    @Test(arguments: ["dhclient-default-url.leases", "dhcpcd.lease"])
    @LoopActor func damagedRecordsDoNoHarm(name: String) throws {
        let octets = try fixture(name)
        var damaged = (0..<octets.count).map { Array(octets[..<$0]) }
        for position in octets.indices {
            for value in [0, 0x22, 0x7B, 0x7D, 0xFF] as [UInt8] {
                var copy = octets
                copy[position] = value
                damaged.append(copy)
            }
        }
        for octets in damaged {
            #expect(DHClientLeases(octets).leases.count <= 2)
            #expect((DHCPPacket(octets)?.nameservers.count ?? 0) <= NameserverText.limit)
        }
    }
}
