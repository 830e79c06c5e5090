import CLinux
import Glibc

/// An error number of the kernel.
public struct Errno: Error, Hashable, CustomStringConvertible {
    public let code: Int32
    public var description: String { String(cString: strerror(code)) }

    public init(code: Int32) { self.code = code }
}

/// Starts one program with these descriptors and no others (posix_spawn(3)), in a new session, with default signal handling.
public struct Spawn {
    private let arguments: [String]
    private let environment: [String]
    private let descriptors: [Int32]
    private let isExpendable: Bool
    private let capability: Int32?

    /// - Parameters:
    ///   - descriptors: the program's descriptors 0, 1, 2 and so on. The caller keeps them.
    ///   - isExpendable: whether the kernel should end the program rather than this process if memory runs out.
    ///   - capability: the only capability that the program gets, if this process can pass it on (capabilities(7), ambient); by default none.
    public init(
        arguments: [String], environment: [String], descriptors: [Int32], isExpendable: Bool = false, capability: Int32? = nil
    ) {
        (self.arguments, self.environment, self.descriptors) = (arguments, environment, descriptors)
        (self.isExpendable, self.capability) = (isExpendable, capability)
    }

    public func start() throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The copies get numbers above all targets, so that no copy replaces a descriptor that is still needed.
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        for (number, descriptor) in descriptors.enumerated() {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, Int32(descriptors.count))
            guard copy >= 0 else { throw Errno(code: errno) }
            copies.append(copy)
            posix_spawn_file_actions_adddup2(&actions, copy, Int32(number))
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | 0x80 /* SETSID */)
        var pid: pid_t = 0
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for string in words + variables { free(string) } }
        func spawn() -> Int32 { posix_spawn(&pid, arguments[0], &actions, &attributes, words, variables) }
        // A child inherits the ambient capabilities of the thread that starts it; otherwise, this thread has none.
        if let capability { _ = clinux_add_ambient_capability(capability) }
        defer { if capability != nil { _ = clinux_clear_ambient_capabilities() } }
        let result = isExpendable ? Self.whileExpendable(spawn) : spawn()
        guard result == 0 else { throw Errno(code: result) }
        return pid
    }

    /// The environment of this process, for a program that inherits it.
    public static var ownEnvironment: [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }

    /// Starts the program and opens a pidfd, for ``EventLoop/onExit(pidfd:_:)``. The process is not reaped before the pidfd is open, so its number is
    /// still valid.
    public func startWatched() throws(Errno) -> (pid: pid_t, pidfd: Int32) {
        let pid = try start()
        let pidfd = pidfd_open(pid, 0)
        guard pidfd >= 0 else {
            let code = errno
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw Errno(code: code)
        }
        return (pid, pidfd)
    }

    /// Open this file before this process forbids core dumps, because the process's files in `/proc` then belong to root.
    public static let scoreFile = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC)

    /// Runs the body while children start with a high OOM score. A child inherits its parent's score; lowering the score again to its value at the
    /// start needs no privilege (proc(5)).
    private static func whileExpendable(_ body: () -> Int32) -> Int32 {
        var octets = [UInt8](repeating: 0, count: 16)
        let count = pread(scoreFile, &octets, octets.count, 0)
        let high = Array("500".utf8)
        guard count > 0, pwrite(scoreFile, high, high.count, 0) > 0 else { return body() }
        defer { pwrite(scoreFile, octets, count, 0) }
        return body()
    }
}

/// A pipe: we keep one end, which does not block, and a child gets the other.
public struct ChildPipe {
    public let ours: Int32
    public let theirs: Int32

    public init(toChild: Bool = false) throws(Errno) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Errno(code: errno) }
        (ours, theirs) = toChild ? (ends[1], ends[0]) : (ends[0], ends[1])
        // The two ends are separate files, so the child's end still blocks.
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
    }

    /// Returns whether octets can be read from the pipe; end-of-file alone does not count.
    public static func isReadable(_ ours: Int32) -> Bool {
        var state = pollfd(fd: ours, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLIN) != 0
    }
}
