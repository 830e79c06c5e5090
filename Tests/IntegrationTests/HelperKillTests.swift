import Foundation
import HotspotCore
import TestSupport
import Testing

/// A helper's process is killed in the middle of each command: the right state at once, and one retry.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, iproute2 and util-linux"))
struct HelperKillTests {
    /// A helper that writes down each command, and does not answer the command that the file `hang` names.
    private static let body = """
        import socket, threading
        def serve(call, say):
            command = call["method"].rsplit(".", 1)[1]
            with open(NOTES + "log", "a") as log: log.write(command + "\\n")
            if os.path.exists(NOTES + "hang") and open(NOTES + "hang").read() == command:
                open(NOTES + "hangs-" + command, "w").close()
                time.sleep(1000)
            if command == "Evaluate": reply = {"confidence": "high"}
            elif command == "Authenticate" and os.path.exists(NOTES + "ask"):
                reply = {"reply": {"result": "uiRequired", "prompt": {"title": "Room", "fields": []}}}
            else: reply = {"reply": {"result": "success"}}
            say(json.dumps({"parameters": reply}).encode() + b"\\0")
        if "LISTEN_FDS" not in os.environ: serve(receive(), say); sys.exit(0)
        def answer(line):
            data = b""
            while not data.endswith(b"\\0"):
                chunk = line.recv(65536)
                if not chunk: return
                data += chunk
            serve(json.loads(data[:-1]), line.sendall)
            line.close()
        listener = socket.socket(fileno=3)
        while True: threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
        """

    private func count(_ command: String, _ daemon: CabledDaemon) -> Int {
        daemon.told("log").split(separator: "\n").count { $0 == command }
    }

    /// Waits until the helper hangs in a command, and kills it there. The next command of that kind is answered.
    private func kill(in command: String, _ daemon: CabledDaemon) throws {
        _ = try daemon.note("hangs-\(command)", mayBeEmpty: true)
        try FileManager.default.removeItem(atPath: "\(daemon.scratch.path)/notes/hang")
        for process in daemon.helperProcesses { Foundation.kill(Int32(process)!, SIGKILL) }
    }

