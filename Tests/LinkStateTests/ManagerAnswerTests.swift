import EventLoop
import TestSupport
import Testing

@testable import LinkState

/// The answers of the programs that manage links, as they came from NetworkManager 1.42, systemd 252 and 257, and ConnMan 1.41.
@Suite struct ManagerAnswerTests {
    private let link = LinkSnapshot(
        index: 7, name: "wlan0", isUp: true, hasCarrier: true, addresses: ["10.9.0.50/24", "2001:db8::5/64"],
        gateways: ["10.9.0.1"])

    private func text(_ value: String) -> BusValue { .text(value) }
    private func octets(_ values: [Int64]) -> BusValue { .list(values.map { .number($0) }) }

    // MARK: NetworkManager

    private var config4: [String: BusValue] {
        [
            "AddressData": .list([.table(["address": text("10.9.0.50"), "prefix": .number(24)])]),
            "NameserverData": .list([.table(["address": text("10.9.0.1")]), .table(["address": text("127.0.0.1")])]),
        ]
    }

    private func networkManager(_ state: Int64, _ configurations: [String: [String: BusValue]]) -> ManagerAnswer {
        NetworkManagerClient.answer(about: link, ["Managed": .boolean(true), "State": .number(state)], configurations)
    }

    @Test func networkManagerTellsResolversOfBothFamilies() {
        let config6: [String: BusValue] = [
            "Nameservers": .list([octets([0x20, 1, 0x0D, 0xB8] + [Int64](repeating: 0, count: 11) + [1])])
        ]
        #expect(
            networkManager(100, ["Ip4Config": config4, "Ip6Config": config6])
                == .facts(LinkFacts(nameservers: ["10.9.0.1", "2001:db8::1"], source: "NetworkManager")))
    }

    @Test func networkManagerWithDHClientHasThePortalsAPI() {
        let options: [String: BusValue] = ["Options": .table(["default_url": text("https://portal.example/api")])]
        guard case .facts(let facts) = networkManager(100, ["Ip4Config": config4, "Dhcp4Config": options]) else {
            Issue.record("no facts")
            return
        }
        #expect(facts.portalAPI == "https://portal.example/api")
        #expect(facts.leaseServer == nil)
        // Other texts than an API's address are ignored.
        let hostile: [String: BusValue] = ["Options": .table(["default_url": text("http://portal.example/api")])]
        #expect(
            networkManager(100, ["Ip4Config": config4, "Dhcp4Config": hostile])
                == .facts(LinkFacts(nameservers: ["10.9.0.1"], source: "NetworkManager")))
    }

    @Test(arguments: [("10.9.0.2", "10.9.0.2"), ("fe80::2", nil), ("", nil)] as [(String, String?)])
    func networkManagerHasTheServerOfTheLease(word: String, wanted: String?) {
        let options: [String: BusValue] = ["Options": .table(["dhcp_server_identifier": text(word)])]
        #expect(
            networkManager(100, ["Ip4Config": config4, "Dhcp4Config": options])
                == .facts(LinkFacts(nameservers: ["10.9.0.1"], leaseServer: wanted, source: "NetworkManager")))
    }

    @Test(arguments: [30, 40, 50, 70, 80, 90, 110] as [Int64]) func aDeviceThatIsNotActivatedIsBusy(state: Int64) {
        #expect(networkManager(state, ["Ip4Config": config4]) == .busy)
    }

    /// "Activated" can come with one family's address before the other's, and objects may still be those of the network before.
    @Test func aConfigurationWithoutTheLinksAddressIsBusy() {
        #expect(networkManager(100, [:]) == .busy)
        let other: [String: BusValue] = ["AddressData": .list([.table(["address": text("192.0.2.7")])])]
        #expect(networkManager(100, ["Ip4Config": other]) == .busy)
    }

    @Test func valuesOfOtherTypesAreIgnored() {
        let odd: [String: BusValue] = [
            "AddressData": config4["AddressData"]!, "NameserverData": .list([.number(1), text("10.9.0.9"), .other]),
        ]
        #expect(networkManager(100, ["Ip4Config": odd]) == .facts(LinkFacts(source: "NetworkManager")))
    }

    // MARK: networkd, resolved, ConnMan

    @Test(arguments: ["{\"@\":1}", "{\"AdministrativeState\":\"@\"}", "{\"CaptivePortal\":\"a@\"}", "[[\"@\"]]"])
    func marksOfNetworkdTakeLinearTime(_ text: String) {
        func answer(_ count: Int) -> ManagerAnswer {
            let marks = String(repeating: "\u{300}\u{323}", count: count)
            return NetworkdClient.answer(about: link, text.replacing("@", with: marks))
        }
        #expect(answer(1000) == .unmanaged)
        #expect(ProcessorTime.growth { _ = answer(($0 - 64) / 4) } < 8)
    }

    @Test func networkdDescribesALink() {
        let json = """
            {"Index":7,"Name":"wlan0","AdministrativeState":"configured","CaptivePortal":"https://portal.example/api",
             "DNS":[{"Family":2,"Address":[10,9,0,1],"ConfigSource":"DHCPv4"},{"Family":2,"Address":[10,9,0]}]}
            """
        #expect(
            NetworkdClient.answer(about: link, json)
                == .facts(LinkFacts(nameservers: ["10.9.0.1"], api: .url("https://portal.example/api"), source: "networkd")))
    }

    /// The second address is the link's; the third is from another source.
    @Test func networkdHasTheServerOfTheLease() {
        func answer(_ address: String, _ source: String) -> ManagerAnswer {
            NetworkdClient.answer(
                about: link,
                """
                {"AdministrativeState":"configured","Addresses":[
                 {"Family":2,"Address":[10,8,0,50],"ConfigSource":"DHCPv4","ConfigProvider":[10,8,0,2]},
                 {"Family":2,"Address":\(address),"ConfigSource":"\(source)","ConfigProvider":[10,9,0,2]},
                 {"Family":10,"Address":[254,128,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"ConfigSource":"foreign"}]}
                """)
        }
        #expect(answer("[10,9,0,50]", "DHCPv4") == .facts(LinkFacts(leaseServer: "10.9.0.2", source: "networkd")))
        #expect(answer("[10,9,0,50]", "static") == .facts(LinkFacts(source: "networkd")))
        #expect(answer("[10,9,0,51]", "DHCPv4") == .facts(LinkFacts(source: "networkd")))
    }

    @Test(arguments: [
        (#"{"AdministrativeState":"unmanaged"}"#, ManagerAnswer.unmanaged), (#"{"AdministrativeState":"configuring"}"#, .busy),
        (#"{"AdministrativeState":7}"#, .unmanaged), ("{", .unmanaged), ("", .unmanaged),
        (#"{"AdministrativeState":"configured","DNS":[{"Address":[300]}]}"#, .unmanaged),
    ])
    func networkdOfOtherLinksAndBrokenText(json: String, wanted: ManagerAnswer) {
        #expect(NetworkdClient.answer(about: link, json) == wanted)
    }

    @Test func resolvedHasTheResolversOfALink() {
        let servers: BusValue = .list([.list([.number(2), octets([10, 9, 0, 1])]), .list([.number(2), octets([1, 2])])])
        #expect(
            ResolvedClient.answer(about: link, ["DNS": servers])
                == .facts(LinkFacts(nameservers: ["10.9.0.1"], source: "resolved")))
        #expect(ResolvedClient.answer(about: link, [:]) == .unmanaged)
    }

    @Test func connManHasAServiceForTheLink() {
        func service(_ interface: String, _ state: String, _ address: String) -> BusValue {
            .list([
                text("/net/connman/service/x"),
                .table([
                    "State": text(state), "Ethernet": .table(["Interface": text(interface)]),
                    "IPv4": .table(["Address": text(address)]),
                    "Nameservers": .list([text("10.9.0.1")]),
                ]),
            ])
        }
        let mine = service("wlan0", "ready", "10.9.0.50")
        #expect(
            ConnManClient.answer(about: link, [service("eth0", "online", "192.0.2.1"), mine])
                == .facts(LinkFacts(nameservers: ["10.9.0.1"], source: "ConnMan")))
        #expect(ConnManClient.answer(about: link, [service("wlan0", "configuration", "")]) == .busy)
        #expect(ConnManClient.answer(about: link, [service("wlan0", "idle", "")]) == .unmanaged)
    }
}
