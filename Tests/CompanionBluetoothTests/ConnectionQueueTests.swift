import HotspotCore
import Testing

@testable import CompanionBluetooth

/// Which laptop is connected next, and when.
@Suite struct ConnectionQueueTests {
    private var start: Instant { Instant(nanoseconds: 1_000_000_000_000) }

    @Test func theOneThatWaitsLongestIsNext() {
        var queue = ConnectionQueue()
        #expect(queue.next() == nil)
        queue.appeared("a", at: start + .seconds(1))
        queue.appeared("b", at: start)
        #expect(queue.next()?.path == "b")
        #expect(queue.next(except: ["b"])?.path == "a")
        queue.began("b", at: start)
        #expect(queue.next()?.path == "a")
        queue.vanished("a")
        #expect(queue.next() == nil)
        // A laptop that comes back keeps its place.
        queue.appeared("a", at: start + .seconds(9))
        #expect(queue.next()?.due == start + .seconds(1))
    }

    @Test func failuresWaitLongerEachTime() {
        var queue = ConnectionQueue()
        var now = start
        queue.appeared("a", at: now)
        var waits: [Duration] = []
        for _ in 0..<10 {
            queue.began("a", at: now)
            queue.ended("a", at: now, jitter: 1)
            let due = queue.next()!.due
            waits.append(due - now)
            now = due
        }
        #expect(waits.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits == waits.sorted() && waits.last == ConnectionQueue.longestWait)
        queue.began("a", at: now)
        queue.ended("a", at: now + ConnectionQueue.goodTime, jitter: 1)
        #expect(queue.failures("a") == 0 && queue.next()!.due - now == ConnectionQueue.goodTime + ConnectionQueue.firstWait)
    }

    @Test func jitterShortensByHalfAtMost() {
        for (jitter, wait) in [(0.0, 500), (0.5, 750), (1, 1000), (-3, 500), (7, 1000)] {
            var queue = ConnectionQueue()
            queue.appeared("a", at: start)
            queue.ended("a", at: start, jitter: jitter)
            #expect(queue.next()!.due - start == .milliseconds(wait))
        }
    }

    @Test func manyStrangersPushOutTheOldest() {
        var queue = ConnectionQueue()
        queue.appeared("own", at: start)
        queue.began("own", at: start)
        for number in 0..<1000 { queue.appeared("\(number)", at: start + .seconds(number + 1)) }
        #expect(queue.next()?.path == "\(1000 - ConnectionQueue.limit + 1)")
        queue.ended("own", at: start, jitter: 1)
        #expect(queue.failures("own") == 1, "a connected one is kept")
    }
}

/// A request to BlueZ, its answer, and a wish that changes in between.
@Suite struct WishTests {
    @Test func oneRequestAtATime() {
        var wish = Wish()
        #expect(wish.next() == nil)
        wish.isWanted = true
        #expect(wish.next() == .start && wish.next() == nil)
        wish.isWanted = false
        #expect(wish.next() == nil, "the answer is awaited")
        wish.answered(wish.era, isDone: true)
        #expect(wish.state == .on && wish.next() == .stop)
        wish.isWanted = true
        #expect(wish.next() == nil)
        wish.answered(wish.era, isDone: false)
        #expect(wish.state == .off && wish.next() == .start)
        wish.answered(wish.era, isDone: false)
        #expect(wish.state == .off)
    }

    @Test func answersOfAnEarlierServiceAreDropped() {
        var wish = Wish()
        wish.isWanted = true
        let first = wish.era
        _ = wish.next()
        wish.ended()
        #expect(wish.state == .off && wish.next() == .start)
        wish.answered(first, isDone: true)
        #expect(wish.state == .starting)
        wish.answered(wish.era, isDone: true)
        #expect(wish.state == .on)
    }
}
