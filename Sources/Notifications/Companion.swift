import EventLoop
import ForeignText
import Glibc

/// A process of hotspotctl that a click started. Its standard error is kept until it ends.
struct Companion {
    /// The process's pidfd, which poll(2) reports as readable once the process has ended.
    let process: Int32
    private let pid: pid_t
    private let errors: Int32

    /// The exit statuses after which no notification is shown: success, a dialog that the user closed, and a question that had already ended.
    /// A program that could not ask the user exits with another status.
    private static let silent: Set<Int32> = [0, 4, 10]

    /// - Parameter command: a program in `PATH`, and its arguments.
    init?(_ command: [String]) {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let places = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(command[0])" }
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        guard let errors = Self.unnamedFile() else { return nil }
        self.errors = errors
        let spawn = Spawn(
            arguments: [program] + command.dropFirst(), environment: Spawn.ownEnvironment, descriptors: [null, null, errors])
        do throws(Errno) { (pid, process) = try spawn.startWatched() } catch {
            close(errors)
            return nil
        }
    }

    /// Creates a file, and removes its name.
    private static func unnamedFile() -> Int32? {
        let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/hotspot-notify-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { return nil }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        unlink(name)
        return file
    }

    /// Returns the exit status of the program and the reason of its failure; `nil` while it runs. Closes the descriptors, so do not call this again.
    func ended() -> (status: Int32, problem: String?)? {
        var code: Int32 = 0
        let ended = waitpid(pid, &code, WNOHANG)
        if ended == 0 { return nil }
        let status = ended == pid && code & 0x7F == 0 ? code >> 8 & 0xFF : 1
        var octets = [UInt8](repeating: 0, count: 16384)
        let size = lseek(errors, 0, SEEK_END)
        let count = pread(errors, &octets, octets.count, max(0, size - octets.count))
        close(errors)
        close(process)
        let text = String(decoding: octets.prefix(max(0, count)), as: UTF8.self)
        return (status, Self.silent.contains(status) ? nil : Self.problem(in: text))
    }

    /// Returns the last failure that hotspotctl wrote, without its hints, because they are commands for a terminal.
    static func problem(in text: String) -> String? {
        let mark = "hotspotctl: "
        let lines = text.split(separator: "\n")
        guard let first = lines.lastIndex(where: { $0.hasPrefix(mark) }) else { return nil }
        let words = lines[(first + 1)...].prefix { !$0.hasPrefix("  try: ") }.map { $0.drop { $0 == " " } }
        return ([lines[first].dropFirst(mark.count)] + words).map { Printable.shown(String($0), limit: 600) }
            .joined(separator: "\n")
    }
}
