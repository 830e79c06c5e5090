@testable import CompanionBluetooth
@testable import EventLoop
@testable import HotspotCore
@testable import LinkState
@testable import NetworkJoining
@testable import Varlink

/// Reads the records and answers of the programs that manage links.
enum ForeignRecords {
    private static let link = LinkSnapshot(
        index: 7, name: "wlan0", isUp: true, hasCarrier: true, addresses: ["10.9.0.50/24", "2001:db8::5/64"],
        gateways: ["10.9.0.1"])
    private static let cafe = SSID(printable: "Cafe")!

    /// Reads networkd's description of a link, and resolv.conf.
    @Sendable static func readText(_ octets: [UInt8]) {
        _ = NetworkdClient.answer(about: link, String(decoding: octets, as: UTF8.self))
        _ = SystemLinkFacts.nameservers(in: octets, on: link)
    }

    /// Reads values from the bus, written as JSON: those of NetworkManager, ConnMan, resolved, iwd and BlueZ.
    @Sendable static func readBus(_ octets: [UInt8]) {
        guard let json = try? Coding.decode(JSONValue.self, from: octets) else { return }
        let value = BusValue(json)
        let table = value.table
        _ = NetworkManagerClient.answer(about: link, table, table.mapValues(\.table))
        _ = ConnManClient.answer(about: link, value.list)
        _ = ResolvedClient.answer(about: link, table)
        let request = JoinRequest(
            interface: ManagedInterface(index: 7, name: "wlan0"), ssid: cafe, security: .psk, password: nil, once: false)
        _ = NetworkManagerAssociator.fits(table, request)
        for security in [nil, Security.open, .psk] { _ = IwdAssociator.entry(of: cafe, security, at: "/0/3", in: table) }
        var radio = RadioView(wanted: nil)
        radio.replace(table)
        for (path, interfaces) in table.prefix(8) {
            radio.change(path, BlueZ.device, interfaces.table)
            _ = RemoteService.all(in: table, of: path)
            radio.remove(path, Array(interfaces.table.keys))
        }
        _ = radio.state
        _ = PeerOptions(table, adapter: "/org/bluez/hci0")
    }

    /// Reads answers and events of wpa_supplicant.
    @Sendable static func readSupplicant(_ octets: [UInt8]) {
        let text = String(decoding: octets, as: UTF8.self)
        _ = WPASupplicantAssociator.entries(text)
        var misses = 0
        for line in text.split(separator: "\n").prefix(64) {
            _ = WPASupplicantAssociator.outcome(String(line), of: "4", misses: &misses)
        }
        _ = AccessPointQuery.answer(text)
        if let ssid = SSID(octets: octets) { _ = WPASupplicantAssociator.escaped(ssid) }
    }
}

extension BusValue {
    fileprivate init(_ json: JSONValue) {
        self =
            switch json {
            case .bool(let value): .boolean(value)
            case .integer(let value): .number(Int64(value))
            case .string(let value): .text(value)
            case .array(let values): .list(values.map(BusValue.init))
            case .object(let members): .table(members.mapValues(BusValue.init))
            case .null, .number: .other
            }
    }
}
