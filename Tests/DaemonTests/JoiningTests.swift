import HotspotCore
import LinkState
import PortalAnnouncement
import Testing
import Wireless

@testable import hotspotd

/// A link's way into a network and out of it, event by event, with the time in milliseconds.
@Suite struct JoiningTests {
    /// The known facts about one link, and changes of them.
    private struct Bench {
        var joining = Joining()
        var view: Joining.View

        init(wireless: Bool = true) {
            view = Joining.View(
                link: LinkSnapshot(index: 3, name: "hot3", hardwareAddress: HardwareAddress(octets: [2, 0, 0, 0, 0, 3])),
                isWireless: wireless)
        }

        /// Sets a cable or an association, an address, a route and a source that knows everything.
        mutating func arrive(_ network: String = "Cafe", _ address: String = "10.0.0.7/24") {
            view.link.isUp = true
            view.link.hasCarrier = true
            view.link.carrierUpCount = 1
            view.link.addresses = [address]
            view.link.gateways = ["10.0.0.1"]
            view.progress = .complete
            if view.isWireless { view.association = Self.association(network) }
        }

        mutating func step(_ milliseconds: Int = 0) -> Joining.Step {
            joining.step(view, at: Instant(nanoseconds: Int64(milliseconds) * 1_000_000))
        }

        static func association(_ name: String, bssid: UInt8 = 1) -> WirelessAssociation {
            WirelessAssociation(ssid: SSID(printable: name)!, bssid: JoiningTests.bssid(bssid), security: .open)
        }
    }

    private static func bssid(_ number: UInt8) -> BSSID { BSSID(octets: [2, 0, 0, 0, 1, number])! }
    private static func cafe(_ name: String = "Cafe") -> NetworkID { .wireless(SSID(printable: name)!, .open) }
    private static let gateway = HardwareAddress(octets: [2, 0, 0, 0, 9, 9])!

    // MARK: Into a network

    @Test func aRadioJoinsWhenItHasAssociationAddressRouteAndResolvers() {
        var bench = Bench()
        #expect(bench.step() == .rest)
        (bench.view.link.isUp, bench.view.link.hasCarrier) = (true, true)
        bench.view.link.addresses = ["10.0.0.7/24"]
        #expect(bench.step() == .rest, "an address without an association")
        bench.view.association = Bench.association("Cafe")
        #expect(bench.step(10) == .wait(asksGateway: false), "no route")
        bench.view.link.gateways = ["10.0.0.1"]
        bench.view.facts = LinkFacts(nameservers: ["10.0.0.1"], source: "dhclient")
        #expect(bench.step(20) == .join(Self.cafe(), bssid: Self.bssid(1)))
        #expect(bench.step(30) == .stay)
    }

    @Test func aWireIsNamedByItsGatewayAndIsAnonymousWhereItIsSilent() {
        var bench = Bench(wireless: false)
        bench.arrive()
        #expect(bench.step() == .wait(asksGateway: true))
        #expect(bench.step(20) == .wait(asksGateway: true))
        bench.view.gateway = .some(Self.gateway)
        #expect(bench.step(30) == .join(.wired(Self.gateway), bssid: Self.gateway))

        var silent = Bench(wireless: false)
        silent.arrive()
        #expect(silent.step() == .wait(asksGateway: true))
        silent.view.gateway = .some(nil)
        #expect(silent.step(1000) == .join(.anonymous, bssid: nil))
    }

