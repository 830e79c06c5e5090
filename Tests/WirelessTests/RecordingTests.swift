import CNetlink
import EventLoop
import HotspotCore
import Netlink
import Testing

@testable import Wireless

/// Replays the messages of a real kernel.
@Suite struct RecordingTests {
    init() { EventLoop.startThread() }

    /// A monitor on a kernel that answers with recorded dumps.
    @LoopActor final class Replay {
        let radio = ScriptedRadio()
        let monitor: WirelessMonitor
        private var events: [WirelessEvent] = []

        init(interfaces: String, scan: String) throws {
            let recorded = try Recording(interfaces)
            let radio = radio
            radio.family = recorded.family
            // The access points' interfaces have a test of their own.
            radio.interfaces = recorded.payloads.filter { ScriptedRadio.index(of: $0) == 2 }
            radio.tables[2] = try Recording(scan).payloads
            monitor = try WirelessMonitor(family: recorded.family) { () throws(NetlinkError) in radio }
            monitor.onEvent = { [unowned self] in events.append($0) }
            monitor.start()
        }

        func drain() -> [WirelessEvent] {
            while !radio.inbox.isEmpty { monitor.exchange.readTurn() }
            defer { events = [] }
            return events
        }

        func play(_ name: String) throws -> [WirelessEvent] {
            for datagram in try Recording(name).datagrams { radio.inbox.append(.datagram(datagram)) }
            return drain()
        }
    }

    private static let first = BSSID("02:00:00:00:01:00")!
    private static let second = BSSID("02:00:00:00:02:00")!

    @Test @LoopActor func tenNetworksAsTheyWereOnTheAir() throws {
        let replay = try Replay(interfaces: "interfaces", scan: "scan")
        _ = replay.drain()
        let list = replay.monitor.networks(on: 2)
        let found = Dictionary(uniqueKeysWithValues: list.map { ($0.bssid.description, $0) })
        let expected: [(String, String, Security, Int)] = [
            ("02:00:00:00:01:00", "Cafe Aroma", .open, 2412), ("02:00:00:00:01:01", "Home", .psk, 2412),
            ("02:00:00:00:01:02", "Mixed", .psk, 2412), ("02:00:00:00:01:03", "", .open, 2412),
            ("02:00:00:00:02:00", "Cafe Aroma", .open, 2437), ("02:00:00:00:02:01", "Modern", .sae, 2437),
            ("02:00:00:00:02:02", "Quiet", .owe, 2437), ("02:00:00:00:03:00", "Old", .psk, 2462),
            ("02:00:00:00:03:01", "Office", .enterprise, 2462), ("02:00:00:00:03:02", "Roaming", .enterprise, 2462),
        ]
        #expect(list.count == expected.count)
        for (bssid, ssid, security, frequency) in expected {
            let entry = try #require(found[bssid])
            #expect(entry.ssid == SSID(ssid), "\(bssid)")
            #expect(entry.security == security, "\(ssid)")
            #expect(entry.frequency == frequency)
            let access = entry.access
            #expect(access.hasHotspot20 == (ssid == "Roaming"))
            #expect((access.interworking != nil) == (ssid == "Roaming"))
            if let interworking = access.interworking {
                #expect(interworking.hasInternet && !interworking.needsAdditionalStep && interworking.networkType == .chargeable)
            }
            #expect(!entry.isMalformed && !entry.isAssociated)
            #expect((-100 ... -10).contains(entry.signal ?? 0))
        }
        #expect(replay.monitor.malformedCount == 0)
    }

    @Test @LoopActor func aScanFinishes() throws {
        let replay = try Replay(interfaces: "interfaces", scan: "scan")
        _ = replay.drain()
        let events = try replay.play("scan-finished")
        guard events.count == 1, case .scanFinished(2, let list) = events[0] else {
            Issue.record("\(events)")
            return
        }
        #expect(list.count == 10)
    }

    @Test @LoopActor func joining() throws {
        let replay = try Replay(interfaces: "interfaces", scan: "scan")
        _ = replay.drain()
        replay.radio.tables[2] = try Recording("scan-connected").payloads
        let events = try replay.play("connected")
        // wpa_supplicant scans first.
        #expect(events.count == 3)
        #expect(events.first == .associationBegan(index: 2) || events.dropFirst().first == .associationBegan(index: 2))
        guard let association = replay.monitor.association(of: 2) else {
            Issue.record("\(events)")
            return
        }
        #expect(events.last == .connected(index: 2, association) || events.contains(.connected(index: 2, association)))
        #expect(association.ssid == SSID("Cafe Aroma") && association.bssid == Self.first)
        #expect(association.security == .open && association.frequency == 2412)
    }

