import Glibc
import HotspotCore
import Varlink

/// The process `hotspot-helpers --browse` with its browser. The process ends when its standard input is closed.
final class BrowserWindow {
    /// The exit status of the process if there is no browser.
    static let noBrowser: Int32 = 3

    private let pid: pid_t
    private var input: Int32
    private var status: Int32?

    /// - Parameter network: the reply to Browse, which the process reads.
    init(on network: JSONValue, browser: String?) throws(Failure) {
        let program = try CompanionProgram.find("hotspot-helpers")
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(.failed, "\(String(cString: strerror(errno))).") }
        defer { Glibc.close(ends[0]) }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        let words = [program, "--browse"] + (browser.map { ["--browser", $0] } ?? [])
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, nil, &arguments, environ)
        guard code == 0 else {
            Glibc.close(ends[1])
            throw Failure(.failed, "hotspot-helpers: \(String(cString: strerror(code))).")
        }
        (self.pid, input) = (pid, ends[1])
        let line = Coding.encode(network) + [UInt8(ascii: "\n")]
        _ = write(input, line, line.count)
    }

    /// Returns the exit status of the process; `nil` while it runs.
    func ended() -> Int32? {
        collect(WNOHANG)
        return status
    }

    /// Ends the process and its browser, and waits until both are gone.
    func close() {
        if input >= 0 { Glibc.close(input) }
        input = -1
        collect(0)
    }

    private func collect(_ options: Int32) {
        var code: Int32 = 0
        // Keeps the status, because waitpid(2) returns it only once.
        if status == nil, waitpid(pid, &code, options) == pid { status = code & 0x7F == 0 ? code >> 8 & 0xFF : 1 }
    }
}

/// SIGINT, SIGTERM and SIGHUP, blocked so that the browser's folder is deleted before this program ends.
struct InterruptSignals {
    private var signals = sigset_t()

    init() {
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// A signal that has arrived; `nil` if none has. It stays pending.
    var arrived: Int32? {
        var pending = sigset_t()
        sigpending(&pending)
        return [SIGINT, SIGTERM, SIGHUP].first { sigismember(&pending, $0) == 1 }
    }
}
