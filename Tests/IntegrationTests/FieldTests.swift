import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// Networks as people report them, and the built daemon with the endpoints that it asks by itself. Requests to the Internet end in
/// a namespace: names are answered there, HTTPS is accepted and never answered.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct FieldTests {
    /// The hosts of the usual endpoints, by the addresses that they have here.
    private static let google = "203.0.113.1", mozilla = "203.0.113.2", gnome = "203.0.113.3", cloudflare = "1.1.1.1"

    private static let world = """
        names = {b"connectivitycheck": 1, b"detectportal": 2, b"nmcheck": 3, b"www": 4}
        for address in ("192.0.2.53", "1.1.1.1", *(f"203.0.113.{number}" for number in names.values())): ip(f"addr add {address}/32 dev lo")
        silent = socket.create_server(("", 443), backlog=64)
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind(("192.0.2.53", 53))
        def resolve():
            while True:
                question, client = asked.recvfrom(512)
                number = names.get(question[13:13 + question[12]])
                wantsIPv4 = question[-4:-2] == b"\\0\\1"
                answer = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4" + bytes([203, 0, 113, number]) if number and wantsIPv4 else b""
                asked.sendto(question[:2] + b"\\x81\\x80\\0\\1\\0" + bytes([1 if answer else 0]) + b"\\0\\0\\0\\0" + question[12:] + answer, client)
        threading.Thread(target=resolve, daemon=True).start()
        expected = {
            "203.0.113.1": b"204 No Content", "203.0.113.2": b"200 OK\\r\\nContent-Length: 8\\r\\n\\r\\nsuccess\\n",
            "203.0.113.3": b"200 OK\\r\\nContent-Length: 24\\r\\n\\r\\nNetworkManager is online",
            "1.1.1.1": b"301 Moved\\r\\nLocation: https://1.1.1.1/\\r\\nContent-Length: 0",
        }
        def redirect(to): return b"302 Found\\r\\nLocation: http://" + to + b"\\r\\nContent-Length: 0"
        def note(host): open(FOLDER + "/asked", "a").write(host + "\\n")
        def answer(line, host, isOpen, to=b"192.0.1.1/login", after=0):
            line.recv(4096); note(host); time.sleep(after)
            line.sendall(b"HTTP/1.1 " + (expected[host] if isOpen else redirect(to)) + b"\\r\\n\\r\\n")
        """

    /// A daemon in such a network, with one helper.
    private func daemon(answers: String, plan: JSONValue = ["Evaluate": ["confidence": "none"]]) throws -> CabledDaemon {
        let prober = Machine.release.appendingPathComponent("hotspot-helpers").path
        let daemon = try CabledDaemon(settings: "[Probe]\nExec=\(prober)\n", plan: plan)
        let world = "FOLDER = \"\(daemon.scratch.path)\"\n" + Self.world
        try daemon.plugNetwork("hot1", answers: answers, world: world)
        return daemon
    }

    private func asked(_ daemon: CabledDaemon) -> [String] {
        let text = (try? String(contentsOfFile: daemon.scratch.path + "/asked", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    @Test(
        "One check host that is let through is no Internet, whichever it is, and however many are",
        arguments: [[google], [google, cloudflare], [google, gnome]])
    func oneHostIsLetThrough(_ hosts: [String]) throws {
        let daemon = try daemon(answers: "answer(line, host, host in \(hosts))")
        let captive = try daemon.wait("hot1", "failure")
        #expect(captive?["captive"] == true && captive?["outcome"] == "unclaimedCaptive")
        let check = try daemon.call("Check")
        #expect(check["verdict"] == "captive" && check["detail"]?.string == "portal http://192.0.1.1")
        // Requests without an answer are listed as well.
        let requests = check["requests"]?.array?.compactMap(\.string) ?? []
        #expect(requests.contains { $0.hasPrefix("GET https://www.gstatic.com") }, "\(requests)")
    }

    @Test("HTTPS that is silent is no Internet: no word says online") func silentHTTPS() throws {
        let daemon = try daemon(answers: "answer(line, host, True)")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.problems() == ["httpsBlocked"])
        #expect(try daemon.call("Check")["verdict"] == "limited")
    }

    @Test("A gateway that answers slowly is found by its first answer, and each host is asked once", arguments: [4, 6])
    func slowGateway(_ seconds: Int) throws {
        let daemon = try daemon(answers: "answer(line, host, False, after=\(seconds))")
        try daemon.wait("hot1", "failure") { $0?["outcome"] == "unclaimedCaptive" }
        let hosts = asked(daemon)
        #expect(Set(hosts) == [Self.google, Self.cloudflare] && hosts.count == 2, "\(hosts)")
    }

    @Test("D27 A network that needed no login and closes is noticed as soon as connections fail") func closes() throws {
        let daemon = try daemon(answers: "answer(line, host, not os.path.exists(FOLDER + '/closed'))")
        try daemon.wait("hot1", "authenticated")
        daemon.scratch.write("closed", "")
        try daemon.eventually("the portal is found") {
            try daemon.shell("python3 -c 'import socket; socket.socket().connect_ex((\"192.0.1.1\", 81))'")
            return daemon.state() == "failure"
        }
        #expect(try daemon.outcomes().last == "unclaimedCaptive")
    }

    @Test("D33 A session that its helper wants to maintain sooner is maintained then, each time") func keptOpen() throws {
        let daemon = try daemon(
            answers: "answer(line, host, os.path.exists(FOLDER + '/notes/accepted'))",
            plan: [
                "Evaluate": ["confidence": "high", "portal": ["origin": "http://192.0.1.1", "kind": "form"]],
                "Authenticate": ["session": ["maintainAfter": 5]], "Maintain": ["session": ["maintainAfter": 5]],
            ])
        try daemon.wait("hot1", "authenticating")
        try daemon.leave("accepted", "")
        try daemon.eventually("the session is maintained twice") {
            try daemon.methods().filter { $0 == "Maintain" }.count >= 2
        }
        #expect(["authenticated", "maintaining"].contains(daemon.state()))
    }

    @Test("D32 Terms at one host, then the network leads to another: its portal has its race at once") func behind() throws {
        let daemon = try daemon(
            answers: """
                answer(line, host, False, b"198.51.100.1/form" if os.path.exists(FOLDER + "/notes/accepted") else b"192.0.1.1/terms")
                """,
            plan: [
                "Evaluate": ["confidence": "high", "portal": ["origin": "http://192.0.1.1", "kind": "form"]], "Authenticate": [:],
            ])
        // Waits for the probe as well: on a busy machine, the helper may be asked before the daemon's own probe has an answer.
        try daemon.wait("hot1", "authenticating") { $0?["captive"] == true }
        let before = asked(daemon).count { $0 == Self.google }
        try daemon.leave("accepted", "")
        try daemon.eventually("the second portal has a race") {
            try daemon.methods().filter { $0 == "Evaluate" }.count == 2
        }
        #expect(asked(daemon).count { $0 == Self.google } - before < 7, "the proof did not go on to its end")
    }
}
