import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What a helper finds around itself.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ContainmentTests {
    init() { EventLoop.startThread() }

    /// A helper that answers with what a Python expression gives, as text.
    @LoopActor func look(_ shop: Workshop, _ name: String, writable: [String] = [], _ python: String) async -> String {
        shop.add(
            name, writable: writable,
            python: """
                receive()
                def attempt(f):
                    try: f(); return "yes"
                    except OSError as e: return e.strerror
                \(python)
                answer({"confidence": "low", "reason": str(found)})
                """)
        let outcome = await shop.ask(name)
        return outcome.evaluation?.reason ?? "\(outcome)"
    }

    /// The levels that are tried: all, no process namespace, no mount namespace, and neither namespaces nor Landlock.
    nonisolated static let full = LAUNCH_ALL.rawValue & ~LAUNCH_NO_NETWORK.rawValue
    nonisolated static let ladder: [UInt32] = [
        full, full & ~LAUNCH_PROCESS_NAMESPACE.rawValue, full & ~LAUNCH_MOUNT_NAMESPACE.rawValue,
        full & ~(LAUNCH_PROCESS_NAMESPACE.rawValue | LAUNCH_MOUNT_NAMESPACE.rawValue),
    ]

    @Test(arguments: ladder) @LoopActor func environmentAndDescriptorsAreTheContracts(_ wanted: UInt32) async {
        let shop = Workshop()
        shop.host.launcher.wanted = wanted
        let found = await look(
            shop, "env",
            """
            descriptors = [f for f in range(1024) if attempt(lambda: os.fstat(f)) == "yes"]
            caps = [l.split()[1] for l in open("/proc/self/status") if l.startswith(("CapEff", "CapPrm", "CapInh", "CapAmb"))]
            nnp = [l.split()[1] for l in open("/proc/self/status") if l.startswith("NoNewPrivs")]
            ignored = [l.split()[1] for l in open("/proc/self/status") if l.startswith(("SigBlk", "SigIgn"))]
            import resource
            found = [sorted(os.environ), os.environ["PATH"], os.environ["LANG"], descriptors, caps == ["0" * 16] * 4, nnp,
                os.getsid(0) == os.getpid(), os.umask(0), os.getcwd(), resource.getrlimit(resource.RLIMIT_CORE)[0],
                resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 256, int(ignored[0], 16)]
            """)
        #expect(
            found
                == "[['HOTSPOTD_TOKEN', 'LANG', 'PATH', 'TMPDIR'], '/usr/bin:/bin', 'C.UTF-8', [0, 1, 2], True, ['1'], True, 63, '/', 1, True, 0]"
        )
        await shop.close()
    }

    @Test(arguments: ladder) @LoopActor func theDaemonsFoldersAreNotReadable(_ wanted: UInt32) async {
        let shop = Workshop()
        shop.host.launcher.wanted = wanted
        shop.write("state/secret", "s", mode: 0o644)
        shop.write("run/secret", "s", mode: 0o644)
        shop.write("beside", "s", mode: 0o644)
        mkdir(shop.folder + "/mine", 0o700)
        let found = await look(
            shop, "peek", writable: [shop.folder + "/mine"],
            """
            folder = "\(shop.folder)"
            found = [attempt(lambda: open(folder + p).read()) for p in ["/state/secret", "/run/secret", "/beside"]]
            found += [attempt(lambda: open(p, "w").write("x")) for p in
                [folder + "/beside", folder + "/new", "/tmp/hotspot-escape", "/etc/hotspot-escape", folder + "/peek.py",
                folder + "/state/new", folder + "/mine/new", os.environ["TMPDIR"] + "/new", "/dev/null"]]
            found = ["yes" if x == "yes" else "no" for x in found]
            """)
        #expect(found == "['no', 'no', 'yes', 'no', 'no', 'no', 'no', 'no', 'no', 'yes', 'yes', 'yes']")
        #expect(Workshop.read(shop.folder + "/mine/new") == Array("x".utf8))
        // Landlock lets it connect to the sockets in there (landlock(7)): no stored credential.
        let isCovered = shop.host.containment(of: "peek").contains("daemon's folders covered")
        #expect(shop.host.isKeptFromFolders("peek") == isCovered)
        #expect(shop.host.missingContainment(of: "peek").contains { $0.hasSuffix("no stored credential)") } == !isCovered)
        if wanted & LAUNCH_MOUNT_NAMESPACE.rawValue == 0 {
            #expect(!isCovered)
        } else {
            #expect(isCovered || getenv("CI") == nil)
        }
        await shop.close()
    }

    /// A daemon that runs as root runs its helpers as root; that is said, and it is the only thing said of a whole containment.
    @Test func beingRootIsSaid() {
        let ordinary = Containment(levels: LAUNCH_ALL.rawValue, isRoot: false)
        let root = Containment(levels: LAUNCH_ALL.rawValue, isRoot: true)
        #expect(ordinary.missing == [])
        #expect(root.missing.count == 1 && root.missing.first?.contains("other than root") == true)
    }

    @Test @LoopActor func processesOfOthersAreOutOfReach() async {
        let shop = Workshop()
        let found = await look(
            shop, "proc",
            """
            found = [sorted(int(p) for p in os.listdir("/proc") if p.isdigit())[-1] < 10,
                attempt(lambda: os.kill(\(getpid()), 0)), attempt(lambda: os.kill(1, 9)), os.getpid() < 10]
            """)
        let words = shop.host.containment(of: "proc")
        #expect(!shop.host.missingContainment(of: "proc").contains { $0.contains("end the daemon") })
        if words.contains("own process namespace"), words.contains("own /proc") {
            #expect(found.hasPrefix("[True, 'No such process', ") && found.hasSuffix(", True]"), "\(found)")
        } else {
            #expect(getenv("CI") == nil, "process namespaces are not to be had here")
        }
        await shop.close()
    }

    @Test @LoopActor func aReachableSocketStaysReachableInACoveredFolder() async throws {
        let shop = Workshop { $0.reachableSockets = [$0.runtimeDirectory + "/control"] }
        let path = shop.folder + "/run/control"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        #expect(bound == 0 && listen(listener, 5) == 0)
        let found = await look(
            shop, "dial",
            "s = socket.socket(socket.AF_UNIX)\nfound = attempt(lambda: s.connect('\(path)')), sorted(os.listdir('\(shop.folder)/run'))"
        )
        if shop.host.containment(of: "dial").contains("daemon's folders covered") {
            #expect(found == "('yes', ['control'])")
        }
        close(listener)
        await shop.close()
    }

    /// The bus of the system tells which networks are in sight, and a user's starts what outlives the helper.
    @Test @LoopActor func aBusIsOutOfReach() async {
        let shop = Workshop { $0.sharedDirectories = ["/run/hotspot-none", $0.runtimeDirectory + "-bus"] }
        let bus = shop.folder + "/run-bus"
        mkdir(bus, 0o755)
        shop.write("run-bus/system_bus_socket", "")
        let found = await look(
            shop, "rider", "found = attempt(lambda: os.listdir('\(bus)'))\nif found == 'yes': found = os.listdir('\(bus)')")
        if shop.host.containment(of: "rider").contains("daemon's folders covered") {
            #expect(found == "[]")
        } else {
            #expect(getenv("CI") == nil, "mount namespaces are not to be had here")
        }
        await shop.close()
    }

    /// What somebody types is read by whoever has the terminal open.
    @Test @LoopActor func terminalsAreOutOfReach() async throws {
        let shop = Workshop()
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        var (locked, number): (Int32, UInt32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h.
        try #require(ioctl(terminal, 0x4004_5431, &locked) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let name = "/dev/pts/\(number)"
        let found = await look(
            shop, "typist",
            "found = [attempt(lambda: open(p, 'rb', 0).close()) for p in ['\(name)', '/dev/ptmx', '/dev/urandom', '/dev/null']]\n"
                + "found = ['yes' if x == 'yes' else 'no' for x in found]")
        if shop.host.containment(of: "typist").contains("Landlock") {
            #expect(found == "['no', 'no', 'yes', 'yes']")
        } else {
            #expect(getenv("CI") == nil, "Landlock is not to be had here")
        }
        await shop.close()
    }

    /// Programs of a kind that the kernel does not know would have it ask root's modprobe.
    @Test @LoopActor func whereAHelperWritesNothingIsExecuted() async {
        let shop = Workshop()
        mkdir(shop.folder + "/mine", 0o700)
        let made = shop.folder + "/mine/made"
        let found = await look(
            shop, "maker", writable: [shop.folder + "/mine"],
            """
            import subprocess
            with open('\(made)', 'w') as file: file.write('#!/bin/sh\\necho hi\\n')
            os.chmod('\(made)', 0o700)
            found = attempt(lambda: subprocess.run(['\(made)'], capture_output=True))
            """)
        if shop.host.containment(of: "maker").contains("own mount namespace") {
            #expect(found == "Permission denied")
        } else {
            #expect(getenv("CI") == nil, "mount namespaces are not to be had here")
        }
        await shop.close()
    }

    @Test @LoopActor func memoryThatNoLimitCountsIsRefused() async {
        let shop = Workshop()
        let found = await look(shop, "hoarder", "found = attempt(lambda: os.close(os.memfd_create('x')))")
        if shop.host.containment(of: "hoarder").contains("system-call filter") { #expect(found == "Function not implemented") }
        await shop.close()
    }

    /// Inotify instances are counted for the daemon's user as well.
    @Test @LoopActor func watchersAreFew() async {
        let shop = Workshop()
        let found = await look(
            shop, "watcher",
            "import ctypes\nlibc = ctypes.CDLL(None)\nfound = len([1 for i in range(100) if libc.inotify_init1(0) >= 0])")
        if shop.host.containment(of: "watcher").contains("own user namespace") { #expect(found == "4") }
        await shop.close()
    }

    /// The path was looked at, and then somebody who may write to a folder on its way puts a link there.
    @Test @LoopActor func aWritableFolderThatBecameALinkIsNotFollowed() async throws {
        let shop = Workshop()
        for name in ["victim", "mine", "mine/real"] { mkdir(shop.folder + "/" + name, 0o777) }
        symlink(shop.folder + "/victim", shop.folder + "/mine/link")
        let pipe = shop.write("sink", "")
        let sink = open(pipe, O_WRONLY | O_CLOEXEC)
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(sink); close(null) }
        let script = "echo x > \(shop.folder)/mine/link/new; echo x > \(shop.folder)/mine/real/new"
        let result = try shop.host.launcher.start(
            LaunchRequest(
                exec: ["/bin/sh", "-c", script], environment: ["PATH=/usr/bin:/bin"], input: null, output: sink, error: sink,
                scratch: shop.folder + "/scratch",
                view: ProcessView(writable: [shop.folder + "/mine/link", shop.folder + "/mine/real"]), processorTime: 10))
        var (process, status): (launch_result, Int32) = (result, 0)
        var ended = pollfd(fd: result.pidfd, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ended, 1, 20_000) == 1)
        #expect(launch_reap(&process, &status) == 1)
        close(result.pidfd)
        close(result.report)
        #expect(Workshop.read(shop.folder + "/mine/real/new") == Array("x\n".utf8))
        #expect(access(shop.folder + "/victim/new", F_OK) != 0)
        await shop.close()
    }

    /// All helpers have one user, and settings name networks.
    @Test @LoopActor func whatIsAnothersIsOutOfReach() async {
        let shop = Workshop { $0.protectedDirectories = [$0.runtimeDirectory + ".conf"] }
        let mine = shop.folder + "/mine"
        mkdir(mine, 0o700)
        shop.write("mine/secret", "SSID=Home", mode: 0o600)
        shop.write("run.conf", "SSID=Home", mode: 0o644)
        // A helper's file elsewhere, which a link leads to.
        shop.write("linked.helper", "SSID=Home", mode: 0o644)
        symlink(shop.folder + "/linked.helper", shop.folder + "/other.helper")
        shop.add("other", python: "receive(); answer({'confidence': 'none'})")
        let reading = "found = [attempt(lambda: open(p).read(1)) for p in ('\(mine)/secret', '\(shop.folder)/run.conf')]"
        let look = "\(reading) + [open('\(shop.folder)/run.conf').read() + open('\(shop.folder)/linked.helper').read()]"
        let owner = await self.look(shop, "owner", writable: [mine], look)
        let thief = await self.look(shop, "thief", look)
        if shop.host.containment(of: "thief").contains("daemon's folders covered") {
            #expect(owner == "['yes', 'yes', '']")
            #expect(thief == "['No such file or directory', 'yes', '']")
        } else {
            #expect(getenv("CI") == nil, "mount namespaces are not to be had here")
        }
        await shop.close()
    }

    /// What the daemon looks up, and what another helper trusts, lies where no helper can put a link in its place.
    @Test @LoopActor func theWayToAHelpersFileIsNobodysToWrite() async {
        let shop = Workshop()
        for name in ["mine", "mine/sub", "links", "shared", "shared/programs", "nest", "nest/inner", "data"] {
            mkdir(shop.folder + "/" + name, 0o700)
        }
        shop.write("mine/sub/self.helper", "")
        symlink(shop.folder + "/mine/sub/self.helper", shop.folder + "/links/self.helper")
        let program = shop.write("shared/programs/neighbour", "")
        func entry(_ name: String, _ exec: [String], _ path: String) -> HelperEntry {
            HelperEntry(
                spec: HelperSpec(name: name, activation: .stdio(exec: exec), readWritePaths: [shop.folder + path]),
                file: shop.folder + "/links/\(name).helper")
        }
        let data = shop.folder + "/data"
        shop.host.setHelpers([
            entry("self", ["/bin/true"], "/mine"), entry("neighbour", [program], "/shared"),
            entry("thief", ["/bin/false"], "/shared/"),
            entry("outer", ["/bin/echo"], "/nest"), entry("inner", ["/bin/cat"], "/nest/inner"),
            entry("honest", ["/bin/ls", data, data + "/file"], "/data"),
            entry("friend", ["/bin/cp", data + "/other"], "/data"),
        ])
        let refused = [
            ("self", "/mine/sub"), ("neighbour", "/shared/programs"), ("thief", "/shared/programs"), ("outer", "/nest/inner"),
            ("inner", "/nest"),
        ]
        for (name, what) in refused {
            let problem = shop.host.pathProblems(of: name).first
            #expect(problem?.code == .helperPathRefused && problem?.message.contains(shop.folder + what) == true, "\(name)")
        }
        #expect(shop.host.launcher.view(exec: ["/bin/true"], writable: [shop.folder + "/mine", data]).writable == [data])
        #expect(shop.host.pathProblems(of: "honest").isEmpty)
        #expect(shop.host.pathProblems(of: "friend").isEmpty, "they share it on purpose")
        shop.host.setHelpers([
            entry("honest", ["/bin/ls"], "/data"),
            HelperEntry(
                spec: HelperSpec(name: "python", activation: .stdio(exec: ["/bin/sh", data + "/script"])),
                file: "/x/python.helper"),
        ])
        #expect(shop.host.pathProblems(of: "honest").first?.message.contains(data + "/script") == true, "a script of another's")
        await shop.close()
    }

    /// Helpers that the service manager runs see no more of what tells of networks than the daemon's own.
    @Test func theUnitOfHelpersHidesTheSame() throws {
        let unit = String(
            decoding: Workshop.read(
                #filePath.replacing("Tests/HelperHostTests/ContainmentTests.swift", with: "systemd/hotspot-helper@.service.in")),
            as: UTF8.self)
        var hidden: [String] = []
        for line in unit.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, ["InaccessiblePaths", "TemporaryFileSystem"].contains(parts[0]) else { continue }
            for word in parts[1].split(separator: " ") { hidden.append(String(word.drop { $0 == "-" }.prefix { $0 != ":" })) }
        }
        // PrivateTmp= and PrivateDevices= see to these.
        let others = ["/tmp", "/var/tmp", "/dev/pts"]
        for folder in HostConfiguration(runtimeDirectory: "", hiddenDirectories: [], scratchDirectory: "").sharedDirectories
        where !others.contains(folder) {
            #expect(hidden.contains { FolderPath.isWithin(folder, $0) }, "\(folder)")
        }
    }

    /// A link where a helper writes uncovers nothing, and the daemon does not follow it.
    @Test @LoopActor func anArgumentThatAHelperExchangesUncoversNothing() async {
        let shop = Workshop { $0.protectedDirectories = [$0.runtimeDirectory + ".conf"] }
        for name in ["mine-reader", "mine-looker", "theirs"] { mkdir(shop.folder + "/" + name, 0o700) }
        shop.write("run.conf", "SSID=Home", mode: 0o644)
        shop.write("theirs/secret", "secret", mode: 0o600)
        shop.add("other", writable: [shop.folder + "/theirs"], python: "receive(); answer({'confidence': 'none'})")
        for (name, target, nothing) in [("reader", "run.conf", ""), ("looker", "theirs", "[]")] {
            let mine = shop.folder + "/mine-" + name
            let program = shop.write(
                name,
                Workshop.prelude
                    + """
                    receive()
                    link, target = sys.argv[1], '\(shop.folder)/\(target)'
                    found = str(os.listdir(target)) if os.path.isdir(target) else open(target).read()
                    if not os.path.islink(link): os.symlink(target, link)
                    answer({'confidence': 'none', 'reason': found})

                    """)
            shop.add(
                HelperSpec(name: name, activation: .stdio(exec: [program, "\(mine)/state"]), readWritePaths: [mine]))
            let found = [(await shop.ask(name)).evaluation?.reason, (await shop.ask(name)).evaluation?.reason]
            if shop.host.containment(of: name).contains("daemon's folders covered") {
                #expect(found == [nothing, nothing] && access("\(mine)/state", F_OK) == 0, "\(target)")
            } else {
                #expect(getenv("CI") == nil, "mount namespaces are not to be had here")
            }
        }
        await shop.close()
    }

    @Test @LoopActor func aProgramAmongHelperFilesReadsNoneOfThem() async {
        let shop = Workshop { $0.protectedDirectories = [$0.runtimeDirectory + ".d"] }
        mkdir(shop.folder + "/run.d", 0o755)
        shop.write("run.d/other.helper", "SSID=Home", mode: 0o644)
        shop.write("run.d/own.txt", "own", mode: 0o644)
        let program = shop.write(
            "run.d/program",
            Workshop.prelude
                + "receive(); found = [open('\(shop.folder)/run.d/' + n).read() for n in ('other.helper', 'own.txt')]\n"
                + "answer({'confidence': 'none', 'reason': str(found)})\n")
        shop.add(HelperSpec(name: "near", activation: .stdio(exec: [program])))
        let outcome = await shop.ask("near")
        if shop.host.containment(of: "near").contains("daemon's folders covered") {
            #expect(outcome.evaluation?.reason == "['', 'own']")
        } else {
            #expect(getenv("CI") == nil, "mount namespaces are not to be had here")
        }
        await shop.close()
    }

    @Test(arguments: [false, true]) @LoopActor func theScanListIsAnsweredWithoutNetwork(_ onSocket: Bool) async {
        let shop = Workshop()
        let begin =
            onSocket ? "end = socket.socket(fileno=3).accept()[0]; source = target = end.fileno()" : "source, target = 0, 1"
        let names = "[line.split(':')[0].strip() for line in open('/proc/self/net/dev') if ':' in line]"
        shop.add(
            "filter", socket: onSocket,
            python: """
                \(begin)
                receive(source)
                answer({'annotations': [{'ssidHex': n.encode().hex()[:64], 'confidence': 'low'} for n in \(names)]}, target)
                """)
        let outcome = await shop.ask("filter", .filterScanList)
        if shop.host.containment(of: "filter").contains("no network") {
            #expect(outcome == .annotations([Annotation(ssidHex: "6c6f", confidence: .low)]))
        } else {
            #expect(getenv("CI") == nil, "network namespaces are not to be had here")
        }
        await shop.close()
    }

    /// The init is a copy of the daemon; it must not keep what the daemon had in memory.
    @Test @LoopActor func theInitForgetsTheDaemonsMemory() async {
        let shop = Workshop()
        let canary = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 20)
        defer { canary.deallocate() }
        for index in 0..<(1 << 20) { canary[index] = UInt8(truncatingIfNeeded: index &* 31 &+ 7) }
        // Locked away, as a vault keeps its key between two uses.
        let locked = mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        memset(locked, 0x5a, 1 << 16)
        mprotect(locked, 1 << 16, PROT_NONE)
        defer { munmap(locked, 1 << 16) }
        shop.add("wait", python: "receive(); time.sleep(1000)")
        shop.host.prepare(["wait"])
        #expect(await eventually { !shop.survivors.isEmpty })
        guard shop.host.containment(of: "wait").contains("own process namespace") else { return await shop.close() }
        let memory = open("/proc/\(shop.host.processIDs.first ?? -1)/mem", O_RDONLY | O_CLOEXEC)
        // Only root may look at it at all, because it cannot be dumped.
        if memory >= 0 {
            // Its helper may be ahead of it.
            let forgotten = await eventually {
                var copy = [UInt8](repeating: 1, count: 1 << 16)
                let count = pread(memory, &copy, copy.count, off_t(Int(bitPattern: canary)) + 8192)
                guard count <= 0 || copy.allSatisfy({ $0 == 0 }) else { return false }
                let lockedCount = pread(memory, &copy, 4096, off_t(Int(bitPattern: locked)) + 4096)
                return lockedCount <= 0 || copy[..<4096].allSatisfy { $0 == 0 }
            }
            #expect(forgotten)
            close(memory)
        }
        await shop.close()
    }
}
