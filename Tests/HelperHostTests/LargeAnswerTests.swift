import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// What is left of answers that are as large as answers may be.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LargeAnswerTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func aHundredOfThemLeaveLittle() async {
        let shop = Workshop()
        let program = shop.write(
            "large",
            Workshop.prelude + """
                receive()
                text = {'confidence': 'low', 'reason': 'r' * 300000, 'needs': ['n' * 1000] * 300, 'other': [{'a': 1}] * 4000, 'more': 'm' * 200000}
                octets = json.dumps({'parameters': text}).encode() + b'\\0'
                say(octets[:-1])
                # All of them are in the daemon's memory before the first one ends.
                open('\(shop.folder)/told/' + sys.argv[1], 'w').close()
                while not os.path.exists('\(shop.folder)/told/go'): time.sleep(0.05)
                say(octets[-1:])
                """)
        let names = (0..<100).map { "h\($0)" }
        mkdir(shop.folder + "/told", 0o755)
        for name in names {
            shop.add(HelperSpec(name: name, activation: .stdio(exec: [program, name]), readWritePaths: [shop.folder + "/told"]))
        }
        // What the first round makes for good.
        shop.write("told/go", "")
        _ = await shop.ask("h0")
        unlink(shop.folder + "/told/go")
        unlink(shop.folder + "/told/h0")
        let before = Self.resident
        var outcomes: [HelperOutcome] = []
        await withTaskGroup(of: HelperOutcome.self) { group in
            for name in names { group.addTask { await shop.ask(name) } }
            group.addTask {
                for _ in 0..<10 where await !eventually({ Workshop.names(in: shop.folder + "/told").count == names.count }) {}
                await shop.write("told/go", "")
                return .notRecognized
            }
            for await outcome in group where outcome != .notRecognized { outcomes.append(outcome) }
        }
        let decided = Self.resident
        #expect(outcomes.count == 100 && outcomes.allSatisfy { $0.evaluation?.confidence == .low })
        #expect(outcomes.allSatisfy { $0.evaluation?.reason?.utf8.count == 2048 })
        #expect(await eventually { shop.host.processCount == 0 })
        var after = Self.resident
        let isBack = await eventually {
            after = Self.resident
            return after < before + (12 << 10)
        }
        print("large answers: \(before) KiB before, \(decided) KiB when all were there, \(after) KiB in the end")
        #expect(isBack, "\(before) KiB before, \(after) KiB after")
        outcomes = []
        await shop.close()
    }

    /// Nothing is written out to learn that it is too long.
    @Test func sizesAreCountedNoFurtherThanNeeded() {
        let values: [JSONValue] = [
            nil, true, 12345, .number(0.5), "", "a\"b\n/é", [], [1], [1, "x", nil], [:], ["a": 1],
            ["a": ["b": [nil, false]], "c": "d"],
        ]
        for value in values {
            #expect(value.leastOctets(upTo: 1000) <= Coding.encode(value).count, "\(value)")
            #expect(value.leastOctets(upTo: 1000) * 5 >= Coding.encode(value).count, "\(value)")
        }
        let large = JSONValue.object(Dictionary(uniqueKeysWithValues: (0..<9000).map { ("key\($0)", .string("value")) }))
        #expect(large.leastOctets(upTo: 1 << 20) > Session.memoryLimit)
        let texts = JSONValue.array((0..<1000).map { _ in .string(String(repeating: "x", count: 100)) })
        #expect((1100...1300).contains(texts.leastOctets(upTo: 1100)), "it stops soon")
    }

    /// What a helper can send at most, in so many values that each of them costs.
    @Test(arguments: [
        #"{"parameters":{"confidence":"low","session":{\#(keys(90_000))}}}"#,
        #"{"parameters":{"confidence":"low","session":{"memory":{\#(keys(90_000))}}}}"#,
        #"{"parameters":{"confidence":"low","session":{"memory":{\#(keys(9_000))}}}}"#,
    ]) func manyValuesAreRefused(_ text: String) {
        let message = Array(text.utf8)
        let clock = ContinuousClock()
        var outcome: HelperOutcome?
        let took = clock.measure { outcome = AnswerReader.outcome(of: message, expecting: .evaluation) }
        print("\(message.count) octets in many values: refused after \(took)")
        let fault = outcome?.fault
        #expect(fault?.code == .helperMalformed || fault?.code == .helperTooLong, "\(String(describing: fault))")
        #expect(
            fault?.sentence.contains("more than 10000 values") == true || fault?.sentence.contains("larger than 16 KiB") == true)
    }

    private static func keys(_ count: Int) -> String { (0..<count).map { #""k\#($0)":1"# }.joined(separator: ",") }

    /// KiB of this process.
    private static var resident: Int {
        let status = String(decoding: Workshop.read("/proc/self/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}
