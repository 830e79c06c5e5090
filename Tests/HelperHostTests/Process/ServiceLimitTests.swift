import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// How long a process that serves many commands may live. There is always a limit.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServiceLimitTests {
    init() { EventLoop.startThread() }

    /// A thread for each connection; `body` has `call` and `peer`.
    nonisolated static func threaded(_ body: String) -> String {
        """
        import threading
        listener = socket.socket(fileno=3)
        def serve(connection):
            peer = connection.fileno()
            call = receive(peer)
            method = call["method"].rsplit(".", 1)[1]
        \(body.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(separator: "\n"))
            connection.close()
        while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
    }

    @Test @LoopActor func withoutACommandItIsEndedAndTheNextStartsAnew() async {
        let shop = Workshop { $0.serviceIdle = .milliseconds(50) }
        shop.add(
            "serve", socket: true,
            python: Self.threaded("time.sleep(0.3)\nanswer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer)"))
        let first = await shop.ask("serve").evaluation?.reason
        #expect(first != nil, "a command may take longer than that")
        #expect(await eventually { !shop.host.isRunning("serve") })
        let second = await shop.ask("serve").evaluation?.reason
        #expect(second != nil && second != first)
        await shop.close()
    }

    /// A helper that lost the race has nothing left to do, so its processes end.
    @Test @LoopActor func aLoserIsEndedSoon() async {
        let shop = Workshop { $0.serviceLeave = .milliseconds(50) }
        shop.add(
            "loser", socket: true,
            python: "signal.signal(15, signal.SIG_IGN)\n"
                + Self.threaded("if os.fork() == 0: time.sleep(1000)\nanswer({'confidence': 'none'}, peer)"))
        var call: HelperCall?
        let outcome = await withCheckedContinuation { continuation in
            call = shop.host.send(.evaluate, to: "loser", parameters: [:]) { continuation.resume(returning: $0) }
        }
        #expect(outcome.evaluation?.confidence == HotspotCore.Confidence.none)
        await pause(.milliseconds(200))
        #expect(shop.host.isRunning("loser"), "the race is open")
        call?.cancel()
        #expect(await eventually { !shop.host.isRunning("loser") })
        await shop.close()
        #expect(shop.survivors == [])
    }

    /// After a final answer, no command is expected soon; after a question, the user may take a while.
    @Test(arguments: [("uiRequired", true), ("success", false), ("temporaryFailure", false), ("nonsense", false)])
    @LoopActor func afterItsLastWordItIsEndedSoon(_ result: String, _ stays: Bool) async {
        let shop = Workshop { $0.serviceLeave = .milliseconds(50) }
        let prompt = "'prompt': {'title': 'Room?', 'fields': [{'name': 'a', 'label': 'A', 'kind': 'text', 'required': False}]}"
        shop.add("clerk", socket: true, python: Self.threaded("answer({'reply': {'result': '\(result)', \(prompt)}}, peer)"))
        _ = await shop.ask("clerk", .authenticate)
        if stays {
            await pause(.milliseconds(300))
            #expect(shop.host.isRunning("clerk"))
        } else {
            #expect(await eventually { !shop.host.isRunning("clerk") })
        }
        await shop.close()
    }

    /// A command that comes while the old process is ending is not lost.
    @Test @LoopActor func aCommandDuringTheEndIsServedByTheNextProcess() async {
        let shop = Workshop {
            $0.serviceIdle = .milliseconds(20)
            $0.cancelKill = .milliseconds(400)
        }
        shop.add(
            "slow", socket: true,
            python: "signal.signal(15, signal.SIG_IGN)\n"
                + Self.threaded("answer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer)"))
        let first = await shop.ask("slow").evaluation?.reason
        // By now the process has the signal to end, but it still runs.
        await pause(.milliseconds(200))
        let second = await shop.ask("slow").evaluation?.reason
        #expect(first != nil && second != nil && first != second)
        await shop.close()
    }

    @Test @LoopActor func oneThatIgnoresACancellationAndServesNobodyElseEndsAtOnce() async {
        let shop = Workshop { $0.serviceCancel = .seconds(1000) }
        mkdir(shop.folder + "/told", 0o700)
        shop.add(
            "deaf", socket: true, writable: [shop.folder + "/told"],
            python: "signal.signal(15, signal.SIG_IGN)\n"
                + Self.threaded("open('\(shop.folder)/told/here', 'w')\ntime.sleep(1000)"))
        let call = shop.host.send(.evaluate, to: "deaf", parameters: [:]) { _ in Issue.record("answered") }
        #expect(await eventually { access(shop.folder + "/told/here", F_OK) == 0 })
        call.cancel()
        #expect(await eventually { !shop.host.isRunning("deaf") })
        await shop.close()
    }

    @Test @LoopActor func oneThatHeedsACancellationGoesOn() async {
        // On a busy machine, the helper takes time to notice the cancellation.
        let shop = Workshop { $0.cancelTerm = .seconds(20) }
        shop.add(
            "keen", socket: true,
            python: Self.threaded(
                "if method == 'Evaluate': os.read(peer, 1)\nelse: answer({'reply': {'result': 'success', 'reason': os.environ['HOTSPOTD_TOKEN']}}, peer)"
            ))
        func token() async -> String? {
            if case .reply(let reply) = await shop.ask("keen", .maintain) { reply.reason } else { nil }
        }
        let before = await token()
        let call = shop.host.send(.evaluate, to: "keen", parameters: [:]) { _ in Issue.record("answered") }
        call.cancel()
        let after = await token()
        #expect(before != nil && before == after)
        await shop.close()
    }

    /// While the process serves another command, it is not ended at once, but after two seconds at most.
    @Test(arguments: [true, false]) @LoopActor func oneThatIgnoresACancellationWhileItServesAnother(_ isPatient: Bool) async {
        let shop = Workshop { $0.serviceCancel = isPatient ? .seconds(1000) : .milliseconds(100) }
        mkdir(shop.folder + "/told", 0o700)
        shop.add(
            "half", socket: true, writable: [shop.folder + "/told"],
            python: Self.threaded(
                """
                open('\(shop.folder)/told/' + method, 'w')
                if method == 'Evaluate': time.sleep(1000)
                while not os.path.exists('\(shop.folder)/told/go'): time.sleep(0.01)
                answer({'reply': {'result': 'success'}}, peer)
                """))
        let call = shop.host.send(.evaluate, to: "half", parameters: [:]) { _ in Issue.record("answered") }
        async let other = shop.ask("half", .maintain)
        #expect(
            await eventually {
                access(shop.folder + "/told/Evaluate", F_OK) == 0 && access(shop.folder + "/told/Maintain", F_OK) == 0
            })
        call.cancel()
        if isPatient {
            await pause(.milliseconds(150))
            #expect(shop.host.isRunning("half"))
            shop.write("told/go", "")
            #expect(await other == .reply(Reply(.success)))
        } else {
            #expect(await other.fault?.code == .helperCrashed)
        }
        #expect(await eventually { !shop.host.isRunning("half") })
        await shop.close()
    }

    @Test @LoopActor func whatOneCommandGaveIsMaskedInTheErrorsOfAnother() async {
        let shop = Workshop()
        shop.add(
            "gossip", socket: true,
            python: """
                known = []
                """ + "\n"
                    + Self.threaded(
                        """
                        if method == 'Authenticate':
                            known.append(call['parameters']['credential']['pass'])
                            answer({'reply': {'result': 'success'}}, peer)
                        else:
                            os.write(2, b'I know ' + known[0].encode() + b'\\n')
                            os.kill(os.getpid(), 9)
                        """))
        shop.host.prepare(["gossip"])
        let outcome = await shop.ask("gossip", .authenticate, ["credential": ["pass": "opensesame"]])
        #expect(outcome == .reply(Reply(.success)))
        #expect(shop.host.secrets(givenTo: "gossip") == ["opensesame"])
        #expect(await shop.ask("gossip").fault?.standardError == "I know •••")
        await shop.close()
    }

    @Test @LoopActor func aServiceThatWasToldSecretsEndsWithTheNetwork() async {
        let shop = Workshop { $0.serviceIdle = .seconds(3) }
        let answer =
            "answer({'reply': {'result': 'success', 'reason': os.environ['HOTSPOTD_TOKEN']}, 'confidence': 'none'}, peer)"
        for name in ["told", "innocent"] { shop.add(name, socket: true, python: Self.threaded(answer)) }
        func token(of name: String, _ parameters: JSONValue = [:]) async -> String? {
            guard case .reply(let reply) = await shop.ask(name, .authenticate, parameters) else { return nil }
            return reply.reason
        }
        let told = await token(of: "told", ["credential": ["pass": "opensesame"]])
        let innocent = await token(of: "innocent")
        #expect(told != nil && innocent != nil)
        shop.host.forgetSecrets()
        #expect(shop.host.isRunning("told"), "another one waits for the next network")
        #expect(await eventually { shop.host.secrets(givenTo: "told").isEmpty })
        #expect(await token(of: "told") != told)
        #expect(await token(of: "innocent") == innocent)
        // A process that no network uses ends as well.
        #expect(await eventually { !shop.host.isRunning("told") && !shop.host.isRunning("innocent") })
        await shop.close()
    }
}
