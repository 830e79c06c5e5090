import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink
import Testing

@testable import Wireless

@Suite struct WirelessMonitorTests {
    init() { EventLoop.startThread() }

    /// A monitor on a scripted kernel, with the events that it reported.
    @LoopActor final class Watched {
        let radio = ScriptedRadio()
        let monitor: WirelessMonitor
        var events: [WirelessEvent] = []

        init(_ prepare: (ScriptedRadio) -> Void = { _ in }) throws {
            let radio = radio
            radio.interfaces = [ScriptedRadio.interface(3, "wlan0")]
            prepare(radio)
            monitor = try WirelessMonitor(family: ScriptedRadio.family) { () throws(NetlinkError) in radio }
            monitor.onEvent = { [unowned self] in events.append($0) }
            monitor.start()
            turn()
        }

        func turn() {
            while !radio.inbox.isEmpty { monitor.exchange.readTurn() }
        }

        func drain() -> [WirelessEvent] {
            turn()
            defer { events = [] }
            return events
        }

        func connect(_ bssid: UInt8) {
            radio.happen(NL80211_CMD_CONNECT.rawValue, index: 3) {
                $0.append(Int(NL80211_ATTR_MAC.rawValue), ScriptedRadio.address(bssid))
                $0.append(Int(NL80211_ATTR_STATUS_CODE.rawValue), integer: UInt16(0))
            }
        }

        func peer(_ command: UInt32, _ bssid: UInt8) {
            radio.happen(command, index: 3) { $0.append(Int(NL80211_ATTR_MAC.rawValue), ScriptedRadio.address(bssid)) }
        }

        func disconnect(reason: UInt16, isByAccessPoint: Bool = false) {
            radio.happen(NL80211_CMD_DISCONNECT.rawValue, index: 3) {
                $0.append(Int(NL80211_ATTR_REASON_CODE.rawValue), integer: reason)
                if isByAccessPoint { $0.append(Int(NL80211_ATTR_DISCONNECTED_BY_AP.rawValue), []) }
            }
        }
    }

    private static let cafe = WirelessAssociation(
        ssid: SSID("Cafe"), bssid: .numbered(1), security: .open, frequency: 2412, signal: -50)

    private static func inCafe(_ radio: ScriptedRadio) {
        radio.tables[3] = [
            ScriptedRadio.entry(3, 1, "Cafe", isAssociated: true), ScriptedRadio.entry(3, 2, "Cafe", signal: -6000),
            ScriptedRadio.entry(3, 3, "Other"),
        ]
    }

    @Test @LoopActor func existingInterfacesAreReportedAtTheStart() throws {
        let watched = try Watched(Self.inCafe)
        let events = watched.drain()
        guard case .interfaceAppeared(let interface) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(interface.name == "wlan0" && interface.index == 3 && interface.isStation)
        #expect(Array(events.dropFirst()) == [.connected(index: 3, Self.cafe)])
        #expect(watched.monitor.association(of: 3) == Self.cafe)
        #expect(watched.monitor.networks(on: 3).count == 3)
    }

