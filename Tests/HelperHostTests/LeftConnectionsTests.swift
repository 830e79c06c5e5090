import EventLoop
import Glibc
import Testing

@testable import HelperHost

/// What a killed daemon's service runs in its end. The real thing is seen by `Tests/Support/under-systemd`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeftConnectionsTests {
    init() { EventLoop.startThread() }

    /// A unit with groups of helpers, and their numbers.
    private func unit() -> (tree: ControlGroupTests.Tree, numbers: Set<UInt64>) {
        let tree = ControlGroupTests.Tree()
        let groups = ["/helpers", "/helpers/1", "/helpers/1/below", "/helpers/7"].map { tree.unit + $0 }
        for group in groups + [tree.unit + "/daemon", "/other", "/other/helpers"] { tree.group(group) }
        let numbers = groups.map { group in
            var status = stat()
            return stat(tree.root + group, &status) == 0 ? UInt64(status.st_ino) : 0
        }
        return (tree, Set(numbers))
    }

    @Test @LoopActor func groupsOfThisServiceAreFound() {
        let (tree, numbers) = unit()
        for membership in ["0::\(tree.unit)/.control\n", "0::\(tree.unit)\n"] {
            #expect(Set(LeftConnections.groups(root: tree.root, membership: membership)) == numbers)
        }
        for membership in ["", "0::/\n", "0::/nowhere\n", "1:name=systemd:\(tree.unit)\n", "0::/..\(tree.unit)\n"] {
            #expect(LeftConnections.groups(root: tree.root, membership: membership) == [])
        }
    }

    /// Each group is asked for; an end that does not come is not waited for.
    @Test @LoopActor func theirConnectionsAreAskedForAndNobodyWaitsForLong() async {
        let (tree, numbers) = unit()
        var asked: Set<UInt64> = []
        let sockets = LeftSockets(grace: .zero) { request, isEnough in
            asked.insert(LeftSocketsTests.group(in: request))
            _ = isEnough(LeftSocketsTests.done[...])
        }
        func end(_ sockets: LeftSockets, within patience: Duration) async {
            await withCheckedContinuation { continuation in
                LeftConnections.end(root: tree.root, membership: "0::\(tree.unit)\n", sockets: sockets, patience) {
                    continuation.resume()
                }
            }
        }
        await end(sockets, within: .seconds(60))
        #expect(asked == numbers && sockets.count == 0)
        let stuck = LeftSockets(grace: .seconds(3600)) { _, _ in }
        await end(stuck, within: .milliseconds(20))
        #expect(stuck.count == numbers.count)
    }
}
