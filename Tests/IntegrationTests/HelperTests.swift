import Foundation
import HotspotCore
import TestSupport
import Testing

/// Helpers of every kind of bad manners, all in one race of the real daemon, again and again.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Machine.runs(CabledDaemon.canRun && geteuid() == 0), "needs make build, root, iproute2 and util-linux"))
struct HelperTests {
    /// A helper's behaviour, and its result by the rules.
    struct Manners {
        /// The program, after the prelude.
        var body: String
        /// The problem that is shown with the helper; `nil` for none.
        var code: String?
        /// A word of its sentence.
        var word = ""
        /// Whether it counts as a missed deadline or a crash (D7).
        var strikes = true
    }

    nonisolated static let manners: [String: Manners] = [
        "silent": Manners(body: "receive(); time.sleep(1000)", code: "helperTimeout"),
        "stopped": Manners(body: "receive(); os.kill(os.getpid(), signal.SIGSTOP)", code: "helperTimeout"),
        "deaf": Manners(
            body: "signal.signal(15, signal.SIG_IGN); receive()\nwhile True: time.sleep(1)", code: "helperTimeout"),
        "fork": Manners(
            body: "receive()\nfor _ in range(5):\n  if os.fork() == 0: os.setsid()\ntime.sleep(1000)", code: "helperTimeout"),
        "exits": Manners(body: "sys.exit(3)", code: "helperCrashed", word: "status 3"),
        "killed": Manners(body: "receive(); os.kill(os.getpid(), 9)", code: "helperCrashed", word: "signal 9"),
        "half": Manners(body: "receive(); say(b'{\"parameters\":{\"conf')", code: "helperCrashed", word: "without an answer"),
        "garbage": Manners(
            body: "receive()\nfor _ in range(1600): say(b'garbage!' * 8192)", code: "helperTooLong", word: "256 KiB"),
        "promise": Manners(
            body: "receive(); say(b'{\"length\":1073741824,' + b' ' * (2 << 20))", code: "helperTooLong", word: "256 KiB"),
        "nuls": Manners(body: "receive(); say(b'\\0' * 1000)", code: "helperMalformed", word: "JSON"),
        "utf8": Manners(
            body: "receive(); say(b'{\"parameters\":{\"confidence\":\"\\xff\"}}\\0')", code: "helperMalformed", word: "UTF-8"),
        "deep": Manners(body: "receive(); say(b'[' * 500 + b']' * 500 + b'\\0')", code: "helperMalformed", word: "deeper"),
        "type": Manners(body: "receive(); answer(confidence=3)", code: "helperMalformed", word: "confidence"),
        "word": Manners(body: "receive(); answer(confidence='HIGH')", code: "helperUnknownValue", word: "HIGH", strikes: false),
        "twice": Manners(
            body: "receive()\nfor c in ['none', 'high', 'high']: answer(confidence=c)", code: nil, strikes: false),
        "flood": Manners(body: "receive()\nwhile True: answer(confidence='none')", code: nil, strikes: false),
        "unknown": Manners(body: "receive(); answer(confidence='none', colour=[1, {}])", code: nil, strikes: false),
        "loud": Manners(
            body: "receive()\nfor _ in range(50): os.write(2, b'e' * 65536)\nos.write(2, b'\\nthe last word')\nsys.exit(1)",
            code: "helperCrashed", word: "status 1"),
        "memory": Manners(body: "receive(); x = bytearray(3 << 30)", code: "helperCrashed", word: "status 1"),
    ]

    private let commands = "[Commands]\nTimeoutSec=10\nLowGraceSec=1"

    /// The race ends when no entrant is left; then no helper's process is left either.
    private func settle(_ daemon: CabledDaemon) throws {
        try daemon.eventually("the race is decided") { daemon.state() == "authenticated" }
        try daemon.eventually("every process is gone: \(daemon.helperProcesses)") { daemon.helperProcesses.isEmpty }
    }

