import HotspotCore
import LinkState
import Testing
import Varlink

@testable import hotspotd

@Suite struct JoinedTests {
    @Test func theLinkNamesTheProbeInUse() {
        let joined = Joined(
            association: "a", network: .anonymous, ssid: SSID(printable: "Cafe")!, security: .open,
            snapshot: LinkSnapshot(index: 7, name: "hot7", isUp: true, hasCarrier: true), facts: LinkFacts(source: "none"))
        var settings = Settings()
        settings.probeExpect = "only with an address of its own"
        let addresses = [Link.usualProbe.url: "192.0.2.80"]
        let usual = joined.link(attempt: nil, interface: "hot7", settings: settings, probeAddresses: addresses)
        #expect(usual.probeURL == Link.usualProbe.url && usual.probeExpect == Link.usualProbe.expect)
        #expect(usual.probeAddress == "192.0.2.80")
        (settings.probeURL, settings.probeExpect) = ("http://probe.example/", "hello")
        let own = joined.link(attempt: nil, interface: "hot7", settings: settings, probeAddresses: addresses)
        #expect(own.probeURL == "http://probe.example/" && own.probeExpect == "hello" && own.probeAddress == nil)
    }

    /// A helper gets the elements and an origin. The addresses and names in a stranger's announcement stay with the daemon.
    @Test func helpersGetTheAnnouncementWithoutItsAddresses() {
        var announced = AnnouncedAccess()
        (announced.additionalStep, announced.loginOrigin) = (true, "https://portal.example")
        (announced.loginURL, announced.venueNames) = ("https://portal.example/login", ["Hotel"])
        let joined = Joined(
            association: "a", network: .anonymous, ssid: SSID(printable: "Cafe")!, security: .open,
            snapshot: LinkSnapshot(index: 7, name: "hot7", isUp: true, hasCarrier: true), announced: announced,
            facts: LinkFacts(source: "none"))
        let network = joined.network(for: "form", chosen: nil, interface: "hot7", autoJoined: true, justJoined: true)
        #expect(network.announced?.additionalStep == true && network.announced?.loginOrigin == "https://portal.example")
        #expect(network.announced?.loginURL == nil && network.announced?.venueNames == nil)
        #expect(Coding.value(network)["announced"]?["loginOrigin"] == "https://portal.example")
    }
}
