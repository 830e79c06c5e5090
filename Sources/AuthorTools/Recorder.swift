import EventLoop
import Glibc
import HelperKit

/// Runs this program a second time as the helper's parent. That process relays all streams, and records the helper's output, whether the helper
/// could be started, and how the helper reacted to SIGTERM.
enum Recorder {
    /// The option after ``AuthorProgram/option`` that makes this program a recorder: `--record FOLDER PROGRAM ARGUMENT…`.
    static let option = "--record"
    /// The largest part of each stream that is recorded, in octets; the rest is only relayed.
    static let limit = 64 * 1024

    /// Returns the command line that records a helper. It begins with the system's shell: the host starts only programs that other users cannot
    /// change, and a freshly built copy of this program may not qualify.
    static func wrap(_ exec: [String], folder: String) -> [String] {
        let own = FilePath.canonical("/proc/self/exe")
        return ["/bin/sh", "-c", "exec \"$0\" \"$@\"", own, AuthorProgram.option, option, folder] + exec
    }

    /// The folders from which this program has loaded libraries, except the system's. The sandbox must show them, because a debug build loads
    /// Swift's own libraries.
    static var libraryFolders: [String] {
        guard let file = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(file) }
        var folders: Set<String> = []
        var line = [CChar](repeating: 0, count: 8192)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard let start = text.firstIndex(of: "/"), text.contains(".so") else { continue }
            let folder = text[start...].prefix(upTo: text.lastIndex(of: "/") ?? text.endIndex)
            if !folder.hasPrefix("/usr"), !folder.hasPrefix("/lib") { folders.insert(String(folder)) }
        }
        return folders.sorted()
    }

    /// Runs a helper to its end, and exits with the helper's status.
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
        // Records SIGTERM and passes it on; the helper decides how to react.
        Worker.start { [term] in
            var awaited = term
            var signal: Int32 = 0
            while sigwait(&awaited, &signal) == 0 {
                notes.add("term")
                kill(child, SIGTERM)
            }
        }
        var status: Int32 = 0
        while true {
            var waits = streams.map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
            // Waits at most 20 ms, because a child of the helper may keep a stream open after the helper has ended.
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
        var code: Int32 = 0
        // The file may be open for writing, for example in an editor that is saving it: tries again for half a second.
        for _ in 0..<25 {
            code = posix_spawn(&child, command[0], &actions, &attributes, &words, environ)
            guard code == ETXTBSY else { break }
            usleep(20_000)
        }
        guard code == 0 else {
            notes.add("spawn \(code)")
            exit(127)
        }
        return child
    }

    /// A file to which lines are appended. Each line is one write(2), because SIGKILL may end the program at any time.
    private struct Note: Sendable {
        private let descriptor: Int32

        init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }

        func add(_ line: String) {
            let octets = Array((line + "\n").utf8)
            _ = write(descriptor, octets, octets.count)
        }
    }

    /// One of the helper's streams, which is relayed and recorded.
    private struct Stream {
        private(set) var reading: Int32
        let writing: Int32
        private let target: Int32
        private let copy: Int32
        private(set) var total = 0

        init(copy path: String, to target: Int32) {
            var ends: [Int32] = [-1, -1]
            // Uses a pipe, as the daemon does.
            _ = pipe(&ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            reading = ends[0]
            writing = ends[1]
            self.target = target
            copy = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }

        /// Relays the octets that have arrived; returns `false` if there are none, or at the end of the stream.
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
                    // The reader is gone, so the helper's stream is closed as well.
                    end()
                    return false
                }
                sent += step
            }
            return true
        }

        /// Relays all octets that have come, without waiting for more.
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
