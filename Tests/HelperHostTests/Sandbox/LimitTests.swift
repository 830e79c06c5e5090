import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// How much a helper can use, without effect on other helpers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LimitTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func processorTimeEnds() async {
        let shop = Workshop { $0.limits.processorTime = 1 }
        shop.add("spin", python: "receive()\nwhile True: pass")
        let fault = await shop.ask("spin").fault
        #expect(fault?.code == .helperCrashed && fault?.sentence.contains("processor time") == true, "\(fault?.sentence ?? "")")
        await shop.close()
    }

    /// A fork bomb and a memory bomb together, and a third helper that is served nevertheless.
    @Test @LoopActor func bombsDoNotReachTheOthers() async {
        let shop = Workshop {
            $0.limits.processes = 24
            $0.limits.data = 64 << 20
        }
        shop.add(
            "forks",
            python: """
                receive()
                count = 0
                while count < 600:
                    try:
                        if os.fork() == 0: time.sleep(1000)
                        count += 1
                    except OSError: break
                answer({"confidence": "low", "reason": str(count)})
                """)
        shop.add(
            "memory",
            python: """
                receive()
                held = []
                while len(held) < 4096:
                    try: held.append(bytearray(1 << 20))
                    except MemoryError: break
                answer({"confidence": "low", "reason": str(len(held))})
                """)
        shop.add("quiet", python: "receive(); answer({'confidence': 'high'})")
        async let forks = shop.ask("forks")
        async let memory = shop.ask("memory")
        let quiet = await shop.ask("quiet")
        #expect(quiet.evaluation?.confidence == .high)
        let started = Int(await forks.evaluation?.reason ?? "") ?? -1
        let held = Int(await memory.evaluation?.reason ?? "") ?? -1
        #expect((1...64).contains(held), "\(held) MiB")
        // The kernel exempts root, see `forksAreLimited`.
        #expect(geteuid() == 0 || (1...23).contains(started), "\(started) processes")
        await shop.close()
    }

    /// The limit of processes holds for every user but root, so the test runs as another user.
    @Test func forksAreLimited() throws {
        var limits = HostConfiguration.Limits()
        limits.processes = 12
        let bomb = "import os, time\nfor n in range(99):\n try:\n  if os.fork() == 0: time.sleep(9)\n except OSError: os._exit(n)"
        let sandbox = Sandbox(exec: ["/usr/bin/python3", "-c", bomb], processorTime: 60, limits: limits)
        let filter = try SystemCallFilter.make()
        defer { close(filter) }
        lseek(filter, 0, SEEK_SET)
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        let user = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["/usr/bin/env"]
        let pid = try Spawn(
            arguments: user + sandbox.commandLine(filter: 3, status: 4), environment: ["PATH=/usr/bin"],
            descriptors: [null, null, 2, filter, null]
        ).start()
        var status: Int32 = 0
        #expect(waitpid(pid, &status, 0) == pid)
        #expect((1...11).contains(status >> 8 & 0xff), "wait status \(status)")
    }

    /// The kernel ends a helper before it ends the daemon.
    @Test @LoopActor func underPressureHelpersGoFirst() async {
        let shop = Workshop()
        shop.add(
            "score", python: "receive(); answer({'confidence': 'low', 'reason': open('/proc/self/oom_score_adj').read().strip()})"
        )
        #expect(await shop.ask("score").evaluation?.reason == "500")
        await shop.close()
    }

    /// One association after the other with two hundred helpers: one decision each, and no process is left over.
    @Test @LoopActor func twoHundredHelpersComeAndGo() async {
        let shop = Workshop()
        let program = shop.write(
            "small",
            "#!/bin/sh\nhead -c 1 >/dev/null\nprintf '{\"parameters\":{\"confidence\":\"%s\"}}\\000' \"$1\"\nsleep 1000\n")
        let names = (0..<200).map { "h\($0)" }
        for name in names {
            shop.add(HelperSpec(name: name, activation: .stdio(exec: [program, name == "h199" ? "high" : "none"])))
        }
        var memory: [Int] = []
        for _ in 0..<3 {
            let descriptors = Self.descriptors
            shop.host.prepare(names)
            var calls: [String: HelperCall] = [:]
            var winner: String?
            var answers = 0
            await withCheckedContinuation { decided in
                for name in names {
                    calls[name] = shop.host.send(.evaluate, to: name, parameters: [:]) { outcome in
                        answers += 1
                        calls[name] = nil
                        guard outcome.evaluation?.confidence == .high else { return }
                        winner = name
                        decided.resume()
                    }
                }
            }
            for call in calls.values { call.cancel() }
            let atDecision = answers
            shop.host.standDown(interface: 0)
            #expect(winner == "h199")
            let gone = await eventually { shop.host.processCount == 0 && shop.survivors.isEmpty }
            #expect(gone, "\(shop.host.processCount) processes")
            // A cancelled helper says no more.
            #expect(answers == atDecision)
            // Other tests run meanwhile, but none has as many.
            #expect(Self.descriptors < descriptors + 100)
            memory.append(Self.resident)
        }
        // The first round fills memory that the next rounds reuse.
        #expect(memory[2] <= memory[0] + (16 << 10), "\(memory) KiB")
        await shop.close()
    }

    private static var descriptors: Int { Workshop.names(in: "/proc/self/fd").count }

    /// The resident memory of this process, in KiB.
    private static var resident: Int {
        let status = String(decoding: Workshop.read("/proc/self/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}
