import Foundation
import HotspotCore
import Store
import TestSupport
import Testing
import Varlink

/// The whole daemon over many joins: at the end it uses as much memory as after the warm-up.
@Suite(.serialized, .enabled(if: Machine.runs(CabledDaemon.canRun), "needs make build, ip, nsenter and a network namespace"))
struct EnduranceTests {
    static let cables = 8
    static let warmUp = 25
    /// The rounds in each of the two halves.
    static let rounds = 65
    /// Octets of private memory that may be added in one half, 520 joins: half a KiB for each would exceed it. An allocator works in larger steps, so
    /// a single half proves nothing; a loss for each join shows in both.
    static let allowance = 256 << 10

    /// Every join starts a helper and the prober (which crashes), writes the journal and remembers a choice; then the network is left again.
    @Test func aThousandJoinsLeaveMemoryAndDescriptorsAsTheyWere() throws {
        // The helper is a shell script, which starts in a fraction of the time that Python takes.
        let daemon = try CabledDaemon(helper: "")
        let program = daemon.scratch.write(
            "quick.sh",
            "#!/bin/sh\n# Nobody answers before he was asked.\nhead -c 1 > /dev/null\nprintf '{\"parameters\":{\"confidence\":\"high\",\"reply\":{\"result\":\"success\"}}}\\0'\n"
        )
        chmod(program, 0o755)
        daemon.scratch.write("helpers/clerk.helper", "[Helper]\nName=clerk\nDisplayName=The clerk\nExec=\(program)\n")
        daemon.kill()
        try Self.fillJournal(daemon.scratch.path + "/state")
        try daemon.start()
        for number in 1...Self.cables { try daemon.plug("hot\(number)", number) }
        try wait(daemon, "authenticated")
        let pid = try daemon.daemonPID()
        func rest() throws -> (memory: Int, descriptors: Int) {
            try leave(daemon)
            // Helpers that have answered linger for a moment, and their pipes with them.
            var before = -1
            var now = try Self.descriptors(pid)
            while now != before {
                before = now
                usleep(1_500_000)
                now = try Self.descriptors(pid)
            }
            return (try Self.privateMemory(pid), now)
        }
        for _ in 0..<Self.warmUp { try visit(daemon) }
        let warm = try rest()
        let began = ContinuousClock.now
        for _ in 0..<Self.rounds { try visit(daemon) }
        let middle = try rest()
        for _ in 0..<Self.rounds { try visit(daemon) }
        let end = try rest()
        let took = ContinuousClock.now - began
        let growth = [middle.memory - warm.memory, end.memory - middle.memory]
        print(
            "\(2 * Self.rounds * Self.cables) joins in \(took): private memory \(warm.memory / 1024) KiB when warm, then "
                + "\(growth.map { "\($0 / 1024) KiB" }.joined(separator: " and ")) more; descriptors \(warm.descriptors), then \(end.descriptors)"
        )
        #expect(end.descriptors == warm.descriptors)
        #expect(growth.min()! <= Self.allowance, "\(growth)")
        let attempts = try daemon.call("History")["attempts"]?.array ?? []
        #expect(attempts.count == 200)
        let others = attempts.filter { $0["outcome"] != "online" }
        #expect(others.isEmpty, "every one of them was a login")
    }

    /// Fills the journal with as many attempts as it keeps: until then, the journal and the cache of its pages grow.
    private static func fillJournal(_ folder: String) throws {
        let store = try Store(directory: folder)
        let now = Int(Date().timeIntervalSince1970 * 1000)
        let steps = (0..<10).map { Step(at: $0, time: now, kind: "trace", detail: String(repeating: "x", count: 60)) }
        for number in 0..<Store.attemptLimit {
            let id = "before-\(number)"
            try store.beginAttempt(id, interface: "hot1", network: .anonymous, ssid: "wired", began: now)
            try store.addSteps(id, steps)
        }
    }

    /// Leaves all networks, and joins them again.
    private func visit(_ daemon: CabledDaemon) throws {
        try leave(daemon)
        try batch(daemon) { number in
            """
            neigh replace 192.0.\(number).1 lladdr 02:00:00:00:00:0\(number) dev hot\(number) nud permanent
            addr add 192.0.\(number).2/24 dev hot\(number)
            route add default via 192.0.\(number).1 dev hot\(number) metric \(number)
            """
        }
        try wait(daemon, "authenticated")
    }

    private func leave(_ daemon: CabledDaemon) throws {
        try batch(daemon) { "addr flush dev hot\($0)" }
        try wait(daemon, "inactive")
    }

    private func batch(_ daemon: CabledDaemon, _ lines: (Int) -> String) throws {
        try daemon.shell("ip -batch - <<END\n" + (1...Self.cables).map(lines).joined(separator: "\n") + "\nEND")
    }

    private func wait(_ daemon: CabledDaemon, _ state: String) throws {
        let client = try BlockingConnection(path: daemon.socket)
        for _ in 0..<6000 {
            let states = try client.call("org.hotspotd.Control.Status")["interfaces"]?.array?.map { $0["state"]?.string } ?? []
            if states.count == Self.cables, states.allSatisfy({ $0 == state }) { return }
            usleep(5000)
        }
        Issue.record("not all are \(state); \(daemon.log.suffix(3000))")
        throw POSIXError(.ETIMEDOUT)
    }

    private static func descriptors(_ pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    /// Octets that belong to this process alone (proc_pid_smaps(5)).
    private static func privateMemory(_ pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
            .reduce(0) { $0 + (Int($1.split(separator: " ")[1]) ?? 0) * 1024 }
    }
}

extension CabledDaemon {
    /// The process of the daemon itself: it holds the lock of its runtime folder.
    fileprivate func daemonPID() throws -> Int32 {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = Int32(name), let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.first?.hasSuffix("/hotspotd") == true, words.last == scratch.path + "/hotspotd.conf" { return pid }
        }
        throw Disappointment("the daemon is not found among the processes")
    }
}
