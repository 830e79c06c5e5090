import HotspotCore
import Testing

@testable import Wireless

/// The rules of joining, roaming and leaving, as values.
@Suite struct StationTests {
    private static let cafe = entry(1, "Cafe")
    private static let twin = entry(2, "Cafe")
    private static let other = entry(3, "Other")

    private static func entry(_ number: UInt8, _ name: String, _ security: Security = .open) -> BSS {
        BSS(
            bssid: .numbered(number), ssid: SSID(name), frequency: 2412, signal: -50, security: security,
            lastSeen: Instant(nanoseconds: 1))
    }

    private static func joined(_ entry: BSS) -> [BSS] {
        var entry = entry
        entry.isAssociated = true
        return [entry] + [cafe, twin, other].filter { $0.bssid != entry.bssid }
    }

    private static func connected(_ entry: BSS) -> WirelessEvent {
        .connected(
            index: 3,
            WirelessAssociation(ssid: entry.ssid, bssid: entry.bssid, security: entry.security, frequency: 2412, signal: -50))
    }

    private let interface = WirelessInterface(index: 3, name: "wlan0", wiphy: 0, isStation: true)

    /// A station in the café's network.
    private func inCafe() -> Station {
        var station = Station(interface: interface, generation: 1)
        #expect(station.handle(.tableRead(Self.joined(Self.cafe), for: [.association])) == [Self.connected(Self.cafe)])
        return station
    }

    private let left = StationEvent.disconnected(isByAccessPoint: false, reasonCode: 1)

    @Test func joiningIsReportedWhenItBeginsAndWhenTheTableShowsIt() {
        var station = Station(interface: interface, generation: 1)
        #expect(station.handle(.turned(to: .numbered(1))) == [.associationBegan(index: 3)])
        #expect(station.handle(.turned(to: nil)) == [])
        #expect(station.handle(.connectSucceeded(to: .numbered(1), requested: nil)) == [])
        #expect(station.handle(.tableRead(Self.joined(Self.cafe), for: [.association])) == [Self.connected(Self.cafe)])
        #expect(station.association?.bssid == .numbered(1))
    }

    @Test func aDisconnectWaitsForTheSecondHalfOfARoam() {
        var station = inCafe()
        #expect(station.handle(left) == [] && station.isWaitingForRoam)
        #expect(station.handle(.turned(to: .numbered(2))) == [] && !station.isWaitingForRoam)
        #expect(station.handle(.connectSucceeded(to: .numbered(2), requested: nil)) == [])
        #expect(
            station.handle(.tableRead(Self.joined(Self.twin), for: [.association]))
                == [.roamed(index: 3, bssid: .numbered(2))])
    }

    @Test func aDisconnectWithoutASecondHalfIsReportedOnce() {
        var station = inCafe()
        #expect(station.handle(left) == [])
        #expect(station.handle(.tableRead([], for: [.association])) == [], "an empty table says nothing now")
        #expect(station.handle(.roamTimedOut) == [.disconnected(index: 3, reasonCode: 1)])
        #expect(station.association == nil && !station.isWaitingForRoam)
        #expect(station.handle(.roamTimedOut) == [])
    }

    @Test func aRoamThatFailsIsADisconnect() {
        for failure in [StationEvent.associationFailed, .peerRemoved(.numbered(2)), left] {
            var station = inCafe()
            #expect(station.handle(left) == [] && station.handle(.turned(to: .numbered(2))) == [])
            #expect(station.handle(failure) == [.disconnected(index: 3, reasonCode: 1)], "\(failure)")
        }
    }

    @Test func turningToAnotherNetworkIsNoRoam() {
        var station = inCafe()
        #expect(station.handle(left) == [])
        #expect(
            station.handle(.turned(to: .numbered(3)))
                == [.disconnected(index: 3, reasonCode: 1), .associationBegan(index: 3)])
    }

    @Test func onlyAnUnexplainedDisconnectOfTheStationMayBeARoam() {
        for (isByAccessPoint, reason) in [(true, 1), (false, 3), (true, nil)] as [(Bool, Int?)] {
            var station = inCafe()
            #expect(
                station.handle(.disconnected(isByAccessPoint: isByAccessPoint, reasonCode: reason))
                    == [.disconnected(index: 3, reasonCode: reason)])
            #expect(!station.isWaitingForRoam)
        }
    }

    @Test func theSameNameWithAnotherSecurityIsAnotherNetwork() {
        var station = inCafe()
        let impostor = Self.entry(2, "Cafe", .psk)
        #expect(
            station.handle(.tableRead(Self.joined(impostor), for: [.association]))
                == [.disconnected(index: 3, reasonCode: nil), Self.connected(impostor)])
    }

    @Test func aFailedReadingIsNoDisconnect() {
        var station = inCafe()
        #expect(station.handle(.tableRead(nil, for: [.association, .scan])) == [])
        #expect(station.association != nil && station.networks.count == 3)
        #expect(
            station.handle(.tableRead([], for: [.association, .scan]))
                == [.disconnected(index: 3, reasonCode: nil), .scanFinished(index: 3, [])])
    }
}
