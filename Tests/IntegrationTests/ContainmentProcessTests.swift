import Foundation
import HotspotCore
import Testing

/// The real daemon and its helpers, seen by another process of the same user.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that these tests run"))
struct ContainmentProcessTests {
    /// Secrets pass through the daemon's memory. Root without capabilities stands for a helper of a daemon that runs as root.
    @Test func theDaemonCannotBeDumpedOrTraced() throws {
        let daemon = try RunningDaemon()
        let script = """
            import ctypes, errno, os
            c = ctypes.CDLL(None, use_errno=True)
            pid = \(daemon.pid)
            def attempt(f):
                try: f(); return "yes"
                except OSError as e: return errno.errorcode[e.errno]
            def call(result): return "yes" if result >= 0 else errno.errorcode[ctypes.get_errno()]
            print(*[attempt(lambda: open(f"/proc/{pid}/{name}", "rb").read(1)) for name in ("mem", "environ", "maps", "stack")],
                attempt(lambda: os.readlink(f"/proc/{pid}/fd/0")), call(c.ptrace(16, pid, 0, 0)),
                call(c.syscall(ctypes.c_long({"x86_64": 438, "aarch64": 438}[os.uname().machine]), c.syscall(434, pid, 0), 0, 0)))
            """
        let python = ["/usr/bin/python3", "-c", script]
        let command = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all"] + python : python
        let run = try Finished.run(command[0], Array(command.dropFirst()))
        let words = run.output.split(whereSeparator: \.isWhitespace)
        #expect(run.status == 0 && words.count == 7, "\(run.output)")
        #expect(words.allSatisfy { $0 == "EACCES" || $0 == "EPERM" }, "\(run.output)")
        // The same script succeeds with a process that anybody may trace, so that the refusals mean something.
        let open = Process()
        let sleep = command.dropLast(python.count) + ["/usr/bin/sleep", "1000"]
        open.executableURL = URL(fileURLWithPath: sleep[0])
        open.arguments = Array(sleep.dropFirst())
        try open.run()
        defer {
            // A child may start with SIGTERM blocked.
            Foundation.kill(open.processIdentifier, SIGKILL)
            open.waitUntilExit()
        }
        let other = command.map { $0.replacingOccurrences(of: "pid = \(daemon.pid)", with: "pid = \(open.processIdentifier)") }
        #expect(try Finished.run(other[0], Array(other.dropFirst())).output.contains("yes"))
    }

    /// However the daemon ends, its helpers end with it, even those that forked twice, started a session of their own and ignore signals.
    @Test(.enabled(if: Machine.runs(CabledDaemon.canRun), "needs network namespaces, iproute2 and util-linux"))
    func aKilledDaemonLeavesNoHelper() throws {
        let daemon = try CabledDaemon(settings: "[Commands]\nTimeoutSec=100") { daemon in
            try daemon.add(
                "stubborn", "ReadWritePaths=\(daemon.scratch.path)/notes",
                python: """
                    for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
                    receive()
                    for _ in range(3):
                        if os.fork() == 0:
                            os.setsid()
                            if os.fork() == 0: open("\(daemon.scratch.path)/notes/stubborn", "a").write("x")
                            while True: time.sleep(1000)
                    while True: time.sleep(1000)
                    """)
        }
        try daemon.plug("hot1", 1)
        try daemon.eventually("they all run") { daemon.told("stubborn").count == 3 }
        #expect(daemon.helperProcesses.count >= 5)
        Foundation.kill(daemon.pid, SIGKILL)
        try daemon.eventually("no helper is left: \(daemon.helperProcesses)") { daemon.helperProcesses.isEmpty }
    }

    /// If the kernel forbids user namespaces, no helper starts, and the daemon says what to do; it starts helpers without a sandbox only if the
    /// administrator wants that.
    @Test(
        .enabled(if: Machine.runs(CabledDaemon.canRun), "needs network namespaces, iproute2 and util-linux"),
        arguments: [false, true])
    func withoutUserNamespaces(_ isAllowed: Bool) throws {
        let settings = isAllowed ? "[Daemon]\nContainment=none" : ""
        let daemon = try CabledDaemon(isBare: true, settings: settings) { daemon in
            try daemon.add(
                "clerk", "ReadWritePaths=\(daemon.scratch.path)/notes",
                python: "receive(); open('\(daemon.scratch.path)/notes/asked', 'w'); answer(confidence='none')")
        }
        try daemon.plug("hot1", 1)
        if isAllowed {
            _ = try daemon.note("asked", mayBeEmpty: true)
        } else {
            try daemon.eventually("the daemon says so") {
                try daemon.call("Status")["problems"]?.array?.contains {
                    $0["code"] == "sandboxUnavailable" && $0["hint"]?.string?.contains("sysctl user.max_user_namespaces=") == true
                } == true
            }
            #expect(daemon.told("asked").isEmpty && daemon.helperProcesses.isEmpty)
        }
        let missing = try daemon.helpers()["clerk"]?["missing"]?.array?.first?.string ?? ""
        #expect(missing.contains(isAllowed ? "Containment=none" : "No helper can be started"), "\(missing)")
    }
}
