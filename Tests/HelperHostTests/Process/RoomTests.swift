import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Starts that the machine has no room for: the others' doing, and soon over.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RoomTests {
    init() { EventLoop.startThread() }

    private static let answer = "receive(); answer({'confidence': 'high'})"

    /// The kernel refuses so many starts for this reason, of any helper.
    @LoopActor private final class Kernel {
        var refusals: Int
        var starts = 0
        init(_ shop: Workshop, refusing count: Int, _ code: Int32 = EAGAIN) {
            refusals = count
            shop.host.startRefusal = { [self] in
                starts += 1
                guard refusals > 0 else { return 0 }
                refusals -= 1
                return code
            }
        }
    }

    @Test(arguments: [EAGAIN, ENOMEM, EMFILE], [false, true]) @LoopActor func itIsTriedAgain(
        _ code: Int32, _ isSocket: Bool
    ) async {
        let shop = Workshop()
        if isSocket {
            shop.add("winner", socket: true, python: SocketServiceTests.server("answer({'confidence': 'high'}, peer)"))
        } else {
            shop.add("winner", python: Self.answer)
        }
        let kernel = Kernel(shop, refusing: 3, code)
        let outcome = await shop.ask("winner")
        #expect(outcome.evaluation?.confidence == .high, "\(outcome)")
        #expect(kernel.starts == 4)
        await shop.close()
    }

    @Test(arguments: [false, true]) @LoopActor func afterAWhileItIsSaidAsItIs(_ isSocket: Bool) async {
        let shop = Workshop { $0.cancelKill = .zero }
        shop.add("winner", socket: isSocket, python: Self.answer)
        let kernel = Kernel(shop, refusing: .max)
        let fault = await shop.ask("winner").fault
        #expect(kernel.starts == 1 + shop.host.retryPauses.count)
        #expect(
            fault?.code == .helperNoRoom && fault?.isLackOfRoom == true && fault?.isCrash == false && fault?.isGarbage == false)
        #expect(fault?.sentence.contains("winner: it was not started, because the machine has no room for it") == true)
        #expect(fault?.problem.code == .helperNoRoom && fault?.problem.hint == "systemctl status hotspotd")
        // Nothing of it is left behind.
        kernel.refusals = 0
        if !isSocket { #expect(await shop.ask("winner").evaluation?.confidence == .high) }
        await shop.close()
    }

    @Test @LoopActor func whoeverIsCancelledMeanwhileIsNotStarted() async {
        let shop = Workshop()
        shop.add("loser", python: Self.answer)
        let kernel = Kernel(shop, refusing: 1)
        let call = shop.host.send(.evaluate, to: "loser", parameters: [:]) { _ in Issue.record("answered") }
        #expect(await eventually { kernel.refusals == 0 })
        call.cancel()
        await pause(.milliseconds(300))
        #expect(kernel.starts == 1 && shop.host.processCount == 0)
        await shop.close()
    }

    @Test @LoopActor func aStartThatCannotWorkIsNotRepeated() async {
        let shop = Workshop()
        shop.add("broken", python: Self.answer)
        let kernel = Kernel(shop, refusing: .max, EPERM)
        #expect(await shop.ask("broken").fault?.code == .helperNotStarted)
        #expect(kernel.starts == 1)
        await shop.close()
    }

    @Test func patienceIsShort() async {
        let total = await EventLoopPatience.total
        #expect((.seconds(1)...(.seconds(3))).contains(total), "\(total)")
    }

    @LoopActor private enum EventLoopPatience {
        static var total: Duration {
            get async {
                let shop = Workshop()
                let total = shop.host.retryPauses.reduce(.zero, +)
                await shop.close()
                return total
            }
        }
    }
}
