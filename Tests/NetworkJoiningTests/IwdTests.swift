import EventLoop
import HotspotCore
import Testing

@testable import NetworkJoining

/// iwd 2.3's list of networks.
@Suite struct IwdTests {
    private func network(_ name: String, _ type: String, at station: String = "/0/3", known: String? = nil, isIn: Bool = false)
        -> BusValue
    {
        var properties: [String: BusValue] = [
            "Name": .text(name), "Type": .text(type), "Device": .text(station), "Connected": .boolean(isIn),
        ]
        if let known { properties["KnownNetwork"] = .text(known) }
        return .table(["net.connman.iwd.Network": .table(properties)])
    }

    private var objects: [String: BusValue] {
        [
            "/0/3/open": network("Cafe", "open", known: "/cafe", isIn: true), "/0/3/psk": network("Cafe", "psk"),
            "/0/4/psk": network("Home", "psk", at: "/0/4"),
            "/cafe": .table(["net.connman.iwd.KnownNetwork": .table(["AutoConnect": .boolean(true)])]),
            "/0": .table(["net.connman.iwd.Adapter": .table([:])]),
        ]
    }

    @Test func aNetworkIsFoundByNameKindAndStation() {
        func entry(_ name: String, _ security: Security?) -> IwdAssociator.Entry? {
            IwdAssociator.entry(of: SSID(printable: name)!, security, at: "/0/3", in: objects)
        }
        let open = IwdAssociator.Entry(path: "/0/3/open", known: "/cafe", joinsByItself: true)
        #expect(entry("Cafe", .open) == open && entry("Cafe", .owe) == open)
        #expect(entry("Cafe", nil) == open, "the one that it is in")
        for security in [Security.psk, .sae] {
            #expect(entry("Cafe", security) == .init(path: "/0/3/psk", known: nil, joinsByItself: false))
        }
        #expect(entry("Home", .psk) == nil && entry("Caf", .open) == nil)
    }
}
