import Glibc
import HotspotCore
import HotspotMachine

/// Prints the cost of the machine: `benchmarks [events] [scan] [portals] [history] [endurance]`, without arguments all of them.
///
/// Times are the medians and the best of many rounds, beside a baseline that the same run measures, so that figures from different computers can be
/// compared. Ends with status 1 if the heap or a file grows from day to day.
@main struct Main {
    static func main() {
        let wanted = Set(CommandLine.arguments.dropFirst())
        func wants(_ word: String) -> Bool { wanted.isEmpty || wanted.contains(word) }
        if wants("events") || wants("scan") || wants("portals") || wants("history") {
            let baseline = Baseline.nanoseconds()
            print("baseline: \(baseline) ns to count 100 words in a dictionary")
            if wants("events") { EventCost(baseline: baseline).run() }
            if wants("scan") { ScanCost(baseline: baseline).run() }
            if wants("portals") { PortalCost(baseline: baseline).run() }
            if wants("history") { HistoryCost(baseline: baseline).run() }
        }
        exit(!wants("endurance") || Endurance.run() ? 0 : 1)
    }
}

/// A folder in memory, where the machine has one.
let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

/// Ordinary work to compare with: a slow computer is slow at both.
enum Baseline {
    static func nanoseconds() -> Int {
        let words = (0..<100).map { "word number \($0)" }
        return Stopwatch.time(rounds: 500) {
            var counts: [String: Int] = [:]
            for word in words { counts[word, default: 0] += 1 }
            return counts.count
        }.median
    }
}

enum Stopwatch {
    /// The median and the best time of a round, in nanoseconds of this thread's processor time. Other work on the computer does not count, except
    /// through the caches that it uses. The body's result keeps the optimiser from removing it.
    static func time(rounds: Int, _ body: () -> Int) -> (median: Int, best: Int) {
        var times: [Int] = []
        var sum = 0
        for _ in 0..<rounds {
            let began = now
            sum &+= body()
            times.append(now - began)
        }
        if sum == .min { print("") }
        times.sort()
        return (times[rounds / 2], times[0])
    }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
