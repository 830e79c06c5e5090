import CNetlink
import HotspotCore
import Netlink
import Testing

@testable import Wireless

@Suite struct BSSTests {
    private let now = Instant(nanoseconds: 100_000_000_000)

    private func bss(_ build: (inout PayloadBuilder) -> Void) throws -> BSS {
        var payload = PayloadBuilder(header: [])
        payload.append(Int(NL80211_BSS_BSSID.rawValue), ScriptedRadio.address(1))
        build(&payload)
        return try BSS(AttributeReader(payload.octets[...]), now: now)
    }

    @Test func ages() throws {
        let recent = try bss { $0.append(Int(NL80211_BSS_SEEN_MS_AGO.rawValue), integer: UInt32(1500)) }
        #expect(recent.lastSeen.nanoseconds == 98_500_000_000)
        let boot = try bss {
            $0.append(Int(NL80211_BSS_SEEN_MS_AGO.rawValue), integer: UInt32(1500))
            $0.append(Int(NL80211_BSS_LAST_SEEN_BOOTTIME.rawValue), integer: UInt64(99_000_000_000))
        }
        #expect(boot.lastSeen.nanoseconds == 99_000_000_000)
        // A time before the machine's start, a time in the future, or no time.
        let never = Instant(nanoseconds: 0)
        #expect(try bss { $0.append(Int(NL80211_BSS_SEEN_MS_AGO.rawValue), integer: UInt32.max) }.lastSeen == never)
        for instant in [100_000_000_001, UInt64.max] {
            #expect(try bss { $0.append(Int(NL80211_BSS_LAST_SEEN_BOOTTIME.rawValue), integer: instant) }.lastSeen == never)
        }
        #expect(try bss { _ in }.lastSeen == never)
    }

    @Test func signals() throws {
        #expect(try bss { $0.append(Int(NL80211_BSS_SIGNAL_MBM.rawValue), integer: Int32(-6550)) }.signal == -65)
        #expect(try bss { $0.append(Int(NL80211_BSS_SIGNAL_UNSPEC.rawValue), integer: UInt8(100)) }.signal == -40)
        #expect(try bss { $0.append(Int(NL80211_BSS_SIGNAL_UNSPEC.rawValue), integer: UInt8(255)) }.signal == -40)
        #expect(try bss { _ in }.signal == nil)
    }

    @Test func wrongSizesDropTheEntry() {
        #expect(throws: MalformedMessage.self) { try bss { $0.append(Int(NL80211_BSS_SIGNAL_MBM.rawValue), [1, 2, 3]) } }
        #expect(throws: MalformedMessage.self) { try bss { $0.append(Int(NL80211_BSS_BSSID.rawValue), [1]) } }
    }

    @Test func withoutElementsNothingIsOpen() throws {
        let entry = try bss { $0.append(Int(NL80211_BSS_CAPABILITY.rawValue), integer: UInt16(1)) }
        #expect(entry.security == .unknown)
        #expect(entry.ssid == .empty)
    }

    @Test func theNameMayBeInTheOtherFrame() throws {
        let entry = try bss {
            $0.append(Int(NL80211_BSS_INFORMATION_ELEMENTS.rawValue), [0, 3, 0, 0, 0])
            $0.append(Int(NL80211_BSS_BEACON_IES.rawValue), [0, 3, 0x61, 0x62, 0x63])
        }
        #expect(entry.ssid == SSID("abc"))
    }

    @Test func tenThousandEntriesLeaveTheStrongest() {
        var table = ScanTable()
        var generator = SystemRandomNumberGenerator()
        for number in (0..<10_000).shuffled(using: &generator) {
            var octets: [UInt8] = [2, 0]
            octets.appendHost(UInt32(number))
            table.insert(
                BSS(
                    bssid: HardwareAddress(octets: octets)!, ssid: SSID("x"), frequency: 2412, signal: -number,
                    security: .open, lastSeen: now, isAssociated: number == 9_999))
        }
        let best = table.best
        #expect(best.count == 512)
        #expect(best[0].isAssociated)
        #expect(best.dropFirst().map(\.signal) == (0..<511).map { -$0 })
    }

    @Test func oneAddressWithTwoNamesIsTwoEntries() {
        var table = ScanTable()
        for name in ["a", "b"] {
            table.insert(BSS(bssid: .numbered(1), ssid: SSID(name), frequency: 0, security: .open, lastSeen: now))
        }
        #expect(table.best.count == 2)
    }
}
