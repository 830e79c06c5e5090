import ForeignText
import CLinux
import EventLoop
import Glibc
import HotspotCore
import Varlink

/// One running helper process, from its start until it is reaped.
///
/// In a sandbox three processes are one: bubblewrap, which is the daemon's child and ends everything with its own end; its reaper, the
/// first process of the namespace; and the helper.
@LoopActor final class HelperProcess {
    /// Whether it speaks on standard input and output, or listens.
    enum Wiring {
        case stdio
        case service(listeners: [SocketService.Listener])
    }

    /// The helpers that it speaks for.
    let names: [String]
    /// Identifies the process in its calls to the daemon.
    let token = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    /// How it ended; `nil` as long as it runs.
    private(set) var ending: String?
    /// The program could not be executed: nothing of the helper ever ran.
    private(set) var neverRan = false
    /// The helper's own start or end was reported by its sandbox.
    var ranInSandbox: Bool { !neverRan && (reaper != nil || exitCode != nil) }
    /// It never ran for lack of processes or memory; a later start may work.
    private(set) var lackedRoom = false
    /// Standard error.
    let tail: ErrorTail
    /// The owner's: called once, after it was reaped.
    var onExit: () -> Void = {}
    /// The host's: called once, after ``onExit``.
    var onGone: () -> Void = {}

    /// The daemon's child.
    let pid: pid_t
    private let exec: [String]
    private let pidfd: Int32
    /// The pipe on which bubblewrap reports: one JSON object in each line.
    private var status: Int32?
    private var streams: (input: Int32, output: Int32)?
    private var exitSource: EventSource?
    private var term: EventSource?
    private var kill: EventSource?
    private var killDue: Instant?

