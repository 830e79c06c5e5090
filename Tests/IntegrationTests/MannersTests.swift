import Foundation
import HotspotCore
import Testing

/// Bad behaviour in every command, whoever starts the helper: each kind has a name, an outcome by the rules, and leaves nothing behind. The race has
/// its own tests (`HelperTests`).
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, iproute2 and util-linux"))
struct MannersTests {
    /// A helper's behaviour, the expected code, and a word of the sentence.
    private static let manners: [(name: String, code: String, word: String)] = [
        ("ends", "helperCrashed", "without an answer"), ("half", "helperCrashed", "without an answer"),
        ("garbage", "helperMalformed", "JSON"), ("shape", "helperMalformed", "wrong type"),
        ("word", "helperUnknownValue", "\"perhaps\""), ("error", "helperError", "a.b.Broken"),
        ("long", "helperTooLong", "256 KiB"),
        ("silent", "helperTimeout", "in time"),
    ]

    /// The state that each behaviour leads to: an invalid answer fails the command; after a crash or silence, it is tried again.
    private static func state(after command: String, _ code: String) -> String {
        let isDeath = code == "helperCrashed" || code == "helperTimeout"
        return switch command {
        case "Authenticate": "failure"
        case "PresentUI": isDeath ? "presentingUI" : "failure"
        default: "inactive"
        }
    }

    /// The file `plan` names a command and the behaviour in it.
    private static let body = """
        import socket
        def serve(call, say, end):
            command = call["method"].rsplit(".", 1)[1]
            planned, manner = open(NOTES + "plan").read().split()
            if command == planned:
                if manner == "ends": return end()
                if manner == "half":
                    say(b'{"parameters":{"re')
                    return end()
                if manner == "garbage": say(b"hello\\0")
                if manner == "shape": say(b'{"parameters":{"reply":[]}}\\0')
                if manner == "word": say(b'{"parameters":{"reply":{"result":"perhaps"}}}\\0')
                if manner == "error": say(b'{"error":"a.b.Broken","parameters":{}}\\0')
                if manner == "long":
                    try: say(b'{"length":1073741824,' + b' ' * (2 << 20))
                    except OSError: pass
                if manner == "silent": time.sleep(1000)
                return
            if command == "Evaluate": reply = {"confidence": "high"}
            elif command == "Authenticate" and planned == "PresentUI":
                reply = {"reply": {"result": "uiRequired", "prompt": {"title": "Room", "fields": []}}}
            else: reply = {"reply": {"result": "success"}}
            say(json.dumps({"parameters": reply}).encode() + b"\\0")
        def answer(line):
            data = b""
            while not data.endswith(b"\\0"):
                chunk = line.recv(65536)
                if not chunk: return
                data += chunk
            serve(json.loads(data[:-1]), line.sendall, lambda: None)
            line.close()
        def listen(listener):
            import threading
            while True: threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
        if __name__ != "__main__": pass
        elif len(sys.argv) > 1:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen(16)
            print("ready", flush=True)
            listen(listener)
        elif "LISTEN_FDS" in os.environ: listen(socket.socket(fileno=3))
        else: serve(receive(), say, lambda: sys.exit(3))
        """

    @Test(arguments: ["stdio", "socket", "external"]) func inEveryCommand(_ activation: String) throws {
        let daemon = try CabledDaemon(settings: "[Commands]\nTimeoutSec=6") { daemon in
            let notes = "\(daemon.scratch.path)/notes"
            let python = "NOTES = \"\(notes)/\"\n" + Self.body
            try daemon.leave("plan", "none none")
            if activation == "external" {
                let program = try daemon.program("rude", python: python)
                let path = "\(daemon.scratch.path)/rude.sock"
                try daemon.accompany(
                    """
                    import runpy, sys
                    sys.argv[1:] = ["\(path)"]
                    runpy.run_path("\(program)", run_name="__main__")
                    """)
                try daemon.file("rude", "[Helper]\nName=rude\nSocket=\(path)\n")
            } else {
                try daemon.add("rude", "Activation=\(activation)\nReadWritePaths=\(notes)", python: python)
            }
        }
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "rude" }
        for command in ["Authenticate", "PresentUI", "Logoff"] {
            for (manner, code, word) in Self.manners {
                let place = "\(manner) in \(command), \(activation)"
                try daemon.leave("plan", "\(command) \(manner)")
                if command == "Logoff" {
                    try restart(daemon)
                    try daemon.call("Logoff")
                } else {
                    try daemon.eventually("a new login, \(place)") { (try? daemon.call("Login", ["fresh": true])) != nil }
                }
                if command == "PresentUI" {
                    let asked = try daemon.wait("hot1", "presentingUI") { $0?["prompt"]?.string != nil }
                    let prompt = try #require(asked?["prompt"])
                    try daemon.call("Answer", ["id": prompt, "answers": [:], "remember": false])
                }
                var problem: JSONValue?
                try daemon.eventually("a problem, \(place)") {
                    problem = try daemon.helpers()["rude"]?["problems"]?.array?.first { $0["code"] != "helperQuarantined" }
                    // The problem of the round before may still be shown.
                    return problem?["code"]?.string == code && problem?["message"]?.string?.contains(word) == true
                }
                #expect(problem?["hint"]?.string?.isEmpty == false, "\(place)")
                try daemon.wait("hot1", Self.state(after: command, code))
                let strikes = try daemon.helpers()["rude"]?["strikes"]?.integer
                #expect(strikes == (code == "helperCrashed" || code == "helperTimeout" ? 1 : 0), "\(place)")
                if activation == "stdio" {
                    try daemon.eventually("nothing is left, \(place): \(daemon.helperProcesses)") {
                        daemon.helperProcesses.isEmpty
                    }
                }
            }
        }
        // The helper behaves well from now on, and has no problem.
        try restart(daemon)
        #expect(try daemon.helpers()["rude"]?["problems"] == [])
        #expect(daemon.descriptors < 60, "\(daemon.descriptors) descriptors are open")
        #expect(!daemon.log.contains("Fatal error"))
    }

    /// Logs in with the helper, which behaves well until the logoff.
    private func restart(_ daemon: CabledDaemon) throws {
        let plan = daemon.told("plan")
        if !plan.hasPrefix("Logoff") { try daemon.leave("plan", "none none") }
        try daemon.eventually("a new login") { (try? daemon.call("Login", ["fresh": true])) != nil }
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "rude" }
    }
}
