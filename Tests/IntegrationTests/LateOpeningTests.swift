import Foundation
import HotspotCore
import Store
import TestSupport
import Testing
import Varlink

/// Changes under the built daemon: a gateway that opens late or closes again, and folders that are removed or cannot be written
/// to.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct LateOpeningTests {
    static let portal: JSONValue = [
        "origin": "https://clerk.example", "pin": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=", "kind": "form",
    ]

    static let question: JSONValue = [
        "result": "uiRequired", "portal": portal,
        "prompt": [
            "title": "Which room?", "fields": [["name": "room", "label": "Room", "kind": "text", "required": true]],
        ],
    ]

    /// A daemon whose network is captive until the file `open` is there.
    func daemon(settings: String = "", joins: Bool = true, plan: JSONValue) throws -> CabledDaemon {
        let prober = Machine.release.appendingPathComponent("hotspot-helpers").path
        let daemon = try CabledDaemon(
            settings: "[Probe]\nExec=\(prober)\nURL=http://192.0.1.1/\nExpect=204\n\(settings)", plan: plan)
        try daemon.plugNetwork(
            "hot1",
            answers: """
                line.recv(4096); line.sendall(b"HTTP/1.1 " + (b"204 No Content" if os.path.exists("\(daemon.scratch.path)/open") else b"302 Found\\r\\nLocation: http://192.0.1.1/login\\r\\nContent-Length: 0") + b"\\r\\nConnection: close\\r\\n\\r\\n")
                """, joins: joins)
        return daemon
    }

    /// A daemon with a helper that asked a question and accepted the answer, for a session of two hours.
    private func answered(settings: String = "") throws -> CabledDaemon {
        let daemon = try daemon(
            settings: settings,
            plan: [
                "Authenticate": Self.question,
                "PresentUI": ["portal": Self.portal, "session": ["secondsRemaining": 7200, "memory": ["key": "k1"]]],
            ])
        try daemon.wait("hot1", "presentingUI")
        let prompt = try #require(try daemon.prompts().first?["id"])
        try daemon.call("Answer", ["id": prompt, "answers": ["room": "214"], "remember": true])
        return daemon
    }

    @Test("D25 Open after the proof: helper, session and answers as they were, and status says so", arguments: [true, false])
    func answers(within: Bool) throws {
        let daemon = try answered(settings: "[Commands]\nTimeoutSec=\(within ? 45 : 2)")
        if within {
            try daemon.eventually("the proof goes on") {
                try daemon.steps().filter { $0["kind"] == "verdict" && $0["detail"]?.string?.hasPrefix("captive") == true }.count
                    > 6
            }
        } else {
            try daemon.wait("hot1", "failure")
            #expect(try daemon.problems().contains("stillCaptive"))
        }
        daemon.scratch.write("open", "")
        #expect(try daemon.call("Check")["verdict"] == "online")
        let online = try daemon.wait("hot1", "authenticated")
        #expect(online?["helper"] == "clerk" && online?["portal"] == "https://clerk.example" && online?["problems"] == [])
        #expect(online?["secondsRemaining"]?.integer ?? 0 > 7000 && online?["nextMaintain"] != nil)
        #expect(try daemon.outcomes().last == "online")
        #expect(try daemon.call("Explain")["verdict"]?.string?.contains(", through The clerk") == true)

        // The session goes back to the helper, and the answers are kept.
        try daemon.call("Login")
        try daemon.eventually("it is maintained") { try daemon.methods().last == "Maintain" }
        #expect(try daemon.calls().last?["parameters"]?["session"]?["memory"] == ["key": "k1"])
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.methods().filter { $0 == "PresentUI" }.count == 1)
        try FileManager.default.removeItem(atPath: daemon.scratch.path + "/open")
        try daemon.call("Logoff")
        try daemon.wait("hot1", "inactive")
        daemon.kill()
        let store = try Store(directory: daemon.scratch.path + "/state")
        let network = NetworkID.wired(HardwareAddress("02:00:00:00:00:01")!)
        #expect(store.remembered(network, now: 0)?.helper == "clerk")
        #expect(store.credentials(network).count == 1)
    }

    @Test(
        "D25 The first try's answers count where the second, without them, is the one that is proven, or has nothing to send",
        arguments: [false, true])
    func secondTry(sendsNothing: Bool) throws {
        let daemon = try daemon(
            settings: "[Commands]\nTimeoutSec=3",
            plan: [
                "Authenticate": Self.question,
                "PresentUI": ["portal": Self.portal],
            ])
        try daemon.wait("hot1", "presentingUI")
        let second: JSONValue = sendsNothing ? ["portal": Self.portal, "unsent": []] : ["portal": Self.portal]
        try daemon.plan(["Authenticate": second, "PresentUI": ["portal": Self.portal]])
        let prompt = try #require(try daemon.prompts().first?["id"])
        try daemon.call("Answer", ["id": prompt, "answers": ["room": "214"], "remember": true])
        let failed = try daemon.wait("hot1", "failure")
        #expect(
            failed?["answers"]?.string?.hasSuffix("if the network opens soon, hotspotd saves them.") == true, "\(failed ?? nil)")
        // The login is not tried again automatically while the first login may still open the network.
        #expect((failed?["nextLogin"]?.integer ?? 0) - Int(Date().timeIntervalSince1970 * 1000) > 60_000)
        try daemon.call("Login")
        try daemon.eventually("the second try runs") { try daemon.methods().filter { $0 == "Authenticate" }.count == 2 }
        daemon.scratch.write("open", "")
        let online = try daemon.wait("hot1", "authenticated")
        #expect(online?["answers"]?.string?.hasPrefix("Your answers are kept") == true, "\(String(describing: online))")
        #expect(online?["outcome"] == "online" && online?["helper"] == "clerk", "it is the helper's login")
        let verdict = try daemon.call("Explain")["verdict"]?.string ?? ""
        #expect(verdict.hasSuffix("the earlier login is still valid.") == sendsNothing, "\(verdict)")
        daemon.kill()
        let store = try Store(directory: daemon.scratch.path + "/state")
        #expect(store.credentials(.wired(HardwareAddress("02:00:00:00:00:01")!)).count == 1)
    }

    @Test("D25 A portal that asks again without a word, and opens meanwhile: it is the helper's login, and the answers are kept")
    func opensWhileItAsksAgain() throws {
        var prompt = try #require(Self.question["prompt"]?.object)
        prompt["mayOpen"] = true
        let again: JSONValue = ["result": "uiRequired", "portal": Self.portal, "prompt": .object(prompt)]
        let daemon = try daemon(plan: ["Authenticate": Self.question, "PresentUI": again])
        try daemon.wait("hot1", "presentingUI")
        let first = try #require(try daemon.prompts().first?["id"])
        try daemon.call("Answer", ["id": first, "answers": ["room": "214"], "remember": true])
        try daemon.eventually("it asks again") { try daemon.prompts().first.map { $0["id"] != first } ?? false }
        daemon.scratch.write("open", "")
        let online = try daemon.wait("hot1", "authenticated")
        #expect(online?["answers"]?.string?.hasPrefix("Your answers are kept") == true, "\(String(describing: online))")
        #expect(online?["outcome"] == "online" && online?["helper"] == "clerk", "it is the helper's login")
        daemon.kill()
        let store = try Store(directory: daemon.scratch.path + "/state")
        #expect(store.credentials(.wired(HardwareAddress("02:00:00:00:00:01")!)).count == 1)
    }

    @Test(
        "D25 The link is lost before the network opens: on return it is the helper's login, and the answers are kept",
        arguments: [false, true])
    func linkLost(answersAgain: Bool) throws {
        let daemon = try answered()
        try daemon.eventually("the proof began") {
            try daemon.steps().contains { $0["kind"] == "answer" && $0["detail"] == "success" }
        }
        try daemon.unplug("hot1")
        let left = try daemon.wait("hot1", "inactive")
        #expect(
            left?["answers"]?.string?.hasSuffix("; if the network opens soon, hotspotd saves them.") == true, "\(left ?? nil)")
        if answersAgain {
            try daemon.plan(["Authenticate": Self.question, "PresentUI": ["portal": Self.portal, "unsent": ["room"]]])
            try daemon.join("hot1")
            try daemon.wait("hot1", "presentingUI")
        }
        daemon.scratch.write("open", "")
        if answersAgain {
            let prompt = try #require(try daemon.prompts().first?["id"])
            try daemon.call("Answer", ["id": prompt, "answers": ["room": "214"], "remember": true])
        } else {
            try daemon.join("hot1")
        }
        let online = try daemon.wait("hot1", "authenticated")
        #expect(online?["outcome"] == "online" && online?["helper"] == "clerk" && online?["problems"] == [], "\(online ?? nil)")
        let kept =
            answersAgain
            ? "Your last answers were not sent; about the earlier ones: your answers are kept" : "Your answers are kept"
        #expect(online?["answers"]?.string?.hasPrefix(kept) == true && online?["secondsRemaining"] != nil, "\(online ?? nil)")
        daemon.kill()
        let store = try Store(directory: daemon.scratch.path + "/state")
        #expect(store.credentials(.wired(HardwareAddress("02:00:00:00:00:01")!)).count == 1)
    }

    @Test("D25 Open after a restart of the daemon: still the helper's login, with its session", arguments: [true, false])
    func restarted(within: Bool) throws {
        let daemon = try daemon(
            settings: "[Commands]\nTimeoutSec=\(within ? 45 : 2)",
            plan: ["Authenticate": ["portal": Self.portal, "session": ["secondsRemaining": 7200, "memory": ["key": "k1"]]]])
        if within {
            try daemon.eventually("the proof began") {
                (try? daemon.steps())?.contains { $0["kind"] == "answer" && $0["detail"] == "success" } == true
            }
        } else {
            try daemon.wait("hot1", "failure")
        }
        daemon.kill()
        try daemon.plan(["Evaluate": ["confidence": "none"], "Logoff": ["result": "failure"]])
        daemon.scratch.write("open", "")
        try daemon.start()
        let online = try daemon.wait("hot1", "authenticated")
        #expect(online?["helper"] == "clerk" && online?["problems"] == [], "\(String(describing: online))")
        #expect(online?["secondsRemaining"]?.integer ?? 0 > 7000 && online?["nextMaintain"] != nil)
        #expect(try daemon.outcomes().last == "online")

        // A logoff that is not confirmed is known after a restart too, and can be tried again.
        for isConfirmed in [false, true] {
            try daemon.plan(["Logoff": ["result": isConfirmed ? "success" : "failure"]])
            if isConfirmed { try FileManager.default.removeItem(atPath: daemon.scratch.path + "/open") }
            try daemon.call("Logoff")
            let code = isConfirmed ? "held" : "logoffUnconfirmed"
            for _ in 0..<2 {
                try daemon.wait("hot1", "inactive") { $0?["problems"]?.array?.first?["code"]?.string == code }
                #expect(try daemon.methods().last == "Logoff")
                #expect(try daemon.calls().last?["parameters"]?["session"]?["memory"] == ["key": "k1"])
                daemon.kill()
                try daemon.start()
            }
        }
    }

    @Test("D9 IPv4 comes after the join by IPv6, and the probe needs it: the network is reported as open, also in the history")
    func laterFamily() throws {
        let daemon = try daemon(joins: false, plan: ["Evaluate": ["confidence": "none"]])
        daemon.scratch.write("open", "")
        try daemon.shell("ip addr add fd00:1::2/64 dev hot1 nodad; ip -6 route replace default via fd00:1::1 dev hot1")
        try daemon.wait("hot1", "authenticated") { $0?["outcome"] == "unknown" }
        try daemon.shell("ip addr add 192.0.1.2/24 dev hot1; ip route add default via 192.0.1.1 dev hot1")
        try daemon.wait("hot1", "authenticated") { $0?["outcome"] == "open" && $0?["problems"] == [] }
        #expect(try daemon.outcomes() == ["unknown", "open"])
    }

    @Test("Forgotten while online: after a restart status says that it is not known how the network was opened") func forgotten()
        throws
    {
        let daemon = try daemon(plan: ["Authenticate": [:]])
        daemon.scratch.write("open", "")
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        try daemon.call("Forget", ["ssid": "wired:02:00:00:00:00:01"])
        try daemon.plan(["Evaluate": ["confidence": "none"]])
        for _ in 0..<2 {
            daemon.kill()
            try daemon.start()
            let found = try daemon.wait("hot1", "authenticated")
            #expect(
                found?["outcome"] == "found" && found?["helper"] == nil && found?["problems"] == [],
                "\(String(describing: found))")
            let said = try Finished.run(
                Machine.release.appendingPathComponent("hotspotctl").path, ["--socket", daemon.socket, "status"])
            #expect(said.output.contains("already open when hotspotd started"), "\(said.output)")
        }
        // The daemon sees this association from its beginning, and finds that no portal asks for a login.
        try daemon.shell("ip link set hot1 down; ip link set hot1 up")
        try daemon.wait("hot1", "inactive")
        try daemon.shell("ip addr flush dev hot1")
        try daemon.join("hot1")
        try daemon.wait("hot1", "authenticated") { $0?["outcome"] == "open" }
    }

    @Test("C17 A helper that is switched off keeps its login over a restart, and goes on when it is switched on")
    func switchedOff()
        throws
    {
        let daemon = try daemon(plan: ["Authenticate": ["portal": Self.portal, "session": ["memory": ["key": "k1"]]]])
        daemon.scratch.write("open", "")
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        try daemon.call("SetEnabled", ["helper": "clerk", "enabled": false])
        for _ in 0..<2 {
            try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
            #expect(try daemon.problems() == ["disabled"])
            daemon.kill()
            try daemon.start()
        }
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        try daemon.call("SetEnabled", ["helper": "clerk", "enabled": true])
        try daemon.wait("hot1", "authenticated") { $0?["problems"] == [] }
        #expect(try daemon.methods() == ["Evaluate", "Authenticate", "Maintain"])
        let maintain = try daemon.calls().last?["parameters"]
        #expect(maintain?["network"]?["justJoined"] == false && maintain?["session"]?["memory"] == ["key": "k1"])

        // The network may be switched off and on as well meanwhile.
        try daemon.call("SetEnabled", ["helper": "clerk", "enabled": false])
        try daemon.wait("hot1", "authenticated") { $0?["problems"] != [] }
        let network = "wired:02:00:00:00:00:01"
        try daemon.call("SetEnabled", ["ssid": .string(network), "enabled": false])
        try daemon.wait("hot1", "inactive")
        try daemon.call("SetEnabled", ["ssid": .string(network), "enabled": true])
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" && $0?["outcome"] == "online" }
        #expect(try daemon.problems() == ["disabled"])
    }

    @Test("D27 A session that the portal ends is noticed as soon as connections fail, long before the next maintain") func ended()
        throws
    {
        let daemon = try daemon(plan: ["Authenticate": [:], "Maintain": ["result": "authenticationRequired"]])
        daemon.scratch.write("open", "")
        try daemon.wait("hot1", "authenticated")
        try FileManager.default.removeItem(atPath: daemon.scratch.path + "/open")
        try daemon.eventually("the session is maintained") {
            // Meanwhile a browser's connection is refused.
            try daemon.shell("python3 -c 'import socket; socket.socket().connect_ex((\"192.0.1.1\", 81))'")
            return try daemon.methods().contains("Maintain")
        }
    }

    @Test("The end of a session is known after a return, and after a look that had no answer") func end() throws {
        let session: JSONValue = ["secondsRemaining": 7200, "memory": ["key": "k1"]]
        let daemon = try daemon(plan: ["Authenticate": ["portal": Self.portal, "session": session], "Maintain": [:]])
        daemon.scratch.write("open", "")
        func isKnown(_ status: JSONValue?) -> Bool { (6000...7200).contains(status?["secondsRemaining"]?.integer ?? 0) }
        try daemon.wait("hot1", "authenticated") { isKnown($0) }
        try daemon.shell("ip link set hot1 down; ip link set hot1 up")
        try daemon.wait("hot1", "inactive")
        try daemon.shell("ip addr flush dev hot1")
        try daemon.join("hot1")
        try daemon.wait("hot1", "authenticated") { isKnown($0) && $0?["helper"] == "clerk" }
        #expect((6000...7200).contains(try daemon.calls().last?["parameters"]?["session"]?["secondsRemaining"]?.integer ?? 0))

        // A temporary failure says nothing new about the session: its 9000 s do not count.
        try daemon.plan([
            "Evaluate": ["confidence": "none"],
            "Maintain": ["result": "temporaryFailure", "session": ["secondsRemaining": 9000, "memory": ["key": "k1"]]],
        ])
        try daemon.call("Login")
        try daemon.eventually("it was asked") { try daemon.methods().filter { $0 == "Maintain" }.count == 2 }
        let after = try daemon.wait("hot1", "authenticated") { $0?["helper"] == "clerk" }
        #expect(isKnown(after), "\(String(describing: after))")
    }

    @Test(
        "A state folder that is read-only or full at the start: logins go on from memory, and it is said",
        arguments: [true, false])
    func unwritable(isFull: Bool) throws {
        let daemon = try CabledDaemon(plan: ["Authenticate": [:]])
        daemon.kill()
        let state = daemon.scratch.path + "/state"
        try daemon.shell("mount -t tmpfs -o mode=0700,size=16k\(isFull ? "" : ",ro") tmpfs \(state)")
        defer { _ = try? daemon.shell("umount -l \(state)") }
        if isFull { try daemon.shell("cat /dev/zero > \(state)/filler 2>/dev/null || true") }
        try daemon.start()
        let codes = try daemon.call("Status")["problems"]?.array?.compactMap { $0["code"]?.string } ?? []
        #expect(codes.contains("storeNotSaving"), "\(codes)")
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        try daemon.rejoin()
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.methods() == ["Evaluate", "Authenticate", "Maintain"], "the choice is in memory")
        #expect(try daemon.outcomes() == ["online", "online"])
    }

    @Test("A runtime folder that is removed is made again, socket and all, and the prober answers") func removed() throws {
        let daemon = try daemon(plan: ["Authenticate": [:]])
        daemon.scratch.write("open", "")
        try daemon.wait("hot1", "authenticated")
        #expect(try daemon.call("Check")["verdict"] == "online")
        for signal in [0, SIGHUP] {
            try FileManager.default.removeItem(atPath: daemon.scratch.path + "/run")
            Foundation.kill(daemon.pid, signal)
            try daemon.eventually("the socket is there") { (try? daemon.call("Status")) != nil }
            #expect(daemon.state() == "authenticated", "the session is as it was")
            try daemon.eventually("the prober answers") { try daemon.call("Check")["verdict"] == "online" }
        }
        let second = try daemon.shell(
            "\(Machine.release.path)/hotspotd --settings \(daemon.scratch.path)/hotspotd.conf 2>&1 || true")
        #expect(second.contains("another hotspotd is using"))
    }
}
