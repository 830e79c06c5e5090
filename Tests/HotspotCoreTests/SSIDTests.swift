import HotspotCore
import Testing

@Suite struct SSIDTests {
    @Test func everyOctetGoesThroughTextAndHex() {
        for octet in 0...UInt8.max {
            for octets in [
                [octet], [octet, octet], [0x41, octet], [octet, 0x41], [0xC3, octet], [0xE2, 0x80, octet],
                [0xF0, 0x9F, 0x8D, octet],
            ] {
                let ssid = SSID(octets: octets)!
                #expect(SSID(printable: ssid.description) == ssid, "\(octets)")
                #expect(SSID(hex: ssid.hex) == ssid && SSID(hex: ssid.hex.uppercased()) == ssid)
                #expect(ssid.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
            }
        }
    }

    @Test func namesOfAllLengths() {
        for length in 0...32 { #expect(SSID(octets: [UInt8](repeating: 0xFF, count: length))?.octets.count == length) }
        #expect(SSID(octets: [UInt8](repeating: 0x41, count: 33)) == nil)
        #expect(SSID(hex: String(repeating: "41", count: 33)) == nil && SSID(printable: String(repeating: "A", count: 33)) == nil)
        #expect(SSID(hex: "4") == nil && SSID(hex: "4g") == nil && SSID(hex: "") == .empty && SSID(printable: "") == .empty)
        #expect(SSID(printable: String(repeating: "\\xff", count: 32))?.octets.count == 32)
    }

    @Test func twoNamesAreTheSameOnlyByTheirOctets() {
        // The same character, composed and decomposed.
        #expect(SSID(printable: "Caf\u{E9}") != SSID(printable: "Cafe\u{301}"))
        #expect(SSID(printable: "Cafe ") != SSID(printable: "Cafe"))
        #expect(SSID(octets: [0x41]) != SSID(octets: [0x41, 0]))
    }

    @Test func hiddenNames() {
        #expect(SSID.empty.isHidden && SSID(octets: [0, 0, 0])!.isHidden && !SSID(octets: [0, 1])!.isHidden)
    }

    @Test func hardwareAddresses() {
        #expect(HardwareAddress("02:0A:ff:00:9c:1d")?.description == "02:0a:ff:00:9c:1d")
        for wrong in [
            "", "02:0a:ff:00:9c", "02:0a:ff:00:9c:1d:00", "02-0a-ff-00-9c-1d", "2:0a:ff:00:9c:1d0", "0g:0a:ff:00:9c:1d", ":::::",
            "+2:0a:ff:00:9c:1d",
        ] {
            #expect(HardwareAddress(wrong) == nil, "\(wrong)")
        }
        #expect(HardwareAddress(octets: [1, 2, 3, 4, 5]) == nil && HardwareAddress(octets: [1, 2, 3, 4, 5, 6, 7]) == nil)
    }

    @Test func keysOfNetworks() {
        let networks: [NetworkID] = [
            .wired(HardwareAddress("02:00:00:00:00:01")!), .wireless(.empty, .open),
            .wireless(SSID(octets: [0x3A, 0, 0xFF])!, .psk),
        ]
        for network in networks + Security.allCases.map({ .wireless(SSID(printable: "Cafe")!, $0) }) {
            #expect(NetworkID(key: network.key!) == network)
        }
        #expect(NetworkID.anonymous.key == nil)
        for wrong in ["", "wifi:", "wifi:41", "wifi:41:none", "wifi:4:open", "wired:41", "wifi:41:open:x", "eth:41:open"] {
            #expect(NetworkID(key: wrong) == nil, "\(wrong)")
        }
    }

    @Test func signals() {
        #expect(
            SignalScale.strength(dBm: -90) == 0 && SignalScale.strength(dBm: -40) == 1 && SignalScale.strength(dBm: -65) == 0.5)
        #expect(SignalScale.strength(dBm: -1000) == 0 && SignalScale.strength(dBm: 1000) == 1)
    }
}
