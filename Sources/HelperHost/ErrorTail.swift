import EventLoop
import Glibc
import HotspotCore

/// What a helper writes to standard error: read for as long as it comes, kept to the last few KiB, and never faster than the loop can
/// afford.
@LoopActor final class ErrorTail {
    private var descriptor: Int32
    private let limit: Int
    private var kept: [UInt8] = []
    private var source: EventSource?
    /// All octets so far.
    private(set) var total = 0

    /// Takes the reading end of a pipe over.
    init(descriptor: Int32, limit: Int) {
        self.descriptor = descriptor
        self.limit = limit
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        watch()
    }

    isolated deinit { close() }

    /// Takes what is still in the pipe and closes it.
    func close() {
        guard descriptor >= 0 else { return }
        for _ in 0..<8 where take() {}
        source?.cancel()
        source = nil
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// The end of it as printable lines, with these secrets masked.
    func text(masking secrets: [String]) -> String? {
        var text = kept
        if text.count > limit { text.removeFirst(text.count - limit) }
        for secret in secrets { text = Self.mask(Array(secret.utf8), in: text) }
        let lines = text.split(separator: UInt8(ascii: "\n")).map { Printable.text(of: $0) }
        let printable = lines.joined(separator: "\n")
        // Escapes make it longer; the end is what matters.
        return printable.isEmpty ? nil : String(decoding: printable.utf8.suffix(limit), as: UTF8.self)
    }

    private func watch() {
        guard descriptor >= 0 else { return }
        source = try? EventLoop.shared.watch(descriptor) { [weak self] _ in self?.readable() }
        // The answers of helpers go before their chatter.
        source?.setPriority(10)
    }

    private func readable() {
        guard take() else { return }
        // More is waiting: a flood. It waits in its pipe, and its writer with it, while the others have their turn.
        source?.cancel()
        source = try? EventLoop.shared.schedule(after: .milliseconds(5)) { [weak self] in self?.watch() }
    }

    /// Reads at most 64 KiB; whether there may be more.
    private func take() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        guard count > 0 else {
            source?.cancel()
            return false
        }
        total += count
        kept += chunk[..<count]
        if kept.count > 2 * limit { kept.removeFirst(kept.count - limit) }
        return count == chunk.count
    }

    private static func mask(_ secret: [UInt8], in text: [UInt8]) -> [UInt8] {
        guard secret.count >= 3, text.count >= secret.count else { return text }
        var masked: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == secret[0], text[index...].starts(with: secret) {
                masked += Array("•••".utf8)
                index += secret.count
            } else {
                masked.append(text[index])
                index += 1
            }
        }
        return masked
    }
}

extension JSONValue {
    /// The texts of a command that must not appear in an error: what the user typed, and what the vault released.
    var secrets: [String] {
        ["credential", "answers"].flatMap { self[$0]?.object?.values.compactMap(\.string) ?? [] }
    }
}
