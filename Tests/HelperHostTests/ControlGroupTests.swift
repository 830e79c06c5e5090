import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What the daemon takes for a control group of its own, and how it divides one. The folders are plain ones with files of the same
/// names; the kernel's own are looked at by `Tests/Support/under-systemd`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ControlGroupTests {
    init() { EventLoop.startThread() }

    /// A folder like the one that is mounted at /sys/fs/cgroup, with a unit in it that has all that is needed.
    final class Tree {
        let root: String
        let unit = "/system.slice/hotspotd.service"
        var isGivenAway = true

        init() {
            var template = Array("/tmp/hotspot-groups-XXXXXX".utf8CString)
            mkdtemp(&template)
            root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            mkdir(root + "/system.slice", 0o755)
            group(unit)
            write(unit + "/cgroup.procs", "\(getpid())\n")
        }

        deinit { removeFolder(root) }

        /// A folder with the files that the kernel would make.
        func group(_ path: String) {
            mkdir(root + path, 0o755)
            for name in ["cgroup.procs", "cgroup.subtree_control", "cpu.weight"] { write(path + "/" + name, "") }
            write(path + "/cgroup.controllers", "cpuset cpu io memory pids\n")
        }

        func write(_ path: String, _ text: String) {
            let descriptor = open(root + path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o644)
            let octets = Array(text.utf8)
            #expect(Glibc.write(descriptor, octets, octets.count) == octets.count)
            close(descriptor)
        }

        func read(_ path: String) -> String { ControlFile.read(root + path) ?? "" }
        func has(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

        func place(_ membership: String? = nil) -> ControlGroupPlace {
            .find(root: root, membership: membership ?? "0::\(unit)\n", process: getpid(), isReal: false) { _ in isGivenAway }
        }
        var own: ControlGroupPlace { .own(folder: root + unit, controllers: ["cpuset", "cpu", "io", "memory", "pids"]) }
    }

    @Test(
        arguments: [
            ("0::/system.slice/hotspotd.service\n", "/system.slice/hotspotd.service"),
            ("9:name=systemd:/x\n8:pids:/y\n0::/z\n", "/z"), ("0::/\n", nil), ("", nil), ("1:pids:/x\n", nil), ("0::x\n", nil),
            ("0::/../../init.scope\n", nil), ("0::/a/../b\n", nil), ("0::/..a\n", "/..a"),
        ] as [(String, String?)])
    func thePathIsThatOfTheUnifiedHierarchy(_ membership: String, _ path: String?) {
        #expect(ControlGroupPlace.path(in: membership) == path)
    }

    @Test func aGroupThatWasGivenAwayIsTheDaemons() {
        let tree = Tree()
        #expect(tree.place() == tree.own)
        // What an earlier daemon left, and what systemd runs an ExecReload= in.
        for name in ["daemon", "helpers", ".control"] { mkdir(tree.root + tree.unit + "/" + name, 0o755) }
        #expect(tree.place() == tree.own)
    }

    @Test func aGroupOfSomebodyElseIsLeftAlone() {
        let kept = Tree()
        kept.isGivenAway = false
        #expect(kept.place() == .kept)
        // A user is not told: nobody asked for it there.
        let user = "/user.slice/user-1000.slice/user@1000.service/app.slice/hotspotd.service"
        var part = ""
        for name in user.split(separator: "/") {
            part += "/\(name)"
            kept.group(part)
        }
        #expect(kept.place("0::\(user)\n") == .none)

        for list in ["", "\(getpid())\n1\n", "0\n\(getpid())\n", "1\n", "\(getpid())0\n"] {
            let tree = Tree()
            tree.write(tree.unit + "/cgroup.procs", list)
            #expect(tree.place() == .kept, "\(list)")
        }
        let divided = Tree()
        mkdir(divided.root + divided.unit + "/theirs", 0o755)
        #expect(divided.place() == .kept)
        let poor = Tree()
        poor.write(poor.unit + "/cgroup.controllers", "cpu pids\n")
        #expect(poor.place() == .kept)
        let elsewhere = Tree()
        #expect(elsewhere.place("0::/system.slice/gone.service\n") == .none)
        // What is no control group at all, in this kernel's eyes.
        #expect(ControlGroupPlace.find(root: elsewhere.root, membership: "0::\(elsewhere.unit)\n", process: getpid()) == .none)
    }

    @Test func aFileThatIsNoPlainOneIsNotRead() {
        let tree = Tree()
        let procs = tree.root + tree.unit + "/cgroup.procs"
        unlink(procs)
        mkfifo(procs, 0o600)
        #expect(tree.place() == .kept)
        unlink(procs)
        symlink("/proc/self/comm", procs)
        #expect(tree.place() == .kept)
        tree.write(tree.unit + "/long", String(repeating: "x", count: 3 * ControlFile.limit))
        #expect(tree.read(tree.unit + "/long").count == ControlFile.limit)
    }

    @Test @LoopActor func theDaemonMovesIntoALeafAndHelpersGetTheirLimits() throws {
        let tree = Tree()
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        let groups = try #require(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()))
        #expect(tree.read(tree.unit + "/daemon/cgroup.procs") == "\(getpid())")
        for path in [tree.unit, tree.unit + "/helpers"] {
            #expect(tree.read(path + "/cgroup.subtree_control") == "+cpu +memory +pids")
        }
        #expect(tree.read(tree.unit + "/daemon/cpu.weight") == "200")
        // No kernel puts the files of limits into a plain folder: a group without them is none, and does not stay.
        #expect(groups.make() == nil)
        #expect(ControlFile.folders(in: groups.folder) == [])
    }

    /// All helpers together leave the daemon its part, and everybody else half of the machine, however many they are.
    @Test(arguments: [
        ("4294967296\n", "3758096384"), ("8589934592\n", "4294967296"), ("104857600\n", "52428800"), ("max\n", "4294967296"),
        ("x", "4294967296"), ("-1\n", "4294967296"),
    ])
    @LoopActor func helpersLeaveMemoryToTheDaemonAndToOthers(_ whole: String, _ helpers: String) throws {
        let tree = Tree()
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        tree.write(tree.unit + "/memory.max", whole)
        tree.write(tree.unit + "/helpers/memory.max", "")
        _ = try #require(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init(), machine: 8 << 30))
        #expect(tree.read(tree.unit + "/helpers/memory.max") == helpers)
    }

    /// What a process is to the daemon is told by its group: none can leave it.
    @Test @LoopActor func aProcessIsKnownByItsGroup() throws {
        let tree = Tree()
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        let groups = try #require(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()))
        let unit = tree.unit
        let expected: [(String, ControlGroups.Place)] = [
            ("\(unit)/helpers/7", .helper(group: "\(tree.root)\(unit)/helpers/7")),
            ("\(unit)/helpers/7/below/it", .helper(group: "\(tree.root)\(unit)/helpers/7")),
            ("\(unit)/helpers/7 (deleted)", .helper(group: "\(tree.root)\(unit)/helpers/7")),
            ("\(unit)/daemon", .daemon), (unit, .outside), ("\(unit)/helpers", .outside), ("\(unit)/.control", .outside),
            ("\(unit)x/helpers/7", .outside), ("/user.slice/helpers/7", .outside), ("/", .outside), ("/../helpers/7", .outside),
        ]
        for (path, place) in expected {
            #expect(groups.place(root: tree.root, membership: "0::\(path)\n") == place, "\(path)")
        }
        // Whoever is root here is in no group of the tree, and nobody has this number.
        #expect(groups.place(of: getpid()) == .outside && groups.place(of: pid_t.max) == nil)
    }

    @Test @LoopActor func withoutCPUTheRestIsDivided() throws {
        let tree = Tree()
        tree.write(tree.unit + "/cgroup.controllers", "memory pids\n")
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        #expect(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()) != nil)
        #expect(tree.read(tree.unit + "/cgroup.subtree_control") == "+memory +pids")
    }

    /// Here it is the missing files of a new folder that cannot be written to.
    @Test @LoopActor func whatFailsIsPutBack() {
        let leafless = Tree()
        #expect(ControlGroups(dividing: leafless.place(), process: getpid(), limits: .init()) == nil)
        #expect(!leafless.has(leafless.unit + "/daemon") && !leafless.has(leafless.unit + "/helpers"))
        #expect(leafless.read(leafless.unit + "/cgroup.subtree_control") == "")

        let tree = Tree()
        tree.group(tree.unit + "/daemon")
        #expect(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()) == nil)
        #expect(tree.read(tree.unit + "/cgroup.procs").hasPrefix("\(getpid())"))
        #expect(tree.read(tree.unit + "/cgroup.subtree_control").hasPrefix("-cpu -memory -pids"))
        #expect(!tree.has(tree.unit + "/helpers"))
        #expect(ControlGroups(dividing: .kept, process: getpid(), limits: .init()) == nil)
    }

    @Test @LoopActor func leftoversOfAnEarlierDaemonAreTakenAway() throws {
        let tree = Tree()
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        for path in ["/1", "/1/below", "/1/below/further", "/77"] { mkdir(tree.root + tree.unit + "/helpers" + path, 0o755) }
        let groups = try #require(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()))
        #expect(ControlFile.folders(in: groups.folder) == [])
        #expect(groups.lingeringCount == 0)
    }

    /// Its processes are ended, by number where the kernel has no cgroup.kill, and it is looked at again until it goes.
    @Test @LoopActor func whatStillLivesIsEndedAndGoesLater() async throws {
        let tree = Tree()
        for name in ["/daemon", "/helpers"] { tree.group(tree.unit + name) }
        let groups = try #require(ControlGroups(dividing: tree.place(), process: getpid(), limits: .init()))
        let path = tree.unit + "/helpers/5"
        mkdir(tree.root + path, 0o755)
        tree.write(path + "/cgroup.procs", "0\n1\nnonsense\n-1\n\(getpid())\n")
        groups.remove(ControlGroup(existing: tree.root + path))
        #expect(groups.lingeringCount == 1)
        unlink(tree.root + path + "/cgroup.procs")
        #expect(await eventually { groups.lingeringCount == 0 })
        #expect(!tree.has(path))

        tree.group(path)
        tree.write(path + "/cgroup.kill", "")
        ControlGroup(existing: tree.root + path).kill()
        #expect(tree.read(path + "/cgroup.kill") == "1")
    }

    @Test(
        arguments: [
            ("", nil), ("low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n", nil),
            ("max 9\noom 1\noom_kill 4\noom_group_kill 1\n", .own), ("max 0\noom 0\noom_kill 2\n", .shared),
            ("oom_kill\n", nil), ("oom_kill x\n", nil), ("oom_kill 99999999999999999999\n", nil), ("not_oom_kill 3\n", nil),
        ] as [(String, ControlGroup.MemoryEnding?)])
    func whyItEndedIsInTheEvents(_ events: String, _ ending: ControlGroup.MemoryEnding?) {
        #expect(ControlGroup.memoryEnding(events) == ending)
    }

    /// In octets of no machine: who has the most goes first, and no more of them than it takes.
    @Test(
        arguments: [
            ([1, 2, 300, 4], 310, 0, 400, []), ([1, 2, 300, 4], 310, 0, 100, [2]), ([150, 1, 300, 4], 460, 0, 100, [2, 0]),
            // What files take comes back by itself, and so does what those had who are being ended.
            ([200, 300], 500, 450, 100, []), ([10, 20], 500, 0, 100, []), ([10, 200], 700, 0, 100, [1]),
            ([], 500, 0, 100, []), ([5], 5, 900, 0, []), ([0, 0], 0, 0, 0, []), ([7, 7], 14, 0, 10, [1]),
        ] as [([UInt64], UInt64, UInt64, UInt64, [Int])])
    func theLargestGoFirst(_ groups: [UInt64], _ whole: UInt64, _ returnable: UInt64, _ allowed: UInt64, _ chosen: [Int]) {
        #expect(MemoryWatch.largest(groups, whole: whole, returnable: returnable, allowed: allowed) == chosen)
    }

    /// In steps of 16 MiB: files that were left in memory are nobody's, and stay.
    @Test(
        arguments: [
            ([], 900, 0, 912), ([10, 20], 830, 0, 800), ([10, 20], 835, 0, 816), ([300, 300], 620, 0, 0),
            ([300, 300], 700, 0, 112), ([100], 900, 700, 112), ([100], 900, 800, 0), ([100], 50, 0, 0), ([], 9000, 0, 3000),
        ] as [([UInt64], UInt64, UInt64, UInt64)])
    func theLimitIsRaisedForWhatIsNobodys(_ groups: [UInt64], _ whole: UInt64, _ returnable: UInt64, _ lift: UInt64) {
        let raised = MemoryWatch.lift(
            groups.map { $0 << 20 }, whole: whole << 20, returnable: returnable << 20, limit: 1000 << 20, ceiling: 4000 << 20)
        #expect(raised == lift << 20)
    }

    @Test func aMissingGroupIsToldWhereItCouldBeHad() {
        #expect(!Containment(levels: 0).missing.contains { $0.hasPrefix("own control group") })
        #expect(Containment(levels: 0, missesGroup: true).missing.contains { $0.hasPrefix("own control group (") })
    }

    /// This process is not alone in its group, and whatever a test runs in belongs to somebody else.
    @Test @LoopActor func aHostThatIsNotTheDaemonStaysWhereItIs() async {
        let before = ControlFile.read("/proc/self/cgroup")
        let shop = Workshop()
        shop.add("plain", python: "receive(); answer({'confidence': 'low'})")
        #expect(await shop.ask("plain").evaluation?.confidence == .low)
        #expect(!shop.host.containment(of: "plain").contains("own control group"))
        #expect(!shop.host.missingContainment(of: "plain").contains { $0.hasPrefix("own control group") })
        #expect(ControlFile.read("/proc/self/cgroup") == before)
        await shop.close()
    }
}
