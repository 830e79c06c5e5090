import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperHost

/// Where helpers may write.
@Suite(.timeLimit(.minutes(10))) struct WritablePathTests {
    init() { EventLoop.startThread() }

    private func pathProblem(_ path: String, hidden: [String]) -> Problem? {
        WritablePath.refusal(of: path, hidden: hidden) ?? WritablePath.problem(with: path)
    }

    @Test func writableFoldersHaveBounds() {
        let folder = TemporaryFolder()
        let state = folder.make("state", 0o700)
        let own = folder.make("own", 0o700)
        folder.make("state/within", 0o700)
        folder.link("around", to: "state/within")
        func code(_ path: String) -> ProblemCode? { pathProblem(path, hidden: [state])?.code }
        #expect(code(own) == nil)
        let refused = [
            state, state + "/within", folder.path, folder.path + "/around", "/", "/etc", "/etc/hotspotd/helpers", "/usr",
            "/proc/sys",
        ]
        for path in refused {
            #expect(code(path) == .helperPathRefused, "\(path)")
        }
        folder.link("elsewhere", to: "state/../own")
        #expect(pathProblem(folder.path + "/elsewhere", hidden: [])?.code == .helperPathRefused, "a link")
        #expect(pathProblem(own, hidden: [own + "/settings.conf"])?.code == .helperPathRefused, "it lies in it")
        let absent = pathProblem(own + "/absent", hidden: [state])
        #expect(absent?.code == .helperPathMissing && absent?.hint == "mkdir -p \(own)/absent")
        let odd = folder.make("x;touch PWN;#", 0o700)
        #expect(pathProblem(odd + "/absent", hidden: [])?.hint == "mkdir -p '\(odd)/absent'")
        #expect(code(folder.write("file")) == .helperPathMissing)
        #expect(code("/sys/kernel") == .helperPathRefused)
    }

    @Test @LoopActor func aFolderThatIsNotThereIsSaid() async {
        let shop = Workshop()
        shop.add(
            "writer", writable: [shop.folder + "/absent", shop.folder + "/state"],
            python: "receive(); answer({'confidence': 'none'})")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == [.helperPathMissing, .helperPathRefused])
        let outcome = await shop.ask("writer")
        #expect(outcome.evaluation != nil, "\(outcome)")
        #expect(shop.host.pathProblems(of: "writer").map(\.code) == [.helperPathMissing, .helperPathRefused])
        await shop.close()
    }
}
