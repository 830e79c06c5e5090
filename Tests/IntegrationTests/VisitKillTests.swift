import Foundation
import HotspotCore
import Store
import TestSupport
import Testing
import Varlink

/// The daemon is killed during visits: in the race, the login, the proof, the Maintain of a rejoin and the logoff, each time a few seeded
/// milliseconds after its helper was asked. Everything shown before survives, the state on disk is possible, and the daemon continues by itself.
@Suite(.serialized, .enabled(if: Machine.runs(CabledDaemon.canRun), "needs make build, ip, nsenter and a network namespace"))
struct VisitKillTests {
    /// Writes down each command a moment before it answers.
    static let clerk = #"""
        import json, os, sys, time
        data = b""
        while not data.endswith(b"\0"):
            piece = os.read(0, 65536)
            if not piece:
                sys.exit(0)
            data += piece
        method = json.loads(data[:-1])["method"].rsplit(".", 1)[1]
        with open(f"{NOTES}/{method}", "w") as file:
            file.write(method)
        time.sleep(0.02)
        portal = {"origin": "https://clerk.example", "kind": "form"}
        parameters = {"confidence": "high"} if method == "Evaluate" else {"reply": {
            "result": "success", "portal": portal, "session": {"secondsRemaining": 3600, "memory": {"room": 214}}}}
        os.write(1, json.dumps({"parameters": parameters}).encode() + b"\0")
        """#

    /// When the daemon dies.
    enum Moment: CaseIterable {
        case race, login, proof, online, rejoin, logoff

        /// The command whose arrival at the helper starts the countdown.
        var command: String {
            switch self {
            case .race: "Evaluate"
            case .login, .proof, .online: "Authenticate"
            case .rejoin: "Maintain"
            case .logoff: "Logoff"
            }
        }

        /// The countdown in milliseconds.
        var delay: ClosedRange<Int> {
            switch self {
            case .race, .login, .rejoin, .logoff: 0...40
            case .proof: 20...60
            case .online: 40...200
            }
        }
    }

    static let rounds = 24
    static let network = NetworkID.wired(HardwareAddress("02:00:00:00:00:01")!)

    @Test func aVisitThatIsCutOffIsNeverHalfDone() throws {
        let daemon = try CabledDaemon(helper: Self.clerk)
        try daemon.plug("hot1", 1)
        try daemon.wait("hot1", "authenticated")
        var random = KillTests.Random(seed: 47)
        var seen: [String: Int] = [:]
        for round in 0..<Self.rounds {
            let moment = Moment.allCases[round % Moment.allCases.count]
            // Leaves the network, forgets it unless this is a rejoin, and joins again.
            try leave(daemon)
            if moment != .rejoin { _ = try daemon.call("Forget", ["ssid": "wired:02:00:00:00:00:01"]) }
            try daemon.shell("rm -f \(daemon.scratch.path)/notes/*")
            try daemon.address("hot1", 1)
            if moment == .logoff {
                try daemon.wait("hot1", "authenticated")
                _ = try daemon.call("Logoff", ["interface": "hot1"])
            }
            _ = try daemon.note(moment.command)
            usleep(UInt32(Int.random(in: moment.delay, using: &random) * 1000))
            let shown = try daemon.status("hot1")
            daemon.kill()
            let state = shown?["state"]?.string ?? "none"
            seen["\(moment): \(state)", default: 0] += 1

            try check(daemon, moment, shown, "round \(round), \(moment), \(state)")
            try daemon.start()
            let isHeld = try recover(daemon, "round \(round), \(moment)")
            #expect(!isHeld || moment == .logoff, "round \(round): held without a logoff")
            if isHeld {
                _ = try daemon.call("Login", ["interface": "hot1"])
                try daemon.wait("hot1", "authenticated")
            }
        }
        print(
            "killed in \(Self.rounds) visits, what was shown last: "
                + seen.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", "))
    }

    private func leave(_ daemon: CabledDaemon) throws {
        try daemon.shell("ip addr flush dev hot1")
        try daemon.wait("hot1", "inactive") { $0?["ssid"] == nil }
    }

    /// Checks the data on disk, read from a copy so that the daemon itself has to recover.
    private func check(_ daemon: CabledDaemon, _ moment: Moment, _ shown: JSONValue?, _ what: String) throws {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: daemon.scratch.path + "/state", toPath: copy.path + "/state")
        let store = try Store(directory: copy.path + "/state")
        #expect(store.problems.isEmpty && store.skippedRows == 0, "\(what): \(store.problems)")
        let now = Int(Date().timeIntervalSince1970 * 1000)
        let memory = store.records(now: now)[Self.network]
        #expect(memory.helper == nil || memory.helper == "clerk", "\(what)")
        #expect(memory.hold == nil || (moment == .logoff && memory.hold?.reason == .loggedOff), "\(what)")
        switch shown?["state"]?.string {
        case "authenticated":
            #expect(memory.helper == "clerk", "\(what): it was shown as online, and the choice is gone")
            #expect(memory.hold == nil, "\(what)")
        case "inactive": #expect(memory.hold != nil, "\(what): it was shown as held, and is not")
        default: break
        }
        if memory.helper != nil { #expect(memory.outcome?.word != nil, "\(what): a login without an outcome") }
        let attempts = store.attempts(limit: 5000)
        #expect(
            attempts.filter { $0.outcome == Attempt.interrupted }.allSatisfy { $0.verdict != nil && $0.ended == nil }, "\(what)")
        #expect(attempts.allSatisfy { $0.outcome != Attempt.running }, "\(what)")
        // The machine's way is unbroken: each transition begins where the one before it ended.
        var state: String?
        for attempt in attempts.prefix(3).reversed() {
            for step in store.steps(attempt.id) where step.kind == "transition" {
                if let state, attempt.id.prefix(16) == attempts[0].id.prefix(16) {
                    #expect(step.from == state, "\(what): \(step)")
                }
                if attempt.id.prefix(16) == attempts[0].id.prefix(16) { state = step.to }
            }
        }
    }

    /// Waits until the daemon is online again by itself, or held. Returns `true` if held.
    private func recover(_ daemon: CabledDaemon, _ what: String) throws -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            let status = try daemon.status("hot1")
            if status?["state"] == "authenticated" { return false }
            if status?["state"] == "inactive", status?["problems"]?.array?.contains(where: { $0["code"] == "held" }) == true {
                return true
            }
            usleep(10_000)
        }
        Issue.record("\(what): it does not come online again; \(daemon.log.suffix(3000))")
        throw POSIXError(.ETIMEDOUT)
    }
}
