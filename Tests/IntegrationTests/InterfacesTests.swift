import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// Several interfaces at the real daemon, and a helper that calls the daemon: over cables, in a namespace of the test's own.
@Suite(.enabled(if: Machine.runs(CabledDaemon.canRun), "needs make build, ip, nsenter and a network namespace"))
struct InterfacesTests {
    /// A helper with one process for each command. The file `mode` selects its other behaviour.
    static let clerk = #"""
        import json, os, socket, sys

        def message(read):
            data = b""
            while not data.endswith(b"\0"):
                piece = read(65536)
                if not piece:
                    sys.exit(0)
                data += piece
            return json.loads(data[:-1])

        def daemon(method, **parameters):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(SOCKET)
                call = {"method": "org.hotspotd.Control." + method, "parameters": parameters}
                line.sendall(json.dumps(call).encode() + b"\0")
                return message(line.recv)

        def note(name, value):
            with open(f"{NOTES}/{name}.part", "w") as file:
                json.dump(value, file)
            os.rename(f"{NOTES}/{name}.part", f"{NOTES}/{name}")

        def answer(**parameters):
            os.write(1, json.dumps({"parameters": parameters}).encode() + b"\0")

        def mode():
            try:
                with open(f"{NOTES}/mode") as file:
                    return file.read().strip()
            except FileNotFoundError:
                return ""

        call = message(lambda size: os.read(0, size))
        method = call["method"].rsplit(".", 1)[1]
        parameters = call["parameters"]
        network = parameters.get("network", {})
        token = os.environ["HOTSPOTD_TOKEN"]
        portal = {"origin": "https://clerk.example", "kind": "form"}

