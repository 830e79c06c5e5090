import EventLoop
import HotspotCore
import Testing

@testable import hotspotd

@Suite struct WakingTests {
    init() { EventLoop.startThread() }

    @LoopActor private final class Laptop {
        var asleep = Duration.zero
        var readings: [() -> Void] = []
        var done: [String] = []
        lazy var waking: Waking = {
            let waking = Waking(timeAsleep: { [unowned self] in asleep })
            waking.readAgain = { [unowned self] in readings.append($0) }
            return waking
        }()

        init() { _ = waking }

        func due(_ what: String) { waking.afterLinksAreRead { [unowned self] in done.append(what) } }
    }

    @Test @LoopActor func awakeNothingWaits() {
        let laptop = Laptop()
        laptop.due("maintain")
        laptop.asleep = .microseconds(50)
        laptop.due("retry")
        #expect(laptop.done == ["maintain", "retry"] && laptop.readings.isEmpty)
    }

    /// D16: first the link, then due timers, each once and in order.
    @Test @LoopActor func afterASuspendTheLinksAreReadFirst() {
        let laptop = Laptop()
        laptop.due("before")
        laptop.asleep = .seconds(7200)
        laptop.due("maintain")
        laptop.due("hold")
        #expect(laptop.done == ["before"] && laptop.readings.count == 1)
        laptop.readings[0]()
        #expect(laptop.done == ["before", "maintain", "hold"])
        laptop.readings[0]()
        laptop.due("after")
        #expect(laptop.done == ["before", "maintain", "hold", "after"] && laptop.readings.count == 1)
    }

    @Test @LoopActor func eachSuspendReadsAgain() {
        let laptop = Laptop()
        for hours in 1...3 {
            laptop.asleep = .seconds(3600 * hours)
            laptop.due("\(hours)")
            #expect(laptop.readings.count == hours && laptop.done.count == hours - 1)
            laptop.readings[hours - 1]()
        }
        #expect(laptop.done == ["1", "2", "3"])
    }

    @Test @LoopActor func aSilentKernelDoesNotHoldTimersUpForEver() async {
        let laptop = Laptop()
        laptop.asleep = .seconds(60)
        await withCheckedContinuation { continuation in
            laptop.waking.afterLinksAreRead { continuation.resume() }
        }
        #expect(laptop.readings.count == 1)
    }
}
