import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// Starts for which the machine lacks resources. That is not the helper's fault, and does not last.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RoomTests {
    init() { EventLoop.startThread() }

    /// Without a descriptor for the connection the helper is never asked.
    @Test(arguments: [(EMFILE, true), (ENFILE, true), (EAGAIN, false)])
    func aConnectionThatIsNotMadeIsToldAsItIs(_ code: Int32, _ isRoom: Bool) {
        #expect(HelperFault.failed(.system(operation: "socket", code: code)).isLackOfRoom == isRoom)
        #expect(!HelperFault.failed(.unreachable(path: "/run/helper", code: ECONNREFUSED)).isLackOfRoom)
    }

    @Test(arguments: [EAGAIN, ENOMEM, EMFILE, EPERM], [false, true]) @LoopActor func aStartThatIsRefusedIsSaidAsItIs(
        _ code: Int32, _ isSocket: Bool
    ) async {
        let shop = Workshop()
        shop.add("winner", socket: isSocket, python: "receive(); answer({'confidence': 'high'})")
        shop.host.startRefusal = { code }
        let fault = await shop.ask("winner").fault
        let isRoom = code != EPERM
        #expect(fault?.code == (isRoom ? .helperNoRoom : .helperNotStarted) && fault?.isLackOfRoom == isRoom)
        #expect(fault?.isCrash == !isRoom && fault?.isGarbage == false)
        let words = "winner: it was not started, because the machine is out of memory or processes"
        #expect(fault?.sentence.contains(words) == isRoom, "\(fault?.sentence ?? "")")
        #expect(fault?.problem.hint == (isRoom ? "systemctl status hotspotd" : "hotspotctl helpers --verbose"))
        shop.host.startRefusal = { 0 }
        if !isSocket { #expect(await shop.ask("winner").evaluation?.confidence == .high) }
        await shop.close()
    }
}
