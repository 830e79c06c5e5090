import EventLoop
import HotspotCore
import Testing

@testable import LinkState
@testable import hotspotd

/// The watch for trouble, with counters of its own.
@Suite(.timeLimit(.minutes(10))) struct TroubleWatchTests {
    init() { EventLoop.startThread() }

    /// A table of RFC 4022 with as many segments sent as attempts failed.
    private func counters(_ count: Int) throws -> TCPCounters {
        try #require(TCPCounters(text: "Tcp: OutSegs AttemptFails EstabResets RetransSegs\nTcp: \(count) \(count) 0 0\n"))
    }

    @Test @LoopActor func troubleInAnOpenNetworkIsProbedLessOften() async throws {
        let interval = Duration.milliseconds(10)
        var (readings, probes) = (0, [Instant]())
        let began = EventLoop.now
        let watch = TroubleWatch(
            waking: Waking(), interval: interval,
            counters: {
                readings += 1
                return try? self.counters(readings)
            },
            awaitUse: { _ in nil },
            probe: { done in
                probes.append(EventLoop.now)
                done()
            })
        watch.setWanted(true)
        while probes.count < 6 { try await Task.sleep(for: .milliseconds(5)) }
        watch.setWanted(false)
        let gaps = zip([began] + probes, probes).map { $1 - $0 }
        for (gap, shortest) in zip(gaps, [1, 2, 4, 8, 8, 8]) { #expect(gap >= interval * shortest, "\(gaps)") }
    }
}
