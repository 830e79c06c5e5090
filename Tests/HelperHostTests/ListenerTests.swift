import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// What a process can do to the sockets that it shares with the daemon.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListenerTests {
    init() { EventLoop.startThread() }

    /// A service whose first process does something to its socket, at its start or after its first answer.
    @LoopActor private func shop(_ deed: String, atStart: Bool = false, always: Bool = false) -> Workshop {
        let shop = Workshop()
        mkdir(shop.folder + "/told", 0o700)
        let told = shop.folder + "/told/done"
        let act = "if \(always ? "True" : "not os.path.exists('\(told)')"):\n    open('\(told)', 'w').close()\n    \(deed)"
        let serve = SocketServiceTests.server(
            "answer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer)\n" + (atStart ? "" : act))
        // The listener's own object is made by the server; here another for the same descriptor.
        shop.add(
            "shut", socket: true, writable: [shop.folder + "/told"],
            python: "own = socket.socket(fileno=os.dup(3))\n" + (atStart ? act + "\n" : "") + serve)
        return shop
    }

    @Test(arguments: [
        "own.shutdown(socket.SHUT_RD)", "own.shutdown(socket.SHUT_RDWR)", "own.shutdown(socket.SHUT_RDWR); sys.exit(0)",
    ])
    @LoopActor func oneThatWasShutDownIsMadeAnew(_ deed: String) async {
        for atStart in [true, false] {
            let shop = shop(deed, atStart: atStart)
            if atStart {
                shop.host.prepare(["shut"])
                #expect(await eventually { access(shop.folder + "/told/done", F_OK) == 0 })
            } else {
                #expect(await shop.ask("shut").evaluation != nil)
                #expect(await eventually { access(shop.folder + "/told/done", F_OK) == 0 })
            }
            // The shutting down follows at once.
            await pause(.milliseconds(20))
            let second = await shop.ask("shut").evaluation?.reason
            #expect(second != nil, "\(deed), at start: \(atStart)")
            #expect(await shop.ask("shut").evaluation?.reason == second)
            await shop.close()
        }
    }

    @Test @LoopActor func oneThatAlwaysShutsItDownFailsAndTheDaemonGoesOn() async {
        let shop = shop("own.shutdown(socket.SHUT_RDWR); sys.exit(0)", atStart: true, always: true)
        shop.add("other", python: "receive(); answer({'confidence': 'high'})")
        for _ in 0..<3 {
            let fault = await shop.ask("shut").fault
            #expect(fault?.isCrash == true, "\(String(describing: fault))")
            #expect(await shop.ask("other").evaluation?.confidence == .high)
            #expect(await eventually { !shop.host.isRunning("shut") })
        }
        await shop.close()
    }

    /// A queue that the process has made too short for two is the daemon's own again.
    @Test @LoopActor func itsQueueIsKeptLong() async {
        let shop = shop("own.listen(0); time.sleep(0.3)")
        #expect(await shop.ask("shut").evaluation != nil)
        #expect(await eventually { access(shop.folder + "/told/done", F_OK) == 0 })
        await pause(.milliseconds(20))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { await shop.ask("shut").evaluation != nil } }
            for await isAnswered in group { #expect(isAnswered) }
        }
        await shop.close()
    }

    /// Without a mount namespace a helper is in the same folders as the daemon, as the same user. It finds the other's socket in
    /// the kernel's list and cannot reach it.
    @Test @LoopActor func theSocketOfAnotherIsOutOfReach() async {
        let shop = Workshop()
        shop.host.launcher.wanted &= ~(LAUNCH_MOUNT_NAMESPACE.rawValue | LAUNCH_LANDLOCK.rawValue)
        shop.add("victim", socket: true, python: SocketServiceTests.server("answer({'confidence': 'low', 'reason': 'me'}, peer)"))
        #expect(await shop.ask("victim").evaluation?.reason == "me")
        shop.add(
            "thief",
            python: """
                receive()
                paths = [line.split()[7] for line in open("/proc/net/unix") if "\(shop.folder)" in line]
                paths.append("\(shop.folder)/run/helpers/victim")
                found = []
                for path in paths:
                    try: socket.socket(socket.AF_UNIX).connect(path); found.append("yes")
                    except OSError as e: found.append(e.strerror)
                answer({"confidence": "low", "reason": f"{len(paths) > 1} {sorted(set(found))}"})
                """)
        #expect(await shop.ask("thief").evaluation?.reason == "True ['No such file or directory']")
        #expect(!shop.host.containment(of: "thief").contains("own mount namespace"))
        // Who has the handle still connects.
        #expect(await shop.ask("victim").evaluation?.reason == "me")
        await shop.close()
    }

    /// Another listener whose queue is full is not waited for: the loop would stand still.
    @Test @LoopActor func aFullQueueOfAnotherIsNotWaitedFor() async throws {
        let shop = Workshop()
        let path = shop.folder + "/run/helpers/full"
        let taken = try Socket.listen(path: path, mode: 0o600)
        listen(taken.raw, 0)
        var waiting: [Int32] = []
        while let next = try? Socket.connect(path: path, nonblocking: true) { waiting.append(next.take()) }
        defer { waiting.forEach { close($0) } }
        #expect(throws: VarlinkError.unreachable(path: path, code: EADDRINUSE)) {
            _ = try Socket.listen(path: path, mode: 0o600).raw
        }
        unlink(path)
        await shop.close()
    }
}
