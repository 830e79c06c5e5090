import EventLoop
import Glibc
import HotspotCore
import Testing
import Varlink

@testable import HelperHost

/// The memory that the largest allowed answers leave behind.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LargeAnswerTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func aHundredOfThemLeaveLittle() async {
        let shop = Workshop()
        let program = shop.write(
            "large",
            Workshop.prelude + """
                receive()
                text = {'confidence': 'low', 'reason': 'r' * 100000, 'needs': ['n' * 300] * 300, 'other': [{'a': 1}] * 3000, 'more': 'm' * 30000}
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
        // The first round makes allocations that last, so the measurement begins after it.
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

    /// The longest message that a helper can send, in shapes that cost the decoder most for each octet.
    @Test(arguments: [
        ("numbers", "[", "1", "]"), ("texts", "[", #""""#, "]"), ("lists", "[", "[]", "]"), ("objects", "[", "{}", "]"),
        ("names", "{", #""%":1"#, "}"), ("names of lists", "{", #""%":[]"#, "}"),
        ("deep lists", "[", String(repeating: "[", count: 26) + String(repeating: "]", count: 26), "]"),
        ("deep objects", "[", String(repeating: #"{"":"#, count: 26) + "1" + String(repeating: "}", count: 26), "]"),
        ("long names", "{", #""\#(String(repeating: "\u{1E9B}\u{323}", count: 200))%":1"#, "}"),
        ("escapes", "[", #""\u00e9\u00e9\u00e9\u00e9""#, "]"), ("commas", "[", #"",,,,,,,,,,,,,,,""#, "]"),
    ]) func anAnswerIsReadInBoundedTime(_ name: String, _ open: String, _ unit: String, _ close: String) {
        for limit in [Int.max, AnswerReader.valueLimit - 10] {
            var values = 0
            var content = ""
            while content.utf8.count < (256 << 10) - 1000 {
                let next = (content.isEmpty ? "" : ",") + unit.replacing("%", with: "k\(values)")
                values += next.utf8.count { ",[{".utf8.contains($0) }
                guard values <= limit else { break }
                content += next
            }
            for place in [#""more":"#, #""session":{"memory":"#] {
                let end = place.hasSuffix(#"memory":"#) ? "}}}" : "}}"
                let message = Array((#"{"parameters":{"confidence":"low",\#(place)"# + open + content + close + end).utf8)
                var outcome: HelperOutcome?
                let seconds = Self.processorTime { outcome = AnswerReader.outcome(of: message, to: .evaluate) }
                let result = outcome?.fault?.sentence ?? "read"
                print("\(name) in \(place) \(message.count) octets: \(Int(seconds * 1000)) ms, \(result)")
                #expect(seconds < 10, "\(name)")
                guard let fault = outcome?.fault else { continue }
                #expect([.helperMalformed, .helperTooLong].contains(fault.code), "\(fault)")
                #expect(
                    ["more than 10000 values", "larger than 16 KiB", "is not an object"].contains { fault.sentence.contains($0) },
                    "\(fault)")
            }
        }
    }

    /// The processor time of this thread, in seconds.
    private static func processorTime(_ body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        body()
        return now() - start
    }

    /// The resident memory of this process, in KiB.
    private static var resident: Int {
        let status = String(decoding: Workshop.read("/proc/self/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
    }
}
