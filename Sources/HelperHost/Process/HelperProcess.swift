import CLinux
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// One running helper process, from its start until it is reaped.
///
/// A sandbox has three processes: bubblewrap, which is the daemon's child and ends all others when it ends; the reaper, which is the namespace's
/// first process; and the helper.
@LoopActor final class HelperProcess {
    /// The helpers that the process serves.
    let names: [String]
    /// Identifies the process in its calls to the daemon.
    let token = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    /// How the process ended; `nil` while it runs.
    private(set) var ending: String?
    /// Whether the program could not be executed, so that the helper's code never ran.
    private(set) var neverRan = false
    /// Whether to read ``label`` when the process ends; set this before the end.
    var keepsLabel = false
    /// The label that the security module gave bubblewrap, read at its end; `nil` without such a module.
    private(set) var label: String?
    let tail: ErrorTail
    /// Called once for the owner, after the process was reaped.
    var onExit: () -> Void = {}
    /// Called once for the host, after ``onExit``.
    var onGone: () -> Void = {}

    private let pid: pid_t
    private let pidfd: Int32
    private let program: String
    /// The pipe on which bubblewrap reports: one JSON object in each line.
    private var status: Int32?
    private var streams: (toHelper: Int32, fromHelper: Int32)?
    private var exitSource: EventSource?
    private var term: EventSource?
    private var kill: EventSource?
    private var killDue: Instant?

