import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

@Suite(.serialized, .timeLimit(.minutes(10))) struct FolderWatchTests {
    init() { EventLoop.startThread() }

    /// Each step changes something that matters, and is told once.
    @Test @LoopActor func everyKindOfChangeIsTold() async {
        let shop = Workshop()
        let watch = FolderWatch()
        var told = 0
        watch.onChange = { told += 1 }
        // The folder and its parent are missing at first.
        let folder = shop.folder + "/late/helpers"
        watch.watch([folder])
        #expect(watch.await(files: [shop.folder + "/programs/late"]))
        #expect(!watch.await(files: [shop.folder + "/programs/late"]))
        #expect(watch.failure == nil)
        let steps: [() -> Void] = [
            { mkdir(shop.folder + "/late", 0o755) }, { mkdir(folder, 0o755) }, { shop.write("late/helpers/a.helper", "x") },
            { chmod(folder + "/a.helper", 0o600) }, { rename(folder + "/a.helper", folder + "/b.helper") },
            { unlink(folder + "/b.helper") }, { symlink("/dev/null", folder + "/c.helper") },
            { mkdir(shop.folder + "/programs", 0o755) }, { shop.write("programs/late", "x") },
            { rename(shop.folder + "/late", shop.folder + "/later") }, { rename(shop.folder + "/later", shop.folder + "/late") },
            { shop.write("late/helpers/d.helper", "x") },
        ]
        for (index, step) in steps.enumerated() {
            let before = told
            step()
            #expect(await eventually { told > before }, "step \(index)")
        }
        // What is beside them is nobody's business: the change that is told next is the one after it.
        shop.write("beside", "x")
        await pause(FolderWatch.debounce * 2)
        let before = told
        await pause(FolderWatch.debounce * 2)
        #expect(told == before)
        await shop.close()
    }

    /// A link on the way is followed to where it leads now.
    @Test @LoopActor func anotherLinkInItsPlaceIsTold() async {
        let shop = Workshop()
        for name in ["one", "two"] { mkdir(shop.folder + "/" + name, 0o755) }
        symlink("one", shop.folder + "/current")
        let watch = FolderWatch()
        var told = 0
        watch.onChange = { told += 1 }
        watch.watch([shop.folder + "/current"])
        let steps: [() -> Void] = [
            { shop.write("one/a.helper", "x") },
            {
                symlink("two", shop.folder + "/next")
                rename(shop.folder + "/next", shop.folder + "/current")
            },
            { shop.write("two/b.helper", "x") },
        ]
        for (index, step) in steps.enumerated() {
            let before = told
            step()
            #expect(await eventually { told > before }, "step \(index)")
        }
        await shop.close()
    }

    /// Of a folder with too many files the same ones count each time.
    @Test @LoopActor func ofTooManyFilesTheFirstByNameCount() async {
        let shop = Workshop()
        let folder = shop.folder + "/many"
        mkdir(folder, 0o755)
        for number in (0..<HelperFolders.fileLimit + 20).shuffled() {
            close(open("\(folder)/\(10_000 + number).helper", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
        }
        let catalog = HelperFolders.load(directories: [folder])
        #expect(catalog.problems.filter { $0.problem.code == .tooManyHelpers }.count == 1)
        shop.write("many/00000.helper", "[Helper]\nName=first\nExec=/bin/true\n", mode: 0o644)
        #expect(HelperFolders.load(directories: [folder]).entries.map(\.spec.name) == ["first"])
        await shop.close()
    }
}

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