    /// The kernel of the recording does not report the name with the interface, but the request has it.
    @Test @LoopActor func aNameThatTheInterfaceLacksIsInTheRequest() throws {
        let replay = try Replay(interfaces: "interfaces", scan: "scan")
        _ = replay.drain()
        replay.radio.tables[2] = []
        _ = try replay.play("connected")
        #expect(
            replay.monitor.association(of: 2)
                == WirelessAssociation(ssid: SSID("Cafe Aroma"), bssid: Self.first, security: .unknown))
    }

    @Test @LoopActor func theDaemonStartsInTheMiddle() throws {
        let replay = try Replay(interfaces: "interfaces-connected", scan: "scan-connected")
        let events = replay.drain()
        #expect(events.count == 2)
        guard case .connected(2, let association)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(association.ssid == SSID("Cafe Aroma") && association.bssid == Self.first)
    }

    @Test @LoopActor func roaming() throws {
        let replay = try Replay(interfaces: "interfaces-connected", scan: "scan-connected")
        _ = replay.drain()
        replay.radio.tables[2] = try Recording("scan-roamed").payloads
        #expect(try replay.play("roamed") == [.roamed(index: 2, bssid: Self.second)])
        #expect(replay.monitor.association(of: 2)?.frequency == 2437)
    }

    @Test @LoopActor func leaving() throws {
        let replay = try Replay(interfaces: "interfaces-connected", scan: "scan-roamed")
        _ = replay.drain()
        #expect(try replay.play("disconnected") == [.disconnected(index: 2, reasonCode: 3)])
        #expect(replay.monitor.association(of: 2) == nil)
    }

    @Test @LoopActor func theAccessPointGoes() throws {
        let replay = try Replay(interfaces: "interfaces-connected", scan: "scan-connected")
        _ = replay.drain()
        replay.radio.tables[2] = try Recording("scan").payloads
        let events = try replay.play("access-point-gone").filter {
            if case .scanFinished = $0 { false } else if case .interfaceAppeared = $0 { false } else { true }
        }
        let attempt: [WirelessEvent] = [.associationBegan(index: 2), .disconnected(index: 2, reasonCode: nil)]
        #expect(events == [.disconnected(index: 2, reasonCode: 3)] + attempt + attempt)
    }

    @Test @LoopActor func anInterfaceComesAndGoes() throws {
        let replay = try Replay(interfaces: "interfaces", scan: "scan")
        _ = replay.drain()
        let events = try replay.play("interface-came-and-went")
        guard events.count == 2, case .interfaceAppeared(let interface) = events[0] else {
            Issue.record("\(events)")
            return
        }
        #expect(interface.name == "extra0" && interface.isStation)
        #expect(events[1] == .interfaceVanished(index: interface.index))
    }

    @Test @LoopActor func accessPointsAreNoStations() throws {
        let recorded = try Recording("interfaces-connected")
        let radio = ScriptedRadio()
        radio.family = recorded.family
        radio.interfaces = recorded.payloads
        let monitor = try WirelessMonitor(family: recorded.family) { () throws(NetlinkError) in radio }
        monitor.start()
        while !radio.inbox.isEmpty { monitor.exchange.readTurn() }
        // The P2P device has no interface; the ten access points are of another kind.
        #expect(monitor.interfaces.count == recorded.payloads.count - 1)
        #expect(Set(monitor.interfaces.values.filter { $0.isStation }.map(\.index)) == [2, 6, 7])
    }

    /// Messages that are cut anywhere, or have one wrong octet: nothing crashes, and the monitor comes to rest.
    @Test(arguments: Recording.events) @LoopActor func damagedEventsDoNoHarm(name: String) throws {
        let recording = try Recording(name)
        let replay = try Replay(interfaces: "interfaces-connected", scan: "scan-connected")
        replay.radio.tables[2]?.removeLast(8)
        _ = replay.drain()
        for message in recording.messages {
            for octets in Self.damaged(message.octets) {
                replay.radio.inbox = [.datagram(octets)]
                var turns = 0
                while !replay.radio.inbox.isEmpty, turns < 100 {
                    replay.monitor.exchange.readTurn()
                    turns += 1
                }
                #expect(turns < 100)
            }
        }
        #expect(replay.monitor.interfaces.count < 64)
        _ = replay.drain()
    }

    @Test(arguments: Recording.dumps) @LoopActor func damagedDumpsDoNoHarm(name: String) throws {
        let recording = try Recording(name)
        for message in recording.messages {
            for octets in Self.damaged(message.octets) {
                for message in NetlinkMessages(datagram: octets) {
                    guard let rest = message.payload.after(4), let attributes = try? AttributeReader(rest) else { continue }
                    _ = try? WirelessInterface(attributes)
                    if let bss = try? attributes.nested(Int(NL80211_ATTR_BSS.rawValue)) {
                        _ = try? BSS(bss, now: Instant(nanoseconds: 1))
                    }
                }
            }
        }
        // And whole datagrams cut anywhere.
        for datagram in recording.datagrams {
            for length in datagram.indices {
                for message in NetlinkMessages(datagram: Array(datagram[..<length])) { _ = message }
            }
        }
    }

    private static func damaged(_ octets: [UInt8]) -> [[UInt8]] {
        var all = (0..<octets.count).map { Array(octets[..<$0]) }
        for position in octets.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var copy = octets
                copy[position] ^= mask
                all.append(copy)
            }
        }
        return all
    }
}
