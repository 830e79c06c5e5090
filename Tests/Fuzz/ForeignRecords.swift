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
    @Sendable static func readText(_ octets: [UInt8]) -> [String: Bool] {
        [
            "networkd": NetworkdClient.answer(about: link, String(decoding: octets, as: UTF8.self)).hasFacts,
            "resolv.conf": !SystemLinkFacts.nameservers(in: octets, on: link).isEmpty,
        ]
    }

    /// Reads values from the bus, written as JSON: those of NetworkManager, ConnMan, resolved, iwd and BlueZ.
    @Sendable static func readBus(_ octets: [UInt8]) -> [String: Bool] {
        guard let json = try? Coding.decode(JSONValue.self, from: octets) else { return [:] }
        let value = BusValue(json)
        let table = value.table
        let request = JoinRequest(
            interface: ManagedInterface(index: 7, name: "wlan0"), ssid: cafe, security: .psk, password: nil, once: false)
        let entries = [nil, Security.open, .psk].map { IwdAssociator.entry(of: cafe, $0, at: "/0/3", in: table) }
        var radio = RadioView(wanted: nil)
        radio.replace(table)
        let state = radio.state
        var hasService = false
        for (path, interfaces) in table.prefix(8) {
            radio.change(path, BlueZ.device, interfaces.table)
            if !RemoteService.all(in: table, of: path).isEmpty { hasService = true }
            radio.remove(path, Array(interfaces.table.keys))
        }
        _ = radio.state
        return [
            "NetworkManager": NetworkManagerClient.answer(about: link, table, table.mapValues(\.table)).hasFacts,
            "ConnMan": ConnManClient.answer(about: link, value.list).hasFacts,
            "resolved": ResolvedClient.answer(about: link, table).hasFacts,
            "NetworkManager's settings": NetworkManagerAssociator.fits(table, request),
            "iwd": entries.contains { $0 != nil }, "BlueZ's adapter": state == .ready, "BlueZ's service": hasService,
            "BlueZ's options": PeerOptions(table, adapter: "/org/bluez/hci0") != nil,
        ]
    }

    /// Reads answers and events of wpa_supplicant.
    @Sendable static func readSupplicant(_ octets: [UInt8]) -> [String: Bool] {
        let text = String(decoding: octets, as: UTF8.self)
        var misses = 0
        let outcomes = text.split(separator: "\n").prefix(64).map { line in
            WPASupplicantAssociator.outcome(String(line), of: "4", misses: &misses)
        }
        if let ssid = SSID(octets: octets) { _ = WPASupplicantAssociator.escaped(ssid) }
        return [
            "a network": !WPASupplicantAssociator.entries(text).isEmpty, "an outcome": outcomes.contains { $0 != nil },
            "an answer of ANQP": !AccessPointQuery.answer(text).isEmpty,
        ]
    }
}

extension ManagerAnswer {
    fileprivate var hasFacts: Bool { if case .facts = self { true } else { false } }
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
