import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// How many helpers share a process, and links in the folders.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SharedLimitTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func whatDoesNotFitIntoOneProcessIsLeftOut() async {
        let shop = Workshop()
        let folder = shop.folder + "/many"
        mkdir(folder, 0o755)
        let program = shop.write(
            "all.py", Workshop.prelude + SocketServiceTests.server("answer({'confidence': 'low', 'reason': name}, peer)"))
        let count = HelperFolders.sharedLimit + 20
        let names = (0..<count).map { String("helper-with-a-name-as-long-as-names-may-be-\(10_000 + $0)".prefix(48)) }
        for name in names {
            shop.write(
                "many/\(name).helper", "[Helper]\nName=\(name)\nExec=\(program)\nActivation=socket\nSSID=x\n", mode: 0o644)
        }
        // Alone in its process.
        shop.write("many/z.helper", "[Helper]\nName=z\nExec=\(program) other\nActivation=socket\nSSID=x\n", mode: 0o644)
        let catalog = HelperFolders.load(directories: [folder])
        #expect(catalog.entries.count == HelperFolders.sharedLimit + 1)
        let refused = catalog.problems.filter { $0.problem.code == .tooManySharing }
        #expect(refused.map(\.subject) == Array(names.suffix(20)))
        #expect(refused.first?.problem.message.contains("\(HelperFolders.sharedLimit) helpers have the same Exec=") == true)
        shop.host.setHelpers(catalog.entries)
        shop.host.setProber(exec: [program])
        // All that is left fits, and the prober with it.
        let last = names[HelperFolders.sharedLimit - 1]
        #expect(await shop.ask(last).evaluation?.reason == last)
        #expect(await shop.ask("z").evaluation?.reason == "z")
        #expect(shop.host.processCount == 2)
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