    @Test(arguments: ["stdio", "socket"]) func inEveryState(_ activation: String) throws {
        let daemon = try CabledDaemon(settings: "[Commands]\nMaintainIntervalSec=1") { daemon in
            let notes = "\(daemon.scratch.path)/notes"
            try daemon.leave("hang", "Evaluate")
            try daemon.add(
                "victim", "Activation=\(activation)\nReadWritePaths=\(notes)", python: "NOTES = \"\(notes)/\"\n" + Self.body)
        }
        try daemon.plug("hot1", 1)

        // Evaluating: no helper claims the network. The daemon probes again, and asks the helper once more.
        try kill(in: "Evaluate", daemon)
        try daemon.eventually("the race goes on without it") { try daemon.helpers()["victim"]?["strikes"]?.integer == 1 }
        #expect(try daemon.helpers()["victim"]?["problems"]?.array?.first?["code"] == "helperCrashed")
        try daemon.leave("hang", "Authenticate")
        try daemon.eventually("the race is over") { daemon.state() != "evaluating" }
        if daemon.state() == "authenticated" { try daemon.call("Login") }

        // Authenticating: a temporary failure, and another try after ten seconds.
        try kill(in: "Authenticate", daemon)
        try daemon.wait("hot1", "failure") { status in
            status?["problems"]?.array?.contains { $0["code"] == "helperCrashed" } == true
        }
        #expect(count("Authenticate", daemon) == 1)
        try daemon.leave("ask", "")

        // PresentUI: the same question, under another ID.
        let asked = try daemon.wait("hot1", "presentingUI") { $0?["prompt"]?.string != nil }
        #expect(count("Authenticate", daemon) == 2, "one retry")
        let prompt = try #require(asked?["prompt"]?.string)
        try daemon.leave("hang", "PresentUI")
        try daemon.call("Answer", ["id": .string(prompt), "answers": [:], "remember": false])
        try kill(in: "PresentUI", daemon)
        let again = try daemon.wait("hot1", "presentingUI") { $0?["prompt"]?.string.map { $0 != prompt } ?? false }
        try FileManager.default.removeItem(atPath: "\(daemon.scratch.path)/notes/ask")
        try daemon.leave("hang", "Maintain")
        try daemon.call("Answer", ["id": try #require(again?["prompt"]), "answers": [:], "remember": false])
        try daemon.wait("hot1", "authenticated")
        #expect(count("PresentUI", daemon) == 2)

        // Maintaining: the state of the session is unknown, so a race begins, and the helper may win again.
        let evaluated = count("Evaluate", daemon)
        try kill(in: "Maintain", daemon)
        try daemon.eventually("the helper logs in again") { count("Authenticate", daemon) == 3 }
        try daemon.wait("hot1", "authenticated")
        #expect(count("Evaluate", daemon) == evaluated + 1)

        // Logging off: the session ends for good, whatever the helper says.
        try daemon.leave("hang", "Logoff")
        try daemon.eventually("it may log off") {
            guard daemon.state() == "authenticated" else { return false }
            try daemon.call("Logoff")
            return true
        }
        try kill(in: "Logoff", daemon)
        try daemon.wait("hot1", "inactive") { status in
            status?["problems"]?.array?.contains { $0["code"] == "logoffUnconfirmed" } == true
        }
        #expect(count("Logoff", daemon) == 1)
        try daemon.call("Login")
        try daemon.wait("hot1", "authenticated") { $0?["helper"] == "victim" }
        if activation == "stdio" {
            try daemon.eventually("nothing is left of the killed: \(daemon.helperProcesses)") {
                daemon.state() != "authenticated" || daemon.helperProcesses.isEmpty
            }
        }
        #expect(!daemon.log.contains("Fatal error"))
    }

    /// Our own helpers and the prober share one process; a portal that never answers keeps it busy.
    @Test func ourOwnInTheMiddleOfEvaluating() throws {
        let settings = "[Commands]\nTimeoutSec=40\n[Probe]\nURL=http://192.0.1.77/\nExpect=204"
        let daemon = try CabledDaemon(settings: settings) { daemon in
            // Under a name of its own, so that no other test's process is killed.
            let program = "\(daemon.scratch.path)/programs/hotspot-helpers"
            let install = try Finished.run(
                "/usr/bin/install", ["-m", "755", Machine.release.appendingPathComponent("hotspot-helpers").path, program])
            #expect(install.status == 0)
            let settings = "\(daemon.scratch.path)/hotspotd.conf"
            daemon.scratch.write(
                "hotspotd.conf", try String(contentsOfFile: settings, encoding: .utf8) + "\nExec=\(program)\n")
            for name in ["form", "wispr"] {
                try daemon.file(name, "[Helper]\nName=\(name)\nExec=\(program)\nActivation=socket\n")
            }
        }
        // No host answers, and no error reports that.
        try daemon.shell("ip link add hot1 type veth peer name peer1; ip link set peer1 up; ip link set hot1 up")
        try daemon.shell("ip neigh replace 192.0.1.77 lladdr 02:00:00:00:00:77 dev hot1 nud permanent")
        try daemon.address("hot1", 1)
        try daemon.wait("hot1", "evaluating")
        try daemon.eventually("it runs") { daemon.helperProcesses.count > 0 }
        // The helpers are in the middle of their transfers.
        let asks = "ss -Htn state syn-sent dst 192.0.1.77"
        try daemon.eventually("both are asked") {
            let asked = try daemon.steps().filter { $0["kind"] == "command" }.compactMap { $0["helper"]?.string }
            return Set(asked).isSuperset(of: ["form", "wispr"])
        }
        try daemon.eventually("it speaks to nobody") { try daemon.shell(asks).contains("192.0.1.77") }
        for process in daemon.helperProcesses { Foundation.kill(Int32(process)!, SIGKILL) }
        try daemon.eventually("both have a strike") {
            let helpers = try daemon.helpers()
            return helpers["form"]?["strikes"]?.integer == 1 && helpers["wispr"]?["strikes"]?.integer == 1
        }
        #expect(daemon.state() == "authenticated")
        for name in ["form", "wispr"] {
            #expect(try daemon.helpers()[name]?["problems"]?.array?.first?["code"] == "helperCrashed")
        }
        // No helper claims it and nothing was proven, so a new process probes again (D9).
        try daemon.eventually("the daemon probes once more") {
            try daemon.helperProcesses.count > 0
                && daemon.shell(asks).contains("192.0.1.77")
        }
        #expect(!daemon.log.contains("Fatal error"))
    }
}
