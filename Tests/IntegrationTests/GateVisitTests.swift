import Foundation
import HotspotCore
import Testing

/// `Gate=routes` in the built daemon, through a whole visit: who can use the link when. By IPv4 and IPv6, hosts on the link and beyond.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct GateVisitTests {
    private static let gate = "[Policy]\nGate=routes\n[Commands]\nTimeoutSec=120\n"

    private func held(_ more: JSONValue = [:]) -> JSONValue {
        .object((more.object ?? [:]).merging(["hold": true]) { $1 })
    }

    @Test(
        "4, 5, 66, 68 Closed until authenticated, open in a timer's maintain, closed for a renewal, open until the logoff is answered"
    )
    func visit() throws {
        let daemon = try CabledDaemon(
            settings: Self.gate + "MaintainIntervalSec=1",
            plan: [
                "Evaluate": held(["reach": true]), "Authenticate": held(["reach": true]),
                "Maintain": held(["result": "authenticationRequired"]), "Logoff": held(),
            ])
        try daemon.plugNetwork("hot1")
        try daemon.wait("hot1", "evaluating")
        #expect(try daemon.note("reached-Evaluate").split(separator: " ").map(String.init) == CabledDaemon.hosts)
        #expect(try daemon.reached() == [])
        try daemon.letGo("Evaluate")
        try daemon.wait("hot1", "authenticating")
        #expect(try daemon.note("reached-Authenticate").split(separator: " ").map(String.init) == CabledDaemon.hosts)
        #expect(try daemon.reached() == [])

        // The gate is open while online, and during the Maintain that is held.
        try daemon.letGo("Authenticate")
        try daemon.eventually("it is free") { ["authenticated", "maintaining"].contains(daemon.state()) }
        #expect(try daemon.reached() == CabledDaemon.hosts)
        try daemon.wait("hot1", "maintaining")
        #expect(try daemon.reached() == CabledDaemon.hosts)
        #expect(daemon.state() == "maintaining")

        // The session is over: the gate is closed until the session is renewed.
        try FileManager.default.removeItem(atPath: daemon.scratch.path + "/notes/reached-Authenticate")
        try daemon.letGo("Maintain")
        try daemon.wait("hot1", "authenticating")
        #expect(try daemon.reached() == [])
        #expect(try daemon.note("reached-Authenticate").split(separator: " ").map(String.init) == CabledDaemon.hosts)
        #expect(daemon.state() == "authenticating")
        try daemon.plan(["Maintain": held(), "Logoff": held(["reach": true])])
        try daemon.letGo("Authenticate")
        try daemon.eventually("it is free again") { ["authenticated", "maintaining"].contains(daemon.state()) }
        #expect(try daemon.reached() == CabledDaemon.hosts)

        // The helper needs the link to log off, so the gate is open until it has answered. The logoff waits for a running Maintain (D17).
        try daemon.call("Logoff", ["interface": "hot1"])
        try daemon.letGo("Maintain")
        try daemon.wait("hot1", "loggingOff")
        #expect(try daemon.reached() == CabledDaemon.hosts && daemon.state() == "loggingOff")
        try daemon.letGo("Logoff")
        try daemon.wait("hot1", "inactive")
        #expect(try daemon.reached() == [])
        let shown = try daemon.call("Status")["problems"]?.array?.contains { $0["code"] == "gate" }
        #expect(shown != true)
    }

    @Test("After kill -9 in whatever state, the restart closes and opens as the machine says") func kill() throws {
        let daemon = try CabledDaemon(settings: Self.gate, plan: ["Authenticate": held(), "Maintain": held()])
        try daemon.plugNetwork("hot1")
        try daemon.eventually("it logs in") { try daemon.methods() == ["Evaluate", "Authenticate"] }
        #expect(try daemon.reached() == [])
        daemon.kill()
        #expect(try daemon.reached() == [], "nobody opened it: the restart has something to do")
        try daemon.start()
        try daemon.eventually("it logs in again") { try daemon.methods().count == 4 }
        #expect(try daemon.reached() == [])
        try daemon.letGo("Authenticate")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.reached() == CabledDaemon.hosts)

        // An open link stays open without a daemon, and with the next one: the association is the same.
        daemon.kill()
        #expect(try daemon.reached() == CabledDaemon.hosts)
        try daemon.start()
        try daemon.eventually("the remembered helper is asked") { try daemon.methods().last == "Maintain" }
        #expect(try daemon.calls().last?["parameters"]?["network"]?["justJoined"] == false)
        #expect(try daemon.reached() == CabledDaemon.hosts)
        try daemon.letGo("Maintain")
        try daemon.wait("hot1", "authenticated")

        // In another association the gate is closed until Maintain is answered.
        daemon.kill()
        try daemon.unplug("hot1")
        try daemon.shell("ip link set hot1 down; ip link set hot1 up")
        try daemon.join("hot1")
        try daemon.start()
        try daemon.eventually("the remembered helper is asked") { try daemon.methods().count == 6 }
        #expect(try daemon.calls().last?["parameters"]?["network"]?["justJoined"] == true)
        #expect(try daemon.reached() == [])
        try daemon.letGo("Maintain")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.reached() == CabledDaemon.hosts)
    }

    @Test("A network that is switched off for all helpers is left alone, until it is switched on again") func disabled() throws {
        let daemon = try CabledDaemon(settings: Self.gate, plan: ["Authenticate": held()])
        try daemon.plugNetwork("hot1")
        try daemon.wait("hot1", "authenticating")
        #expect(try daemon.reached() == [])
        let network: JSONValue = "wired:02:00:00:00:00:01"
        try daemon.call("SetEnabled", ["ssid": network, "enabled": false])
        #expect(daemon.state() == "inactive")
        #expect(try daemon.reached() == CabledDaemon.hosts)
        // The gate is also open after a new join, as soon as the daemon knows which network it is.
        try daemon.unplug("hot1")
        try daemon.wait("hot1", "inactive") { $0?["ssid"] == nil }
        try daemon.join("hot1")
        try daemon.eventually("it is left alone") { try daemon.reached() == CabledDaemon.hosts }
        #expect(daemon.state() == "inactive")
        try daemon.call("SetEnabled", ["ssid": network, "enabled": true])
        #expect(try daemon.reached() == [])
        try daemon.wait("hot1", "authenticating")
        try daemon.letGo("Authenticate")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.reached() == CabledDaemon.hosts)
    }

    @Test("Somebody who changes the link's group or the rules neither opens nor closes it for long") func undone() throws {
        let daemon = try CabledDaemon(settings: Self.gate, plan: ["Authenticate": held()])
        try daemon.plugNetwork("hot1")
        try daemon.wait("hot1", "authenticating")
        #expect(try daemon.reached() == [])
        try daemon.shell("ip link set hot1 group 9")
        try daemon.eventually("it is closed again") { try daemon.reached() == [] }
        // Deletes the gate's rules, as systemd-networkd does when it starts.
        try daemon.shell("ip -4 rule flush proto 104; ip -6 rule flush proto 104")
        try daemon.eventually("the rules are back") { try daemon.reached() == [] }
        #expect(try daemon.shell("ip rule").contains("oif hot1 lookup main"))
        try daemon.letGo("Authenticate")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.reached() == CabledDaemon.hosts)
        #expect(try daemon.shell("ip link show hot1").contains("group 9"))
        try daemon.shell("ip link set hot1 group 1752134771")
        try daemon.eventually("it is open again") { try daemon.reached() == CabledDaemon.hosts }
        #expect(daemon.state() == "authenticated")
    }

    @Test("An interface that is no longer managed is open, and nobody waits for it") func unmanaged() throws {
        let daemon = try CabledDaemon(settings: Self.gate, plan: [:])
        // An address and no route: the arrival waits, and the helper that will be asked is started.
        try daemon.shell(
            """
            ip link add hot1 type veth peer name far; ip link set far up; ip link set hot1 up
            ip addr add 192.0.1.2/24 dev hot1
            """)
        try daemon.eventually("the helper is started") { !daemon.helperProcesses.isEmpty }
        try daemon.reload("Match=hot*", "Match=cold*")
        try daemon.wait("hot1", nil)
        try daemon.eventually("the helper is ended") { daemon.helperProcesses.isEmpty }
        #expect(try daemon.shell("ip -o link show group 1752134771") == "")
    }
}
