import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

@Suite(.serialized, .timeLimit(.minutes(10))) struct HelperFoldersTests {
    private let folder = TestFolder()
    private var root: String { folder.path }

    init() { EventLoop.startThread() }

    private func load() -> HelperCatalog { HelperFolders.load(directories: ["\(root)/etc", "\(root)/lib"]) }

    @Test func foldersMaskAndShadow() {
        for name in ["etc", "lib", "bad"] { folder.make(name) }
        folder.write("ran.sh", "#!/bin/sh\ntouch \(root)/executed\n", 0o755)
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
        folder.write("lib/f.helper", helper("f"), 0o664)
        folder.write("lib/g.helper", "[Helper]\nName=g\nExec=/nowhere\n")
        folder.write("lib/h.txt", helper("h"))
        folder.write("bad/i.helper", helper("i"))
        chmod("\(root)/bad", 0o777)
        symlink("nowhere", "\(root)/lib/j.helper")
        mkfifo("\(root)/lib/k.helper", 0o644)
        let catalog = HelperFolders.load(directories: ["\(root)/etc", "\(root)/lib", "\(root)/bad", "\(root)/missing"])
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
        if geteuid() == 0 { #expect(HelperFolders.load(directories: ["\(root)/etc"]).entries.isEmpty) }
    }

    /// The records of a helper are kept under its name.
    @Test func twoFilesOfOneFolderWithOneNameAreBothRefused() {
        for name in ["etc", "lib"] { folder.make(name) }
        folder.write("lib/portal.helper", "[Helper]\nName=portal\nExec=/bin/true\n")
        #expect(load().entries.map(\.spec.name) == ["portal"])
        folder.write("lib/00.helper", "[Helper]\nName=portal\nExec=/bin/false\n")
        folder.write("lib/other.helper", "[Helper]\nName=other\nExec=/bin/true\n")
        let catalog = load()
        #expect(catalog.entries.map(\.spec.name) == ["other"], "neither takes what is kept for the other")
        #expect(catalog.problems.map(\.problem.code) == [.helperNameTwice, .helperNameTwice])
        #expect(catalog.problems.map(\.subject) == ["\(root)/lib/00.helper", "\(root)/lib/portal.helper"])
        #expect(catalog.problems.first?.problem.message.contains("\(root)/lib/portal.helper, in the same folder") == true)
        #expect(catalog.problems.last?.problem.message.contains("\(root)/lib/00.helper, in the same folder") == true)
        #expect(catalog.problems.allSatisfy { $0.problem.hint?.contains("another Name=") == true })
        // The name is taken all the same: a later folder does not get it by a quarrel in an earlier one.
        folder.write("etc/a.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        folder.write("etc/b.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        folder.write("lib/twice.helper", "[Helper]\nName=twice\nExec=/bin/true\n")
        #expect(load().entries.map(\.spec.name) == ["other"])
        // The administrator's folder decides.
        folder.write("etc/mine.helper", "[Helper]\nName=portal\nExec=/bin/true\n")
        let decided = load()
        #expect(decided.entries.map(\.file).contains("\(root)/etc/mine.helper"))
        #expect(decided.problems.filter { $0.problem.code == .helperShadowed }.count == 3)
    }

    @Test func aFolderThatCannotBeReadIsSaid() {
        folder.write("file")
        let catalog = HelperFolders.load(directories: ["\(root)/file", "\(root)/file/more", "\(root)/absent"])
        #expect(catalog.problems.map(\.problem.code) == [.helperNotTrusted, .helperFolderUnreadable])
        #expect(catalog.problems.map(\.subject) == ["\(root)/file", "\(root)/file/more"])
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

    // MARK: Display names

    private func add(_ path: String, display: String?) {
        let name = path.split(separator: "/")[1]
        folder.make(String(path.split(separator: "/")[0]))
        folder.write(
            path + ".helper", "[Helper]\nName=\(name)\nExec=/bin/true\n" + (display.map { "DisplayName=\($0)\n" } ?? ""))
    }

    private func shown(_ catalog: HelperCatalog) -> [String: String] {
        Dictionary(uniqueKeysWithValues: catalog.entries.map { ($0.spec.name, $0.spec.displayName) })
    }

    /// It is all that people see of a helper in many places.
    @Test func equalDisplayNamesAreNotShown() {
        add("lib/form", display: "Portal form")
        add("lib/other", display: "Отель Юг")
        #expect(shown(load()) == ["form": "Portal form", "other": "Отель Юг"])
        add("etc/mine", display: "PORTAL form")
        let catalog = load()
        #expect(shown(catalog) == ["form": "form", "mine": "mine", "other": "Отель Юг"])
        #expect(catalog.problems.map(\.subject) == ["mine", "form"])
        #expect(
            catalog.problems.first
                == HelperProblem(
                    "mine",
                    Problem(
                        .displayNameNotUsed,
                        "\(root)/etc/mine.helper: the display name \"PORTAL form\" is another helper's too, or the daemon's; it is shown as \"mine\"",
                        hint: "give it another DisplayName=")))
    }

    @Test func aNameIsItsHelpersOwn() {
        add("etc/evil", display: "Form")
        add("etc/vain", display: "VAIN")
        add("lib/form", display: nil)
        add("lib/daemon", display: "Hotspotd")
        // A long name that is cut may become another's.
        add("lib/portal-login-12x", display: nil)
        add("lib/portal-login-12", display: "Portal 12")
        let catalog = load()
        #expect(
            shown(catalog) == [
                "evil": "evil", "vain": "VAIN", "form": "form", "daemon": "daemon", "portal-login-12x": "portal-login-12x",
                "portal-login-12": "Portal 12",
            ])
        #expect(catalog.problems.map(\.subject) == ["evil", "daemon", "portal-login-12x"])
    }
}
