import CLaunch
import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What helpers leave in their private folders goes, however it was laid.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ScratchTests {
    init() { EventLoop.startThread() }

    /// A folder for scratch folders, with one of a helper, and something beside it that is nobody's to remove.
    @LoopActor private final class Place {
        let root: String
        let directory: String
        let precious: String

        init() {
            // In memory if there is such a place, as /run is: no disk that others use as well.
            root = Scratch.make(in: "/dev/shm") ?? Scratch.make(in: "/tmp")!
            directory = root + "/scratch"
            precious = root + "/precious"
            mkdir(precious, 0o755)
            ScratchTests.touch(precious + "/file")
            mkdir(directory, 0o700)
        }

        isolated deinit { removeFolder(root) }

        var names: [String] { Workshop.names(in: directory) }
        var isUntouched: Bool { access(precious + "/file", F_OK) == 0 }
    }

    /// When nothing is left, or after a time that no machine needs.
    @LoopActor private func isDone(_ scratch: Scratch) async -> Bool {
        await withCheckedContinuation { continuation in scratch.finish(within: .seconds(50)) { continuation.resume() } }
        return scratch.isDone
    }

    private static func touch(_ path: String) { close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)) }

    private static func addDeep(_ path: String, _ depth: Int) {
        var folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for _ in 0..<depth {
            mkdirat(folder, "d", 0o700)
            close(openat(folder, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            let next = openat(folder, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            close(folder)
            folder = next
        }
        close(folder)
    }

    /// Deeper than any path can name.
    @Test(arguments: [1, 200, 2500]) @LoopActor func aDeepTreeGoes(_ depth: Int) async throws {
        let place = Place()
        let scratch = Scratch(place.directory)
        let folder = try #require(scratch.make())
        Self.addDeep(folder, depth)
        scratch.remove(folder)
        #expect(await isDone(scratch))
        #expect(place.names == [] && place.isUntouched)
    }

    /// Others have their turns in between; it is turns that are counted here.
    @Test @LoopActor func aWideTreeGoesInManyTurns() async throws {
        let place = Place()
        let scratch = Scratch(place.directory)
        let folder = try #require(scratch.make())
        for number in 0..<30_000 { Self.touch(folder + "/\(number)") }
        let kept = try #require(scratch.make())
        scratch.remove(folder)
        #expect(!scratch.isDone)
        var turns = 0
        while !scratch.isDone {
            turns += 1
            await withCheckedContinuation { continuation in scratch.finish(within: .zero) { continuation.resume() } }
        }
        #expect(turns > 10 && scratch.turns >= 30_000 / Scratch.entries)
        #expect(place.names == [String(kept.split(separator: "/").last!)])
    }

    @Test @LoopActor func manyFoldersThatAreNotEmptyGo() async throws {
        let place = Place()
        let scratch = Scratch(place.directory)
        let folder = try #require(scratch.make())
        for number in 0..<2000 {
            mkdir(folder + "/\(number)", 0o700)
            mkdir(folder + "/\(number)/below", 0o700)
            Self.touch(folder + "/\(number)/below/file")
        }
        scratch.remove(folder)
        #expect(await isDone(scratch))
        #expect(place.names == [] && place.isUntouched)
    }

    /// No link is followed, whatever it leads to, and nothing beside is touched.
    @Test @LoopActor func linksGoAndWhatTheyLeadToStays() async throws {
        let place = Place()
        let scratch = Scratch(place.directory)
        let folder = try #require(scratch.make())
        symlink(place.precious, folder + "/link")
        symlink("/", folder + "/root")
        mkdir(folder + "/below", 0o700)
        symlink(place.precious, folder + "/below/link")
        mkfifo(folder + "/below/fifo", 0o600)
        scratch.remove(folder)
        #expect(scratch.isDone && place.names == [])
        symlink(place.precious, place.directory + "/helper-link")
        scratch.remove(place.directory + "/helper-link")
        #expect(scratch.isDone && place.names == [] && place.isUntouched)
        var status = stat()
        #expect(stat(place.precious, &status) == 0 && status.st_mode & 0o777 == 0o755)
    }

    /// Whoever is root reads everything; so this is done by another user.
    @Test func unreadableFoldersGo() throws {
        let root = try #require(Scratch.make(in: "/tmp"))
        defer { removeFolder(root) }
        let code = try Self.asNobody(root) {
            let modes: [(String, mode_t)] = [("closed", 0), ("readable", 0o400), ("searchable", 0o100), ("writable", 0o200)]
            for (name, mode) in modes {
                for path in [root + "/helper-x/" + name, root + "/helper-x/" + name + "/below"] {
                    mkdir(path, 0o700)
                    Self.touch(path + "/file")
                }
                chmod(root + "/helper-x/" + name + "/below", mode)
                chmod(root + "/helper-x/" + name, mode)
            }
            chmod(root + "/helper-x", 0)
            guard let removal = FolderRemoval(in: root), removal.add("helper-x") else { return 2 }
            while removal.step(atMost: 3) {}
            return Workshop.names(in: root) == [] ? 0 : 1
        }
        #expect(code == 0)
    }

    /// Runs it on a thread that has another user, if this one is root: users are counted for each thread by the kernel.
    private static func asNobody(_ root: String, _ body: @escaping @Sendable () -> Int32) throws -> Int32 {
        mkdir(root + "/helper-x", 0o700)
        if geteuid() == 0 {
            chown(root, 65534, 65534)
            chown(root + "/helper-x", 65534, 65534)
        }
        let box = Box(body)
        var thread = pthread_t()
        let pointer = Unmanaged.passRetained(box).toOpaque()
        let made = pthread_create(
            &thread, nil,
            { pointer in
                let box = Unmanaged<Box>.fromOpaque(pointer!).takeRetainedValue()
                // The capabilities that pass over modes go with the user of files; Glibc's module leaves setfsuid(2) out.
                if geteuid() == 0 {
                    typealias Set = @convention(c) (uid_t) -> Int32
                    _ = unsafeBitCast(dlsym(nil, "setfsuid"), to: Set.self)(65534)
                }
                box.code = box.body()
                return nil
            }, pointer)
        try #require(made == 0)
        pthread_join(thread, nil)
        return box.code
    }

    /// Written by the thread, and read when that is over.
    private final class Box: @unchecked Sendable {
        let body: @Sendable () -> Int32
        var code: Int32 = -1
        init(_ body: @escaping @Sendable () -> Int32) { self.body = body }
    }

    /// The daemon may have ended in the middle of it; what is not its own stays.
    @Test @LoopActor func leftoversGoAtTheStart() async throws {
        let place = Place()
        do {
            let removal = try #require(FolderRemoval(in: place.directory))
            let folder = try #require(Scratch.make(in: place.directory))
            for number in 0..<10 {
                mkdir(folder + "/\(number)", 0o700)
                Self.touch(folder + "/\(number)/file")
            }
            removal.add(String(folder.split(separator: "/").last!))
            #expect(removal.step(atMost: 8))
        }
        Self.addDeep(try #require(Scratch.make(in: place.directory)), 200)
        mkdir(place.directory + "/another", 0o700)
        mkdir(place.directory + "/gone-fishing", 0o700)
        #expect(place.names.filter { $0.hasPrefix("gone-") }.count > 2)
        let scratch = Scratch(place.directory)
        let new = try #require(scratch.make())
        Self.touch(new + "/file")
        #expect(await isDone(scratch))
        #expect(place.names == ["another", "gone-fishing", String(new.split(separator: "/").last!)])
        #expect(access(new + "/file", F_OK) == 0)
    }

    /// A folder that fills up again as fast as it is emptied is left in the end.
    @Test func whatCannotBeEmptiedIsLeft() throws {
        let root = try #require(Scratch.make(in: "/tmp"))
        defer { removeFolder(root) }
        let removal = try #require(FolderRemoval(in: root))
        mkdir(root + "/helper-x", 0o700)
        removal.add("helper-x")
        let name = try #require(Workshop.names(in: root).first)
        var steps = 0
        repeat {
            steps += 1
            Self.touch(root + "/\(name)/\(steps)")
        } while removal.step(atMost: 1) && steps < 10_000
        #expect(steps < 10_000 && removal.isDone)
    }

    /// The whole way: no mount namespace, and a helper that leaves more than one turn can take.
    @Test @LoopActor func aHelperWithoutNamespacesLeavesNothing() async {
        let shop = Workshop()
        shop.host.launcher.wanted = LAUNCH_NO_NEW_PRIVILEGES.rawValue | LAUNCH_LIMITS.rawValue
        shop.add(
            "messy",
            python: """
                receive(); os.chdir(os.environ["TMPDIR"])
                for i in range(1000): os.close(os.open(str(i), os.O_CREAT))
                for i in range(100): os.mkdir("d"); os.chdir("d")
                open("treasure", "w").close()
                answer({"confidence": "low"})
                """)
        #expect(await shop.ask("messy").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processCount == 0 })
        #expect(await isDone(shop.host.scratch))
        #expect(shop.host.scratch.turns > 1)
        await shop.close()
    }
}
