import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What a process sees is decided at its start, and what is to be kept from it may come later.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessViewTests {
    init() { EventLoop.startThread() }

    @Test func whoSeesOrWritesMoreGoesBeyond() {
        let before = ProcessView(writable: ["/w"], covered: ["/a", "/b"], awaited: ["/net"])
        func goesBeyond(_ change: (inout ProcessView) -> Void) -> Bool {
            var now = before
            change(&now)
            return before.goesBeyond(now)
        }
        #expect(!goesBeyond { _ in })
        #expect(goesBeyond { $0.covered.append("/c") })
        #expect(goesBeyond { $0.awaited.append("/c") })
        #expect(goesBeyond { $0.writable = [] })
        // What lies in something covered is covered, and less than before does not matter.
        #expect(!goesBeyond { $0.covered = ["/a/inner", "/b"] })
        #expect(goesBeyond { $0.covered = ["/ab"] })
        #expect(!goesBeyond { $0.covered = ["/net"] })
        #expect(!goesBeyond { ($0.covered, $0.awaited) = ([], []) })
        #expect(!goesBeyond { $0.writable.append("/x") })
    }

    /// Answers with the token of its process; it waits for a file first, if it is told to.
    private static let numbered = """
        listener = socket.socket(fileno=3)
        while True:
            peer, _ = listener.accept()
            request = receive(peer.fileno())
            while request.get("parameters", {}).get("wait") and not os.path.exists(os.path.dirname(sys.argv[0]) + "/go"): time.sleep(0.01)
            answer({'confidence': 'low', 'reason': os.environ['HOTSPOTD_TOKEN']}, peer.fileno())
            peer.close()
        """

    private static func token(_ outcome: HelperOutcome) -> String? { outcome.evaluation?.reason }

    /// A shop with a folder that is to be somebody's, and a helper that has answered once with its token.
    @LoopActor private static func withSpy() async -> (shop: Workshop, folder: String, first: String?) {
        let shop = Workshop()
        let folder = shop.folder + "/theirs"
        mkdir(folder, 0o700)
        shop.add("spy", socket: true, python: numbered)
        return (shop, folder, await token(shop.ask("spy")))
    }

    /// An idle one goes at once, and the next one sees nothing of the new helper's folder.
    @Test @LoopActor func whoIdlesIsReplaced() async {
        let (shop, folder, first) = await Self.withSpy()
        #expect(first != nil && shop.host.processCount == 1)
        shop.add("plain", python: "receive(); answer({'confidence': 'none'})")
        #expect(await Self.token(shop.ask("spy")) == first, "that file keeps nothing from it")
        shop.add("owner", writable: [folder], python: "receive(); answer({'confidence': 'high'})")
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await shop.ask("owner").evaluation?.confidence == .high)
        let second = await Self.token(shop.ask("spy"))
        #expect(second != nil && second != first)
        #expect(await Self.token(shop.ask("spy")) == second)
        await shop.close()
    }

    /// A running command finishes first. The new helper begins when it has, and neither takes that for the other's fault.
    @Test @LoopActor func whoIsAtWorkIsWaitedFor() async {
        let (shop, folder, first) = await Self.withSpy()
        async let working = shop.ask("spy", .evaluate, ["wait": true])
        #expect(await eventually { shop.host.given["spy"]?.count == 2 || shop.host.processes.values.first?.isBusy() == true })
        shop.add("owner", writable: [folder], python: "receive(); answer({'confidence': 'high'})")
        #expect(shop.host.processCount == 1 && shop.host.untimeliness(of: ["owner"])?.code == .helperNoRoom)
        // Or nothing below would ever be answered.
        if shop.host.untimeliness(of: ["owner"]) == nil { shop.write("go", "") }
        shop.host.prepare(["owner"])
        async let owner = shop.ask("owner")
        let refused = await shop.ask("spy").fault
        #expect(refused?.isLackOfRoom == true && refused?.isCrash == false, "it gets nothing new")
        #expect(await owner.fault?.isLackOfRoom == true, "for as long as that takes")
        #expect(shop.host.processCount == 1)
        async let again = shop.ask("owner")
        shop.write("go", "")
        #expect(await Self.token(working) == first)
        #expect(await again.evaluation?.confidence == .high)
        #expect(shop.host.untimeliness(of: ["owner"]) == nil)
        let second = await Self.token(shop.ask("spy"))
        #expect(second != nil && second != first)
        await shop.close()
    }

    /// A folder that may not be written to any more: another's program lies in it now.
    @Test @LoopActor func whoMayWriteLessIsReplaced() async {
        let shop = Workshop()
        mkdir(shop.folder + "/shared", 0o700)
        shop.add("writer", socket: true, writable: [shop.folder + "/shared"], python: Self.numbered)
        let first = await Self.token(shop.ask("writer"))
        let path = shop.write("shared/program", Workshop.prelude + "receive(); answer({'confidence': 'none'})\n")
        shop.add(HelperSpec(name: "new", activation: .stdio(exec: [path])))
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await shop.ask("new").evaluation?.confidence == Confidence.none)
        #expect(await Self.token(shop.ask("writer")) != first)
        await shop.close()
    }

    /// What appears while it idles, as a folder of settings does, is looked for before its next command.
    @Test @LoopActor func whatAppearsIsHiddenFromTheNextCommandOn() async {
        let shop = Workshop { $0.protectedDirectories = [$0.runtimeDirectory + "-settings"] }
        shop.add("spy", socket: true, python: Self.numbered)
        let first = await Self.token(shop.ask("spy"))
        #expect(await Self.token(shop.ask("spy")) == first)
        mkdir(shop.folder + "/run-settings", 0o755)
        let second = await Self.token(shop.ask("spy"))
        #expect(second != nil && second != first)
        shop.host.protect([shop.folder + "/run-settings", shop.folder + "/state"])
        #expect(await Self.token(shop.ask("spy")) == second, "the other one was hidden before")
        shop.write("elsewhere", "")
        shop.host.protect([shop.folder + "/elsewhere"])
        #expect(await eventually { shop.host.processCount == 0 })
        await shop.close()
    }

    /// Also from the one that is sent in the turn of the last answer, whose connection is still there.
    @Test @LoopActor func whatAppearsIsHiddenFromACommandInTheTurnOfAnAnswer() async {
        let shop = Workshop { $0.protectedDirectories = [$0.runtimeDirectory + "-settings"] }
        shop.add("spy", socket: true, python: Self.numbered)
        let (first, second) = await withCheckedContinuation { continuation in
            shop.host.send(.evaluate, to: "spy", parameters: [:]) { first in
                mkdir(shop.folder + "/run-settings", 0o755)
                shop.host.send(.evaluate, to: "spy", parameters: [:]) { continuation.resume(returning: (first, $0)) }
            }
        }
        #expect(Self.token(first) != nil && Self.token(second) != nil && Self.token(first) != Self.token(second))
        await shop.close()
    }
}