        if method == "Evaluate":
            if mode() == "logoff":
                note("evaluating", [daemon("Current", token=token), daemon(
                    "RequestLogoff", token=token, interface=network["interface"], ssidHex=network["ssidHex"])])
            answer(confidence="high")
        elif method == "Authenticate" and mode() == "ask":
            fields = [{"name": "room", "label": "Room", "kind": "text", "required": True},
                      {"name": "secret", "label": "Code word", "kind": "password", "required": True}]
            answer(reply={"result": "uiRequired", "portal": portal, "prompt": {"title": "The clerk", "fields": fields}})
        elif method == "PresentUI":
            said = parameters["answers"]["secret"]
            answer(reply={"result": "success", "portal": portal, "reason": f"thank you for {said}",
                          "trace": [f"POST /login room=214&secret={said}"]})
        elif method == "Maintain" and mode() == "logoff":
            where = {"interface": network["interface"], "ssidHex": network["ssidHex"]}
            note("maintaining", {
                "stranger": daemon("RequestLogoff", token="0" * 32, **where),
                "network": daemon("RequestLogoff", token=token, interface=where["interface"], ssidHex="00"),
                "interface": daemon("RequestLogoff", token=token, interface="hot9", ssidHex=where["ssidHex"]),
                "current": daemon("Current", token=token),
                "queued": daemon("RequestLogoff", token=token, **where)})
            answer(reply={"result": "success"})
        elif method == "Logoff":
            note("again", daemon(
                "RequestLogoff", token=token, interface=network["interface"], ssidHex=network["ssidHex"]))
            note("loggedOff", network["chosenHelper"])
            answer(reply={"result": "success"})
        else:
            answer(reply={"result": "success"})
        """#

    @Test("Events on one interface never touch another; interfaces come, go, are renamed and reuse an index")
    func apart() throws {
        let daemon = try CabledDaemon(helper: Self.clerk)
        #expect(try daemon.call("Status")["interfaces"]?.array?.isEmpty == true)
        try daemon.plug("hot1", 1)
        try daemon.plug("hot2", 2)
        let first = try daemon.wait("hot1", "authenticated")
        let second = try daemon.wait("hot2", "authenticated")
        #expect(first?["bssid"] == "02:00:00:00:00:01" && second?["bssid"] == "02:00:00:00:00:02")
        #expect(first?["helper"] == "clerk" && second?["helper"] == "clerk")

        // One cable is pulled out and comes back; the other interface does not notice.
        try daemon.shell("ip addr flush dev hot1")
        try daemon.wait("hot1", "inactive")
        let unmoved = try daemon.status("hot2")
        #expect(unmoved?["state"] == "authenticated" && unmoved?["since"] == second?["since"])
        try daemon.address("hot1", 1)
        let back = try daemon.wait("hot1", "authenticated")
        #expect(back?["since"] != first?["since"])
        #expect(try daemon.status("hot2")?["since"] == second?["since"])
        let history = try daemon.call("History")["attempts"]?.array ?? []
        #expect(history.filter { $0["interface"] == "hot2" }.count == 1)
        #expect(history.filter { $0["interface"] == "hot1" }.map { $0["outcome"] } == ["online", "online"])

        // With another MAC address, hot1 is another station, or another interface that got its index and its address.
        try daemon.shell("ip link set hot1 address 02:00:00:00:00:77")
        try daemon.eventually("it is joined anew") {
            try daemon.call("History")["attempts"]?.array?.filter { $0["interface"] == "hot1" }.count == 3
        }
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.status("hot2")?["since"] == second?["since"])

        // A held interface does not hold up the other interface.
        _ = try daemon.call("Logoff", ["interface": "hot1"])
        try daemon.wait("hot1", "inactive")
        #expect(try daemon.status("hot2")?["since"] == second?["since"])

        // Renamed while it is down: the same interface under another name.
        let index = try #require(Int(try daemon.shell("ip -o link show hot1").prefix { $0 != ":" }))
        try daemon.shell("ip link set hot1 down; ip link set hot1 name hot7")
        try daemon.wait("hot1", nil)
        try daemon.wait("hot7", "inactive")

        // The interface disappears, and another takes its index: no state of the first interface remains.
        try daemon.shell("ip link del hot7")
        try daemon.wait("hot7", nil)
        try daemon.plug("hot3", 3, index: index)
        let third = try daemon.wait("hot3", "authenticated")
        #expect(third?["bssid"] == "02:00:00:00:00:03")
        #expect(third?["problems"]?.array?.contains { $0["code"] == "held" } == false)
        #expect(try daemon.status("hot2")?["since"] == second?["since"])
    }

    @Test("71, 72, 79, 80 The chosen helper logs off by its token; before, elsewhere and twice it cannot") func logoff() throws {
        let daemon = try CabledDaemon(helper: Self.clerk)
        daemon.scratch.write("notes/mode", "logoff")
        try daemon.plug("hot1", 1)
        let before = try JSONDecoder().decode(JSONValue.self, from: Data(try daemon.note("evaluating").utf8))
        #expect(before.array?.first?["parameters"] == ["interface": "hot1", "ssidHex": "", "chosenHelper": false])
        #expect(before.array?.last?["parameters"]?["queued"] == false)
        // A helper that has answered is ended soon, so it makes its calls during Maintain.
        try daemon.wait("hot1", "authenticated")
        try daemon.call("Login")
        let tries = try JSONDecoder().decode(JSONValue.self, from: Data(try daemon.note("maintaining").utf8))
        #expect(tries["stranger"]?["error"] == "org.hotspotd.Control.NotPermitted")
        #expect(tries["network"]?["parameters"]?["queued"] == false)
        #expect(tries["interface"]?["parameters"]?["queued"] == false)
        #expect(tries["current"]?["parameters"] == ["interface": "hot1", "ssidHex": "", "chosenHelper": true])
        #expect(tries["queued"]?["parameters"]?["queued"] == true)
        let again = try JSONDecoder().decode(JSONValue.self, from: Data(try daemon.note("again").utf8))
        #expect(again["parameters"]?["queued"] == false)
        #expect(try daemon.note("loggedOff") == "true")
        let held = try daemon.wait("hot1", "inactive")
        #expect(held?["problems"]?.array?.contains { $0["code"] == "held" } == true)
    }

    @Test("After kill -9 a choice, a session and a hold are there; commands and questions in flight are not") func restarts()
        throws
    {
        let daemon = try CabledDaemon(helper: Self.clerk)
        func commands() throws -> [String] {
            (try daemon.call("Explain", ["interface": "hot1"])["steps"]?.array ?? []).filter { $0["kind"] == "command" }
                .compactMap { $0["detail"]?.string }
        }
        // The daemon is killed while a question waits: the question is asked again, and the earlier attempt has no end.
        daemon.scratch.write("notes/mode", "ask")
        try daemon.plug("hot1", 1)
        let prompting = try daemon.wait("hot1", "presentingUI")
        daemon.kill()
        try daemon.start()
        let again = try daemon.wait("hot1", "presentingUI")
        #expect(again?["prompt"] != prompting?["prompt"] && again?["prompt"]?.string != nil)
        let outcomes = (try daemon.call("History")["attempts"]?.array ?? []).map { $0["outcome"]?.string }
        #expect(outcomes == ["running", "interrupted"])

        // The association is the same: the helper is asked whether the session is good, and no login begins.
        daemon.scratch.write("notes/mode", "")
        _ = try daemon.call("Login", ["interface": "hot1", "fresh": true])
        try daemon.wait("hot1", "authenticated")
        daemon.kill()
        try daemon.start()
        try daemon.wait("hot1", "authenticated")
        #expect(try commands() == ["maintain"])
        #expect(
            try daemon.call("Explain", ["interface": "hot1"])["steps"]?.array?.contains {
                $0["detail"]?.string?.contains("was restarted") == true
            } == true)

        // The carrier was lost meanwhile: it is another association.
        daemon.kill()
        try daemon.shell("ip link set peer1 down; ip link set peer1 up")
        try daemon.start()
        try daemon.wait("hot1", "authenticated")
        #expect(try commands() == ["maintain: just joined"])

        // A user who logged off stays logged off, and no helper is asked.
        _ = try daemon.call("Logoff", ["interface": "hot1"])
        try daemon.wait("hot1", "inactive")
        let count = try daemon.call("History")["attempts"]?.array?.count
        daemon.kill()
        try daemon.start()
        let held = try daemon.wait("hot1", "inactive") { $0?["ssid"] != nil }
        #expect(held?["problems"]?.array?.contains { $0["code"] == "held" } == true)
        #expect(try daemon.call("History")["attempts"]?.array?.count == count)
        _ = try daemon.call("Login", ["interface": "hot1"])
        try daemon.wait("hot1", "authenticated")
    }

    @Test("Two interfaces in one network: each goes on in its own association with its own session after a restart") func twins()
        throws
    {
        let daemon = try CabledDaemon(plan: [
            "Authenticate": ["session": ["memory": ["key": "hot1"]]], "Maintain hot2": ["session": ["memory": ["key": "hot2"]]],
        ])
        for number in 1...2 {
            try daemon.plug("hot\(number)", number, gateway: 1)
            try daemon.wait("hot\(number)", "authenticated")
        }
        #expect(try daemon.methods() == ["Evaluate", "Authenticate", "Maintain"], "it is one network")
        daemon.kill()
        try daemon.start()
        for number in 1...2 {
            try daemon.wait("hot\(number)", "authenticated")
            let asked = try daemon.calls().last { $0["parameters"]?["network"]?["interface"] == .string("hot\(number)") }
            #expect(asked?["parameters"]?["network"]?["justJoined"] == false)
            #expect(asked?["parameters"]?["session"]?["memory"] == ["key": .string("hot\(number)")])
        }
    }

    @Test("Explain tells who was asked, who answered what, why the winner won and what was sent, without secrets") func explain()
        throws
    {
        let daemon = try CabledDaemon(helper: Self.clerk)
        daemon.scratch.write("notes/mode", "ask")
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "presentingUI")
        let prompt = try #require(try daemon.call("Prompts")["prompts"]?.array?.first?["id"]?.string)
        let answers: JSONValue = ["room": "214", "secret": "xylophone"]
        _ = try daemon.call("Answer", ["id": .string(prompt), "answers": answers, "remember": true])
        try daemon.wait("hot1", "authenticated")
        let story = try daemon.call("Explain", ["interface": "hot1"])
        let verdict = story["verdict"]?.string ?? ""
        #expect(verdict.hasPrefix("Online") && verdict.contains(", through The clerk "), "\(verdict)")
        #expect(verdict.hasSuffix("(claimed by clerk: the only helper asked)."), "\(verdict)")
        let steps = story["steps"]?.array ?? []
        func details(_ kind: String) -> [String] {
            steps.filter { $0["kind"]?.string == kind }.compactMap { $0["detail"]?.string }
        }
        #expect(
            details("command") == [
                "evaluate", "authenticate", "presentUI: for https://clerk.example; answers room, secret (masked)",
            ])
        #expect(details("answer") == ["high", "uiRequired", "success: thank you for •••"])
        #expect(details("trace").contains("POST /login room=•••&secret=•••"), "\(details("trace"))")
        #expect(!"\(story)".contains("xylophone") && !daemon.log.contains("xylophone"))
        #expect(steps.allSatisfy { $0["time"] != nil })
        let attempt = try #require(try daemon.call("History")["attempts"]?.array?.first?["id"]?.string)
        #expect(try daemon.call("Explain", ["attempt": .string(attempt)]) == story)
    }
}
