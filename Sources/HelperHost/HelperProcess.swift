import CLaunch
import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// One running helper process, from its start until it is reaped.
@LoopActor final class HelperProcess {
    /// Whether it speaks on standard input and output, or listens.
    enum Kind {
        case stdio(withoutNetwork: Bool)
        case service(listeners: [(name: String, descriptor: Int32)], withoutNetwork: Bool)
    }

    /// What helpers find their programs in.
    nonisolated static let searchPath = ["/usr/bin", "/bin"]

    /// The helpers that it speaks for.
    let names: [String]
    /// By this the helper is known to the daemon.
    let token: String
    /// What was reached; `nil` until the child told.
    private(set) var containment: Containment?
    /// How it ended; `nil` as long as it runs.
    private(set) var ending: String?
    /// The program could not be executed: nothing of the helper ever ran.
    private(set) var neverRan = false
    /// It never ran for lack of processes or memory, or was ended for what others took of it; a later start may work.
    private(set) var lackedRoom = false
    /// Standard error.
    let tail: ErrorTail
    /// Its command line.
    let exec: [String]
    /// The `ReadWritePaths=` of its helpers.
    let readWritePaths: [String]
    /// What it sees and may write to.
    let view: ProcessView
    /// If it were started now it would see or write less: it is not given anything any more.
    var isOutdated = false
    /// The owner's: called once, after it was reaped.
    var onExit: () -> Void = {}
    /// The owner's: somebody waits for what it does.
    var isBusy: () -> Bool = { false }
    /// The owner's: it is about to be ended by the host, and is not to be asked any more.
    var onRelief: () -> Void = {}
    /// The host's: called once, after ``onExit``.
    var onGone: () -> Void = {}
    /// The host's: the child told what it reached.
    var onContained: (Containment) -> Void = { _ in }

    private var result: launch_result
    private let scratch: Scratch
    private let folder: String
    private let membership: ControlGroups.Membership?
    /// The folder of its control group, if it has one.
    var group: String? { membership?.group.path }
    private let missesGroup: Bool
    private var deniedPaths: [String: Int32] = [:]
    private var streams: (input: Int32, output: Int32)?
    private var exitSource: EventSource?
    private var reportSource: EventSource?
    private var term: EventSource?
    private var kill: EventSource?
    private var killDue: Instant?

    /// Starts a program. Throws a fault if there is no process.
    init(
        _ exec: [String], kind: Kind, names: [String], writable: [String], scratch: Scratch, launcher: Launcher,
        configuration: HostConfiguration
    ) throws(HelperFault) {
        // The file was looked at when it was read, but it may have been replaced since.
        let folders = launcher.writableFolders
        let others = folders.folders(besideThoseOf: exec)
        if let distrust = FileTrust.problem(withCommand: exec, writable: folders.all, others: others) {
            throw HelperFault(.helperNotStarted, distrust.message, cause: distrust)
        }
        guard let folder = scratch.make() else {
            throw HelperFault(
                .helperNotStarted, "no private folder in \(configuration.scratchDirectory): \(String(cString: strerror(errno)))")
        }
        let view = launcher.view(exec: exec, writable: writable)
        let membership = launcher.groups?.join()
        var ends = LaunchDescriptors()
        do throws(Errno) {
            let token = Self.makeToken()
            var environment = [
                "PATH=\(Self.searchPath.joined(separator: ":"))", "LANG=C.UTF-8", "TMPDIR=\(Launcher.canonical(folder))",
                "HOTSPOTD_TOKEN=\(token)",
            ]
            let error = try ends.take(StandardStream.fromHelper())
            var request = LaunchRequest(
                exec: exec, environment: [], input: -1, output: -1, error: error.theirs, scratch: folder, view: view,
                processorTime: configuration.limits.processorTime)
            var ours: (input: Int32, output: Int32)?
            switch kind {
            case .stdio(let withoutNetwork):
                let input = try ends.take(StandardStream.toHelper())
                let output = try ends.take(StandardStream.fromHelper())
                request.input = input.theirs
                request.output = output.theirs
                request.withoutNetwork = withoutNetwork
                ours = (input.ours, output.ours)
            case .service(let listeners, let withoutNetwork):
                request.withoutNetwork = withoutNetwork
                request.input = try ends.null()
                // What a service prints is chatter.
                request.output = error.theirs
                request.listeners = listeners.map(\.descriptor)
                request.processorTime = configuration.limits.serviceProcessorTime
                environment += [
                    "LISTEN_FDS=\(listeners.count)", "LISTEN_FDNAMES=\(listeners.map(\.name).joined(separator: ":"))",
                ]
            }
            request.environment = environment
            if let entrance = membership?.group.entrance() {
                ends.take(entrance)
                request.group = entrance
            }
            result = try launcher.start(request)
            self.token = token
            self.names = names
            self.scratch = scratch
            self.folder = folder
            self.membership = membership
            missesGroup = launcher.missesGroups || launcher.groups != nil
            self.exec = exec
            self.view = view
            readWritePaths = writable
            streams = ours
            ends.keep(error.ours)
            if let ours {
                ends.keep(ours.input)
                ends.keep(ours.output)
            }
            ends.closeRest()
            tail = ErrorTail(socket: error.ours, limit: configuration.limits.standardError)
        } catch {
            ends.closeRest()
            scratch.remove(folder)
            membership?.end()
            throw HelperFault.refused("", error.code)
        }
        do {
            exitSource = try EventLoop.shared.watch(result.pidfd) { _ in self.exited() }
            reportSource = try EventLoop.shared.watch(result.report) { [weak self] _ in self?.readReport() }
        } catch {
            // Nobody would hear of its end: it would stay for ever, and so would the daemon when it wants to stop.
            exitSource?.cancel()
            exitSource = nil
            launch_end(&result)
            ending = "it could not be watched"
            closeStreams()
            tail.close()
            scratch.remove(folder)
            membership?.end()
            throw HelperFault(.helperNotStarted, "it could not be watched: \(error)")
        }
        // Answers that have come are read before the end of their process is noticed.
        exitSource?.setPriority(5)
    }

