import HotspotCore
import Testing

@testable import Wireless

@Suite struct InformationElementsTests {
    private static func element(_ identifier: UInt8, _ value: [UInt8]) -> [UInt8] { [identifier, UInt8(value.count)] + value }

    private static func rsn(_ suites: [UInt8]) -> [UInt8] {
        element(
            48,
            [1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 4, UInt8(suites.count), 0] + suites.flatMap { [0, 0x0F, 0xAC, $0] }
                + [0, 0])
    }

    private static let wpa: [UInt8] = element(
        221, [0, 0x50, 0xF2, 1, 1, 0, 0, 0x50, 0xF2, 2, 1, 0, 0, 0x50, 0xF2, 2, 1, 0, 0, 0x50, 0xF2, 2])

    private func read(_ octets: [UInt8]) -> InformationElements { InformationElements(octets[...]) }

    @Test(
        arguments: [
            ([2], .psk), ([6], .psk), ([8], .sae), ([2, 8], .psk), ([1], .enterprise), ([5], .enterprise), ([18], .owe),
            ([24], .sae), ([8, 18], .sae), ([99], .unknown), ([99, 8], .sae),
        ] as [([UInt8], Security)])
    func keyManagementTellsTheSecurity(suites: [UInt8], security: Security) {
        #expect(read(Self.rsn(suites)).security(hasPrivacy: true) == security)
    }

    @Test func withoutElementsThePrivacyBitDecides() {
        #expect(read([]).security(hasPrivacy: false) == .open)
        #expect(read([]).security(hasPrivacy: true) == .wep)
    }

    @Test func theOlderElementIsReadWhereTheNewerIsMissing() {
        #expect(read(Self.wpa).security(hasPrivacy: true) == .psk)
        #expect(read(Self.wpa + Self.rsn([8])).security(hasPrivacy: true) == .sae)
    }

    /// However the element is cut, and also when the privacy bit says open.
    @Test func aTruncatedElementIsNeverOpen() {
        let whole = Self.rsn([2])
        for length in 0..<16 {
            let cut = Self.element(48, Array(whole[2..<2 + length]))
            #expect(read(cut).security(hasPrivacy: false) == .unknown, "\(length)")
        }
        let wpa = Array(Self.wpa.dropFirst(2))
        for length in 4..<20 {
            #expect(read(Self.element(221, Array(wpa[..<length]))).security(hasPrivacy: false) == .unknown, "\(length)")
        }
    }

    @Test func aLengthPastTheEndMarksTheEntry() {
        let elements = read([0, 4] + Array("Cafe".utf8) + [48, 20, 1, 0])
        #expect(elements.ssid == SSID("Cafe"))
        #expect(elements.isMalformed)
        #expect(elements.security(hasPrivacy: false) == .unknown)
        #expect(read([0]).isMalformed)
    }

    @Test func namesAreOctets() {
        #expect(read([0, 0]).ssid == .empty)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(read(Self.element(0, zeros)).ssid?.octets == zeros)
        #expect(read(Self.element(0, zeros + [0])).ssid == nil)
        #expect(read(Self.element(0, zeros + [0])).isMalformed)
        #expect(read(Self.element(0, Array("%p%s%s%s%s%n".utf8))).ssid?.description == "%p%s%s%s%s%n")
        #expect(read(Self.element(0, [1]) + Self.element(0, [2])).ssid?.octets == [1])
    }

    @Test func hotspotElementsAreSeen() {
        #expect(read(Self.element(221, [0x50, 0x6F, 0x9A, 0x10, 0])).access.hasHotspot20)
        #expect(!read(Self.element(221, [0x50, 0x6F, 0x9A])).access.hasHotspot20)
        #expect(read(Self.element(221, [0x50, 0x6F, 0x9A, 0x12])).security(hasPrivacy: true) == .enterprise)
    }

    @Test func theOtherHalfOfAnOWENetworkIsNamed() {
        let body: [UInt8] = [0x50, 0x6F, 0x9A, 0x1C, 2, 0, 0, 0, 0, 9, 3, 0x61, 0x62, 0x63]
        let elements = read(Self.element(221, body))
        #expect(elements.oweTransition?.ssid == SSID("abc"))
        #expect(elements.oweTransition?.bssid.description == "02:00:00:00:00:09")
        #expect(elements.security(hasPrivacy: false) == .open)
        #expect(read(Self.element(221, Array(body.dropLast()))).oweTransition == nil)
    }

    /// Elements of several BSSs in one (CVE-2022-41674 and similar) are never read.
    @Test func multipleBSSElementsAreNotEntered() {
        for count in [0, 1, 255] as [UInt8] {
            let inner = Self.element(0, [count] + Self.element(71, [count] + Self.rsn([2])))
            let elements = read(Self.element(0, Array("outer".utf8)) + Self.element(71, [count] + inner))
            #expect(elements.ssid == SSID("outer"))
            #expect(elements.security(hasPrivacy: false) == .open)
        }
    }
}