    /// Starts the helper. Throws a fault if no process could be started.
    ///
    /// - Parameters:
    ///   - filter: the descriptor of ``SystemCallFilter``; without it the helper runs without a sandbox.
    ///   - listeners: the sockets that the process serves; without them it uses standard input and output.
    ///   - variables: additional variables of its environment.
    init(
        _ sandbox: Sandbox, filter: Int32?, listeners: [SharedProgram.Listener], names: [String], variables: [String] = [],
        errorLimit: Int
    ) throws(HelperFault) {
        program = sandbox.exec[0]
        self.names = names
        // Check the program again, because it may have been replaced since the helper's file was read.
        if let distrust = PathTrust.problem(with: program, as: .program) {
            throw HelperFault(.helperNotStarted, distrust.message, cause: distrust)
        }
        // Checked here, because prlimit(1) would let a shell run a file that the kernel refuses to execute.
        if let words = StartFailure.beforeStart(program: program) {
            throw HelperFault(.helperNotStarted, "it could not be started: \(words)")
        }
        var environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=/tmp", "HOTSPOTD_TOKEN=\(token)"] + variables
        var theirs: [Int32] = [], ours: [Int32] = []
        defer { for descriptor in theirs { close(descriptor) } }
        do throws(Errno) {
            func pipe(toChild: Bool = false) throws(Errno) -> ChildPipe {
                let pipe = try ChildPipe(toChild: toChild)
                ours.append(pipe.ours)
                theirs.append(pipe.theirs)
                return pipe
            }
            func open(_ path: String) throws(Errno) -> Int32 {
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw Errno(code: errno) }
                theirs.append(descriptor)
                return descriptor
            }
            let error = try pipe()
            var descriptors: [Int32]
            if listeners.isEmpty {
                let (input, output) = (try pipe(toChild: true), try pipe())
                descriptors = [input.theirs, output.theirs, error.theirs]
                streams = (input.ours, output.ours)
            } else {
                // The process answers on its sockets; its standard output is kept together with its standard error.
                descriptors = [try open("/dev/null"), error.theirs, error.theirs] + listeners.map(\.descriptor)
                environment += [
                    "LISTEN_FDS=\(listeners.count)", "LISTEN_FDNAMES=\(listeners.map(\.name).joined(separator: ":"))",
                ]
                if filter != nil { environment.append("LISTEN_PID=\(Sandbox.processID)") }
            }
            var arguments = sandbox.uncontainedCommandLine
            if let filter {
                let report = try pipe()
                status = report.ours
                // Each bubblewrap reads the filter from the file's position, so each gets an open file of its own.
                descriptors += [try open("/proc/self/fd/\(filter)"), report.theirs]
                arguments = sandbox.commandLine(filter: Int32(descriptors.count - 2), status: Int32(descriptors.count - 1))
            }
            let spawn = Spawn(arguments: arguments, environment: environment, descriptors: descriptors, isExpendable: true)
            (pid, pidfd) = try spawn.startWatched()
            tail = ErrorTail(pipe: error.ours, limit: errorLimit)
        } catch {
            for descriptor in ours { close(descriptor) }
            throw error.code == ENOENT && filter != nil
                ? HelperFault(.helperNotStarted, "it was not started: \(Sandbox.bubblewrap) is missing")
                : HelperFault.refused(error.code)
        }
        exitSource = try? EventLoop.shared.onExit(pidfd: pidfd) { self.exited() }
        guard exitSource != nil else {
            // Kill the process if the loop cannot watch for its end: otherwise the process would never be reaped, and the daemon could not stop.
            signal(SIGKILL)
            waitpid(pid, nil, 0)
            release()
            throw HelperFault(.helperNotStarted, "hotspotd could not watch for its end")
        }
        // Answers that have arrived are read before the end of their process is handled.
        exitSource?.setPriority(5)
    }

    var isRunning: Bool { ending == nil }

    /// Hands over our ends of the process's standard input and output, once; the caller closes them.
    func takeStreams() -> (toHelper: Int32, fromHelper: Int32)? {
        defer { streams = nil }
        return streams
    }

    /// Ends the process with SIGTERM and SIGKILL after these times, unless it ends by itself. A second call can only shorten
    /// them.
    func end(term termDelay: Duration, kill killDelay: Duration) {
        closeStreams()
        let due = EventLoop.now + killDelay
        guard isRunning, killDue.map({ due < $0 }) ?? true else { return }
        killDue = due
        term = try? EventLoop.shared.schedule(after: termDelay) { [weak self] in self?.terminate() }
        kill = try? EventLoop.shared.schedule(at: due) { [weak self] in self?.signal(SIGKILL) }
    }

    // MARK: Signals

    /// Sends SIGTERM to the helper itself. bubblewrap would die of the signal and end the helper before the helper can tidy up.
    private func terminate() {
        readStatus()
        // During the set-up, and without a sandbox, the signal goes to the whole session.
        guard status != nil, let reaper else { return signal(SIGTERM) }
        // The helper is the reaper's first child. If it ends between these two calls, SIGTERM may reach another process of the same namespace, but
        // none outside.
        let children = FilePath.octets(of: "/proc/\(reaper)/task/\(reaper)/children", limit: 256) ?? []
        let first = children.split(separator: UInt8(ascii: " ")).first.map { String(decoding: $0, as: UTF8.self) }
        if let helper = first.flatMap(pid_t.init) { Glibc.kill(helper, SIGTERM) }
    }

    /// Sends a signal to the daemon's child and its whole session. SIGKILL for bubblewrap alone is not enough: during the set-up, its reaper would
    /// wait for bubblewrap for ever. A process cannot escape a signal to its group by fork(2).
    private func signal(_ signal: Int32) {
        if isRunning { Glibc.kill(-pid, signal) }
    }

    // MARK: Messages of bubblewrap

    /// The namespace's first process, by its number outside the namespace.
    private var reaper: pid_t?
    /// The exit code as a shell reports it: the helper's exit status, or 128 plus the number of a signal.
    private var exitCode: Int32?
    private var statusText: [UInt8] = []

    private func readStatus() {
        guard let status else { return }
        // bubblewrap writes two lines of less than a hundred octets.
        var octets = [UInt8](repeating: 0, count: 1024)
        let count = read(status, &octets, octets.count)
        statusText += octets.prefix(max(0, count))
        for line in statusText.split(separator: UInt8(ascii: "\n")) {
            guard let value = try? Coding.decode(JSONValue.self, from: Array(line)) else { continue }
            if let number = value["child-pid"]?.integer { reaper = pid_t(truncatingIfNeeded: number) }
            if let number = value["exit-code"]?.integer { exitCode = Int32(truncatingIfNeeded: number) }
        }
    }

    // MARK: The end

    private func exited() {
        // Ends the remaining processes of the session, while the process number still belongs to that session.
        Glibc.kill(-pid, SIGKILL)
        // The file can be read until waitid(2) below reaps the child. The label may end with a line feed or a zero octet (proc_pid_attr(5)).
        if keepsLabel {
            label = FilePath.text(of: "/proc/\(pid)/attr/current", limit: 256)?.split { $0 == "\n" || $0 == "\0" }.first.map(
                String.init)
        }
        var information = siginfo_t()
        guard waitid(P_PIDFD, id_t(pidfd), &information, WEXITED) == 0 else { return }
        // si_status of the SIGCHLD part, which Glibc's module does not import: it follows si_signo, si_errno, si_code, si_pid and si_uid.
        let value = withUnsafeBytes(of: information) { $0.load(fromByteOffset: 24, as: Int32.self) }
        readStatus()
        tail.close()
        let wait = information.si_code == CLD_EXITED ? value : 128 + (value & 0x7f)
        ending = words(code: status == nil ? wait : exitCode ?? wait, isHelpers: status == nil || exitCode != nil)
        release()
        let (onExit, onGone) = (onExit, onGone)
        self.onExit = {}
        self.onGone = {}
        onExit()
        onGone()
    }

    /// Returns how the process ended, in words; sets ``neverRan``.
    private func words(code: Int32, isHelpers: Bool) -> String {
        let line = tail.lastLine ?? "bubblewrap failed"
        // The shell's codes for a program that is missing or cannot be executed; the helper may use them as well.
        let isUnexecuted = (code == 126 || code == 127) && line.hasPrefix("prlimit: failed to execute ")
        // With a code above 128, the daemon, or the kernel for lack of memory, killed bubblewrap before it reported the helper's end.
        guard isHelpers ? isUnexecuted : code <= 128 else { return Self.describe(code) }
        neverRan = true
        // The line ends with the kernel's own words.
        let reason = [ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP].first { line.hasSuffix(String(cString: strerror($0))) }
        guard isUnexecuted, let reason else {
            return "\(Self.notStarted)its sandbox: \(line.hasPrefix("bwrap: ") ? String(line.dropFirst(7)) : line)"
        }
        return "\(Self.notStarted)\(StartFailure.words(program: program, code: reason))"
    }

    nonisolated static let notStarted = "it could not be started: "

    private static func describe(_ code: Int32) -> String {
        switch code - 128 {
        case SIGXCPU: "it was ended for using too much processor time"
        case SIGXFSZ: "it was ended for writing too large a file"
        case let signal where (1...64).contains(signal):
            "it was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
        default: "it exited with status \(code)"
        }
    }

    private func release() {
        tail.close()
        closeStreams()
        (exitSource, term, kill) = (nil, nil, nil)
        close(pidfd)
        if let status { close(status) }
    }

    private func closeStreams() {
        guard let streams = takeStreams() else { return }
        close(streams.toHelper)
        close(streams.fromHelper)
    }

    /// How the process ended; `nil` while it runs, or if it ended without an error.
    var failure: String? { ending == Self.describe(0) ? nil : ending }

    /// Returns the fault of a command that the process did not answer. The fault is the helper's own only if its code ever ran.
    ///
    /// - Parameter words: the sentence to use while the process still runs.
    func unanswered(_ words: String) -> HelperFault {
        HelperFault(neverRan ? .helperNotStarted : .helperCrashed, (ending ?? words) + ", without an answer")
    }
}