    /// Starts the helper. Throws a fault if there is no process.
    ///
    /// - Parameter filter: the descriptor of ``SystemCallFilter``; without it the helper runs without a sandbox.
    init(_ sandbox: Sandbox, filter: Int32?, as wiring: Wiring, names: [String], errorLimit: Int) throws(HelperFault) {
        exec = sandbox.exec
        self.names = names
        // The file was looked at when it was read, but it may have been replaced since.
        if let distrust = PathTrust.problem(withProgram: exec[0]) {
            throw HelperFault(.helperNotStarted, distrust.message, cause: distrust)
        }
        // prlimit(1) would have a shell run what the kernel does not execute.
        if let words = StartFailure.beforeStart(program: exec[0]) {
            throw HelperFault(.helperNotStarted, "it could not be started: \(words)")
        }
        var environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=/tmp", "HOTSPOTD_TOKEN=\(token)"]
        var theirs: [Int32] = [], ours: [Int32] = []
        defer { for descriptor in theirs { close(descriptor) } }
        do throws(Errno) {
            func pipe(toHelper: Bool = false) throws(Errno) -> HelperPipe {
                let pipe = try HelperPipe(toHelper: toHelper)
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
            switch wiring {
            case .stdio:
                let (input, output) = (try pipe(toHelper: true), try pipe())
                descriptors = [input.theirs, output.theirs, error.theirs]
                streams = (input.ours, output.ours)
            case .service(let listeners):
                // A service answers on its socket; its output is only kept for errors.
                descriptors = [try open("/dev/null"), error.theirs, error.theirs] + listeners.map(\.descriptor)
                environment += [
                    "LISTEN_FDS=\(listeners.count)", "LISTEN_FDNAMES=\(listeners.map(\.name).joined(separator: ":"))",
                ]
                if filter != nil { environment.append("LISTEN_PID=\(Sandbox.processID)") }
            }
            let arguments: [String]
            if let filter {
                let report = try pipe()
                status = report.ours
                // Every reader of the filter needs a position of its own in the file.
                descriptors += [try open("/proc/self/fd/\(filter)"), report.theirs]
                arguments = sandbox.commandLine(filter: Int32(descriptors.count - 2), status: Int32(descriptors.count - 1))
            } else {
                arguments = sandbox.uncontainedCommandLine
            }
            pid = try Spawn(arguments: arguments, environment: environment, descriptors: descriptors).start()
            // The process is not reaped before this returns, so the number is still its own.
            pidfd = pidfd_open(pid, 0)
            guard pidfd >= 0 else {
                let code = errno
                Glibc.kill(pid, SIGKILL)
                waitpid(pid, nil, 0)
                throw Errno(code: code)
            }
            tail = ErrorTail(pipe: error.ours, limit: errorLimit)
        } catch {
            for descriptor in ours { close(descriptor) }
            throw error.code == ENOENT && filter != nil
                ? HelperFault(.helperNotStarted, "it was not started: \(Sandbox.bubblewrap) is missing")
                : HelperFault.refused("", error.code)
        }
        do {
            exitSource = try EventLoop.shared.onExit(pidfd: pidfd) { self.exited() }
        } catch {
            // Its end would go unnoticed: it would stay for ever, and so would the daemon when it wants to stop.
            signal(SIGKILL)
            waitpid(pid, nil, 0)
            ending = "it could not be watched"
            release()
            throw HelperFault(.helperNotStarted, "it could not be watched: \(error)")
        }
        // Answers that have come are read before the end of their process is noticed.
        exitSource?.setPriority(5)
    }

    /// Whether it has not been reaped.
    var isRunning: Bool { ending == nil }

    /// Hands over our ends of its standard input and output, once; the caller closes them.
    func takeStreams() -> (input: Int32, output: Int32)? {
        defer { streams = nil }
        return streams
    }

    /// Ends it: SIGTERM and SIGKILL after these times, unless it ends by itself. A second call can only make it sooner.
    func end(term termDelay: Duration, kill killDelay: Duration) {
        closeStreams()
        guard isRunning else { return }
        let due = EventLoop.now + killDelay
        if let killDue, killDue <= due { return }
        killDue = due
        term?.cancel()
        kill?.cancel()
        term = try? EventLoop.shared.schedule(after: termDelay) { [weak self] in self?.terminate() }
        kill = try? EventLoop.shared.schedule(at: due) { [weak self] in self?.signal(SIGKILL) }
    }

    // MARK: Signals

    /// Sends SIGTERM to the helper itself: bubblewrap would die of it, and take the helper along before it can tidy up.
    private func terminate() {
        guard isRunning else { return }
        readStatus()
        if status == nil {
            // Without a sandbox: the helper, and what it has started in its session.
            Glibc.kill(-pid, SIGTERM)
        } else if let reaper {
            // The helper is the reaper's first child. It cannot be replaced by another process between these two calls unless it ends
            // in between, and then SIGTERM would reach a process of the same namespace.
            if let helper = Self.firstChild(of: reaper) { Glibc.kill(helper, SIGTERM) }
        } else {
            signal(SIGTERM)
        }
    }

    /// Sends a signal to the daemon's child and all that is in its session. Bubblewrap alone is not enough for SIGKILL: its reaper waits
    /// for it during the set-up, and would wait for ever. The kernel lets no process slip through a signal to a group by a fork(2).
    private func signal(_ signal: Int32) {
        if isRunning { Glibc.kill(-pid, signal) }
    }

    private static func firstChild(of process: pid_t) -> pid_t? {
        let octets = StartFailure.beginning(of: "/proc/\(process)/task/\(process)/children") ?? []
        return octets.split(separator: UInt8(ascii: " ")).first.flatMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }

    // MARK: What bubblewrap tells

    /// The first process of the namespace, by its number outside.
    private var reaper: pid_t?
    /// As a shell has it: the helper's exit status, or 128 and the number of a signal.
    private var exitCode: Int32?
    private var statusText: [UInt8] = []

    private func readStatus() {
        guard let status else { return }
        var octets = [UInt8](repeating: 0, count: 1024)
        while statusText.count < 16 << 10 {
            let count = read(status, &octets, octets.count)
            guard count > 0 else { break }
            statusText += octets[..<count]
        }
        for line in statusText.split(separator: UInt8(ascii: "\n")) {
            guard let value = try? Coding.decode(JSONValue.self, from: Array(line)) else { continue }
            if let number = value["child-pid"]?.integer { reaper = pid_t(truncatingIfNeeded: number) }
            if let number = value["exit-code"]?.integer { exitCode = Int32(truncatingIfNeeded: number) }
        }
    }

    // MARK: The end

    private func exited() {
        // Ends the rest of its session, as long as the number is its own.
        Glibc.kill(-pid, SIGKILL)
        var information = siginfo_t()
        guard waitid(P_PIDFD, id_t(pidfd), &information, WEXITED) == 0 else { return }
        // si_status of the SIGCHLD part, which Glibc's module leaves out: behind si_signo, si_errno, si_code, si_pid and si_uid.
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

    /// The ending in words; sets ``neverRan`` and ``lackedRoom``.
    private func words(code: Int32, isHelpers: Bool) -> String {
        var line = tail.lastLine ?? "bubblewrap failed"
        // The shell's words for a program that is not there, or cannot be executed; they may as well be the helper's.
        let isUnexecuted = (code == 126 || code == 127) && line.hasPrefix("prlimit: failed to execute ")
        // Above 128: killed by us, or by the kernel for lack of memory, before the helper's own end was told.
        guard isHelpers ? isUnexecuted : code <= 128 else { return Self.describe(code) }
        neverRan = true
        if !isHelpers { line = line.replacing("bwrap: ", with: "") }
        // The line ends with the kernel's own words.
        let codes = [ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP] + HelperFault.lackCodes
        let reason = codes.first { line.hasSuffix(String(cString: strerror($0))) }
        if let reason, HelperFault.lackCodes.contains(reason) {
            lackedRoom = true
            return HelperFault.refused("", reason).sentence
        }
        guard line.hasPrefix("prlimit: "), let reason else { return "it could not be started: its sandbox: \(line)" }
        return "it could not be started: \(StartFailure.words(program: exec[0], code: reason))"
    }

    /// How it ended, unless it was without an error.
    var failure: String? { ending == Self.describe(0) ? nil : ending }

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
        exitSource?.cancel()
        exitSource = nil
        term?.cancel()
        kill?.cancel()
        close(pidfd)
        if let status { close(status) }
    }

    private func closeStreams() {
        guard let streams = takeStreams() else { return }
        close(streams.input)
        close(streams.output)
    }

    /// The fault of a command that it did not answer: the helper's own only if it ever ran.
    func unanswered(_ words: String, without missing: String = "an answer") -> HelperFault {
        if lackedRoom { return HelperFault(.helperNoRoom, ending ?? words) }
        return HelperFault(neverRan ? .helperNotStarted : .helperCrashed, (ending ?? words) + ", without " + missing)
    }
}
