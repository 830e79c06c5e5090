import CSystemd
import Glibc
import HotspotCore
import Synchronization

/// sd-event as the executor of the daemon's tasks. The target also handles D-Bus, changes in folders, and starting programs.
///
/// A process has one loop, and the loop has one thread: descriptors, timers, signals, children and every task on ``LoopActor`` take their turns
/// there. Only the kernel, the watchdog's interval, or a job from another thread wakes it.
public final class EventLoop: SerialExecutor, TaskExecutor {
    /// The loop of the process.
    public static let shared = EventLoop()

    // sd-event allows one thread at a time. The pointer never changes, and every call except its creation is made on the loop's thread, or before
    // that thread exists.
    nonisolated(unsafe) let event: OpaquePointer
    private let wakeDescriptor: Int32
    private let jobs = Mutex<[UnownedJob]>([])
    private let thread = Mutex<pthread_t?>(nil)

    private init() {
        var event: OpaquePointer?
        let made = sd_event_new(&event)
        guard made >= 0, let event else { Self.giveUp("sd_event_new", -made) }
        self.event = event
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wakeDescriptor >= 0 else { Self.giveUp("eventfd", errno) }
        // All jobs that tasks enqueue share one source; its descriptor wakes the loop from any thread.
        let added = sd_event_add_io(
            self.event, nil, wakeDescriptor, UInt32(EPOLLIN.rawValue),
            { _, descriptor, _, _ in
                var count: UInt64 = 0
                _ = read(descriptor, &count, 8)
                EventLoop.shared.runJobs()
                return 0
            }, nil)
        guard added >= 0 else { Self.giveUp("sd_event_add_io", -added) }
    }

    /// Ends the process and prints the cause, which a failed precondition would not print in a release build.
    private static func giveUp(_ operation: String, _ code: Int32) -> Never {
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        let line = Array("\(name): \(LoopError(operation: operation, code: code))\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(1)
    }

    /// Runs until ``stop(code:)``, on the calling thread, and returns the code.
    public func run() throws(LoopError) -> Int32 {
        thread.withLock { $0 = pthread_self() }
        let result = sd_event_loop(event)
        guard result >= 0 else { throw LoopError(operation: "sd_event_loop", code: -result) }
        return result
    }

    /// Ends ``run()`` after the current turn.
    @LoopActor public func stop(code: Int32 = 0) { sd_event_exit(event, code) }

    /// Runs the loop on a new thread, once: for tests and tools whose main thread has other work.
    public static func startThread() {
        _ = background
    }

    private static let background: Void = {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                _ = try? EventLoop.shared.run()
                return nil
            }, nil)
        // The loop must know its thread before any code checks whether it runs on that thread.
        while EventLoop.shared.thread.withLock({ $0 == nil }) { usleep(100) }
    }()

    /// Turns the watchdog on, if the service manager's WATCHDOG_USEC asks for it. sd-event sends the keep-alive from within a turn, so that a stuck
    /// loop is noticed.
    @LoopActor public func enableWatchdog() { sd_event_set_watchdog(event, 1) }

    /// Sends a state to the service manager, if there is one; such as `READY=1` or `STATUS=…`.
    public static func notify(_ state: String) { sd_notify(0, state) }

    /// The clock of all deadlines: CLOCK_BOOTTIME, which counts time asleep.
    public static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// How long the machine has been suspended since its start: the difference between CLOCK_BOOTTIME and CLOCK_MONOTONIC.
    public static var timeAsleep: Duration {
        var awake = timespec()
        clock_gettime(CLOCK_MONOTONIC, &awake)
        return now - Instant(nanoseconds: Int64(awake.tv_sec) * 1_000_000_000 + Int64(awake.tv_nsec))
    }

    // MARK: Executor

    /// Adds a piece of a task to the queue; a call from another thread wakes the loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasEmpty = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if wasEmpty {
            var one: UInt64 = 1
            _ = write(wakeDescriptor, &one, 8)
        }
    }

    /// Returns this loop as an executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Stops the process unless this is the loop's thread.
    public func checkIsolated() {
        precondition(isCurrentThread, "this runs outside the event loop's thread")
    }

    /// Returns whether this is the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

    private var isCurrentThread: Bool {
        thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Runs the waiting jobs; jobs that these enqueue wait for the next turn, so that descriptors are not starved.
    private func runJobs() {
        let ready = jobs.withLock { jobs in
            let ready = jobs
            jobs = []
            return ready
        }
        for job in ready { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// The actor of everything that acts in the daemon; its executor is the event loop.
@globalActor public actor LoopActor {
    /// The actor of the process.
    public static let shared = LoopActor()
    /// The loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }
}

/// A call of libsystemd that failed.
public struct LoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The function.
    public let operation: String
    /// The error number of the failure, which is positive.
    public let code: Int32

    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The function and the system's own words.
    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}
