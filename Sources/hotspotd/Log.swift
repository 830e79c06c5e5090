import ForeignText
import Glibc
import HotspotCore
import Logging
import Synchronization
import Varlink

/// Writes one line for each event: to the journal if the service manager connected this process to it, otherwise to standard error. Writing never
/// blocks: if the journal is full, lines are lost, and logins continue.
struct JournalHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let journal: JournalSocket?

    init(level: Logger.Level) {
        logLevel = level
        journal = getenv("JOURNAL_STREAM") != nil ? .shared : nil
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level = event.level
        // Make foreign text in the message harmless: it must not start a second line or command a terminal.
        let text = Printable.shown(event.message.description, limit: 2048)
        if let journal {
            journal.send(text, priority: priority(level))
        } else {
            let line = Array("hotspotd: \(level == .info || level == .notice ? "" : "\(level): ")\(text)\n".utf8)
            // Write only if there is room: if nobody reads from the pipe, a blocking write would stop the whole daemon.
            var output = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            if poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 { _ = write(STDERR_FILENO, line, line.count) }
        }
    }

    private func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// The journal's own socket (systemd's "Native Journal Protocol").
///
/// Replaces sd_journal_sendv(3), which waits while the journal's queue is full. Any user can fill the queue, and the daemon would then hang until the
/// watchdog ends it.
final class JournalSocket: Sendable {
    static let shared = JournalSocket(path: "/run/systemd/journal/socket")

    private let path: String
    private let descriptor: Int32
    /// The number of lines that the journal has refused since it last accepted one.
    private let lost = Mutex(0)

    init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    deinit { close(descriptor) }

    /// Sends one line, or counts it if the journal is full. After the next accepted line, sends the number of lost lines.
    func send(_ text: String, priority: Int) {
        lost.withLock { lost in
            guard put(text, priority) else {
                lost += 1
                return
            }
            if lost > 0, put("\(lost) lines before this one were lost, because the journal was full.", 4) { lost = 0 }
        }
    }

    private func put(_ text: String, _ priority: Int) -> Bool {
        // Replace hotspotd's own line feeds, because a line feed ends a field; line feeds in foreign text were made harmless before.
        let line = String(text.map { $0 == "\n" ? " " : $0 })
        let octets = Array("MESSAGE=\(line)\nPRIORITY=\(priority)\nSYSLOG_IDENTIFIER=hotspotd\n".utf8)
        let count = try? Socket.withAddress(path) { address, length in
            sendto(descriptor, octets, octets.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
        }
        return count == octets.count
    }
}

extension Settings.LogLevel {
    /// The level of the same name.
    var loggerLevel: Logger.Level { Logger.Level(rawValue: rawValue)! }
}
