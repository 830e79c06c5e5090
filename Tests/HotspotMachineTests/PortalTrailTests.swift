import HotspotCore
import Testing

@testable import HotspotMachine

@Suite struct PortalTrailTests {
    @Test func anotherPortalIsOneThatIsFoundTwice() {
        var trail = PortalTrail()
        trail.add("http://a/")
        trail.add("http://a/")
        #expect(!trail.leadsElsewhere, "no login has handled a portal")
        trail.handleLast()
        #expect(!trail.leadsElsewhere)
        for number in 0..<4 {
            trail.add("http://\(number).portal/")
            #expect(!trail.leadsElsewhere, "a host for each request")
        }
        trail.add("http://3.portal/")
        #expect(trail.leadsElsewhere)
        trail.handleLast()
        #expect(!trail.leadsElsewhere)
        trail.add("http://a/")
        trail.add("http://a/")
        #expect(!trail.leadsElsewhere, "one that was handled before")
    }

    /// A helper may log in before the probe of the race has found the portal's place.
    @Test func aLoginBeforeTheFirstPlaceHandledThatPlace() {
        var trail = PortalTrail()
        trail.handleLast()
        trail.add("http://a/")
        trail.add("http://a/")
        #expect(!trail.leadsElsewhere)
        trail.add("http://b/")
        #expect(!trail.leadsElsewhere)
        trail.add("http://b/")
        #expect(trail.leadsElsewhere)
    }

    /// A portal that makes up a new address for each request does not restart the login.
    @Test func hasALimit() {
        var trail = PortalTrail()
        for number in 0..<20 {
            trail.add("http://portal/\(number)")
            trail.handleLast()
        }
        trail.add("http://portal/new")
        trail.add("http://portal/new")
        #expect(!trail.leadsElsewhere)
    }
}
