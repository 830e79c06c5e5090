import EventLoop
import ForeignText
import Glibc

/// A helper's standard error, read as long as output comes. Only the last few KiB are kept (R2: a helper floods), and all secrets that the process
/// received are masked (R3: a helper prints a secret).
@LoopActor final class ErrorTail {
    /// Octets that are kept beyond the limit, so that a secret at the limit is still complete; answers are shorter in practice.
    private static let margin = 8 << 10
    /// The largest size of one read, in octets.
    private static let portion = 16 << 10

    private var pipe: Int32
    private let limit: Int
    private var kept: [UInt8] = []
    private var source: EventSource?
    /// The secrets that the process received with any command, because its output does not show to which command it belongs.
    private(set) var given: Set<String> = []
    /// Whether the beginning of the output was dropped.
    private var wasCut = false

    /// - Parameter pipe: our end, which this object closes.
    init(pipe: Int32, limit: Int) {
        self.pipe = pipe
        self.limit = limit
        watch()
    }

    isolated deinit { close() }

    /// Reads the output that has arrived, at most eight portions of it, and closes the pipe.
    func close() {
        guard pipe >= 0 else { return }
        source = nil
        // A process that floods is not read to its end.
        for _ in 0..<8 { guard read() else { break } }
        Glibc.close(pipe)
        pipe = -1
    }

    /// The last line, printable; `nil` if there is none.
    var lastLine: String? {
        kept.split(separator: UInt8(ascii: "\n")).last.map { Printable.text(of: $0) }
    }

    /// Masks these texts from now on in all output of the process, past and future.
    func add(secrets: some Sequence<String>) { given.formUnion(secrets) }

    /// Returns the end of the output as printable lines, with the secrets masked.
    ///
    /// Secrets are masked before the text is cut, because half a secret could remain at the edge. For the same reason, an incomplete first line is
    /// left out if another line follows.
    func text() -> String {
        let secrets = Secrets(given)
        let masked = secrets.mask(kept)
        var text = masked.suffix(limit)
        if wasCut || masked.count > limit {
            let rest = text.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
            text = rest.isEmpty ? text.dropFirst(secrets.longest) : rest
        }
        let printable = text.split(separator: UInt8(ascii: "\n")).map { Printable.text(of: $0) }.joined(separator: "\n")
        // Cut the beginning again: escapes made the text longer, and its end matters most.
        return String(decoding: printable.utf8.suffix(limit), as: UTF8.self)
    }

    private func watch() {
        guard pipe >= 0 else { return }
        source = try? EventLoop.shared.watch(pipe) { [weak self] _ in self?.readable() }
        // The helpers' answers are read before their error output.
        source?.setPriority(10)
    }

    private func readable() {
        guard read() else { return }
        // Pauses after each read: a flood of output waits in the pipe meanwhile, so that other helpers have their turn.
        source = try? EventLoop.shared.schedule(after: .milliseconds(5)) { [weak self] in self?.watch() }
    }

    /// Reads some of the output; returns whether there may be more.
    private func read() -> Bool {
        let count = withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { buffer in
            let count = Glibc.read(pipe, buffer.baseAddress, buffer.count)
            if count > 0 { kept += buffer[..<count] }
            return count
        }
        if count == 0 { source = nil }
        guard count > 0 else { return false }
        let wanted = limit + Self.margin
        if kept.count > 2 * wanted {
            kept.removeFirst(kept.count - wanted)
            wasCut = true
        }
        return true
    }
}
