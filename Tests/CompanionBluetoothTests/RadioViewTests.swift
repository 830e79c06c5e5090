import Companion
import EventLoop
import TestSupport
import Testing

@testable import CompanionBluetooth

/// BlueZ's objects and signals become adapters, their power, and devices with the service.
@Suite struct RadioViewTests {
    private static let one = "/org/bluez/hci0"
    private static let device = one + "/dev_00_AA_01_01_00_01"

    static func adapter(_ isPowered: Bool) -> BusValue {
        .table([BlueZ.adapter: .table(["Powered": .boolean(isPowered), "Alias": .text("laptop")])])
    }

    static func device(_ uuids: [String], _ more: [String: BusValue] = [:]) -> BusValue {
        let properties: [String: BusValue] = ["UUIDs": .list(uuids.map { .text($0) }), "Name": .text("hci1")]
        return .table([BlueZ.device: .table(properties.merging(more) { $1 })])
    }

    private func listed(_ objects: [String: BusValue], wanted: String? = nil) -> RadioView {
        var view = RadioView(wanted: wanted)
        view.replace(objects)
        return view
    }

    @Test func statesNameWhatIsMissing() {
        #expect(RadioView(wanted: nil).state == .noService)
        #expect(listed([:]).state == .noAdapter)
        #expect(listed([Self.one: Self.adapter(false)]).state == .adapterOff)
        #expect(listed([Self.one: Self.adapter(true)]).state == .ready)
        #expect(listed([Self.one: Self.adapter(true)], wanted: "hci1").state == .noAdapter)
        for state in CompanionTransportState.allCases { #expect((state.message == nil) == (state == .ready)) }
    }

    @Test func theFirstAdapterIsTheOneWithTheLeastNumber() {
        let all = Dictionary(uniqueKeysWithValues: ["hci10", "hci2", "hci1"].map { ("/org/bluez/\($0)", Self.adapter(true)) })
        #expect(listed(all).adapter == "/org/bluez/hci1")
        #expect(listed(all, wanted: "hci10").adapter == "/org/bluez/hci10" && listed(all, wanted: "hci0").adapter == nil)
        // A name is compared as a whole.
        #expect(listed(all, wanted: "ci1").adapter == nil && listed(all, wanted: "").adapter == nil)
    }

    @Test func theChosenAdaptersAddressIsKnown() {
        let adapter = BusValue.table([
            BlueZ.adapter: .table([
                "Powered": .boolean(true), "Address": .text("00:AA:01:01:00:01"), "AddressType": .text("public"),
            ])
        ])
        var view = listed([Self.one: adapter, "/org/bluez/hci1": Self.adapter(true)])
        #expect(view.address?.octets == [1, 0, 1, 1, 0xAA, 0])
        view.remove(Self.one, [BlueZ.adapter])
        #expect(view.address == nil)
    }

    /// Found by `make fuzz PARSERS=bus`: each device was compared with all adapters.
    @Test func manyAdaptersTakeLinearTime() {
        let growth = ProcessorTime.growth(from: 500) { count in
            let numbers = 0..<count
            let adapters = numbers.map { ("/org/bluez/hci\($0)", Self.adapter(true)) }
            let devices = numbers.map { (Self.one + "/dev_\($0)", Self.device([])) }
            #expect(listed(Dictionary(uniqueKeysWithValues: adapters + devices)).adapter == Self.one)
        }
        #expect(growth < 8)
    }

    @Test func devicesCountByTheServiceAndTheAdapter() {
        let service = Attribute.service.rawValue
        var view = listed([
            Self.one: Self.adapter(true), "/org/bluez/hci1": Self.adapter(true), Self.device: Self.device([service.uppercased()]),
            Self.one + "/dev_1": Self.device(["0000180a-0000-1000-8000-00805f9b34fb"]),
            "/org/bluez/hci1/dev_2": Self.device([service]),
        ])
        #expect(view.devices == [Self.device] && view.own.isEmpty)
        view.change(Self.device, BlueZ.device, ["Paired": .boolean(true)])
        #expect(view.devices == [Self.device] && view.own == [Self.device])
        view.remove(Self.device, [BlueZ.device])
        #expect(view.devices.isEmpty && view.own.isEmpty)
        view.add(Self.one + "/dev_3", Self.device([service], ["Trusted": .boolean(true)]).table)
        #expect(view.devices == [Self.one + "/dev_3"] && view.own == view.devices)
        view.remove(Self.one, [BlueZ.adapter])
        #expect(view.devices.isEmpty && view.own.isEmpty && view.adapter == "/org/bluez/hci1")
    }

    @Test func aPairedDeviceIsTheUsersBeforeItsServicesAreKnown() {
        var view = listed([Self.one: Self.adapter(true), Self.device: Self.device([], ["Paired": .boolean(true)])])
        #expect(view.devices.isEmpty && view.own == [Self.device])
        view.change(Self.device, BlueZ.device, ["UUIDs": .list([.text(Attribute.service.rawValue)])])
        #expect(view.devices == [Self.device] && view.own == [Self.device])
    }

    @Test func strangersFillNoMemory() {
        var view = listed([Self.one: Self.adapter(true)])
        for number in 0..<1000 { view.add(Self.one + "/dev_\(number)", Self.device([Attribute.service.rawValue]).table) }
        #expect(view.devices.count == RadioView.deviceLimit)
    }

    @Test func powerFollowsTheSignals() {
        var view = listed([Self.one: Self.adapter(true)])
        view.change(Self.one, BlueZ.adapter, ["Powered": .boolean(false)])
        #expect(view.state == .adapterOff)
        view.change(Self.one, BlueZ.adapter, ["Alias": .text("x")])
        #expect(view.state == .adapterOff)
        view.change(Self.one, BlueZ.adapter, ["Powered": .boolean(true)])
        #expect(view.state == .ready)
        view.change("/org/bluez/hci7", BlueZ.adapter, ["Powered": .boolean(true)])
        #expect(view.adapters.count == 1)
        view.reset()
        view.add(Self.one, Self.adapter(true).table)
        #expect(view.state == .noService, "until its objects are listed")
    }
}
