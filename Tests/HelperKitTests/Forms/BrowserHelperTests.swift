import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit
@testable import hotspot_helpers

/// The helper `browser`: it claims every captive network, asks for nothing, and is proven by the probe alone.
@Suite struct BrowserHelperTests {
    private let isOpen = Locked(false)

    private func command(_ server: ScriptedServer) -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: loopback(probe: server.url + "/"),
            scope: Scope(deadline: .after(milliseconds: 30_000)), attempts: SharedProbe(), policy: .testing())
    }

    /// A portal that is only script, until it opens.
    private func portal() -> ScriptedServer {
        ScriptedServer { [isOpen] request in
            if request.path == "/in" { return .page("<title>Inn</title><script>login()</script>") }
            return .send(octets(isOpen.with { $0 } ? "HTTP/1.1 204 No Content\r\n\r\n" : redirect("/in")))
        }
    }

    @Test func claimsCaptiveNetworksOnly() throws {
        let server = portal()
        let evaluation = try BrowserHelper().evaluate(command(server))
        #expect(evaluation.confidence == .low && evaluation.needs == nil)
        #expect(evaluation.portal == Portal(origin: server.url, kind: "browser", title: "Inn"))
        isOpen.with { $0 = true }
        #expect(try BrowserHelper().evaluate(command(server)).confidence == .none)
    }

    @Test func handsOverUntilTheNetworkIsOpen() throws {
        let server = portal()
        let command = command(server)
        _ = try BrowserHelper().evaluate(command)
        let asked = try BrowserHelper().authenticate(command)
        #expect(asked.result == .uiRequired && asked.portal?.origin == server.url)
        #expect(asked.prompt?.fields == [] && asked.prompt?.termsURL == nil && asked.prompt?.title == "127.0.0.1")
        // hotspotctl adds the command that helps, with the interface.
        let sentence =
            "This login needs a browser. You can also log in with your own browser; hotspotd will notice."
        #expect(asked.prompt?.message == sentence)

        let early = try BrowserHelper().presentUI(command)
        #expect(early.result == .uiRequired)
        #expect(early.prompt?.message?.hasPrefix("The portal has not let you in yet.") == true)

        // The attempt continues; its first probe found the portal.
        isOpen.with { $0 = true }
        #expect(try BrowserHelper().presentUI(command).result == .success)
    }

    @Test(arguments: [
        ("<title>Іnstagram</title><script>login()</script>", "Instagram"),
        ("<h1>OneDrive</h1><form><input type=password name=p></form>", "Microsoft"),
        ("<h1>Instagram</h1><script>login()</script>", nil),
    ]) func namesTheCompanyThatThePageImitates(_ page: String, _ company: String?) throws {
        let server = ScriptedServer(["/": redirect("/in"), "/in": http(200, page)])
        #expect(try BrowserHelper().authenticate(command(server)).imitates == company)
    }

    @Test func theProbeMaintainsTheSession() throws {
        let server = portal()
        isOpen.with { $0 = true }
        #expect(try BrowserHelper().maintain(command(server)).result == .success)
        isOpen.with { $0 = false }
        let ended = try BrowserHelper().maintain(command(server))
        #expect(ended.result == .authenticationRequired && ended.portal?.origin == server.url)
        #expect(try BrowserHelper().logoff(command(server)).result == .failure)
    }
}
