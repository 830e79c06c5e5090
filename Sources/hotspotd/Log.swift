import CSystemd
import Glibc
import HotspotCore
import Logging

/// One line for each event: to the journal where the service manager gave us one, else to standard error. It never blocks: a full
/// journal drops lines, not logins.
struct JournalHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let toJournal: Bool

    init(level: Logger.Level) {
        logLevel = level
        toJournal = getenv("JOURNAL_STREAM") != nil
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level = event.level
        // Foreign text within a message cannot start a second line or command a terminal.
        let text = Printable.shown(event.message.description, limit: 2048)
        if toJournal {
            let fields = ["MESSAGE=\(text)", "PRIORITY=\(priority(level))", "SYSLOG_IDENTIFIER=hotspotd"].map { Array($0.utf8) }
            send(fields)
        } else {
            let line = Array("hotspotd: \(level == .info || level == .notice ? "" : "\(level): ")\(text)\n".utf8)
            // A pipe that nobody reads would hold the whole daemon up.
            var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            if poll(&room, 1, 0) == 1, room.revents & Int16(POLLOUT) != 0 { _ = write(STDERR_FILENO, line, line.count) }
        }
    }

    private func send(_ fields: [[UInt8]]) {
        let buffers = fields.map { field in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: field.count, alignment: 1)
            copy.copyBytes(from: field)
            return copy
        }
        defer { buffers.forEach { $0.deallocate() } }
        let vectors = buffers.map { iovec(iov_base: $0.baseAddress, iov_len: $0.count) }
        sd_journal_sendv(vectors, Int32(vectors.count))
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
