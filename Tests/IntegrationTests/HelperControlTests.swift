import Foundation
import HotspotCore
import Testing

/// A helper runs as the daemon's own user, which may do everything; what it reaches of the daemon must not know that.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, iproute2 and util-linux"))
struct HelperControlTests {
    @Test func aHelperAsksAndChangesNothing() throws {
        let daemon = try CabledDaemon { daemon in
            let folder = "\(daemon.scratch.path)/notes"
            try daemon.add(
                "meddler", "ReadWritePaths=\(folder)",
                python: """
                    import socket
                    def ask(path, method, **parameters):
                        try:
                            with socket.socket(socket.AF_UNIX) as s:
                                s.connect(path)
                                call = {"method": "org.hotspotd.Control." + method, "parameters": parameters}
                                s.sendall(json.dumps(call).encode() + b"\\0")
                                data = b""
                                while not data.endswith(b"\\0"): data += s.recv(65536) or b"\\0"
                                reply = json.loads(data[:-1])
                                return reply.get("error", "yes")
                        except OSError as e: return type(e).__name__
                    receive()
                    own, admins = "\(daemon.socket).helpers", "\(daemon.socket)"
                    told = [ask(own, "Current", token=os.environ["HOTSPOTD_TOKEN"]), ask(own, "Current", token="x"),
                        ask(own, "SetEnabled", helper="meddler", enabled=False), ask(admins, "Status")]
                    open("\(folder)/meddler.new", "w").write(" ".join(told))
                    os.rename("\(folder)/meddler.new", "\(folder)/meddler")
                    answer(confidence="none")
                    """)
        }
        try daemon.plug("hot1", 1)
        try daemon.eventually("it has told what it saw") { !daemon.told("meddler").isEmpty }
        let refused = "org.hotspotd.Control.NotPermitted"
        #expect(daemon.told("meddler") == "yes \(refused) \(refused) FileNotFoundError")
        #expect(try daemon.helpers()["meddler"]?["enabled"] == true)
    }
}