    /// Whether it has not been reaped.
    var isRunning: Bool { ending == nil }

    /// Its process, as the daemon sees it; the init where there is one.
    var processID: pid_t { result.pid }

    /// Our ends of its standard input and output, once; closing them is then the taker's.
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
        term = try? EventLoop.shared.schedule(after: termDelay) { [weak self] in self?.signal(SIGTERM) }
        kill = try? EventLoop.shared.schedule(at: due) { [weak self] in self?.signal(SIGKILL) }
    }

    private func signal(_ signal: Int32) {
        guard isRunning else { return }
        launch_signal(&result, signal)
    }

    private func closeStreams() {
        guard let streams = takeStreams() else { return }
        close(streams.input)
        ForeignSocket.close(streams.output)
    }

    private var helperStatus: Int32?

    private func readReport() {
        var record = launch_report()
        let size = MemoryLayout<launch_report>.size
        while true {
            let count = read(result.report, &record, size)
            guard count == size else {
                // With the end of the file the pipe has told everything.
                if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { reportSource?.cancel() }
                return
            }
            switch record.kind {
            case LAUNCH_REPORT_REACHED.rawValue:
                let reached = Containment(levels: record.first, deniedPaths: deniedPaths, missesGroup: missesGroup)
                containment = reached
                onContained(reached)
            case LAUNCH_REPORT_PATH.rawValue:
                if view.writable.indices.contains(Int(record.first)) {
                    deniedPaths[view.writable[Int(record.first)]] = Int32(bitPattern: record.second)
                }
            case LAUNCH_REPORT_FAILED.rawValue:
                neverRan = true
                let code = Int32(bitPattern: record.second)
                let reason = String(cString: strerror(code))
                let words =
                    switch launch_stage(rawValue: record.first) {
                    case LAUNCH_STAGE_DESCRIPTORS: "its descriptors: \(reason)"
                    case LAUNCH_STAGE_PRIVILEGES: "giving up privileges: \(reason)"
                    case LAUNCH_STAGE_FORK: "fork: \(reason)"
                    case LAUNCH_STAGE_EXEC: StartFailure.words(program: exec[0], code: code)
                    case LAUNCH_STAGE_MEMORY: "forgetting the daemon's memory: \(reason)"
                    default: "clone: \(reason)"
                    }
                // Too little memory for the program itself may be the helper's own limit.
                lackedRoom = code == EAGAIN || (code == ENOMEM && record.first != LAUNCH_STAGE_EXEC.rawValue)
                failure = lackedRoom ? HelperFault.refused("", code).sentence : "it could not be started: \(words)"
            case LAUNCH_REPORT_ENDED.rawValue: helperStatus = Int32(bitPattern: record.first)
            default: return
            }
        }
    }

    private var failure: String?

    private func exited() {
        var status: Int32 = 0
        let reaped = launch_reap(&result, &status)
        guard reaped != 0 else { return }
        readReport()
        let wait = helperStatus ?? status, memory = membership?.memoryEnding
        if memory == .shared, wait & 0x7f == SIGKILL { lackedRoom = true }
        ending = failure ?? Self.describe(wait, memory)
        membership?.end()
        tail.close()
        closeStreams()
        exitSource?.cancel()
        exitSource = nil
        reportSource?.cancel()
        term?.cancel()
        kill?.cancel()
        close(result.pidfd)
        close(result.report)
        scratch.remove(folder)
        let (onExit, onGone) = (onExit, onGone)
        self.onExit = {}
        self.onGone = {}
        isBusy = { false }
        onRelief = {}
        onContained = { _ in }
        onExit()
        onGone()
    }

    /// A wait status in words; what the kernel ended for its memory, it ended with this signal.
    private static func describe(_ status: Int32, _ memory: ControlGroup.MemoryEnding?) -> String {
        let signal = status & 0x7f
        switch signal {
        case 0: return "it exited with status \(status >> 8 & 0xff)"
        case SIGKILL where memory == .own: return "it was ended for using too much memory"
        case SIGKILL where memory == .shared: return "it was ended because memory ran out"
        case SIGKILL where memory == .largest:
            return "it was ended because all helpers together took too much memory, and it the most"
        case SIGXCPU: return "it was ended for using too much processor time"
        case SIGXFSZ: return "it was ended for writing too large a file"
        default: return "it was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
        }
    }

    /// The fault of a command that it did not answer: whose fault it is depends on whether it ever ran.
    func unanswered(_ words: String) -> HelperFault {
        if lackedRoom { return HelperFault(.helperNoRoom, ending ?? words) }
        return HelperFault(neverRan ? .helperNotStarted : .helperCrashed, (ending ?? words) + ", without an answer")
    }

    private static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}

/// The descriptors of a launch, so that every way out closes what is not kept.
private struct LaunchDescriptors {
    private var open: [Int32] = []

    mutating func take(_ ends: StandardStream.Ends) -> StandardStream.Ends {
        open += [ends.ours, ends.theirs]
        return ends
    }

    mutating func null() throws(Errno) -> Int32 {
        let descriptor = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(code: errno) }
        open.append(descriptor)
        return descriptor
    }

    mutating func take(_ descriptor: Int32) { open.append(descriptor) }

    mutating func keep(_ descriptor: Int32) { open.removeAll { $0 == descriptor } }

    mutating func closeRest() {
        for descriptor in open { close(descriptor) }
        open = []
    }
}
