import EventLoop
import Glibc

/// Tells when what lies in some folders may have changed: inotify(7), so that nothing wakes as long as nothing happens.
///
/// A folder that is missing is awaited in the deepest of its parents that is there. Single files can be awaited too: programs that
/// helpers need and that are not installed yet.
@LoopActor public final class FolderWatch {
    /// Several changes in a row, such as a package being unpacked, are told as one, so long after the first of them.
    public nonisolated static let debounce = Duration.milliseconds(200)
    /// After a failure it is tried again so often.
    nonisolated static let pause = Duration.seconds(10)
    /// Files that are awaited at most.
    public nonisolated static let fileLimit = 256

    /// Something changed. Called at most once in ``debounce``, and never before the watch is in force again.
    public var onChange: () -> Void = {}
    /// The kernel refused a watch, usually because its number is limited (fs.inotify.max_user_watches); one sentence.
    public private(set) var failure: String?

    private var folders: [String] = []
    private var files: [String] = []
    private var descriptor: Int32 = -1
    private var source: EventSource?
    private var timer: EventSource?
    private var retry: EventSource?
    /// All that is watched at present.
    private var watches: Set<Int32> = []
    /// What matters of a watched folder: everything in it, or these names.
    private var interests: [Int32: Interest] = [:]

    private struct Interest {
        var everything = false
        var names: Set<String> = []
    }

    /// Watches nothing yet.
    public init() {}

    isolated deinit { close() }

    /// Watches these folders, beside the files that are awaited.
    public func watch(_ folders: [String]) {
        guard folders != self.folders || descriptor < 0 else { return }
        self.folders = folders
        arm()
    }

    /// Awaits these files, beside the folders; at most ``fileLimit``. `true` if some of them are new, so that the files must be looked at
    /// again: they may have come just before.
    public func await(files: [String]) -> Bool {
        let files = Array(Set(files).sorted().prefix(Self.fileLimit))
        guard files != self.files else { return false }
        let isMore = !Set(files).isSubset(of: self.files)
        self.files = files
        arm()
        return isMore
    }

    private func close() {
        source?.cancel()
        timer?.cancel()
        retry?.cancel()
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    // MARK: Arming

    // What is in a folder: names that come, go and change hands, and files that were written.
    private nonisolated static let content =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_CLOSE_WRITE)
        | UInt32(IN_ATTRIB)
    // The folder itself goes away, and perhaps another takes its name.
    private nonisolated static let itself = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// Anew each time: a few system calls, and no bookkeeping of which folder stood for which. The instance is kept, for their number is
    /// limited for each user, and somebody else may take what is given back.
    private func arm() {
        for watch in watches { inotify_rm_watch(descriptor, watch) }
        watches = []
        interests = [:]
        failure = nil
        if descriptor < 0 { open() }
        if descriptor >= 0 {
            for folder in folders { follow(folder, isFolder: true) }
            for file in files { follow(file, isFolder: false) }
        }
        retry?.cancel()
        retry = nil
        guard failure != nil else { return }
        retry = try? EventLoop.shared.schedule(after: Self.pause, accuracy: .seconds(1)) { [weak self] in
            guard let self else { return }
            arm()
            // What changed meanwhile was seen by nobody.
            onChange()
        }
    }

    private func open() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            failure = "inotify: \(String(cString: strerror(errno)))"
            return
        }
        do {
            source = try EventLoop.shared.watch(descriptor) { [weak self] _ in self?.readable() }
        } catch {
            failure = error.description
            Glibc.close(descriptor)
            descriptor = -1
        }
    }

    /// From the root down: each parent is watched before its child is looked for, so that a child which comes between the two is seen.
    private func follow(_ path: String, isFolder: Bool) {
        let parts = path.split(separator: "/").map(String.init)
        var parent = "/"
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let child = parent == "/" ? "/" + part : parent + "/" + part
            if isLast, !isFolder {
                add(parent, Self.content | Self.itself, name: part)
                return
            }
            add(parent, Self.itself)
            if Self.isLink(child) {
                // Another link may take its place.
                add(parent, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | Self.itself, name: part)
            }
            if access(child, F_OK) != 0 {
                add(parent, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | Self.itself, name: part)
                guard access(child, F_OK) == 0 else { return }
            }
            parent = child
        }
        if isFolder { add(parent, Self.content | Self.itself, everything: true) }
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func add(_ path: String, _ mask: UInt32, name: String? = nil, everything: Bool = false) {
        let number = inotify_add_watch(descriptor, path, mask | UInt32(IN_MASK_ADD) | UInt32(IN_ONLYDIR))
        guard number >= 0 else {
            // A folder that cannot be read is a problem of its own, and one that is gone again is awaited in its parent.
            if errno == ENOSPC || errno == ENOMEM { failure = "inotify: \(String(cString: strerror(errno)))" }
            return
        }
        watches.insert(number)
        if everything { interests[number, default: Interest()].everything = true }
        if let name { interests[number, default: Interest()].names.insert(name) }
    }

    // MARK: Events

    private func readable() {
        // Aligned as struct inotify_event wants it, and large enough for many.
        var words = [UInt64](repeating: 0, count: 2048)
        var matters = false
        for _ in 0..<16 {
            let octets = words.withUnsafeMutableBytes { buffer -> [UInt8] in
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                return count > 0 ? Array(buffer[..<count]) : []
            }
            if octets.isEmpty { break }
            if Self.events(octets).contains(where: isRelevant) { matters = true }
        }
        guard matters, timer == nil else { return }
        timer = try? EventLoop.shared.schedule(after: Self.debounce) { [weak self] in
            guard let self else { return }
            timer = nil
            arm()
            onChange()
        }
    }

    private func isRelevant(_ event: Event) -> Bool {
        // Lost events, and folders that went: whatever they were, look again.
        if event.mask & (UInt32(IN_Q_OVERFLOW) | UInt32(IN_UNMOUNT) | Self.itself) != 0 { return true }
        guard let interest = interests[event.number] else { return false }
        return interest.everything || event.name.map(interest.names.contains) ?? true
    }

    private struct Event {
        let number: Int32
        let mask: UInt32
        let name: String?
    }

    /// struct inotify_event: wd, mask, cookie, len, and len octets of a name padded with NULs.
    private static func events(_ octets: [UInt8]) -> [Event] {
        var events: [Event] = []
        octets.withUnsafeBytes { bytes in
            var offset = 0
            while offset + 16 <= bytes.count {
                let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                guard length <= bytes.count - offset - 16 else { return }
                let name = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
                events.append(
                    Event(
                        number: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                        mask: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
                        name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
                offset += 16 + length
            }
        }
        return events
    }
}
