import Testing

@testable import hotspotd

struct PortalTrailTests {
    @Test func anotherPortalIsOneThatIsFoundTwice() {
        var trail = PortalTrail()
        trail.add("http://a")
        #expect(trail.last == "http://a" && !trail.leadsElsewhere(than: ["http://b"]))
        trail.add("http://a")
        #expect(trail.leadsElsewhere(than: ["http://b"]) && !trail.leadsElsewhere(than: ["http://a"]))
        for number in 0..<4 {
            trail.add("http://\(number).portal")
            #expect(!trail.leadsElsewhere(than: ["http://a"]), "a host for each request")
        }
        trail.add("http://3.portal")
        #expect(trail.leadsElsewhere(than: ["http://a", "http://b"]))
        #expect(!trail.leadsElsewhere(than: ["http://a", "http://3.portal"]), "one that was asked for already")
        #expect(!trail.leadsElsewhere(than: []))
    }
}
