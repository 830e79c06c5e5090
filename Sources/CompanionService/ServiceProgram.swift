import CLinux
import Companion
import ControlAPI
import ControlServer
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// The service as a process: arguments, folder, socket, loop.
public enum ServiceProgram {
    /// The command line.
    public struct Options: Equatable, Sendable {
        public var stateFolder = folder("STATE_DIRECTORY", "/var/lib/hotspotd-companion")
        public var runtimeFolder = folder("RUNTIME_DIRECTORY", "/run/hotspotd-companion")
        /// The daemon's socket.
        public var daemon = "/run/hotspotd/org.hotspotd.Control"
        /// The Bluetooth adapter, such as `hci0`; `nil` for the first one.
        public var adapter: String?
        /// The name that other laptops show; `nil` for the computer's name.
        public var name: String?
        /// Whether long messages may go over L2CAP channels.
        public var usesL2CAP = false

        static let usage = """
            Usage: hotspot-companion [--state FOLDER] [--runtime FOLDER] [--daemon SOCKET] [--adapter NAME] [--name NAME] [--l2cap]
            """

        /// Throws the argument that is unknown or incomplete.
        init(_ words: [String]) throws(UnknownArgument) {
            var words = words[...]
            while let word = words.popFirst() {
                if word == "--l2cap" {
                    usesL2CAP = true
                    continue
                }
                guard let value = words.popFirst() else { throw UnknownArgument(word: word) }
                switch word {
                case "--state": stateFolder = value
                case "--runtime": runtimeFolder = value
                case "--daemon": daemon = value
                case "--adapter": adapter = value
                case "--name": name = value
                default: throw UnknownArgument(word: word)
                }
            }
        }

        private static func folder(_ variable: String, _ usual: String) -> String {
            getenv(variable).map { String(cString: $0) } ?? usual
        }
    }

    struct UnknownArgument: Error { let word: String }

    /// The exit status if the key or the peers are refused (EX_CONFIG of sysexits.h). The unit then does not start the service again.
    static let refused: Int32 = 78

    /// Runs until a signal ends it.
    ///
    /// - Parameter transport: makes the transport to laptops nearby.
    public static func run(_ transport: @escaping @LoopActor @Sendable (Options) throws -> any CompanionTransport) -> Never {
        signal(SIGPIPE, SIG_IGN)
        // Forbids core dumps and tracing, because the memory holds keys and answers.
        _ = clinux_forbid_dumps()
        umask(0o077)
        // Swift's runtime finds the arguments by /proc/self/maps, and reports none if it cannot open that file.
        guard !CommandLine.arguments.isEmpty else { fail("the arguments cannot be read", code: 1) }
        let options: Options
        do throws(UnknownArgument) { options = try Options(Array(CommandLine.arguments.dropFirst())) } catch {
            fail("unknown argument \(Printable.text(error.word, limit: 64))\n\(Options.usage)", code: 2)
        }
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        Task.detached(executorPreference: EventLoop.shared) { @LoopActor in
            do {
                running = try Running(options, try transport(options))
            } catch {
                fail("\(error)", code: (error as? CompanionStore.Fault)?.isRefusal == true ? refused : 1)
            }
        }
        do throws(LoopError) { exit(try EventLoop.shared.run()) } catch { fail("\(error)", code: 1) }
    }

    /// Keeps the service; the loop's sources refer to it weakly.
    @LoopActor private static var running: Running?

    /// Writes a line to the log.
    public static func say(_ message: String) {
        let line = Array("hotspot-companion: \(Printable.shown(message, limit: 1024))\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    /// Ends the process at once, with one line for the log.
    public static func fail(_ message: String, code: Int32) -> Never {
        let line = Array("hotspot-companion: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(code)
    }
}

@LoopActor private final class Running {
    private let service: CompanionService
    private let server: Server
    private var signals: [EventSource] = []

    init(_ options: ServiceProgram.Options, _ transport: any CompanionTransport) throws {
        for folder in [options.stateFolder, options.runtimeFolder] {
            mkdir(folder, folder == options.stateFolder ? 0o700 : 0o755)
        }
        let store = CompanionStore(folder: options.stateFolder)
        service = CompanionService(
            companion: Companion(keys: try store.key(), name: options.name ?? Self.hostName, peers: try store.peers()),
            transport: transport, store: store, daemon: DaemonClient(path: options.daemon), log: ServiceProgram.say)
        let path = options.runtimeFolder + "/" + CompanionContract.name
        let permission = Permission()
        server = try Server(
            listening: try Socket.listen(path: path, mode: 0o666), product: "hotspot-companion", version: hotspotdVersion,
            interfaces: [CompanionInterface(service: service, permission: permission)], standing: permission.standing)
        service.start()
        for signal in [SIGTERM, SIGINT] {
            signals.append(
                try EventLoop.shared.onSignal(signal) { [weak self] in
                    self?.server.close()
                    self?.service.stop()
                    unlink(path)
                    EventLoop.shared.stop()
                })
        }
        EventLoop.shared.enableWatchdog()
        EventLoop.notify("READY=1")
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "laptop" }
        let text = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return text.isEmpty ? "laptop" : text
    }
}
