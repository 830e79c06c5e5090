import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// Helpers that receive sockets, and helpers that someone else runs.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SharedProgramTests {
    init() { EventLoop.startThread() }

    /// Serves one connection after the other; `body` has `call`, `name` and `peer`.
    nonisolated static func server(_ body: String) -> String {
        """
        import select
        names = os.environ["LISTEN_FDNAMES"].split(":")
        listeners = {socket.socket(fileno=3 + i): n for i, n in enumerate(names)}
        served = 0
        while True:
            for ready in select.select(listeners, [], [])[0]:
                name = listeners[ready]
                connection, _ = ready.accept()
                peer = connection.fileno()
                call = receive(peer)
                served += 1
        \(body.split(separator: "\n", omittingEmptySubsequences: false).map { "        " + $0 }.joined(separator: "\n"))
                connection.close()
        """
    }

    @Test @LoopActor func oneProcessServesManyCommandsAndStartsAnewAfterIdling() async {
        let shop = Workshop()
        shop.add(
            "serve", socket: true,
            python: Self.server(
                "answer({'confidence': 'low', 'reason': f'{os.getpid()} {served}'}, peer)\nif served == 2: sys.exit(0)"))
        shop.host.prepare(["serve"])
        #expect(await eventually { shop.host.processCount == 1 })
        #expect(await shop.ask("serve").evaluation?.reason?.hasSuffix(" 1") == true)
        #expect(await shop.ask("serve").evaluation?.reason?.hasSuffix(" 2") == true)
        // The process ends now. The next command never reaches it, whether the command comes before or after the end is noticed.
        #expect(await shop.ask("serve").evaluation?.reason?.hasSuffix(" 1") == true)
        #expect(shop.host.processCount == 1)
        await shop.close()
    }

    @Test @LoopActor func helpersWithTheSameExecAndTheProberShareAProcess() async {
        let shop = Workshop()
        let path = shop.write(
            "all.py",
            Workshop.prelude
                + Self.server("answer({'confidence': 'low', 'reason': name, 'env': dict(os.environ), 'pid': os.getpid()}, peer)"))
        shop.add(HelperSpec(name: "b", activation: .socket(exec: [path])))
        shop.add(HelperSpec(name: "a", activation: .socket(exec: [path])))
        shop.host.setProber(exec: [path])
        #expect(await shop.ask("a").evaluation?.reason == "a")
        #expect(await shop.ask("b").evaluation?.reason == "b")
        let outcome: HelperOutcome = await withCheckedContinuation { continuation in
            shop.host.probe(parameters: [:]) { continuation.resume(returning: $0) }
        }
        guard case .value(let value) = outcome else {
            Issue.record("\(outcome)")
            return await shop.close()
        }
        #expect(value["reason"] == "probe")
        #expect(value["env"]?["LISTEN_FDS"] == "3" && value["env"]?["LISTEN_FDNAMES"] == "b:a:probe")
        #expect(value["env"]?["LISTEN_PID"]?.string == value["pid"]?.integer.map(String.init))
        #expect(shop.host.processCount == 1)
        let token = value["env"]?["HOTSPOTD_TOKEN"]?.string ?? ""
        #expect(token.count == 32 && shop.host.helperNames(forToken: token).first == "b")
        #expect(shop.host.helperNames(forToken: "").first == nil)
        let folder = shop.folder + "/run/helpers"
        var status = stat()
        #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
        await shop.close()
        #expect(shop.host.helperNames(forToken: token).first == nil)
    }

    @Test @LoopActor func aCrashFailsTheCommandThatWasBeingServedAndTheNextStartsAnew() async {
        let shop = Workshop()
        shop.add(
            "frail", socket: true,
            python: Self.server(
                "if call['method'].endswith('Evaluate'):\n    print('ouch', file=sys.stderr)\n    os.kill(os.getpid(), 9)\nanswer({'reply': {'result': 'success'}}, peer)"
            ))
        let fault = await shop.ask("frail").fault
        #expect(fault?.code == .helperCrashed && fault?.standardError == "ouch", "\(String(describing: fault))")
        #expect(fault?.sentence.contains("signal 9") == true)
        #expect(await shop.ask("frail", .maintain) == .reply(Reply(.success)))
        await shop.close()
    }

    /// Bubblewrap may be reaped before the helper's end of the connection is closed.
    @Test @LoopActor func aCommandThatWasReadIsNotSentAgain() async {
        let shop = Workshop()
        mkdir(shop.folder + "/told", 0o700)
        shop.add(
            "once", socket: true, writable: [shop.folder + "/told"],
            python: Self.server("open('\(shop.folder)/told/' + os.environ['HOTSPOTD_TOKEN'], 'w').close()\ntime.sleep(1000)"))
        async let fault = shop.ask("once").fault
        #expect(await eventually { Workshop.names(in: shop.folder + "/told").count == 1 })
        for process in shop.survivors.compactMap(pid_t.init).sorted().prefix(1) { kill(process, SIGKILL) }
        #expect(await fault?.code == .helperCrashed)
        #expect(Workshop.names(in: shop.folder + "/told").count == 1)
        await shop.close()
    }

    @Test @LoopActor func aServiceThatNeverAcceptsIsStartedTwiceAndNotMore() async {
        let shop = Workshop()
        shop.add("shy", socket: true, python: "open('\(shop.folder)/starts', 'a') if False else None\nsys.exit(5)")
        let fault = await shop.ask("shy").fault
        #expect(fault?.code == .helperCrashed && fault?.sentence.contains("status 5") == true)
        #expect(await eventually { shop.host.processCount == 0 })
        shop.add(HelperSpec(name: "gone", activation: .socket(exec: [shop.folder + "/nowhere"])))
        #expect(await shop.ask("gone").fault?.code == .helperNotStarted)
        await shop.close()
    }

    @Test @LoopActor func badAnswersOnASocketAreFaultsToo() async {
        let shop = Workshop()
        shop.add("bad", socket: true, python: Self.server("say(b'nonsense\\0' * 3, peer)"))
        shop.add("long", socket: true, python: Self.server("try: say(b' ' * (4 << 20), peer)\nexcept OSError: pass"))
        shop.add("shut", socket: true, python: Self.server("pass"))
        #expect(await shop.ask("bad").fault?.code == .helperMalformed)
        #expect(await shop.ask("long").fault?.code == .helperTooLong)
        let closed = await shop.ask("shut").fault
        #expect(closed?.code == .helperCrashed && closed?.sentence.contains("closed the connection") == true)
        await shop.close()
    }

    @Test @LoopActor func changedHelpersFinishTheirCommandFirst() async {
        let shop = Workshop()
        shop.add("slow", socket: true, python: Self.server("time.sleep(0.3)\nanswer({'confidence': 'high'}, peer)"))
        shop.add(
            "stays", socket: true,
            python: Self.server("answer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer)"))
        let token = await shop.ask("stays").evaluation?.reason
        async let pending = shop.ask("slow")
        await pause(.milliseconds(100))
        shop.host.setHelpers(shop.host.helpers.filter { $0.spec.name == "stays" })
        #expect(await pending.evaluation?.confidence == .high)
        #expect(await eventually { !shop.host.isRunning("slow") })
        #expect(await shop.ask("slow").fault?.code == .helperNotStarted)
        #expect(await shop.ask("stays").evaluation?.reason == token)
        await shop.close()
    }
}
