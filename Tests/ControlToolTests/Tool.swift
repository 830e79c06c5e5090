import Glibc
import Testing
import Varlink

/// One run of the built hotspotctl.
final class Tool {
    struct Exit: Equatable {
        var status: Int32
        /// The signal that ended it, or 0.
        var signal: Int32
        var output: String
        var errors: String
    }

    /// How long a run may take before the test gives up, in milliseconds. Not a measure of speed.
    private static let patience: Int32 = 60_000

    let pid: pid_t
    private var output: Int32
    private var errors: Int32
    private var outputBytes: [UInt8] = []
    private var errorBytes: [UInt8] = []

    /// The program lies beside the test bundle.
    static let program: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return path[...(path.lastIndex(of: "/") ?? path.startIndex)] + "hotspotctl"
    }()

    /// - Parameters:
    ///   - input: the descriptor that becomes standard input; the caller keeps and closes it.
    ///   - output: the descriptor for standard output; without one, the output is collected.
    ///   - errors: the descriptor for standard error; without one, the errors are collected.
    init(
        _ arguments: [String], input: Int32, output: Int32? = nil, errors: Int32? = nil, program: String = Tool.program,
        environment: [String] = ["LANG=C.UTF-8", "TZ=UTC"]
    ) throws {
        // Sockets instead of pipes: sockets can be created so that no other test's child inherits them.
        let outputs = try Socket.pair()
        let errorEnds = try Socket.pair()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output ?? outputs.1, 1)
        posix_spawn_file_actions_adddup2(&actions, errors ?? errorEnds.1, 2)
        // If the tests run in the background, interrupts are ignored or blocked, which a child would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var interrupt = sigset_t()
        sigemptyset(&interrupt)
        sigaddset(&interrupt, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &interrupt)
        var nothing = sigset_t()
        sigemptyset(&nothing)
        posix_spawnattr_setsigmask(&attributes, &nothing)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
        close(outputs.1)
        close(errorEnds.1)
        try #require(code == 0, "\(program): \(String(cString: strerror(code)))")
        self.pid = pid
        self.output = outputs.0
        self.errors = errorEnds.0
    }

    deinit {
        close(output)
        close(errors)
    }

    /// Runs to the end with this standard input.
    static func run(
        _ arguments: [String], input: String = "", program: String = Tool.program,
        environment: [String] = ["LANG=C.UTF-8", "TZ=UTC"]
    ) throws -> Exit {
        let ends = try Socket.pair()
        let tool = try Tool(arguments, input: ends.0, program: program, environment: environment)
        close(ends.0)
        let octets = Array(input.utf8)
        // The tool may end before it reads anything.
        if !octets.isEmpty { send(ends.1, octets, octets.count, Int32(MSG_NOSIGNAL)) }
        close(ends.1)
        return tool.end()
    }

    /// Waits until standard error holds a text.
    func waitForErrors(_ text: String) {
        while !String(decoding: errorBytes, as: UTF8.self).contains(text), pump() {}
        #expect(String(decoding: errorBytes, as: UTF8.self).contains(text))
    }

    /// Waits for the end.
    func end() -> Exit {
        while pump() {}
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        return Exit(
            status: status >> 8 & 0xff, signal: status & 0x7f, output: String(decoding: outputBytes, as: UTF8.self),
            errors: String(decoding: errorBytes, as: UTF8.self))
    }

    /// Reads the available output; `false` once both descriptors are at their end.
    private func pump() -> Bool {
        var waits = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        guard output >= 0 || errors >= 0 else { return false }
        guard poll(&waits, 2, Self.patience) > 0 else {
            Issue.record("hotspotctl hangs")
            kill(pid, SIGKILL)
            return false
        }
        var chunk = [UInt8](repeating: 0, count: 4096)
        for wait in waits where wait.revents != 0 {
            let count = read(wait.fd, &chunk, chunk.count)
            if count > 0 {
                if wait.fd == output { outputBytes += chunk[..<count] } else { errorBytes += chunk[..<count] }
            } else {
                close(wait.fd)
                if wait.fd == output { output = -1 } else { errors = -1 }
            }
        }
        return true
    }
}
