import EventLoop
import Glibc

/// The programs of the desktop that this command can start.
enum DesktopPrograms {
    /// The program for dialogs; `nil` without such a program or without a display.
    static var dialog: DialogProgram? {
        hasDisplay ? DialogProgram.find(desktop: variable("XDG_CURRENT_DESKTOP"), find) : nil
    }

    static var hasDisplay: Bool { ["WAYLAND_DISPLAY", "DISPLAY"].contains { !variable($0).isEmpty } }

    /// Returns the command line that opens a terminal for a command; `nil` if there is none.
    static func terminal(_ command: [String]) -> [String]? {
        guard hasDisplay else { return nil }
        return find("xdg-terminal-exec").map { [$0] + command } ?? find("x-terminal-emulator").map { [$0, "-e"] + command }
    }

    /// Replaces this process with a terminal that runs hotspotctl, for desktops without a program for dialogs. Returns only if that fails.
    static func terminalInstead(_ arguments: [String], hint: String) -> Failure {
        guard let terminal = terminal(own(arguments)) else {
            return Failure(.failed, "There is no program for dialogs or terminals.", hint: hint)
        }
        return become(terminal)
    }

    /// Returns the command line that runs hotspotctl with these arguments.
    static func own(_ arguments: [String]) -> [String] { [FilePath.target(ofLink: "/proc/self/exe") ?? "hotspotctl"] + arguments }

    /// Runs a command. If the terminal closes with the command (`staying`), waits for Enter after a failure.
    static func run(staying: Bool, _ command: () throws -> Void) throws {
        guard staying else { return try command() }
        do { try command() } catch let failure as Failure {
            failure.report()
            TerminalLine.dropTypedAhead()
            // The wait also ends if the input ends.
            _ = try? TerminalLine.read("Press Enter to close this window. ", false)
            Glibc.exit(failure.status.rawValue)
        }
    }

    /// Replaces this process with another program. Returns only if that fails.
    static func become(_ command: [String]) -> Failure {
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        execv(command[0], &words)
        let code = errno
        for word in words { free(word) }
        return Failure(.failed, "\(Renderer.safe(command[0])): \(String(cString: strerror(code))).")
    }

    private static func find(_ name: String) -> String? {
        let path = getenv("PATH") == nil ? "/usr/local/bin:/usr/bin:/bin" : variable("PATH")
        return path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
}

/// Runs one dialog to its end.
struct DialogRun {
    let status: Int32
    let output: String

    /// The largest output of a dialog, in octets.
    private static let limit = 64 * 1024

    /// - Parameter end: returns a failure once the dialog is no longer needed. The dialog is then closed, and the failure is thrown.
    init(_ command: [String], end: () -> Failure?) throws(Failure) {
        let pipe: ChildPipe
        let pid: pid_t
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        do throws(Errno) {
            pipe = try ChildPipe()
            // Toolkits print many warnings to standard error, so they are discarded.
            pid = try Spawn(arguments: command, environment: Spawn.ownEnvironment, descriptors: [null, pipe.theirs, null]).start()
        } catch { throw Failure(.failed, "The dialog cannot be started: \(error).") }
        close(pipe.theirs)
        var octets: [UInt8] = []
        defer {
            close(pipe.ours)
            explicit_bzero(&octets, octets.count)
        }
        do throws(Failure) { try Self.read(pipe.ours, &octets, end) } catch {
            kill(pid, SIGTERM)
            waitpid(pid, nil, 0)
            throw error
        }
        var code: Int32 = 0
        waitpid(pid, &code, 0)
        status = code & 0x7F == 0 ? code >> 8 & 0xFF : -1
        guard let text = String(validating: octets, as: UTF8.self) else { throw Failure(.usage, "The answer is not UTF-8.") }
        output = text
    }

    private static func read(_ source: Int32, _ octets: inout [UInt8], _ end: () -> Failure?) throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer { explicit_bzero(&chunk, chunk.count) }
        while true {
            var input = pollfd(fd: source, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 100) > 0 else {
                if let failure = end() { throw failure }
                continue
            }
            let count = Glibc.read(source, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return }
            octets += chunk[..<count]
            guard octets.count <= limit else { throw Failure(.usage, "The answers are larger than \(limit / 1024) KiB.") }
        }
    }
}