    /// A case of the waits: the known facts, and the first moment at which the network is joined.
    struct Wait: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var milliseconds: Int
        var known: @Sendable (inout Joining.View) -> Void
    }

    private static func from(_ source: String) -> LinkFacts { LinkFacts(nameservers: ["10.0.0.1"], source: source) }

    @Test(arguments: [
        Wait(testDescription: "a program has finished with the link", milliseconds: 0) { $0.progress = .complete },
        Wait(testDescription: "a program has not finished", milliseconds: 4000) {
            $0.progress = .busy
            $0.facts = from("networkd")
        },
        Wait(testDescription: "programs are asked, a record is there", milliseconds: 300) {
            $0.progress = .asking
            $0.facts = from("dhclient")
        },
        Wait(testDescription: "a record of this link", milliseconds: 0) { $0.facts = from("dhclient") },
        Wait(testDescription: "resolv.conf alone", milliseconds: 300) { $0.facts = from("resolv.conf") },
        Wait(testDescription: "resolv.conf, and a record is due", milliseconds: 3000) {
            $0.facts = from("resolv.conf")
            $0.isRecordDue = true
        },
        Wait(testDescription: "no resolver at all", milliseconds: 4000) { _ in },
        Wait(testDescription: "the settings name resolvers", milliseconds: 0) { $0.hasResolvers = true },
        Wait(testDescription: "no route", milliseconds: 4000) {
            $0.progress = .complete
            $0.link.gateways = []
        },
    ]) func anArrivalWaitsNoLongerThanItsSourcesNeed(_ wait: Wait) {
        var bench = Bench()
        bench.arrive()
        bench.view.progress = .none
        wait.known(&bench.view)
        if wait.milliseconds > 0 {
            #expect(bench.step(0) == .wait(asksGateway: false))
            #expect(bench.step(wait.milliseconds - 1) == .wait(asksGateway: false))
        }
        #expect(bench.step(wait.milliseconds) == .join(Self.cafe(), bssid: Self.bssid(1)))
    }

    @Test func aLinkThatGoesWhileItWaitsBeginsAgain() {
        var bench = Bench()
        bench.arrive()
        bench.view.progress = .busy
        #expect(bench.step(0) == .wait(asksGateway: false))
        bench.view.link.isUp = false
        #expect(bench.step(3000) == .giveUp)
        #expect(bench.step(3001) == .rest)
        bench.view.link.isUp = true
        #expect(bench.step(3500) == .wait(asksGateway: false))
        #expect(bench.step(4500) == .wait(asksGateway: false), "the wait begins anew")
    }

    @Test func theNetworkIsAskedForItsPortalWherePortalsAreAndNoSourceHasToldIt() {
        func asks(_ known: LinkFacts?, _ security: Security?) -> Bool {
            var bench = Bench(wireless: security != nil)
            bench.arrive()
            bench.view.facts = known
            if let security { bench.view.association?.security = security }
            return bench.joining.asksNetwork(bench.view)
        }
        for security in Security.allCases where security != .wired {
            #expect(asks(nil, security) == (security == .open), "\(security)")
        }
        #expect(asks(nil, nil) && asks(Self.from("dhclient"), nil), "a wire")
        for api in [.url("https://portal.example/api"), .unrestricted] as [PortalAPIAddress] {
            #expect(!asks(LinkFacts(nameservers: [], api: api, source: "NetworkManager"), nil), "NetworkManager told it")
        }
    }

    @Test func otherAddressesAltogetherBeginTheWaitAgain() {
        var bench = Bench()
        bench.arrive("Cafe", "10.0.0.7/24")
        bench.view.progress = .none
        bench.view.facts = Self.from("resolv.conf")
        #expect(bench.step(0) == .wait(asksGateway: false))
        bench.view.link.addresses = ["fd00::2/64"]
        #expect(bench.step(290) == .wait(asksGateway: false))
        bench.view.link.addresses = ["10.0.0.9/24", "fd00::2/64"]
        #expect(bench.step(310) == .wait(asksGateway: false), "its other family has just come")
        #expect(bench.step(590) == .join(Self.cafe(), bssid: Self.bssid(1)))
    }

    @Test func theGatewayIsAskedWhenAllElseIsThere() {
        var bench = Bench(wireless: false)
        bench.arrive()
        bench.view.progress = .busy
        #expect(bench.step(0) == .wait(asksGateway: false))
        bench.view.progress = .complete
        #expect(bench.step(10) == .wait(asksGateway: true))
    }

    // MARK: Out of a network

    /// A change of a joined link, and the step that it makes.
    struct Change: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var step: Joining.Step
        var wireless = true
        var change: @Sendable (inout Joining.View) -> Void
    }

    @Test(arguments: [
        Change(testDescription: "nothing", step: .stay) { _ in },
        Change(testDescription: "renamed", step: .stay) { $0.link.name = "other3" },
        Change(testDescription: "a second address", step: .stay) { $0.link.addresses.append("10.0.0.8/24") },
        Change(testDescription: "the route is gone", step: .stay) { $0.link.gateways = [] },
        Change(testDescription: "roamed", step: .roam(bssid(2))) { $0.association = Bench.association("Cafe", bssid: 2) },
        Change(testDescription: "another network", step: .leave(reason: "another network")) {
            $0.association = Bench.association("Train")
        },
        Change(testDescription: "disassociated", step: .leave(reason: "disconnected")) { $0.association = nil },
        Change(testDescription: "the radio is off", step: .leave(reason: "disconnected")) {
            $0.association = nil
            $0.link.isUp = false
        },
        Change(testDescription: "the address is gone", step: .leave(reason: "the address is gone")) { $0.link.addresses = [] },
        Change(testDescription: "another address", step: .leave(reason: "the address changed")) {
            $0.link.addresses = ["10.0.0.9/24"]
        },
        Change(testDescription: "another hardware address", step: .leave(reason: "the hardware address changed")) {
            $0.link.hardwareAddress = HardwareAddress(octets: [2, 0, 0, 0, 0, 4])
        },
        Change(testDescription: "the cable is pulled", step: .leave(reason: "the link is down"), wireless: false) {
            $0.link.hasCarrier = false
        },
        Change(testDescription: "the cable is back already", step: .leave(reason: "the link was down"), wireless: false) {
            $0.link.carrierUpCount = 2
        },
        // mac80211 turns the carrier off between the two access points of a roam.
        Change(testDescription: "a radio's carrier is off", step: .stay) { $0.link.hasCarrier = false },
        Change(testDescription: "a radio's carrier is back", step: .stay) { $0.link.carrierUpCount = 2 },
        Change(testDescription: "the radio is down", step: .leave(reason: "the link is down")) { $0.link.isUp = false },
        Change(testDescription: "another gateway", step: .stay, wireless: false) {
            $0.gateway = .some(HardwareAddress(octets: [2, 0, 0, 0, 9, 1]))
        },
    ]) func aJoinedLinkStaysRoamsOrLeaves(_ change: Change) {
        var bench = Bench(wireless: change.wireless)
        bench.arrive()
        bench.view.gateway = .some(Self.gateway)
        guard case .join = bench.step() else {
            Issue.record("it did not join")
            return
        }
        change.change(&bench.view)
        #expect(bench.step(60_000) == change.step)
    }

    @Test func anAddressThatChangesInMidLoginIsLeftAndJoinedAgain() {
        var bench = Bench()
        bench.arrive()
        _ = bench.step()
        bench.view.link.addresses = ["10.0.0.9/24"]
        #expect(bench.step(10) == .leave(reason: "the address changed"))
        #expect(bench.step(10) == .join(Self.cafe(), bssid: Self.bssid(1)))
    }

    @Test func anAddressIsFollowedThroughARenewal() {
        var bench = Bench()
        bench.arrive()
        _ = bench.step()
        bench.view.link.addresses = ["10.0.0.7/24", "10.0.0.8/24"]
        #expect(bench.step(10) == .stay)
        bench.view.link.addresses = ["10.0.0.8/24"]
        #expect(bench.step(20) == .stay, "it was there before the other one went")
    }

    @Test func leftoverAddressesOfTheLastNetworkAreNotJoinedWith() {
        var bench = Bench()
        bench.arrive()
        _ = bench.step()
        bench.view.association = Bench.association("Train")
        #expect(bench.step(1000) == .leave(reason: "another network"))
        #expect(bench.step(1000) == .wait(asksGateway: false))
        #expect(!bench.joining.asksNetwork(bench.view), "to this network the address is a stranger's")
        bench.view.link.addresses.append("172.16.0.4/16")
        #expect(bench.step(1500) == .join(Self.cafe("Train"), bssid: Self.bssid(1)))
        // The other network gives the same address, which counts only after the wait.
        bench.view.association = Bench.association("Cafe")
        #expect(bench.step(9000) == .leave(reason: "another network"))
        #expect(bench.step(9000) == .wait(asksGateway: false))
        #expect(bench.step(13_000) == .join(Self.cafe(), bssid: Self.bssid(1)))
    }

    @Test func asleepOrUnpluggedTheSameNetworkIsJoinedAnewAtOnce() {
        var bench = Bench()
        bench.arrive()
        _ = bench.step()
        bench.view.association = nil
        #expect(bench.step(10) == .leave(reason: "disconnected"))
        #expect(bench.step(10) == .rest)
        bench.view.association = Bench.association("Cafe")
        #expect(bench.step(3_600_000) == .join(Self.cafe(), bssid: Self.bssid(1)), "its old address is this network's")
    }

    @Test func aLinkThatTheSettingsTakeAwayBeginsFromNowhere() {
        var bench = Bench()
        bench.arrive()
        _ = bench.step()
        bench.joining.reset()
        #expect(!bench.joining.isAnywhere)
        #expect(bench.step(10) == .join(Self.cafe(), bssid: Self.bssid(1)))
    }
}
