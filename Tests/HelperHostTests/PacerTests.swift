import EventLoop
import HotspotCore
import Testing

@testable import HelperHost

@Suite(.serialized, .timeLimit(.minutes(10))) struct PacerTests {
    init() { EventLoop.startThread() }

    /// Work that takes longer than a turn's share leaves others their turn, and stays in order.
    @Test @LoopActor func othersHaveTheirTurnMeanwhile() async {
        let pacer = Pacer()
        var order: [String] = []
        func work(_ name: String) {
            pacer.run {
                let end = EventLoop.now + Pacer.share
                while EventLoop.now < end {}
                order.append(name)
            }
        }
        work("1")
        work("2")
        work("3")
        #expect(order == ["1"])
        let other = try? EventLoop.shared.schedule(after: .zero) { order.append("other") }
        #expect(await eventually { order.count == 4 })
        #expect(order.filter { $0 != "other" } == ["1", "2", "3"])
        #expect(order.firstIndex(of: "other")! < 3)
        other?.cancel()
    }
}
