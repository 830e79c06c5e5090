import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import EventLoop
@testable import HelperHost

/// What the kernel counts by user, taken by a helper.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReliefTests {
    init() { EventLoop.startThread() }

    /// Epoll takes no descriptor any more, as if a helper had all watches of the user.
    @LoopActor private func withoutWatches(_ body: @LoopActor () async -> Void) async {
        PollFallback.shared.refusal = { _ in ENOSPC }
        await body()
        PollFallback.shared.refusal = { _ in 0 }
    }

    private static let answer = "receive(); answer({'confidence': 'low', 'reason': str(os.getppid())})"
    private static let serve = SocketServiceTests.server(
        "answer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer)")

    @Test @LoopActor func helpersAreStartedAndAskedWithoutAnyWatch() async {
        let shop = Workshop()
        shop.add("one", python: Self.answer)
        shop.add("many", socket: true, python: Self.serve)
        shop.add("large", python: "receive(); answer({'confidence': 'low', 'reason': 'x' * 500000})")
        shop.add("crash", python: "receive(); print('ouch', file=sys.stderr); sys.exit(3)")
        shop.add("deaf", python: "signal.signal(15, signal.SIG_IGN)\nreceive()\ntime.sleep(1000)")
        await withoutWatches {
            #expect(await shop.ask("one").evaluation?.confidence == .low)
            #expect(await shop.ask("many").evaluation?.confidence == .low)
            #expect(await shop.ask("large").evaluation?.confidence == .low)
            let long: JSONValue = ["network": .string(String(repeating: "x", count: 300_000))]
            #expect(await shop.ask("one", .evaluate, long).evaluation?.confidence == .low)
            let fault = await shop.ask("crash").fault
            #expect(
                fault?.standardError == "ouch" && fault?.sentence.contains("status 3") == true, "\(String(describing: fault))")
            let call = shop.host.send(.evaluate, to: "deaf", parameters: [:]) { _ in Issue.record("answered") }
            await pause(.milliseconds(50))
            call.cancel()
            #expect(await eventually { !shop.host.isRunning("deaf") })
            #expect(PollFallback.shared.count > 0 || shop.host.processCount == 0)
            await shop.close()
        }
        #expect(PollFallback.shared.count == 0)
    }

    @Test @LoopActor func whoeverIsNotWaitedForIsEndedAndToldOf() async {
        // Nobody ends by a timer meanwhile.
        let shop = Workshop {
            $0.lingerTerm = .seconds(1000)
            $0.lingerKill = .seconds(1000)
        }
        var told: [[String]] = []
        shop.host.onRelief = { names, what in
            told.append(names)
            #expect(what.contains("fs.epoll.max_user_watches"))
        }
        mkdir(shop.folder + "/told", 0o700)
        shop.add("prepared", python: "signal.signal(15, signal.SIG_IGN)\n" + Self.answer)
        shop.add("lingers", python: "signal.signal(15, signal.SIG_IGN)\n" + Self.answer + "; time.sleep(1000)")
        shop.add("idle", socket: true, python: Self.serve)
        shop.add(
            "busy", writable: [shop.folder + "/told"],
            python: "while not os.path.exists('\(shop.folder)/told/go'): time.sleep(0.01)\n" + Self.answer)
        shop.add(
            "serving", socket: true, writable: [shop.folder + "/told"],
            python: SocketServiceTests.server(
                "while not os.path.exists('\(shop.folder)/told/go'): time.sleep(0.01)\nanswer({'confidence': 'high'}, peer)"))
        shop.add("last", python: Self.answer)
        shop.host.prepare(["prepared"])
        #expect(await shop.ask("lingers").evaluation != nil)
        let first = await shop.ask("idle").evaluation?.reason
        let busy = Task { await shop.ask("busy") }
        let serving = Task { await shop.ask("serving") }
        #expect(await eventually { shop.host.processCount == 5 })
        await withoutWatches {
            #expect(await shop.ask("last").evaluation?.confidence == .low)
            #expect(await eventually { !told.isEmpty })
            #expect(told.first.map { Set($0).subtracting(["last"]) } == ["idle", "lingers", "prepared"])
            #expect(await eventually { ["idle", "lingers", "prepared"].allSatisfy { !shop.host.isRunning($0) } })
            #expect(shop.host.isRunning("busy") && shop.host.isRunning("serving"))
            // Started anew, and not ended again so soon.
            let second = await shop.ask("idle").evaluation?.reason
            #expect(second != nil && second != first)
            #expect(await shop.ask("prepared").evaluation?.confidence == .low)
            #expect(await shop.ask("idle").evaluation?.reason == second)
            #expect(told.count == 1)
            shop.write("told/go", "")
            #expect(await busy.value.evaluation?.confidence == .low)
            #expect(await serving.value.evaluation?.confidence == .high)
        }
        await shop.close()
    }

    /// The kernel refuses another process: the unit's TasksMax=, or the user's limit.
    @Test @LoopActor func processesThatAreUsedUpAreMadeRoomForToo() async {
        let shop = Workshop()
        var told: [String] = []
        shop.host.onRelief = { names, what in told += names + [what] }
        shop.add("prepared", python: Self.answer)
        shop.host.prepare(["prepared"])
        shop.host.launcher.onRefusal(EPERM)
        await pause(.milliseconds(20))
        #expect(told == [])
        shop.host.launcher.onRefusal(EAGAIN)
        #expect(await eventually { told == ["prepared", "processes and threads"] })
        #expect(await eventually { shop.host.processCount == 0 })
        await shop.close()
    }

    /// A command that comes between the end of an idle process and its being noticed is for the next process, not for the dying
    /// one.
    @Test @LoopActor func aCommandInBetweenIsForTheNextProcess() async {
        let shop = Workshop { $0.reliefInterval = .zero }
        shop.add("idle", socket: true, python: Self.serve)
        shop.add("prepared", python: Self.answer)
        let first = await shop.ask("idle").evaluation?.reason
        shop.host.prepare(["prepared"])
        shop.host.relieve(of: "nothing")
        let again = Task { await shop.ask("idle") }
        let prepared = Task { await shop.ask("prepared") }
        let second = await again.value.evaluation?.reason
        #expect(second != nil && second != first)
        #expect(await prepared.value.evaluation?.confidence == .low)
        await shop.close()
    }
}
