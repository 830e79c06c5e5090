import ControlAPI
import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import hotspotd

/// The helper folders, and the other files that helpers read.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HelperLoaderTests {
    init() { EventLoop.startThread() }

    @Test @LoopActor func aChangeOfWhatAHelperReadsCounts() async throws {
        let bench = try FilterBench()
        let (helpers, portals) = (bench.folder + "/helpers", bench.folder + "/portals")
        for folder in [helpers, portals] { mkdir(folder, 0o755) }
        bench.write(helpers + "/cat.helper", "[Helper]\nName=cat\nExec=/bin/cat\nReadPaths=\(portals)\n")
        bench.services.settings.helperDirectories = [helpers]
        let loader = HelperLoader(services: bench.services, problems: ProblemList())
        var loads = 0
        loader.onLoad = { loads += 1 }
        loader.load()
        loader.catchUp()
        #expect(loads == 1 && bench.services.hasHelper("cat"), "\(loader.fileProblems)")
        for (change, path) in [portals + "/a.portal", portals + "/a.portal", helpers + "/cat.helper"].enumerated() {
            let before = try #require(bench.services.editions["cat"])
            // The kernel's clock for files advances in steps of a few milliseconds.
            await bench.pause(.milliseconds(20))
            bench.write(path, "[Helper]\nName=cat\nExec=/bin/cat\nReadPaths=\(portals)\n")
            loader.catchUp()
            let after = try #require(bench.services.editions["cat"])
            #expect(loads == change + 2 && after > before)
        }
        await bench.close()
    }

    /// Only the program disappears; the helper's file does not change.
    @Test @LoopActor func aProgramThatIsGoneMakesItsHelperBrokenUntilItIsBack() async throws {
        let bench = try FilterBench()
        let (helpers, program) = (bench.folder + "/helpers", bench.folder + "/programs/own")
        mkdir(helpers, 0o755)
        bench.write(program, "#!/bin/sh\n", mode: 0o755)
        bench.write(helpers + "/own.helper", "[Helper]\nName=own\nExec=\(program)\n")
        bench.services.settings.helperDirectories = [helpers]
        let problems = ProblemList()
        let loader = HelperLoader(services: bench.services, problems: problems)
        let links = LinkManager(services: bench.services, problems: problems)
        let backend = DaemonBackend(
            services: bench.services, problems: problems, helpers: loader, links: links,
            list: NetworkList(services: bench.services, links: links))
        loader.load()
        func own() -> HelperStatus? { backend.helperStatus().first { $0.name == "own" } }
        #expect(own()?.isRefused == false && own()?.problems.isEmpty == true)
        unlink(program)
        #expect(own()?.isRefused == true && own()?.problems.map(\.code) == [.helperProgramMissing])
        bench.write(program, "#!/bin/sh\n", mode: 0o755)
        #expect(own()?.isRefused == false && own()?.problems.isEmpty == true)
        chmod(program, 0o777)
        #expect(own()?.problems.map(\.code) == [.helperNotTrusted])
        await bench.close()
    }
}
