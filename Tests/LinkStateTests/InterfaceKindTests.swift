import TestSupport
import Testing

@testable import LinkState

@Suite struct InterfaceKindTests {
    private let root = TemporaryFolder()

    @Test func aRadioIsKnownByItsPhy() {
        root.write("sys/class/net/wlan0/phy80211", [])
        root.write("sys/class/net/eth0/address", [])
        #expect(InterfaceKind.isRadio("wlan0", root: root.path))
        #expect(!InterfaceKind.isRadio("eth0", root: root.path))
        #expect(!InterfaceKind.isRadio("wlan1", root: root.path))
        #expect(!InterfaceKind.isRadio("lo"))
    }

    @Test(arguments: ["", ".", "..", "../net/wlan0", "wlan0/", "a/../wlan0", "sixteen-octets-0", "wlan 0", "wlan0\0", "wl:0"])
    func aNameThatNoInterfaceCanHaveIsNone(name: String) {
        // Each of these would exist, if the name were used as a path.
        for folder in ["wlan0", "sixteen-octets-0", "wlan 0", "wl:0"] { root.write("sys/class/net/\(folder)/phy80211", []) }
        root.write("sys/class/net/a/x", [])
        root.write("sys/class/net/phy80211", [])
        root.write("sys/class/phy80211", [])
        #expect(!InterfaceKind.isRadio(name, root: root.path))
    }
}
