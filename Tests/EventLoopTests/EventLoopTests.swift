import Glibc
import HotspotCore
import Testing

@testable import EventLoop

@Suite struct EventLoopTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func tasksRunOnOneThread() async throws {
        let first = pthread_self()
        for _ in 0..<100 {
            await Task.yield()
            #expect(pthread_equal(first, pthread_self()) != 0)
        }
        let other = await Task { @LoopActor in pthread_self() }.value
        #expect(pthread_equal(first, other) != 0)
    }

    /// The order is not promised: within one turn, a busy loop serves due timers in any order.
    @Test @LoopActor func timersFireOnceEachAndNeverEarly() async throws {
        let start = EventLoop.now
        let due = [30, 10, 20].map { start + .milliseconds($0) }
        var fired: [Int: [Instant]] = [:]
        var sources: [EventSource] = []
        await withCheckedContinuation { continuation in
            for (index, instant) in due.enumerated() {
                sources.append(
                    try! EventLoop.shared.schedule(at: instant) {
                        fired[index, default: []].append(EventLoop.now)
                        if fired.count == due.count { continuation.resume() }
                    })
            }
        }
        for (index, instant) in due.enumerated() {
            #expect(fired[index]?.count == 1)
            #expect(fired[index]?.first.map { $0 >= instant } == true)
        }
    }

    @Test @LoopActor func aCancelledSourceIsSilent() async throws {
        var fired = 0
        let source = try EventLoop.shared.schedule(after: .milliseconds(5)) { fired += 1 }
        source.cancel()
        source.cancel()
        await pause(.milliseconds(20))
        #expect(fired == 0)
    }

    @Test @LoopActor func aPipeWakesTheLoopWithItsBytes() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        defer { ends.forEach { close($0) } }
        var source: EventSource?
        let octet: UInt8 = await withCheckedContinuation { continuation in
            source = try! EventLoop.shared.watch(ends[0]) { _ in
                var octet: UInt8 = 0
                if read(ends[0], &octet, 1) == 1 {
                    source?.cancel()
                    continuation.resume(returning: octet)
                }
            }
            var octet: UInt8 = 42
            #expect(write(ends[1], &octet, 1) == 1)
        }
        #expect(octet == 42)
    }
}

@LoopActor func pause(_ duration: Duration) async {
    var source: EventSource?
    await withCheckedContinuation { continuation in
        source = try! EventLoop.shared.schedule(after: duration) { continuation.resume() }
    }
    source?.cancel()
}
