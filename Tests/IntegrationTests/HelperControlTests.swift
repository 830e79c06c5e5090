import Foundation
import HotspotCore
import Testing

/// A helper runs as the daemon's own user, which may do everything. The daemon must not grant that to a helper.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, iproute2 and util-linux"))
struct HelperControlTests {
    /// Python: asks a socket of the daemon, and gives the error's name or «yes».
    private static let ask = """
        import socket
        def ask(path, method, **parameters):
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(path)
                    if "." not in method: method = "org.hotspotd.Control." + method
                    s.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\\0")
                    data = b""
                    while not data.endswith(b"\\0"): data += s.recv(65536) or b"\\0"
                    return json.loads(data[:-1]).get("error", "yes").removeprefix("org.hotspotd.Control.")
            except OSError as e: return type(e).__name__
        def tell(name, words):
            open(NOTES + name + ".new", "w").write(" ".join(words))
            os.rename(NOTES + name + ".new", NOTES + name)
        token = os.environ["HOTSPOTD_TOKEN"]

        """

    /// Everything that a helper may want to know or change, except its own data.
    private static let others = """
        [("Status", {}), ("Check", {}), ("List", {}), ("Helpers", {}), ("Prompts", {}), ("History", {}), ("Explain", {}), ("Login", {}),
            ("Logoff", {}), ("Answer", {"id": "1", "answers": {}, "remember": False}), ("Dismiss", {"id": "1"}),
            ("SetEnabled", {"helper": "meddler", "enabled": False}), ("Forget", {"ssid": "Cafe"})]
        """

    private func meddler(_ daemon: CabledDaemon, _ python: String) throws {
        let notes = "\(daemon.scratch.path)/notes"
        try daemon.add(
            "meddler", "ReadWritePaths=\(notes)",
            python: """
                NOTES, OWN, ADMINS = "\(notes)/", "\(daemon.socket).helpers", "\(daemon.socket)"
                \(Self.ask)others = \(Self.others)
                receive()
                \(python)
                answer(confidence="none")
                """)
    }

    @Test func aHelperAsksForItselfAndForNothingElse() throws {
        let daemon = try CabledDaemon { daemon in
            try meddler(
                daemon,
                """
                own = [ask(OWN, "Current", token=token), ask(OWN, "Current", token="x"),
                    ask(OWN, "org.varlink.service.GetInfo"), ask(ADMINS, "Status")]
                tell("meddler", own + [ask(OWN, name, **parameters) for name, parameters in others])
                """)
        }
        try daemon.plug("hot1", 1)
        let told = try daemon.note("meddler").split(separator: " ")
        #expect(told.prefix(4) == ["yes", "NotPermitted", "yes", "FileNotFoundError"])
        #expect(told.dropFirst(4) == Array(repeating: "NotPermitted", count: 13)[...], "\(told)")
        #expect(try daemon.helpers()["meddler"]?["enabled"] == true)
    }
}
