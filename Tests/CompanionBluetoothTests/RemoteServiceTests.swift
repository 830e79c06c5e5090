import EventLoop
import Testing

@testable import CompanionBluetooth

/// Another laptop's attributes, as BlueZ lists them, are our service only if all parts are there.
@Suite struct RemoteServiceTests {
    private static let device = "/org/bluez/hci0/dev_00_AA_01_01_00_01"

    private func objects(
        _ service: String = "/service0010", of device: String = Self.device, without: Attribute? = nil,
        flags: [Attribute: [String]] = [:]
    ) -> [String: BusValue] {
        let path = device + service
        var objects: [String: BusValue] = [
            path: .table([
                BlueZ.gattService: .table(["UUID": .text(Attribute.service.rawValue), "Device": .text(device)])
            ])
        ]
        for (number, attribute) in Attribute.characteristics.enumerated() where attribute != without {
            objects[path + "/char00\(number)"] = .table([
                BlueZ.characteristic: .table([
                    "UUID": .text(attribute.rawValue), "Service": .text(path),
                    "Flags": .list((flags[attribute] ?? attribute.flags).map { .text($0) }),
                ])
            ])
        }
        return objects
    }

    @Test func aServiceHasThreeCharacteristics() {
        let path = Self.device + "/service0010"
        #expect(
            RemoteService.all(in: objects(), of: Self.device)
                == [RemoteService(information: path + "/char000", control: path + "/char001", bulk: path + "/char002")])
        for attribute in Attribute.characteristics {
            #expect(RemoteService.all(in: objects(without: attribute), of: Self.device).isEmpty)
            #expect(
                RemoteService.all(in: objects(flags: [attribute: ["read"]]), of: Self.device).isEmpty
                    == (attribute != .information))
        }
    }

    @Test func otherDevicesAndServicesDoNotCount() {
        #expect(RemoteService.all(in: objects(of: Self.device + "0"), of: Self.device).isEmpty)
        #expect(RemoteService.all(in: [:], of: Self.device).isEmpty)
        var twice = objects()
        twice[Self.device + "/service0010/char009"] = twice[Self.device + "/service0010/char001"]
        #expect(RemoteService.all(in: twice, of: Self.device).isEmpty)
    }

    @Test func servicesComeInOrderAndAreLimited() {
        var all: [String: BusValue] = [:]
        for number in 10..<40 { all.merge(objects("/service00\(number)")) { $1 } }
        let found = RemoteService.all(in: all, of: Self.device)
        #expect(found.count == RemoteService.limit && found.first?.control == Self.device + "/service0010/char001")
    }

    @Test(
        arguments: [
            ([1, 0, 0], false, nil), ([1, 0, 1], true, nil), ([1, 0x80, 0, 9, 9], false, 0x80), ([1, 0xFF, 1], true, 0xFF),
            // A PSM below 0x80 would reach another program's channel.
            ([1, 0x25, 0], false, nil), ([2, 0, 0], nil, nil), ([1, 0], nil, nil), ([], nil, nil),
        ] as [([UInt8], Bool?, UInt8?)])
    func informationIsReadWithinItsVersion(octets: [UInt8], isBusy: Bool?, psm: UInt8?) {
        let information = Information(octets: octets)
        #expect(information?.isBusy == isBusy && information?.psm == psm)
        if let information { #expect(Information(octets: information.octets) == information) }
    }

    @Test func optionsAreOfOwnDevicesAndWithinBounds() throws {
        let adapter = "/org/bluez/hci0"
        let whole = try #require(
            PeerOptions(
                ["device": .text(Self.device), "mtu": .number(185), "offset": .number(3), "prepare-authorize": .boolean(true)],
                adapter: adapter))
        #expect(whole.device == Self.device && whole.mtu == 185 && whole.offset == 3 && whole.isPreparation)
        #expect(PeerOptions([:], adapter: adapter) == nil)
        #expect(PeerOptions(["device": .text(Self.device)], adapter: "/org/bluez/hci1") == nil)
        #expect(PeerOptions(["device": .text("/org/bluez/hci01/dev_1")], adapter: adapter) == nil)
        for (mtu, result) in [(0, 23), (-4, 23), (22, 23), (23, 23), (517, 517), (518, 517), (1 << 40, 517)] {
            #expect(PeerOptions.mtu(.number(Int64(mtu))) == result)
        }
        #expect(PeerOptions.mtu(nil) == 23 && PeerOptions.mtu(.text("185")) == 23)
    }
}
