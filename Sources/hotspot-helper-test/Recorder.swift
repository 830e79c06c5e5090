import Glibc
import HelperKit

/// This program a second time, as the helper's parent: it passes everything on, and writes down what the helper wrote, whether it could
/// be started, and how it took SIGTERM. The daemon's side of the conversation sees the helper as if nobody stood between.
enum Recorder {
    /// The word that makes this program a recorder: `--record FOLDER PROGRAM ARGUMENT…`.
    static let option = "--record"
    /// Octets of each stream that are written down; more is passed on all the same.
    static let limit = 64 * 1024

    /// The command line that has a helper recorded. A shell of the system's comes first because the host starts only what nobody else
    /// can change, which a freshly built copy of this program need not be.
    static func wrap(_ exec: [String], folder: String) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return ["/bin/sh", "-c", "exec \"$0\" \"$@\"", own, option, folder] + exec
    }

    /// Runs a helper to its end, and ends as it did.
    static func run(_ arguments: [String]) -> Never {
        guard arguments.count >= 2 else { exit(2) }
        let folder = arguments[0]
        let command = Array(arguments.dropFirst())
        signal(SIGPIPE, SIG_IGN)
        var term = sigset_t()
        sigemptyset(&term)
        sigaddset(&term, SIGTERM)
        sigprocmask(SIG_BLOCK, &term, nil)
        let notes = Note(folder + "/end")
        var streams = [Stream(copy: folder + "/out", to: 1), Stream(copy: folder + "/err", to: 2)]
        let child = spawn(command, streams.map(\.writing), notes)
        close(0)
        for stream in streams { close(stream.writing) }
        // The helper decides what SIGTERM is to it; whether it came is written down before.
        Worker.start {
            var awaited = sigset_t()
            sigemptyset(&awaited)
            sigaddset(&awaited, SIGTERM)
            var signal: Int32 = 0
            while sigwait(&awaited, &signal) == 0 {
                notes.add("term")
                kill(child, SIGTERM)
            }
        }
        var status: Int32 = 0
        while true {
            var waits = streams.map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
            // A child of the helper's may hold a stream open for longer than the helper lives.
            poll(&waits, nfds_t(waits.count), 20)
            for index in streams.indices where waits[index].revents != 0 { streams[index].pass() }
            if waitpid(child, &status, WNOHANG) == child { break }
        }
        for index in streams.indices { streams[index].drain() }
        notes.add("out \(streams[0].total)")
        notes.add("exit \(status)")
        let ending = status & 0x7F
        guard ending == 0 else {
            signal(ending, SIG_DFL)
            sigprocmask(SIG_UNBLOCK, &term, nil)
            kill(getpid(), ending)
            exit(128 + ending)
        }
        exit(status >> 8 & 0xFF)
    }

    private static func spawn(_ command: [String], _ ends: [Int32], _ notes: Note) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for (index, end) in ends.enumerated() { posix_spawn_file_actions_adddup2(&actions, end, Int32(index) + 1) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var ignored = sigset_t()
        sigemptyset(&ignored)
        posix_spawnattr_setsigmask(&attributes, &ignored)
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var child: pid_t = 0
        var code = posix_spawn(&child, command[0], &actions, &attributes, &words, environ)
        // Somebody has it open for writing, such as an editor that is just saving it, or a program forked by one.
        var patience = 25
        while code == ETXTBSY, patience > 0 {
            usleep(20_000)
            patience -= 1
            code = posix_spawn(&child, command[0], &actions, &attributes, &words, environ)
        }
        guard code == 0 else {
            notes.add("spawn \(code)")
            exit(127)
        }
        return child
    }

    /// A file that lines are added to; each is there at once, because the end may be a SIGKILL.
    private struct Note: Sendable {
        private let descriptor: Int32

        init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }

        func add(_ line: String) {
            let octets = Array((line + "\n").utf8)
            _ = write(descriptor, octets, octets.count)
        }
    }

    /// One of the helper's streams: passed on, and written down.
    private struct Stream {
        private(set) var reading: Int32
        let writing: Int32
        private let target: Int32
        private let copy: Int32
        private(set) var total = 0

        init(copy path: String, to target: Int32) {
            var ends: [Int32] = [-1, -1]
            // What the daemon gives it: a socket cannot be opened a second time as `/dev/stderr`, say.
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
            shutdown(ends[0], Int32(SHUT_WR))
            reading = ends[0]
            writing = ends[1]
            self.target = target
            copy = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }

        /// Passes on what there is now; `false` at the end.
        @discardableResult mutating func pass() -> Bool {
            guard reading >= 0 else { return false }
            var chunk = [UInt8](repeating: 0, count: 16 * 1024)
            let count = read(reading, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { return errno == EINTR }
            guard count > 0 else {
                end()
                return false
            }
            let kept = min(count, max(0, Recorder.limit - total))
            if kept > 0 { _ = write(copy, chunk, kept) }
            total += count
            var sent = 0
            while sent < count {
                let step = chunk.withUnsafeBytes { write(target, $0.baseAddress! + sent, count - sent) }
                if step < 0, errno == EINTR { continue }
                guard step > 0 else {
                    // Nobody reads any more: the helper is to notice as it would without us.
                    end()
                    return false
                }
                sent += step
            }
            return true
        }

        /// Passes on what has come, and waits for nothing.
        mutating func drain() {
            guard reading >= 0 else { return }
            _ = fcntl(reading, F_SETFL, O_NONBLOCK)
            while pass() {}
        }

        private mutating func end() {
            close(reading)
            reading = -1
        }
    }
}