    @Test func badMannersHaveNamesAndLeaveNothing() throws {
        let daemon = try CabledDaemon(settings: commands) { daemon in
            for (name, manners) in Self.manners { try daemon.add(name, python: manners.body) }
            try daemon.add("swapped", python: "receive(); answer(confidence='none')")
        }
        try daemon.plug("hot1", 1)
        try settle(daemon)
        let descriptors = daemon.descriptors
        var helpers = try daemon.helpers()
        for (name, manners) in Self.manners {
            let helper = try #require(helpers[name])
            let problems = helper["problems"]?.array ?? []
            #expect(problems.compactMap { $0["code"]?.string } == (manners.code.map { [$0] } ?? []), "\(name): \(problems)")
            #expect(problems.allSatisfy { $0["hint"]?.string?.isEmpty == false }, "\(name) has no hint")
            #expect(manners.word.isEmpty || problems.first?["message"]?.string?.contains(manners.word) == true, "\(problems)")
            #expect(helper["strikes"]?.integer == (manners.strikes ? 1 : 0), "\(name)")
            #expect(helper["quarantined"]?.bool == false)
        }
        let steps = try daemon.steps()
        #expect(
            steps.contains {
                $0["helper"]?.string == "loud" && $0["kind"]?.string == "trace"
                    && $0["detail"]?.string?.hasSuffix("the last word") == true
            }, "what it wrote last is shown")

        // Once more: after two strikes in a row, helpers are quarantined. One program was replaced with a file that anyone may change.
        chmod(daemon.scratch.path + "/programs/swapped", 0o777)
        try daemon.rejoin()
        try settle(daemon)
        helpers = try daemon.helpers()
        for (name, manners) in Self.manners {
            let codes = helpers[name]?["problems"]?.array?.compactMap { $0["code"]?.string } ?? []
            #expect(helpers[name]?["quarantined"]?.bool == manners.strikes, "\(name)")
            #expect(codes.contains("helperQuarantined") == manners.strikes, "\(name): \(codes)")
        }
        #expect(helpers["swapped"]?["strikes"]?.integer == 0, "it is not asked")
        let refused = helpers["swapped"]?["problems"]?.array?.first
        #expect(refused?["code"]?.string == "helperNotTrusted" && refused?["hint"] != nil, "\(refused ?? nil)")
        #expect(abs(daemon.descriptors - descriptors) <= 2, "\(descriptors) descriptors became \(daemon.descriptors)")

