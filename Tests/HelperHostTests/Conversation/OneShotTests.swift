import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Helpers that are a process for each command.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OneShotTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func everyCommandHasItsAnswer() async {
        let shop = Workshop()
        shop.add(
            "good",
            python: """
                call = receive()
                method = call["method"].rsplit(".", 1)[1]
                if method == "Evaluate":
                    answer({"confidence": "high", "portal": {"origin": "https://p", "kind": "form"}, "later": [1]})
                elif method == "FilterScanList":
                    answer({"annotations": [{"ssidHex": "6162", "confidence": "low"}]})
                elif method == "Logoff":
                    say(b'{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"Logoff"}}\\0')
                elif method == "Maintain":
                    say(b'{"error":"com.example.Broken","parameters":{"message":"no disk"}}\\0')
                else:
                    answer({"reply": {"result": "success", "session": {"memory": {"echo": call["parameters"]}}}})
                """)
        #expect(await shop.ask("good").evaluation == Evaluation(.high, portal: Portal(origin: "https://p", kind: "form")))
        #expect(await shop.ask("good", .filterScanList) == .annotations([Annotation(ssidHex: "6162", confidence: .low)]))
        #expect(await shop.ask("good", .logoff) == .notRecognized)
        let refused = await shop.ask("good", .maintain).fault
        #expect(refused?.code == .helperError && refused?.isCrash == false)
        #expect(refused?.sentence.contains("no disk") == true)
        let parameters: JSONValue = ["consent": true, "n": 7]
        #expect(
            await shop.ask("good", .authenticate, parameters)
                == .reply(Reply(.success, session: Session(memory: ["echo": parameters]))))
        await shop.close()
    }

    @Test @LoopActor func aPreparedProcessAnswersAndAnUnusedOneIsEnded() async {
        let shop = Workshop()
        shop.add("one", python: "receive(); answer({'confidence': 'low'})")
        shop.host.prepare(["one"])
        #expect(await eventually { shop.host.isRunning("one") && shop.host.processCount == 1 })
        shop.host.prepare(["one"])
        #expect(shop.host.processCount == 1)
        #expect(await shop.ask("one").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processCount == 0 })
        shop.host.prepare(["one"])
        #expect(await eventually { shop.host.isRunning("one") })
        shop.host.standDown(interface: 0)
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(!shop.host.isRunning("one"))
        await shop.close()
    }

    /// A helper's body, the resulting code, and a word of the sentence.
    nonisolated static let misbehaviour: [(String, ProblemCode, String)] = [
        ("sys.exit(3)", .helperCrashed, "status 3"),
        ("os.kill(os.getpid(), 9)", .helperCrashed, "signal 9"),
        ("receive(); say(b'{\"parameters\":{\"conf'); sys.exit(0)", .helperCrashed, "status 0"),
        ("receive(); os.close(1); time.sleep(0.2)", .helperCrashed, "without an answer"),
        ("receive(); say(b'hello\\0')", .helperMalformed, "JSON"),
        ("receive(); say(b'\\0\\0\\0\\0')", .helperMalformed, "JSON"),
        ("receive(); say(b'{\"parameters\":{\"confidence\":\"\\xff\\xfe\"}}\\0')", .helperMalformed, "UTF-8"),
        ("receive(); say(b'['*500 + b']'*500 + b'\\0')", .helperMalformed, "deeper"),
        ("receive(); say(b'['+b'[],'*80000+b'[]]\\0')", .helperMalformed, "values"),
        ("receive(); answer({'a' + '\\u0301\\u0323' * 200: 1, 'confidence': 'low'})", .helperMalformed, "combining marks"),
        ("receive(); say(b'[]\\0')", .helperMalformed, "wrong type"),
        ("receive(); say(b'{}\\0')", .helperMalformed, "confidence"),
        ("receive(); answer({'confidence': 3})", .helperMalformed, "confidence"),
        ("receive(); answer({'confidence': 'low', 'needs': 'user'})", .helperMalformed, "needs"),
        (
            "receive(); answer({'confidence': 'low', 'portal': {'origin': 'http://u:p@x', 'kind': 'x'}})", .helperMalformed,
            "origin"
        ),
        (
            "receive(); answer({'confidence': 'low', 'portal': {'origin': 'http://' + 'x' * 4000, 'kind': 'x'}})",
            .helperMalformed, "origin"
        ),
        (
            "receive(); answer({'confidence': 'low', 'portal': {'origin': 'https://x' + ' ' * 61 + '* wlan1  authenticated', 'kind': 'x'}})",
            .helperMalformed, "\"portal.origin\" is not an origin"
        ),
        ("receive(); answer({'confidence': 'HIGH'})", .helperUnknownValue, "HIGH"),
        ("receive(); answer({'confidence': 'low', 'session': {'memory': {'x': 'y' * 20000}}})", .helperTooLong, "memory"),
        ("receive(); say(b'x' * (100 << 20))", .helperTooLong, "256 KiB"),
        ("receive(); say(b'{\"length\":1073741824,' + b' ' * (2 << 20))", .helperTooLong, "256 KiB"),
        ("x = bytearray(3 << 30)", .helperCrashed, "status 1"),
        ("open(os.environ['TMPDIR'] + '/big', 'wb').truncate(1 << 30)", .helperCrashed, ""),
    ]

    @Test(arguments: misbehaviour.indices) @LoopActor func misbehaviourIsNamedAndLeavesNothing(_ index: Int) async {
        let (body, code, word) = Self.misbehaviour[index]
        let shop = Workshop()
        shop.add("bad", python: body)
        let fault = await shop.ask("bad").fault
        #expect(fault?.code == code, "\(body): \(fault?.sentence ?? "no fault")")
        #expect(fault?.isCrash == (code == .helperCrashed))
        #expect(word.isEmpty || fault?.sentence.contains(word) == true, "\(fault?.sentence ?? "")")
        await shop.close()
    }

    @Test @LoopActor func anAnswerBeforeTheCrashIsKeptAlsoWithoutReading() async {
        let shop = Workshop()
        shop.add("brief", python: "answer({'confidence': 'high'}); os.kill(os.getpid(), 9)")
        let long = JSONValue.string(String(repeating: "x", count: 300_000))
        #expect(await shop.ask("brief", .evaluate, ["pad": long]).evaluation?.confidence == .high)
        await shop.close()
    }

    @Test @LoopActor func theFirstOfManyAnswersCounts() async {
        let shop = Workshop()
        shop.add("twice", python: "receive()\nfor c in ['low', 'high', 'high', 'high']: answer({'confidence': c})")
        shop.add("flood", python: "receive()\nwhile True: answer({'confidence': 'low'})")
        #expect(await shop.ask("twice").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.ignoredAnswers["twice"] == 3 })
        #expect(await shop.ask("flood").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(shop.host.ignoredAnswers["flood"] == 16)
        await shop.close()
    }

    /// D18: an answer after the cancellation is reported, but has no effect.
    @Test @LoopActor func anAnswerAfterTheCancellationIsCounted() async {
        let shop = Workshop {
            $0.cancelTerm = .seconds(20)
            $0.cancelKill = .seconds(30)
        }
        shop.add(
            "late",
            python: """
                receive()
                sys.stdin.buffer.read()
                answer({'confidence': 'high'})
                """)
        var answered = 0
        var ignored = 0
        let call = shop.host.send(.evaluate, to: "late", parameters: [:]) { _ in answered += 1 }
        call.onIgnored = { ignored += $0 }
        // The command is sent in the loop's next turn, at the earliest.
        #expect(await eventually { shop.host.processCount == 1 })
        call.cancel()
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await eventually { ignored == 1 }, "\(ignored)")
        #expect(answered == 0)
        await shop.close()
    }

    @Test @LoopActor func standardErrorIsKeptToItsEndAndItsSecretsAreMasked() async {
        let shop = Workshop()
        shop.add(
            "loud",
            python: """
                call = receive()
                line = b"e" * 1023 + b"\\n"
                for _ in range(25600): os.write(2, line)
                print("the password is", call["parameters"]["credential"]["pass"], "\\x1b[31m", file=sys.stderr)
                sys.exit(1)
                """)
        let fault = await shop.ask("loud", .authenticate, ["credential": ["pass": "opensesame"]]).fault
        let text = fault?.standardError ?? ""
        #expect(text.hasSuffix("the password is ••• \\x1b[31m"))
        #expect(!text.contains("opensesame") && text.utf8.count <= 16 << 10 && text.utf8.count > 8 << 10)
        #expect(text.split(separator: "\n").dropLast().allSatisfy { $0.utf8.count == 1023 }, "no line is cut")
        await shop.close()
    }

    /// If the text were cut before it is masked, the end of the secret would remain at the edge.
    @Test(arguments: [0, 4, 8]) @LoopActor func aSecretAtTheEdgeIsMaskedToo(_ offset: Int) async {
        let shop = Workshop { $0.limits.standardError = 1024 }
        shop.add(
            "edge",
            python: """
                secret = receive()["parameters"]["credential"]["pass"]
                os.write(2, b"x" * 20000 + secret.encode() + b"y" * (1024 - \(offset)))
                sys.exit(1)
                """)
        let text = await shop.ask("edge", .authenticate, ["credential": ["pass": "opensesame"]]).fault?.standardError ?? ""
        #expect(text.hasSuffix("yyyy") && text.utf8.count > 1000)
        for word in ["same", "sesa", "open"] { #expect(!text.contains(word), "\(text.prefix(30))") }
        await shop.close()
    }

    @Test @LoopActor func whatIsQuotedInAFaultIsMaskedToo() async {
        let shop = Workshop()
        shop.add(
            "echo",
            python: """
                secret = receive()["parameters"]["answers"]["code"]
                answer({"reply": {"result": "x" * 60 + secret}})
                """)
        shop.add(
            "error",
            python:
                "call = receive()\nsay(json.dumps({'error': 'a.b', 'parameters': {'message': call['parameters']['answers']['code']}}).encode() + b'\\0')"
        )
        for name in ["echo", "error"] {
            let fault = await shop.ask(name, .presentUI, ["answers": ["code": "open sesame"]]).fault
            #expect(
                fault?.sentence.contains("•••") == true && fault?.sentence.contains("open") == false, "\(fault?.sentence ?? "")")
        }
        await shop.close()
    }

    /// An answer to a call that was never made.
    @Test @LoopActor func whoAnswersBeforeItIsAskedIsNotHeard() async {
        let shop = Workshop()
        mkdir(shop.folder + "/told", 0o700)
        shop.add(
            "hasty", writable: [shop.folder + "/told"],
            python: "answer({'confidence': 'high'}); open('\(shop.folder)/told/done', 'w'); receive(); time.sleep(1000)")
        shop.host.prepare(["hasty"])
        #expect(await eventually { access(shop.folder + "/told/done", F_OK) == 0 })
        let fault = await shop.ask("hasty").fault
        #expect(fault?.code == .helperMalformed && fault?.isGarbage == true)
        #expect(fault?.sentence.contains("before it was asked") == true, "\(fault?.sentence ?? "")")
        #expect(await eventually { shop.host.processCount == 0 })
        await shop.close()
    }

    @Test @LoopActor func whoHasAnsweredAndStaysIsEndedWhenTheRaceIsDecided() async {
        let shop = Workshop {
            $0.lingerTerm = .seconds(1000)
            $0.lingerKill = .seconds(1000)
        }
        shop.add("stays", python: "receive(); answer({'confidence': 'none'}); time.sleep(1000)")
        var call: HelperCall?
        let outcome: HelperOutcome = await withCheckedContinuation { continuation in
            call = shop.host.send(.evaluate, to: "stays", parameters: [:]) { continuation.resume(returning: $0) }
        }
        #expect(outcome.evaluation?.confidence == Confidence.none && shop.host.isRunning("stays"))
        call?.cancel()
        #expect(await eventually { !shop.host.isRunning("stays") })
        await shop.close()
    }

    /// A helper that ignores an end-of-file, SIGTERM or everything ends after a cancellation all the same.
    @Test(arguments: [
        "time.sleep(1000)", "signal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "try: os.kill(os.getppid(), signal.SIGSTOP)\nfinally: time.sleep(1000)", "while True: os.write(2, b'z' * 65536)",
    ])
    @LoopActor func aCancelledCommandLeavesNothing(_ body: String) async {
        let shop = Workshop()
        shop.add("deaf", python: "open(os.environ['TMPDIR'] + '/x', 'w'); receive()\n" + body)
        var answers = 0
        let call = shop.host.send(.evaluate, to: "deaf", parameters: [:]) { _ in answers += 1 }
        #expect(await eventually { !shop.survivors.isEmpty })
        await pause(.milliseconds(100))
        call.cancel()
        call.cancel()
        #expect(!call.isLive)
        #expect(await eventually { shop.host.processCount == 0 && shop.survivors.isEmpty })
        #expect(answers == 0)
        await shop.close()
    }

    @Test @LoopActor func aDaemonisedChildDoesNotSurvive() async {
        let shop = Workshop()
        shop.add(
            "fork",
            python: """
                receive()
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        for fd in (0, 1, 2): os.close(fd)
                        time.sleep(1000)
                    os._exit(0)
                time.sleep(0.05)
                answer({"confidence": "low"})
                """)
        #expect(await shop.ask("fork").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await eventually { shop.survivors.isEmpty })
        await shop.close()
    }

    @Test @LoopActor func aProgramThatCannotBeStartedIsAFaultAndNotACrashOfOurs() async {
        let shop = Workshop()
        let paths = [
            shop.folder + "/nowhere", shop.write("plain", "#!/bin/sh\n", mode: 0o644), shop.write("loose", "#!/bin/sh\n"),
            shop.write("odd", "#!/nowhere/sh\n"), shop.write("empty", ""),
            shop.write("words", "exit 0\n"), shop.folder,
        ]
        chmod(shop.folder + "/loose", 0o777)
        for (index, path) in paths.enumerated() {
            shop.add(HelperSpec(name: "h\(index)", activation: .stdio(exec: [path])))
            let fault = await shop.ask("h\(index)").fault
            #expect(fault?.code == .helperNotStarted && fault?.isCrash == true, "\(path): \(fault?.sentence ?? "no fault")")
        }
        #expect(await shop.ask("nobody").fault?.code == .helperNotStarted)
        // The program is replaced between two commands.
        shop.add("swap", python: "receive(); answer({'confidence': 'low'})")
        #expect(await shop.ask("swap").evaluation?.confidence == .low)
        shop.write("swap.py", "#!/bin/sh\nexit 4\n")
        #expect(await shop.ask("swap").fault?.sentence.contains("status 4") == true)
        unlink(shop.folder + "/swap.py")
        #expect(await shop.ask("swap").fault?.code == .helperNotStarted)
        await shop.close()
    }

    /// Other tests open descriptors in this process too, so only growth with the number of commands is a leak.
    @Test @LoopActor func manyCommandsLeaveNoDescriptors() async {
        let shop = Workshop()
        let path = shop.write("quick", "#!/bin/sh\nprintf '{\"parameters\":{\"confidence\":\"none\"}}\\000'\n")
        shop.add(HelperSpec(name: "quick", activation: .stdio(exec: [path])))
        #expect(await shop.ask("quick").evaluation?.confidence == Confidence.none)
        let before = Workshop.names(in: "/proc/self/fd").count
        for index in 0..<60 {
            if index.isMultiple(of: 2) {
                shop.host.send(.evaluate, to: "quick", parameters: [:]) { _ in }.cancel()
            } else {
                #expect(await shop.ask("quick").evaluation?.confidence == Confidence.none)
            }
        }
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(Workshop.names(in: "/proc/self/fd").count < before + 30)
        await shop.close()
    }

    /// A race: all helpers are asked, the first answer cancels the rest, and all processes end.
    @Test @LoopActor func fiftyAtOnceLeaveNothing() async {
        let shop = Workshop()
        let path = shop.write(
            "racer", "#!/bin/sh\nhead -c 1 >/dev/null\nprintf '{\"parameters\":{\"confidence\":\"high\"}}\\000'\nsleep 1000\n")
        let names = (0..<50).map { "racer\($0)" }
        for name in names { shop.add(HelperSpec(name: name, activation: .stdio(exec: [path]))) }
        let start = EventLoop.now
        shop.host.prepare(names)
        let prepared = EventLoop.now
        // Each starts in its own turn, so that nothing else waits for all of them.
        #expect(await eventually { shop.host.processCount == 50 })
        var winners = 0
        var calls: [HelperCall] = []
        await withCheckedContinuation { continuation in
            for name in names {
                calls.append(
                    shop.host.send(.evaluate, to: name, parameters: [:]) { outcome in
                        #expect(outcome.evaluation?.confidence == .high)
                        winners += 1
                        for call in calls { call.cancel() }
                        continuation.resume()
                    })
            }
        }
        let decided = EventLoop.now
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(winners == 1 && calls.allSatisfy { !$0.isLive })
        print(
            "50 helpers: started in \((prepared - start).milliseconds) ms, decided after \((decided - start).milliseconds) ms, gone after \((EventLoop.now - start).milliseconds) ms"
        )
        await shop.close()
    }
}
