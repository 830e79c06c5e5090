import CLinux
import EventLoop
import ForeignText
import Gate
import Glibc
import HelperHost
import HotspotCore
import Notifications

/// Logs this computer in to captive networks: the entry point, with settings, coordinator and loop.
@main struct Daemon {
    /// The exit status for settings that would be refused again at the next start (EX_CONFIG of sysexits.h). The unit does not restart the daemon
    /// after this status.
    private static let refused: Int32 = 78

    static func main() {
        // Swift's runtime reads the arguments from /proc/self/maps, and reports none if it cannot open that file.
        guard !CommandLine.arguments.isEmpty else { fail("the arguments cannot be read", code: 1) }
        // Run the notifier, a service of the user that needs no part of the daemon.
        if CommandLine.arguments.dropFirst().first == NotifyProgram.option { return NotifyProgram.run() }
        signal(SIGPIPE, SIG_IGN)
        // If a file reaches its size limit, SQLite reports an error, and the daemon continues.
        signal(SIGXFSZ, SIG_IGN)
        letFatalSignalsEndIt()
        HelperHost.openFiles()
        // The daemon's memory contains secrets, so core dumps and tracing are forbidden.
        clinux_forbid_dumps()
        // Helpers must not inherit a capability, and bubblewrap refuses to start with one. The daemon keeps its own capabilities.
        clinux_clear_ambient_capabilities()
        umask(0o077)
        let arguments: DaemonArguments
        do {
            arguments = try DaemonArguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            fail("\(error)\n\(DaemonArguments.usage)", code: 2)
        }
        if arguments.showsVersion { return print("hotspotd \(hotspotdVersion)") }
        if arguments.showsHelp { return print(DaemonArguments.usage) }
        if arguments.onlyRestores { return restoreRoutes() }
        let file = arguments.settings ?? Settings.defaultFile
        let isDefault = arguments.settings == nil
        let (settings, mistakes) = Settings.read(file, isDefault: isDefault)
        guard mistakes.isEmpty else {
            fail(mistakes.map(\.description).joined(separator: "\nhotspotd: "), code: refused)
        }
        if arguments.onlyChecks {
            for note in settings.ignoredEntries { print(note) }
            return print("The settings are valid.")
        }
        // Signals are blocked before anything runs, so that none is lost before the loop starts.
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        loop { run(settings, file: file, isDefault: isDefault) }
    }

    /// Runs the loop until it is stopped, and exits with its code.
    private static func loop(_ begin: @escaping @LoopActor @Sendable () -> Void) -> Never {
        Task.detached(executorPreference: EventLoop.shared) { await begin() }
        do {
            exit(try EventLoop.shared.run())
        } catch {
            // Open the gate here: the loop has failed, so nothing else would open the gate.
            let reason = "\(error)"
            do { try Gate.restore() } catch { fail("\(reason)\nhotspotd: \(error)", code: 1) }
            fail(reason, code: 1)
        }
    }

    /// Lets fatal signals end the process. The handler of Swift's runtime would return, so that the daemon would survive the watchdog's SIGABRT. An
    /// inherited signal mask could block these signals.
    private static func letFatalSignalsEndIt() {
        var set = sigset_t()
        sigemptyset(&set)
        for fatal in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(fatal, SIG_DFL)
            sigaddset(&set, fatal)
        }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Removes the gate. The service manager runs this after the daemon has ended in any way.
    private static func restoreRoutes() {
        do {
            if try Gate.restore() { print("The gate was removed.") }
        } catch {
            fail("the gate could not be removed: \(error)", code: 1)
        }
    }

    @LoopActor private static func run(_ settings: Settings, file: String, isDefault: Bool) {
        let coordinator: Coordinator
        do {
            coordinator = try Coordinator(settings: settings, file: file, isDefaultFile: isDefault)
        } catch {
            fail("\(error)", code: 1)
        }
        running = coordinator
        // Do not just exit after an error: the gate may be closed already, and `giveUp` opens it.
        do { try coordinator.start() } catch { coordinator.giveUp(because: "\(error)") }
    }

    /// Keeps the coordinator alive; the loop's sources refer to it weakly.
    @LoopActor private static var running: Coordinator?

    private static func fail(_ message: String, code: Int32) -> Never {
        let line = Array("hotspotd: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(code)
    }
}

/// The command line.
struct DaemonArguments {
    var settings: String?
    var showsVersion = false
    var showsHelp = false
    var onlyChecks = false
    var onlyRestores = false

    static let usage = """
        Usage: hotspotd [--settings FILE] [--check-settings] [--restore-routes] [--notify] [--version]

          --settings FILE   read this file instead of \(Settings.defaultFile)
          --check-settings  read the settings, report every mistake, and end
          --restore-routes  remove the routing rules that a daemon with Gate=routes left behind, and end
          --notify          show notifications in this session; the user's service hotspot-notify runs this
          --version         print the version and end
        """

    init(_ words: [String]) throws(DaemonError) {
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--settings":
                guard let path = words.popFirst() else { throw DaemonError("--settings takes a file") }
                settings = path
            case "--check-settings": onlyChecks = true
            case "--restore-routes": onlyRestores = true
            case "--version": showsVersion = true
            case "--help", "-h": showsHelp = true
            default:
                guard word.hasPrefix("--settings=") else {
                    throw DaemonError("unknown argument \(Printable.text(word, limit: 64))")
                }
                settings = String(word.dropFirst("--settings=".count))
            }
        }
    }
}
