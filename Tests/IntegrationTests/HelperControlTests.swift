import Foundation
import HotspotCore
import Testing

/// A helper runs as the daemon's own user, which may do everything; what it reaches of the daemon must not know that.
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

    /// Everything that a helper could want to know or to change, but what is its own.
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

    /// A helper with many processes has the seats of one helper, and another one finds its own, also where no namespace holds them together
    /// and each of them has lost its parent.
    @Test(arguments: [false, true]) func aHelperWithManyProcessesKeepsNobodyOut(isBare: Bool) throws {
        let daemon = try CabledDaemon(isBare: isBare) { daemon in
            let notes = "\(daemon.scratch.path)/notes"
            func add(_ name: String, _ python: String) throws {
                try daemon.add(
                    name, "ReadWritePaths=\(notes)",
                    python: "NOTES, OWN = \"\(notes)/\", \"\(daemon.socket).helpers\"\n\(Self.ask)receive()\n\(python)")
            }
            try add(
                "crowd",
                """
                def sit(number):
                    seats = [socket.socket(socket.AF_UNIX) for _ in range(4)]
                    for seat in seats: seat.connect(OWN)
                    tell("sits%d" % number, [])
                    while not os.path.exists(NOTES + "polite"): time.sleep(0.05)
                    os._exit(0)
                for number in range(12):
                    child = os.fork()
                    if child == 0:
                        if number % 2 and os.fork(): os._exit(0)
                        sit(number)
                    if number % 2: os.waitpid(child, 0)
                while not os.path.exists(NOTES + "polite"): time.sleep(0.05)
                answer(confidence="none")
                """)
            try add(
                "polite",
                """
                while not all(os.path.exists(NOTES + "sits%d" % number) for number in range(12)): time.sleep(0.05)
                tell("polite", [ask(OWN, "Current", token=token) for _ in range(30)])
                answer(confidence="none")
                """)
        }
        try daemon.plug("hot1", 1)
        let told = try daemon.note("polite").split(separator: " ")
        #expect(told == Array(repeating: "yes", count: 30), "\(told)")
    }

    /// Where nothing covers the daemon's own socket, its descent gives a helper away, also behind a double fork.
    @Test func aHelperThatReachesTheMainSocketIsKnown() throws {
        let daemon = try CabledDaemon(isBare: true) { daemon in
            try meddler(
                daemon,
                """
                tell("meddler", [ask(ADMINS, name, **parameters) for name, parameters in others])
                if os.fork() == 0:
                    os.setsid()
                    parent = os.getpid()
                    if os.fork() == 0:
                        while os.getppid() == parent: time.sleep(0.01)
                        tell("orphan", [ask(ADMINS, name, **parameters) for name, parameters in others])
                        time.sleep(1000)
                    os._exit(0)
                os.wait()
                while not os.path.exists(NOTES + "orphan"): time.sleep(0.01)
                """)
        }
        try daemon.plug("hot1", 1)
        for name in ["meddler", "orphan"] {
            let told = try daemon.note(name).split(separator: " ")
            #expect(told == Array(repeating: "NotPermitted", count: 13), "\(name): \(told)")
        }
        let helper = try daemon.helpers()["meddler"]
        #expect(helper?["enabled"] == true, "and whoever started the daemon may ask it")
        #expect(helper?["missing"]?.array?.contains("own mount namespace") == true, "or this test shows nothing")
        // It has answered, and what it left behind is the daemon's to end.
        try daemon.eventually("the orphan is gone") { daemon.helperProcesses.isEmpty }
    }
}
