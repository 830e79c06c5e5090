import EventLoop
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct FolderWatchTests {
    init() { EventLoop.startThread() }

    /// A folder, its watch, and the number of the watch's reports.
    @LoopActor private final class Watched {
        private nonisolated let ownFolder = TemporaryFolder()
        nonisolated var folder: String { ownFolder.path }
        let watch = FolderWatch()
        private(set) var reports = 0

        init() {
            watch.onChange = { self.reports += 1 }
        }

        func write(_ name: String) { close(open("\(folder)/\(name)", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)) }

        /// Makes relevant changes, and waits for the report of each.
        func expectReports(_ steps: [() -> Void]) async {
            for (index, step) in steps.enumerated() {
                let before = reports
                step()
                for _ in 0..<2000 where reports == before { await pause(.milliseconds(5)) }
                #expect(reports > before, "step \(index)")
            }
        }

        func expectSilence() async {
            await pause(FolderWatch.debounce * 2)
            let before = reports
            await pause(FolderWatch.debounce * 2)
            #expect(reports == before)
        }

        func close() { watch.onChange = {} }

        private func close(_ descriptor: Int32) { Glibc.close(descriptor) }

        private func pause(_ duration: Duration) async {
            await withCheckedContinuation { continuation in EventLoop.shared.later(duration) { continuation.resume() } }
        }
    }

    @Test @LoopActor func whatHasChangedCanBeToldAtOnce() async {
        let watched = Watched()
        watched.watch.watch([watched.folder])
        watched.watch.catchUp()
        #expect(watched.reports == 0)
        watched.write("a")
        watched.watch.catchUp()
        #expect(watched.reports == 1)
        await watched.expectSilence()
        #expect(watched.reports == 1)
        watched.close()
    }

    @Test @LoopActor func everyKindOfChangeIsTold() async {
        let watched = Watched()
        let (folder, watch) = (watched.folder, watched.watch)
        // The folder and its parent are missing at first.
        let helpers = folder + "/late/helpers"
        watch.watch([helpers])
        #expect(watch.await(files: [folder + "/programs/late"]))
        #expect(!watch.await(files: [folder + "/programs/late"]))
        #expect(watch.failure == nil)
        await watched.expectReports([
            { mkdir(folder + "/late", 0o755) }, { mkdir(helpers, 0o755) }, { watched.write("late/helpers/a.helper") },
            { chmod(helpers + "/a.helper", 0o600) }, { rename(helpers + "/a.helper", helpers + "/b.helper") },
            { unlink(helpers + "/b.helper") }, { symlink("/dev/null", helpers + "/c.helper") },
            { mkdir(folder + "/programs", 0o755) }, { watched.write("programs/late") },
            { rename(folder + "/late", folder + "/later") }, { rename(folder + "/later", folder + "/late") },
            { watched.write("late/helpers/d.helper") },
        ])
        // A change of another file is ignored.
        watched.write("beside")
        await watched.expectSilence()
        watched.close()
    }

    /// A link on the way is followed to its current target.
    @Test @LoopActor func anotherLinkInItsPlaceIsTold() async {
        let watched = Watched()
        let folder = watched.folder
        for name in ["one", "two"] { mkdir(folder + "/" + name, 0o755) }
        symlink("one", folder + "/current")
        watched.watch.watch([folder + "/current"])
        await watched.expectReports([
            { watched.write("one/a.helper") },
            {
                symlink("two", folder + "/next")
                rename(folder + "/next", folder + "/current")
            },
            { watched.write("two/b.helper") },
        ])
        watched.close()
    }
}
