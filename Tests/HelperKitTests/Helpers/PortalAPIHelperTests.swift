import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import PageLogin
@testable import hotspot_helpers

/// The helper for networks with a captive portal API.
@Suite(.serialized) struct PortalAPIHelperTests {
    private func command(_ authority: Authority, api: String?, probe: String) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: probe, api: api),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: SharedProbe(),
            policy: .testing(authorities: authority.file))
    }

    @Test func usesThePageOfTheAPI() throws {
        let authority = try Authority()
        let isOpen = Locked(false)
        let port = Locked(0)
        let server = ScriptedServer { request in
            switch request.path {
            case "/api":
                let page = "https://127.0.0.1:\(port.with { $0 })/page"
                let body =
                    isOpen.with { $0 }
                    ? #"{"captive":false,"seconds-remaining":600,"can-extend-session":true,"venue-info-url":"https://venue.test/"}"#
                    : #"{"captive":true,"user-portal-url":"\#(page)"}"#
                return .send(octets(http(200, body, "Content-Type: application/captive+json")))
            case "/go":
                isOpen.with { $0 = true }
                return .page("You are now connected <a href=/logout>Log out</a>")
            case "/generate_204":
                return .send(octets(isOpen.with { $0 } ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/other")))
            default:
                return .page("<title>Venue</title><form action=/go><input type=submit value=Continue></form>")
            }
        }
        port.with { $0 = 0 }
        let front = try authority.front(server)
        port.with { $0 = front }
        let api = "https://127.0.0.1:\(front)/api"
        var command = command(authority, api: api, probe: server.url + "/generate_204")
        let evaluation = try PortalAPIHelper().evaluate(command)
        #expect(evaluation.confidence == .high)
        #expect(evaluation.portal?.origin == "https://127.0.0.1:\(front)")
        #expect(evaluation.portal?.pin?.isEmpty == false)
        command.portal = evaluation.portal
        let reply = try PortalAPIHelper().authenticate(command)
        #expect(reply.result == .success)
        #expect(SessionMemory(reply.session).logoff?.url == "https://127.0.0.1:\(front)/logout")
        command.link.attempt += "-2"
        command.session = reply.session
        let kept = try PortalAPIHelper().maintain(command)
        #expect(kept.result == .success)
        #expect(kept.session?.secondsRemaining == 600)
        #expect(kept.session?.canExtend == true)
        isOpen.with { $0 = false }
        command.link.attempt += "-3"
        let ended = try PortalAPIHelper().maintain(command)
        #expect(ended.result == .authenticationRequired)
        #expect(ended.portal?.pin == evaluation.portal?.pin)
    }

    @Test func claimsOnlyIfTheAPISaysCaptive() throws {
        let authority = try Authority()
        let server = ScriptedServer([
            "/": redirect("/in"), "/open": http(200, #"{"captive":false}"#, "Content-Type: application/captive+json"),
            "/junk": http(200, "<html>", "Content-Type: text/html"),
        ])
        let port = try authority.front(server)
        for path in [nil, "open", "junk", "missing"] {
            let api = path.map { "https://127.0.0.1:\(port)/\($0)" }
            let evaluation = try PortalAPIHelper().evaluate(command(authority, api: api, probe: server.url + "/"))
            #expect(evaluation.confidence == .none)
            #expect(evaluation.reason?.isEmpty == false)
        }
    }
}
