import ForeignText
import Glibc
import HotspotCore
import Varlink

/// Writes to standard output and standard error without a buffer.
enum Output {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The height of the terminal on standard output; `nil` if standard output is not a terminal.
    static var rows: Int? { size(of: STDOUT_FILENO).map { $0.ws_row > 0 ? Int($0.ws_row) : 24 } }

    /// The width of the terminal on standard output.
    static var columns: Int? { columns(of: STDOUT_FILENO) }

    /// Clears the terminal's screen; the next line is the first one.
    static func clear() { write("\u{1B}[H\u{1B}[J", to: STDOUT_FILENO) }

    /// Prints lines, wrapped to the width of a terminal.
    static func print(_ lines: [String]) { write(lines.map { $0 + "\n" }.joined(), fittedTo: STDOUT_FILENO) }

    /// Prints lines without wrapping: lines for programs or for copying, and lines that contain no foreign text.
    static func print(verbatim lines: [String]) { write(lines.map { $0 + "\n" }.joined(), to: STDOUT_FILENO) }

    /// Prints lines to standard error, wrapped in the same way.
    static func error(_ lines: [String]) { write(lines.map { $0 + "\n" }.joined(), fittedTo: STDERR_FILENO) }

    /// Prints a question to standard error, without a line end.
    static func ask(_ text: String) { write(text, fittedTo: STDERR_FILENO) }

    /// Prints a reply as JSON. Control characters are escaped, which does not change the values.
    static func print(_ reply: JSONValue, _ mode: JSONMode) {
        guard mode != .off else { return }
        print(verbatim: [Printable.json(String(decoding: Coding.encode(reply, isIndented: mode == .pretty), as: UTF8.self))])
    }

    private static func write(_ text: String, fittedTo descriptor: Int32) {
        write(columns(of: descriptor).map { Wrapping.fitted(text, columns: $0) } ?? text, to: descriptor)
    }

    /// Returns the width of the terminal; `nil` if the descriptor is not a terminal.
    private static func columns(of descriptor: Int32) -> Int? {
        size(of: descriptor).map { $0.ws_col > 0 ? Int($0.ws_col) : Wrapping.usualColumns }
    }

    /// Returns the size of the terminal, zero if the size is not known; `nil` if the descriptor is not a terminal.
    private static func size(of descriptor: Int32) -> winsize? {
        var size = winsize()
        guard isatty(descriptor) == 1 else { return nil }
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                let code = errno
                guard descriptor == STDOUT_FILENO else { return }
                // If the reader has ended, the program succeeds; other errors, such as a full disk, are failures.
                if code == EPIPE { exit(ExitStatus.done.rawValue) }
                error(["hotspotctl: The output cannot be written: \(String(cString: strerror(code)))."])
                exit(ExitStatus.failed.rawValue)
            }
        }
    }
}