    @Test @LoopActor func joiningIsReportedFromItsFirstSign() throws {
        let watched = try Watched()
        _ = watched.drain()
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 1)
        watched.radio.happen(NL80211_CMD_AUTHENTICATE.rawValue, index: 3)
        watched.radio.happen(NL80211_CMD_ASSOCIATE.rawValue, index: 3)
        #expect(watched.drain() == [.associationBegan(index: 3)])
        Self.inCafe(watched.radio)
        watched.connect(1)
        #expect(watched.drain() == [.connected(index: 3, Self.cafe)])
    }

    @Test @LoopActor func anAttemptThatFailsEnds() throws {
        let watched = try Watched()
        _ = watched.drain()
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 1)
        watched.radio.happen(NL80211_CMD_AUTHENTICATE.rawValue, index: 3) {
            $0.append(Int(NL80211_ATTR_TIMED_OUT.rawValue), [])
        }
        #expect(watched.drain() == [.associationBegan(index: 3), .disconnected(index: 3, reasonCode: nil)])
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 1)
        watched.peer(NL80211_CMD_DEL_STATION.rawValue, 1)
        #expect(watched.drain() == [.associationBegan(index: 3), .disconnected(index: 3, reasonCode: nil)])
    }

    @Test @LoopActor func theInterfaceTellsTheNameThatTheScanDoesNot() throws {
        let watched = try Watched()
        _ = watched.drain()
        watched.radio.interfaces = [ScriptedRadio.interface(3, "wlan0", ssid: SSID("Hidden"))]
        watched.connect(7)
        #expect(
            watched.drain() == [
                .connected(index: 3, WirelessAssociation(ssid: SSID("Hidden"), bssid: .numbered(7), security: .unknown))
            ])
    }

    @Test @LoopActor func aRoamOfTheDriverIsOne() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.radio.tables[3] = [
            ScriptedRadio.entry(3, 1, "Cafe"), ScriptedRadio.entry(3, 2, "Cafe", isAssociated: true),
        ]
        watched.peer(NL80211_CMD_ROAM.rawValue, 2)
        #expect(watched.drain() == [.roamed(index: 3, bssid: .numbered(2))])
        #expect(watched.monitor.association(of: 3)?.bssid == .numbered(2))
    }

    /// A connection manager leaves one access point in the same system call as it turns to the next.
    @Test @LoopActor func aRoamInTwoHalvesIsOne() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.disconnect(reason: 1)
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 2)
        watched.radio.happen(NL80211_CMD_AUTHENTICATE.rawValue, index: 3)
        #expect(watched.drain() == [])
        watched.radio.tables[3] = [
            ScriptedRadio.entry(3, 1, "Cafe"), ScriptedRadio.entry(3, 2, "Cafe", isAssociated: true),
        ]
        watched.connect(2)
        #expect(watched.drain() == [.roamed(index: 3, bssid: .numbered(2))])
    }

    @Test @LoopActor func aRoamThatFailsIsADisconnect() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.disconnect(reason: 1)
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 2)
        watched.peer(NL80211_CMD_DEL_STATION.rawValue, 2)
        #expect(watched.drain() == [.disconnected(index: 3, reasonCode: 1)])
        #expect(watched.monitor.association(of: 3) == nil)
    }

    @Test @LoopActor func turningToAnotherNetworkIsNoRoam() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.disconnect(reason: 1)
        watched.peer(NL80211_CMD_NEW_STATION.rawValue, 3)
        #expect(watched.drain() == [.disconnected(index: 3, reasonCode: 1), .associationBegan(index: 3)])
    }

    @Test @LoopActor func aDisconnectWithoutASecondHalfIsReportedSoon() async throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.disconnect(reason: 1)
        watched.turn()
        for _ in 0..<400 where watched.events.isEmpty {
            var timer: EventSource?
            await withCheckedContinuation { continuation in
                timer = try! EventLoop.shared.schedule(after: .milliseconds(5)) { continuation.resume() }
            }
            timer?.cancel()
        }
        #expect(watched.drain() == [.disconnected(index: 3, reasonCode: 1)])
    }

    @Test(arguments: [(3, false), (1, true), (6, true)] as [(UInt16, Bool)])
    @LoopActor func otherDisconnectsAreReportedAtOnce(reason: UInt16, isByAccessPoint: Bool) throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.disconnect(reason: reason, isByAccessPoint: isByAccessPoint)
        #expect(watched.drain() == [.disconnected(index: 3, reasonCode: Int(reason))])
    }

    @Test @LoopActor func aScanIsReportedWithItsList() throws {
        let watched = try Watched()
        _ = watched.drain()
        Self.inCafe(watched.radio)
        watched.radio.happen(NL80211_CMD_NEW_SCAN_RESULTS.rawValue, index: 99)
        watched.radio.happen(NL80211_CMD_SCAN_ABORTED.rawValue, index: 3)
        #expect(watched.drain() == [])
        watched.radio.happen(NL80211_CMD_NEW_SCAN_RESULTS.rawValue, index: 3)
        let events = watched.drain()
        guard case .scanFinished(3, let list) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(list.map(\.ssid.description) == ["Cafe", "Other", "Cafe"])
    }

    @Test @LoopActor func lostEventsAreFollowedByAReading() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.radio.inbox.append(.overrun)
        watched.radio.tables[3] = [ScriptedRadio.entry(3, 3, "Other", isAssociated: true)]
        #expect(
            watched.drain() == [
                .lost, .disconnected(index: 3, reasonCode: nil),
                .connected(
                    index: 3,
                    WirelessAssociation(ssid: SSID("Other"), bssid: .numbered(3), security: .open, frequency: 2412, signal: -50)),
            ])
        watched.radio.inbox.append(.overrun)
        watched.radio.interfaces = []
        #expect(watched.drain() == [.lost, .interfaceVanished(index: 3)])
    }

    /// Messages are lost while the answer to a loss is being read: at the end the monitor has the kernel's state.
    @Test @LoopActor func lossesDuringAReadingAreFollowedByAnother() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        for round in 0..<60 {
            watched.radio.inbox.insert(.overrun, at: min(round % 10, watched.radio.inbox.count))
            watched.monitor.exchange.readTurn()
        }
        watched.radio.tables[3] = []
        watched.radio.inbox.append(.overrun)
        watched.turn()
        #expect(watched.monitor.association(of: 3) == nil)
        #expect(watched.events.last == .disconnected(index: 3, reasonCode: nil))
    }

    @Test @LoopActor func anInterruptedDumpIsRepeatedThreeTimesAtMost() throws {
        let watched = try Watched()
        _ = watched.drain()
        watched.radio.asked = []
        watched.radio.interruptions = 2
        watched.radio.happen(NL80211_CMD_NEW_SCAN_RESULTS.rawValue, index: 3)
        #expect(watched.drain().count == 1)
        #expect(watched.radio.asked.count == 3)
        watched.radio.asked = []
        watched.radio.interruptions = 100
        watched.radio.happen(NL80211_CMD_NEW_SCAN_RESULTS.rawValue, index: 3)
        #expect(watched.drain().count == 1)
        #expect(watched.radio.asked.count == 4)
    }

    @Test @LoopActor func otherSendersThanTheKernelAreIgnored() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        watched.radio.inbox.append(.foreign)
        #expect(watched.drain() == [])
        #expect(watched.monitor.foreignCount == 1)
    }

    @Test @LoopActor func aReusedIndexIsAnotherInterface() throws {
        let watched = try Watched(Self.inCafe)
        _ = watched.drain()
        let payload = ScriptedRadio.interface(3, "wlan1", wdev: 77)
        watched.radio.inbox.append(
            .datagram(NetlinkMessage(type: ScriptedRadio.family, flags: 0, sequence: 0, port: 0, payload: payload[...]).octets))
        watched.radio.tables[3] = []
        let events = watched.drain()
        #expect(events.first == .interfaceVanished(index: 3))
        #expect(events.count == 2)
        #expect(watched.monitor.association(of: 3) == nil)
        #expect(watched.monitor.interfaces[3]?.name == "wlan1")
    }

    @Test @LoopActor func aLostSocketIsReplacedOnce() throws {
        let first = ScriptedRadio()
        let second = ScriptedRadio()
        second.interfaces = [ScriptedRadio.interface(3, "wlan0")]
        var sockets = [first, second]
        let monitor = try WirelessMonitor(family: ScriptedRadio.family) { () throws(NetlinkError) in
            guard !sockets.isEmpty else { throw NetlinkError(operation: "test", code: EMFILE) }
            return sockets.removeFirst()
        }
        var failures = 0
        monitor.onFailure = { _ in failures += 1 }
        monitor.start()
        first.inbox = [.failed(EBADF)]
        monitor.exchange.readTurn()
        while !second.inbox.isEmpty { monitor.exchange.readTurn() }
        #expect(monitor.interfaces[3] != nil)
        #expect(failures == 0)
        second.inbox = [.failed(EBADF)]
        monitor.exchange.readTurn()
        #expect(failures == 1)
    }

    @Test @LoopActor func theSentencesNameTheMissingCapability() {
        let refused = WirelessError(NetlinkError(operation: "x", code: EPERM), operation: "Scanning", index: 3)
        #expect(refused == .notPermitted(operation: "Scanning"))
        #expect(refused.description.contains("CAP_NET_ADMIN"))
        #expect(
            WirelessError(NetlinkError(operation: "x", code: ENODEV), operation: "Scanning", index: 3) == .noInterface(index: 3))
        #expect(
            WirelessError(NetlinkError(operation: "x", code: EBUSY), operation: "Scanning", index: 3)
                == .busy(operation: "Scanning"))
    }

    /// A machine without Wi-Fi reports that as an error; a machine with Wi-Fi must be able to watch.
    @Test @LoopActor func theRealMachineCanBeWatched() throws {
        do {
            let monitor = try WirelessMonitor()
            monitor.start()
            monitor.stop()
        } catch {
            #expect(error == .unavailable)
        }
    }
}
