import EventLoop
import Glibc
import Testing

@testable import HelperHost

/// What a killed daemon's service runs in its end. The real thing is seen by `Tests/Support/under-systemd`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeftConnectionsTests {
    init() { EventLoop.startThread() }

    private func number(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    @Test @LoopActor func groupsOfThisServiceAreFound() async {
        let shop = Workshop()
        let root = shop.folder
        let made = ["helpers", "helpers/1", "helpers/1/below", "helpers/7"].map { "\(root)/unit/\($0)" }
        for folder in ["\(root)/unit"] + made + ["\(root)/unit/daemon", "\(root)/other", "\(root)/other/helpers"] {
            mkdir(folder, 0o755)
        }
        for membership in ["0::/unit/.control\n", "0::/unit\n"] {
            #expect(Set(LeftConnections.groups(root: root, membership: membership)) == Set(made.map(number)))
        }
        for membership in ["", "0::/\n", "0::/nowhere\n", "1:name=systemd:/unit\n", "0::/../unit\n"] {
            #expect(LeftConnections.groups(root: root, membership: membership) == [])
        }
        await shop.close()
    }

    /// Each group is asked for; an end that does not come is not waited for.
    @Test @LoopActor func theirConnectionsAreAskedForAndNobodyWaitsForLong() async {
        let shop = Workshop()
        for folder in ["helpers", "helpers/1"] { mkdir("\(shop.folder)/\(folder)", 0o755) }
        let wanted = Set(["helpers", "helpers/1"].map { number("\(shop.folder)/\($0)") })
        let folder = shop.folder.split(separator: "/")
        var asked: Set<UInt64> = []
        let sockets = LeftSockets(grace: .zero) { request, isEnough in
            asked.insert(request[80..<88].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
            // NLMSG_DONE.
            _ = isEnough([20, 0, 0, 0, 3, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        }
        let root = "/" + folder.dropLast().joined(separator: "/"), membership = "0::/\(folder.last!)\n"
        await withCheckedContinuation { continuation in
            LeftConnections.end(root: root, membership: membership, sockets: sockets, .seconds(60)) { continuation.resume() }
        }
        #expect(asked == wanted && sockets.count == 0)
        let stuck = LeftSockets(grace: .seconds(3600)) { _, _ in }
        await withCheckedContinuation { continuation in
            LeftConnections.end(root: root, membership: membership, sockets: stuck, .milliseconds(20)) { continuation.resume() }
        }
        #expect(stuck.count == 2)
        await shop.close()
    }
}
