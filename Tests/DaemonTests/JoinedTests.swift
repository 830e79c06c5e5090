import HotspotCore
import LinkState
import Testing

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
}
