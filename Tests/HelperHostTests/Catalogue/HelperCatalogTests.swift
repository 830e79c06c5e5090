import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import HelperHost

@Suite(.serialized, .timeLimit(.minutes(10))) struct HelperCatalogTests {
    private let folder = TemporaryFolder()
    private var root: String { folder.path }

    init() { EventLoop.startThread() }

    /// There are many refused files; the helpers among and after them are found.
    @Test(arguments: [99, 100, 101, 700]) func ofManyRefusedFilesTheFirstAreReported(count: Int) {
        for name in ["etc", "lib"] { folder.make(name) }
        folder.write("ran.sh", "#!/bin/sh\n", mode: 0o755)
        for number in 0..<count {
            folder.write("lib/a\(1000 + number).helper", number % 2 == 0 ? "nonsense" : "[Helper]\nName=x\n")
        }
        folder.write("lib/z.helper", "[Helper]\nName=z\nExec=\(root)/ran.sh\n")
        folder.write("etc/b.helper", "nonsense")
        let catalog = load()
        #expect(catalog.entries.map(\.spec.name) == ["z"])
        let ofLib = catalog.problems.filter { $0.subject.hasPrefix("\(root)/lib") }
        #expect(catalog.problems.count == ofLib.count + 1)
        #expect(ofLib.filter { $0.problem.code == .helperFileInvalid }.count == min(count, HelperCatalog.problemLimit))
        let more = ofLib.filter { $0.problem.code == .moreProblems }.map(\.problem.message)
        let omitted = count - HelperCatalog.problemLimit
        #expect(more == (omitted > 0 ? ["\(root)/lib has \(omitted) more problems with .helper files."] : []))
    }

    private func load() -> HelperCatalog { HelperCatalog(directories: ["\(root)/etc", "\(root)/lib"]) }

    @Test func foldersMaskAndShadow() {
        for name in ["etc", "lib", "bad"] { folder.make(name) }
        folder.write("ran.sh", "#!/bin/sh\ntouch \(root)/executed\n", mode: 0o755)
        func helper(_ name: String, _ priority: Int = 50) -> String {
            "[Helper]\nName=\(name)\nExec=\(root)/ran.sh\nPriority=\(priority)\n"
        }
        folder.write("lib/a.helper", helper("a", 1))
        folder.write("etc/a.helper", helper("a", 2))
        folder.write("lib/b.helper", helper("b"))
        folder.write("etc/b.helper", "")
        folder.write("lib/c.helper", helper("c"))
        symlink("/dev/null", "\(root)/etc/c.helper")
        folder.write("lib/d.helper", helper("a"))
        // The first folder counts, although its file name comes later.
        folder.write("etc/z.helper", helper("shared", 7))
        folder.write("lib/aa.helper", helper("shared", 8))
        folder.write("lib/e.helper", "nonsense")
        folder.write("lib/f.helper", helper("f"), mode: 0o664)
        folder.write("lib/g.helper", "[Helper]\nName=g\nExec=/nowhere\n")
        folder.write("lib/h.txt", helper("h"))
        folder.write("bad/i.helper", helper("i"))
        chmod("\(root)/bad", 0o777)
        symlink("nowhere", "\(root)/lib/j.helper")
        mkfifo("\(root)/lib/k.helper", 0o644)
        let catalog = HelperCatalog(directories: ["\(root)/etc", "\(root)/lib", "\(root)/bad", "\(root)/missing"])
        #expect(catalog.entries.map(\.spec.name) == ["a", "shared"])
        #expect(catalog.entries.last?.spec.priority == 7)
        #expect(catalog.entries.first?.spec.priority == 2 && catalog.entries.first?.file == "\(root)/etc/a.helper")
        let codes = Dictionary(grouping: catalog.problems, by: \.problem.code).mapValues { $0.map(\.subject).sorted() }
        #expect(
            codes == [
                .helperShadowed: ["a", "aa", "d"].map { "\(root)/lib/\($0).helper" },
                .helperMasked: ["\(root)/lib/b.helper", "\(root)/lib/c.helper"], .helperFileInvalid: ["\(root)/lib/e.helper"],
                .helperProgramMissing: ["g"],
                .helperFileMissing: ["\(root)/lib/j.helper"],
                .helperNotTrusted: ["\(root)/bad", "\(root)/lib/f.helper", "\(root)/lib/k.helper"],
            ])
        let messages = catalog.problems.map(\.problem.message)
        #expect(messages.contains("\(root)/lib/b.helper is masked by \(root)/etc/b.helper"))
        #expect(messages.contains { $0.hasPrefix("\(root)/lib/aa.helper is shadowed by \(root)/etc/z.helper") })
        #expect(access("\(root)/executed", F_OK) != 0)
        chown("\(root)/ran.sh", 12345, 12345)
        if geteuid() == 0 { #expect(HelperCatalog(directories: ["\(root)/etc"]).entries.isEmpty) }
    }

    @Test func ofFilesWithOneNameTheFirstCounts() {
        for name in ["etc", "lib"] { folder.make(name) }
        for path in ["lib/a", "lib/b", "etc/z"] { folder.write(path + ".helper", "[Helper]\nName=portal\nExec=/bin/true\n") }
        #expect(load().entries.map(\.file) == ["\(root)/etc/z.helper"], "the administrator's folder decides")
        unlink("\(root)/etc/z.helper")
        let catalog = load()
        #expect(catalog.entries.map(\.file) == ["\(root)/lib/a.helper"])
        #expect(catalog.problems.map(\.subject) == ["\(root)/lib/b.helper"])
        #expect(catalog.problems.map(\.problem.code) == [.helperShadowed])
    }

    @Test func aFolderThatCannotBeReadIsSaid() {
        folder.write("file")
        let catalog = HelperCatalog(directories: ["\(root)/file", "\(root)/file/more", "\(root)/absent"])
        #expect(catalog.problems.map(\.problem.code) == [.helperNotTrusted, .helperFolderUnreadable])
        #expect(catalog.problems.map(\.subject) == ["\(root)/file", "\(root)/file/more"])
    }

    @Test func aLongDisplayNameIsCutWithAProblem() {
        folder.make("etc")
        folder.write("etc/a.helper", "[Helper]\nName=a\nExec=/bin/true\nDisplayName=1234567890123456\n")
        let catalog = load()
        #expect(catalog.entries.map(\.spec.displayName) == ["123456789012345"])
        #expect(catalog.problems.map(\.problem.code) == [.displayNameTooLong])
        #expect(catalog.problems.map(\.subject) == ["a"])
    }

    /// The file changes in another folder.
    @Test func theFileBehindALinkIsAwaited() {
        for name in ["etc", "far", "farther"] { folder.make(name) }
        folder.write("farther/a.helper", "[Helper]\nName=first\nExec=/bin/true\n")
        folder.link("far/a.helper", to: "../farther/a.helper")
        folder.link("etc/a.helper", to: "../far/a.helper")
        folder.link("etc/mask.helper", to: "/dev/null")
        folder.write("etc/b.helper", "[Helper]\nName=b\nExec=\(root)/later\n")
        let catalog = load()
        #expect(catalog.entries.map(\.spec.name) == ["first"])
        #expect(catalog.awaited == ["/bin/true", "\(root)/farther/a.helper", "\(root)/later"])
        // Links in a circle end the search.
        folder.link("etc/c.helper", to: "d.helper")
        folder.link("etc/d.helper", to: "c.helper")
        #expect(load().entries.map(\.spec.name) == ["first"])
    }
}
