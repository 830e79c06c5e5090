import EventLoop
import Glibc

/// Reports, with inotify(7), that a program wrote to a file in one of the given folders: a join may be waiting for a DHCP client's record.
@LoopActor public final class RecordWatch {
    /// Called after each write, or after several at once.
    public var onChange: () -> Void = {}
    private let descriptor: Int32
    private var source: EventSource?

    /// dhclient appends to a file that stays open; others write a new file, or rename one.
    private nonisolated static let events = UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO)

    /// Watches these folders, as far as they exist. Without inotify, nothing is reported.
    public init(_ folders: [String]) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return }
        for folder in folders { inotify_add_watch(descriptor, folder, Self.events | UInt32(IN_ONLYDIR)) }
        source = try? EventLoop.shared.watch(descriptor) { [weak self] _ in self?.readable() }
    }

    isolated deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    private func readable() {
        // The name of the file does not matter.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { octets in
            while read(descriptor, octets.baseAddress, octets.count) > 0 {}
        }
        onChange()
    }
}
