import Glibc

/// Reports when the content of some folders may have changed, with inotify(7). It does not wake the process without a change.
///
/// For a missing folder, the deepest existing parent is watched. Single files can be awaited too.
@LoopActor public final class FolderWatch {
    /// The time from the first of several changes, as when a package is unpacked, to the one report of all.
    public nonisolated static let debounce = Duration.milliseconds(200)
    /// The time from a failed watch to the next try.
    private nonisolated static let pause = Duration.seconds(10)

    /// Called after a change, at most once in ``debounce``, and only when the watch is active again.
    public var onChange: () -> Void = {}
    /// The reason why the kernel refused a watch, as one sentence: usually there are too many watches (fs.inotify.max_user_watches).
    public private(set) var failure: String?

    private var folders: [String] = []
    private var files: Set<String> = []
    private var descriptor: Int32 = -1
    private var source: EventSource?
    private var timer: EventSource?
    private var retry: EventSource?
    /// The relevant names in each watched folder; an empty name stands for all.
    private var names: [Int32: Set<String>] = [:]

    public init() {}

    isolated deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches these folders, in addition to the awaited files.
    public func watch(_ folders: [String]) {
        guard folders != self.folders || descriptor < 0 else { return }
        self.folders = folders
        arm()
    }

    /// Awaits these files, in addition to the folders. Returns `true` if some of them were not awaited before: they may have appeared earlier, so the
    /// caller must read them again.
    public func await(files: Set<String>) -> Bool {
        guard files != self.files else { return false }
        let isMore = !files.isSubset(of: self.files)
        self.files = files
        arm()
        return isMore
    }

    // MARK: Watches

    /// The events when the folder itself is removed; another folder may then take its name.
    private nonisolated static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    /// The events when a name in the folder appears or disappears.
    private nonisolated static let naming = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
    /// The events when a file in the folder was written, or got another owner or mode.
    private nonisolated static let writing = UInt32(IN_CLOSE_WRITE | IN_ATTRIB)

    /// Sets all watches again on the same inotify instance, because the kernel limits the number of instances for each user.
    private func arm() {
        for watch in names.keys { inotify_rm_watch(descriptor, watch) }
        (names, failure) = ([:], nil)
        if descriptor < 0 { open() }
        if descriptor >= 0 {
            for folder in folders { follow(folder + "/") }
            for file in files { follow(file) }
        }
        // After a failed watch, changes are missed until the next try. Therefore the next try is reported as a change in any case.
        retry = failure == nil ? nil : report(after: Self.pause)
    }

    private func report(after delay: Duration) -> EventSource? {
        try? EventLoop.shared.schedule(after: delay) { [weak self] in self?.report() }
    }

    private func report() {
        timer = nil
        arm()
        onChange()
    }

    /// Reports all changes up to now, without waiting.
    public func catchUp() {
        readable()
        if timer != nil { report() }
    }

    private func open() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return fail() }
        do {
            source = try EventLoop.shared.watch(descriptor) { [weak self] _ in self?.readable() }
        } catch {
            failure = error.description
            close(descriptor)
            descriptor = -1
        }
    }

    private func fail() { failure = "inotify: \(String(cString: strerror(errno)))" }

    /// Watches a path from the root down. Each parent is watched before its child is opened, so that a child that appears meanwhile is noticed.
    ///
    /// - Parameter path: the path; a folder's path ends with a slash.
    private func follow(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var parent = ""
        for part in parts.dropLast() where !part.isEmpty {
            let child = "\(parent)/\(part)"
            add(parent, 0)
            var octet = CChar()
            // A missing child may appear, and a link may be replaced.
            if access(child, F_OK) != 0 || readlink(child, &octet, 1) > 0 { add(parent, Self.naming, String(part)) }
            guard access(child, F_OK) == 0 else { return }
            parent = child
        }
        add(parent, Self.naming | Self.writing, String(parts.last ?? ""))
    }

    private func add(_ folder: String, _ mask: UInt32, _ name: String? = nil) {
        let all = mask | Self.itself | UInt32(IN_MASK_ADD) | UInt32(IN_ONLYDIR)
        let watch = inotify_add_watch(descriptor, folder + "/", all)
        guard watch >= 0 else {
            // Only a lack of watches or memory is reported here. Another part reports an unreadable folder; if the folder was removed, the watch on
            // its parent notices a new folder.
            if errno == ENOSPC || errno == ENOMEM { fail() }
            return
        }
        names[watch, default: []].formUnion(name.map { [$0] } ?? [])
    }

    // MARK: Events

    private func readable() {
        var octets = [UInt8](repeating: 0, count: 16 * 1024)
        let count = read(descriptor, &octets, octets.count)
        var rest = octets.prefix(max(count, 0))
        let header = MemoryLayout<inotify_event>.size
        while rest.count >= header {
            let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            // The name is padded with NULs.
            let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
            if timer == nil, isRelevant(event, String(decoding: name, as: UTF8.self)) { timer = report(after: Self.debounce) }
            rest = rest.dropFirst(header + Int(event.len))
        }
    }

    private func isRelevant(_ event: inotify_event, _ name: String) -> Bool {
        // If events were lost, or a folder was removed, anything may have changed.
        if event.mask & (UInt32(IN_Q_OVERFLOW) | UInt32(IN_UNMOUNT) | Self.itself) != 0 { return true }
        guard let names = names[event.wd] else { return false }
        return name.isEmpty || names.contains("") || names.contains(name)
    }
}
