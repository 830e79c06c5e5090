import Dispatch
import EventLoop
import Glibc
import HotspotCore
import TestSupport
import Testing
import Varlink

@testable import HelperHost

/// The browsers of helpers: to which helpers they are offered, and in what sandbox they run. Python programs stand in for the browsers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrowserHostTests {
    init() { EventLoop.startThread() }

    /// Adds a helper that reports its environment's variable, and whether the socket exists.
    @LoopActor private func add(_ name: String, to shop: Workshop, browses: Bool, socket: Bool = false) {
        let look = "path = os.environ.get('HOTSPOTD_BROWSER')\nfound = f'{path} {bool(path) and os.path.exists(path)}'\n"
        let answer = "answer({'confidence': 'low', 'reason': found}"
        let body = socket ? SharedProgramTests.server(look + answer + ", peer)") : "receive()\n" + look + answer + ")\n"
        let path = shop.write(name + ".py", Workshop.prelude + body + "\n")
        var spec = HelperSpec(name: name, activation: socket ? .socket(exec: [path]) : .stdio(exec: [path]))
        spec.browses = browses
        shop.add(spec)
    }

    /// Offers a browser whose program is Python; `say` writes on its connection.
    @LoopActor private func offer(_ python: String, in shop: Workshop) {
        let path = shop.write("render.py", Workshop.prelude + python + "\n")
        shop.host.browsers.offer(.browser("/usr/bin/true"), by: [path, "--render"])
    }

    /// Returns what a browser says until it closes the connection, or until a NUL.
    private nonisolated func words(on connection: Int32) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var (text, octet): ([UInt8], UInt8) = ([], 0)
                while recv(connection, &octet, 1, 0) == 1, octet != 0 { text.append(octet) }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
    }

    @Test @LoopActor func onlyProgramsWithBrowserYesAreShownTheSocket() async throws {
        let shop = Workshop()
        add("reads", to: shop, browses: true)
        add("other", to: shop, browses: false)
        let path = shop.folder + "/run/helpers/browser"
        // Nothing was offered.
        #expect(await shop.ask("reads").evaluation?.reason == "None False")
        offer("pass", in: shop)
        #expect(await shop.ask("reads").evaluation?.reason == "\(path) True")
        #expect(await shop.ask("other").evaluation?.reason == "None False")
        shop.host.browsers.offer(.missing, by: [])
        #expect(await shop.ask("reads").evaluation?.reason == " False")
        #expect(await shop.ask("other").evaluation?.reason == "None False")
        shop.host.browsers.offer(.none, by: [])
        #expect(await shop.ask("reads").evaluation?.reason == "None False")
        await shop.close()
    }

    @Test @LoopActor func aHelperWithoutASandboxHasNoBrowser() async throws {
        let shop = Workshop { $0.containment = .none }
        add("reads", to: shop, browses: true)
        offer("pass", in: shop)
        #expect(await shop.ask("reads").evaluation?.reason == "None False")
        await shop.close()
    }

    @Test @LoopActor func aBrowserHasNoNetworkNoFilesAndItsLimits() async throws {
        let shop = Workshop()
        shop.write("state/secret", "s", mode: 0o644)
        offer(
            """
            import resource
            status = dict(l.split(":", 1) for l in open("/proc/self/status"))
            limits = [resource.getrlimit(n)[0] for n in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_AS)]
            links = [l.split(":")[0].strip() for l in open("/proc/self/net/dev") if ":" in l]
            files = [p for p in ("\(shop.folder)/state/secret", "/etc/shadow", "/run", "/home", "/root") if os.path.exists(p)]
            say(str([sys.argv[1:], os.getuid(), status["NoNewPrivs"].strip(), status["Seccomp"].strip(), limits, links, files,
                "HOTSPOTD_BROWSER" in os.environ, os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize >> 20]).encode() + b"\\0", 3)
            """, in: shop)
        let connection = try Socket.connect(path: shop.folder + "/run/helpers/browser").take()
        let words = await words(on: connection)
        #expect(
            words == "[['--render', '/usr/bin/true'], 65534, '1', '2', [\(1 << 30), 400, 600, -1], ['lo'], [], False, 256]")
        close(connection)
        #expect(await eventually { shop.host.browsers.running == 0 })
        await shop.close()
    }

    /// Chromium puts the process that runs a page into namespaces; a helper does not need this.
    @Test @LoopActor func onlyABrowserMakesNamespaces() async throws {
        let shop = Workshop()
        let look = """
            import ctypes, platform
            library = ctypes.CDLL(None, use_errno=True)
            number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
            def makes(*flags):
                child = library.syscall(number, sum(flags) | signal.SIGCHLD, 0, 0, 0, 0)
                if child == 0: os._exit(0)
                if child > 0: os.waitpid(child, 0)
                return child > 0
            USER, PID, NET, MOUNTS = 0x10000000, 0x20000000, 0x40000000, 0x00020000
            found = str([makes(), makes(USER), makes(USER, PID, NET), makes(USER, MOUNTS)])
            """
        offer(look + "\nsay(found.encode() + b'\\0', 3)", in: shop)
        let connection = try Socket.connect(path: shop.folder + "/run/helpers/browser").take()
        #expect(await words(on: connection) == "[True, True, True, False]")
        close(connection)
        shop.add("helper", python: "receive()\n\(look)\nanswer({'confidence': 'low', 'reason': found})")
        #expect(await shop.ask("helper").evaluation?.reason == "[True, False, False, False]")
        await shop.close()
    }

    @Test @LoopActor func twoBrowsersAtMostAndNoneAfterTheEnd() async throws {
        let shop = Workshop()
        offer("say(b'here\\0', 3)\nreceive(3)", in: shop)
        let path = shop.folder + "/run/helpers/browser"
        var connections: [Int32] = []
        for _ in 0..<2 {
            connections.append(try Socket.connect(path: path).take())
            #expect(await words(on: connections.last!) == "here")
        }
        #expect(shop.host.browsers.running == 2)
        let third = try Socket.connect(path: path).take()
        #expect(await words(on: third) == "" && shop.host.browsers.running == 2)
        close(third)
        // A browser ends with its connection.
        close(connections.removeFirst())
        #expect(await eventually { shop.host.browsers.running == 1 })
        await shop.close()
        #expect(await words(on: connections[0]) == "")
        close(connections[0])
        #expect(throws: VarlinkError.self) { _ = try Socket.connect(path: path).take() }
    }

    /// A helper that has the browser open, has answered a command, and is now idle.
    @LoopActor private func idleReader(browsing: Duration) async throws -> (shop: Workshop, connection: Int32) {
        let shop = Workshop {
            $0.serviceIdle = .milliseconds(50)
            $0.serviceBrowsing = browsing
        }
        add("reads", to: shop, browses: true, socket: true)
        offer("say(b'here\\0', 3)\nreceive(3)", in: shop)
        let connection = try Socket.connect(path: shop.folder + "/run/helpers/browser").take()
        #expect(await words(on: connection) == "here")
        #expect(await shop.ask("reads").evaluation?.confidence == .low)
        return (shop, connection)
    }

    @Test @LoopActor func aHelperStaysWhileAPageIsOpen() async throws {
        let (shop, connection) = try await idleReader(browsing: .seconds(3600))
        await pause(.milliseconds(700))
        #expect(shop.host.processes.values.contains { $0.names == ["reads"] })
        close(connection)
        #expect(await eventually { shop.host.browsers.running == 0 })
        #expect(await shop.ask("reads").evaluation?.confidence == .low)
        #expect(await eventually { shop.host.processes.isEmpty })
        await shop.close()
    }

    @Test @LoopActor func aHelperDoesNotStayForEver() async throws {
        let (shop, connection) = try await idleReader(browsing: .milliseconds(200))
        #expect(await eventually { !shop.host.processes.values.contains { $0.names == ["reads"] } })
        #expect(shop.host.browsers.running == 1)
        close(connection)
        await shop.close()
    }
}
