import Foundation
import Testing

/// The built daemon online, while no program uses the network and when one does again.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, ip, nsenter and a network namespace"))
struct RestTests {
    /// How often each of the daemon's threads has slept so far, by thread id. A thread can end while this reads.
    private func sleeps(_ daemon: CabledDaemon) throws -> [String: Int] {
        let tasks = "/proc/\(daemon.pid)/task"
        var counts: [String: Int] = [:]
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            guard let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8) else { continue }
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
            let count = try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
            counts[task] = count
        }
        try #require(!counts.isEmpty, "no thread of \(daemon.pid) can be read")
        return counts
    }

    /// How often threads woke up between two counts. A thread that wakes up sleeps once more; an ended one woke up to end.
    private func wakeUps(from before: [String: Int], to after: [String: Int]) -> Int {
        let slept = after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
        return slept + before.keys.filter { after[$0] == nil }.count
    }

    /// A timer that ticks at rest fires within each 20 s; the timers that a login leaves behind end soon.
    @Test("D27 Online and not used, the daemon does not wake up; the next use shows that the portal ended the session")
    func rest() throws {
        let daemon = try LateOpeningTests().daemon(plan: ["Authenticate": [:], "Maintain": ["result": "authenticationRequired"]])
        daemon.scratch.write("open", "")
        try daemon.wait("hot1", "authenticated")
        var counts: [Int] = []
        while counts.last != 0, counts.count < 12 {
            let before = try sleeps(daemon)
            sleep(20)
            counts.append(wakeUps(from: before, to: try sleeps(daemon)))
        }
        print("wake-ups in each 20 s after a login: \(counts)")
        try #require(counts.last == 0, "\(counts)")

        try FileManager.default.removeItem(atPath: daemon.scratch.path + "/open")
        try daemon.shell("python3 -c 'import socket; socket.socket().connect_ex((\"192.0.1.1\", 81))'")
        let began = ContinuousClock.now
        try daemon.eventually("the session is maintained") { try daemon.methods().contains("Maintain") }
        print("a session that ended at rest was noticed after \(ContinuousClock.now - began) of use")
    }
}