        // A good helper is added while the daemon runs: it needs no restart, and the bad helpers do not delay it.
        try daemon.add(
            "good",
            python:
                "call = receive()\nanswer(confidence='high') if call['method'].endswith('Evaluate') else answer(reply={'result': 'success'})"
        )
        try daemon.eventually("the new helper is known") { try daemon.helpers()["good"] != nil }
        try daemon.rejoin()
        try daemon.eventually("it is logged in") {
            (try daemon.status("hot1"))?["helper"]?.string == "good" && daemon.state() == "authenticated"
        }
        try daemon.eventually("every process is gone") { daemon.helperProcesses.isEmpty }
        // The good helper's high claim ends the race, not a deadline or the grace for low claims.
        let won = try #require(try daemon.steps().first { $0["to"]?.string == "authenticating" }?["detail"]?.string)
        #expect(won.hasPrefix("claimed by good: ") && !won.contains(" is over"), "\(won)")
        #expect(!daemon.log.contains("Fatal error"))
    }

    @Test func aHelperThatMendsItsWaysIsReleased() throws {
        // Once all helpers are in quarantine, they have the grace time for their answer.
        let daemon = try CabledDaemon(settings: "[Commands]\nTimeoutSec=10\nLowGraceSec=10") {
            try $0.add("late", python: "receive(); time.sleep(1000)")
        }
        try daemon.plug("hot1", 1)
        try settle(daemon)
        try daemon.rejoin()
        try settle(daemon)
        #expect(try daemon.helpers()["late"]?["quarantined"]?.bool == true)
        try daemon.program("late", python: "receive(); answer(confidence='none')")
        try daemon.rejoin()
        try settle(daemon)
        let late = try daemon.helpers()["late"]
        #expect(late?["quarantined"]?.bool == false && late?["strikes"]?.integer == 0 && late?["problems"]?.array == [])
    }

    /// The journal shows each disclosure, and no helper learns more than it needs.
    @Test func aHelperHearsOfItsNetworksAlone() throws {
        let listen = { (name: String, folder: String) in
            "call = receive()\nopen('\(folder)/notes/\(name)', 'a').write(json.dumps(call) + '\\n')\nanswer(confidence='none')"
        }
        let daemon = try CabledDaemon(settings: commands) { daemon in
            let keys = "ReadWritePaths=\(daemon.scratch.path)/notes"
            try daemon.add("anyone", keys, python: listen("anyone", daemon.scratch.path))
            try daemon.add("elsewhere", keys + "\nSSID=Cafe Aroma*", python: listen("elsewhere", daemon.scratch.path))
            try daemon.add("radio", keys + "\nSecurity=open;owe", python: listen("radio", daemon.scratch.path))
            try daemon.add(
                "peek",
                python: """
                    receive()
                    def attempt(path):
                        try: return len(os.listdir(path))
                        except OSError as e: return "no"
                    answer(confidence="none", reason=str([attempt("\(daemon.scratch.path)/" + p) for p in ["state", "run/helpers", "helpers"]]))
                    """)
        }
        try daemon.plug("hot1", 1)
        try settle(daemon)
        #expect(daemon.told("anyone").contains("org.hotspotd.Helper.Evaluate"))
        #expect(daemon.told("elsewhere") == "" && daemon.told("radio") == "")
        let steps = try daemon.steps()
        let told = steps.filter { $0["kind"]?.string == "disclosed" }.compactMap { $0["detail"]?.string }
        #expect(told.count == 1 && told[0].hasSuffix("to 2 helpers: anyone, peek"), "\(told)")
        // The daemon's state folder, the sockets of others and the folder of helper files, which name networks, are covered or refused.
        let seen = steps.first { $0["kind"]?.string == "answer" && $0["helper"]?.string == "peek" }?["detail"]?.string
        #expect(seen == "none: [0, 'no', 0]" || seen == "none: ['no', 'no', 'no']", "\(seen ?? "no answer")")
        let helpers = try daemon.helpers()
        #expect(helpers["peek"]?["file"]?.string == daemon.scratch.path + "/helpers/peek.helper")
        #expect(helpers["peek"]?["containment"]?.array == ["sandboxed"] && helpers["peek"]?["missing"]?.array == [])
    }

    /// Files appear, change, are masked and disappear, and so do their folder and the programs that they wait for.
    @Test func changesInTheFoldersNeedNoRestart() throws {
        let daemon = try CabledDaemon(settings: commands) { try $0.add("one", python: "receive(); answer(confidence='none')") }
        let names = { try daemon.helpers().filter { $0.value["problems"]?.array == [] }.keys.sorted() }
        #expect(try names() == ["one"])
        try daemon.file("two", "[Helper]\nName=two\nExec=\(daemon.scratch.path)/programs/two\n")
        try daemon.eventually("the file without a program is shown") {
            try daemon.helpers()["two"]?["problems"]?.array?.first?["code"]?.string == "helperProgramMissing"
        }
        let program = daemon.scratch.write("programs/two", "#!/bin/sh\n")
        chmod(program, 0o755)
        try daemon.eventually("its program was awaited") { try names() == ["one", "two"] }
        try daemon.file("one", "")
        try daemon.eventually("an empty file masks") { try names() == ["two"] }
        // The folder goes as a whole, and comes back with a parent of its own.
        let folder = daemon.scratch.path + "/helpers"
        try FileManager.default.moveItem(atPath: folder, toPath: daemon.scratch.path + "/aside")
        try daemon.eventually("the folder is gone") { try daemon.helpers().isEmpty }
        try FileManager.default.moveItem(atPath: daemon.scratch.path + "/aside", toPath: folder)
        try daemon.eventually("the folder is back") { try names() == ["two"] }
        try FileManager.default.removeItem(atPath: folder + "/two.helper")
        try daemon.eventually("the file is gone") { try daemon.helpers().isEmpty }
    }
}
