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
        // A change beside them is ignored: the next report is of the change after it.
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

    @Test @LoopActor func aChangeBehindALinkIsTold() async {
        let shop = Workshop()
        for name in ["helpers", "far", "farther"] { mkdir(shop.folder + "/" + name, 0o755) }
        shop.write("farther/a.helper", "[Helper]\nName=first\nExec=/bin/true\nSSID=x\n", mode: 0o644)
        symlink("../farther/a.helper", shop.folder + "/far/a.helper")
        symlink(shop.folder + "/far/a.helper", shop.folder + "/helpers/a.helper")
        symlink("/dev/null", shop.folder + "/helpers/mask.helper")
        let folder = shop.folder + "/helpers"
        let watch = FolderWatch()
        var told = 0
        watch.onChange = { told += 1 }
        func load() -> [String] {
            let catalog = HelperFolders.load(directories: [folder])
            _ = watch.await(files: catalog.awaited)
            #expect(!catalog.awaited.contains("/dev/null"))
            return catalog.entries.map(\.spec.name)
        }
        watch.watch([folder])
        #expect(load() == ["first"])
        let steps: [(String, () -> Void)] = [
            ("second", { shop.write("farther/a.helper", "[Helper]\nName=second\nExec=/bin/true\nSSID=x\n", mode: 0o644) }),
            (
                "third",
                {
                    shop.write("farther/b.helper", "[Helper]\nName=third\nExec=/bin/true\nSSID=x\n", mode: 0o644)
                    symlink("../farther/b.helper", shop.folder + "/far/next")
                    rename(shop.folder + "/far/next", shop.folder + "/far/a.helper")
                }
            ),
            ("fourth", { shop.write("farther/b.helper", "[Helper]\nName=fourth\nExec=/bin/true\nSSID=x\n", mode: 0o644) }),
        ]
        for (name, step) in steps {
            let before = told
            step()
            #expect(await eventually { told > before }, "\(name)")
            #expect(load() == [name])
        }
        // A circle ends.
        symlink("b.helper", folder + "/c.helper")
        symlink("c.helper", folder + "/b.helper")
        #expect(load() == ["fourth"])
        await shop.close()
    }
}
