import Foundation
import HotspotCore
import TestSupport
import Testing
import Varlink

/// A helper that computes without end, for example because a page makes it do so, and the built daemon.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(CabledDaemon.canRun), "needs make build, ip, nsenter and a network namespace"))
struct BusyHelperTests {
    /// Two helpers in one process. "busy" logs in to hot1 and computes for ever, "calm" logs in to hot2.
    private static let program = """
        import socket, threading
        NAMES = os.environ["LISTEN_FDNAMES"].split(":")
        def serve(name, connection):
            data = b""
            while not data.endswith(b"\\0"): data += connection.recv(65536)
            call = json.loads(data[:-1])
            method = call["method"].rsplit(".", 1)[1]
            mine = call["parameters"]["network"]["interface"] == ("hot1" if name == "busy" else "hot2")
            open(NOTES + "/asked", "a").write(name + " " + method + "\\n")
            while name == "busy" and method == "Authenticate": pass
            parameters = {"confidence": "high" if mine else "none"} if method == "Evaluate" else {"reply": {"result": "success"}}
            if method == "FilterScanList": parameters = {"annotations": []}
            connection.sendall(json.dumps({"parameters": parameters}).encode() + b"\\0")
            connection.close()
        def listen(name, number):
            listener = socket.socket(fileno=number)
            while True: threading.Thread(target=serve, args=(name, listener.accept()[0]), daemon=True).start()
        for number, name in enumerate(NAMES): threading.Thread(target=listen, args=(name, 3 + number)).start()
        """

    @Test("It is ended at its deadline, other networks are served meanwhile, and the other helpers of its process have no strike")
    func busy() throws {
        let daemon = try CabledDaemon(settings: "[Commands]\nTimeoutSec=5\n") { daemon in
            let program = try daemon.program("both", python: "NOTES = \"\(daemon.scratch.path)/notes\"\n" + Self.program)
            for name in ["busy", "calm"] {
                try daemon.file(
                    name,
                    "[Helper]\nName=\(name)\nExec=\(program)\nActivation=socket\nReadWritePaths=\(daemon.scratch.path)/notes\n")
            }
        }
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticating")
        try daemon.eventually("it computes") { daemon.told("asked").contains("busy Authenticate") }
        let busy = daemon.helperProcesses
        #expect(!busy.isEmpty)
        // The next network, in the same process.
        try daemon.plug("hot2", 2)
        try daemon.wait("hot2", "authenticated") { $0?["helper"] == "calm" }
        #expect(daemon.state("hot1") == "authenticating", "the other one has not ended before")
        // "busy" misses its deadline.
        try daemon.wait("hot1", "failure")
        try daemon.eventually("its process has ended") { Set(daemon.helperProcesses).isDisjoint(with: busy) }
        #expect(daemon.state("hot2") == "authenticated")
        let helpers = try daemon.helpers()
        #expect(helpers["busy"]?["strikes"]?.integer == 1 && helpers["calm"]?["strikes"]?.integer == 0, "\(helpers)")
        #expect(helpers["calm"]?["problems"]?.array?.isEmpty != false)
        #expect(daemon.log.contains("Fatal error") == false)
    }
}
