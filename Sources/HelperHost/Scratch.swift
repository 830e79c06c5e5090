import EventLoop
import Glibc
import HotspotCore

/// The private folders of helpers. Where a helper has a mount namespace, its `TMPDIR` is a file system that ends with it, and the
/// folder here stays empty; elsewhere what it left is removed, however much it is, in as many turns of the loop as it takes.
@LoopActor final class Scratch {
    private nonisolated static let prefix = "helper-"
    /// What one turn of the loop may spend on what helpers left, whichever comes first.
    static let entries = 500, share = Duration.milliseconds(3)
    /// Between two turns of it, so that what is due meanwhile is not kept waiting by it.
    private static let pause = Duration.milliseconds(2)

    private let directory: String
    private let removal: FolderRemoval?
    private var timer: EventSource?
    private var whenDone: [() -> Void] = []
    /// How many turns it has taken.
    private(set) var turns = 0

    /// Makes the folder of folders, and begins to remove what an earlier daemon left in it.
    init(_ directory: String) {
        self.directory = directory
        Self.makeFolder(directory)
        removal = FolderRemoval(in: directory)
        removal?.addLeftovers(Self.prefix)
        turn()
    }

    /// Whether nothing is left to be removed.
    var isDone: Bool { removal?.isDone ?? true }

    /// A new folder, or `nil`.
    func make() -> String? { Self.make(in: directory) }

    /// Removes a folder that ``make()`` made: a small one at once.
    func remove(_ path: String) {
        if rmdir(path) == 0 { return }
        guard let name = path.split(separator: "/").last, removal?.add(String(name)) == true, timer == nil else { return }
        turn()
    }

    /// Calls back when nothing is left, or after that time.
    func finish(within patience: Duration, _ body: @escaping () -> Void) {
        guard !isDone else { return body() }
        var source: EventSource?
        var isOver = false
        let end = {
            guard !isOver else { return }
            isOver = true
            source?.cancel()
            source = nil
            body()
        }
        source = try? EventLoop.shared.schedule(after: patience, end)
        if source == nil { return end() }
        whenDone.append(end)
    }

    private func turn() {
        timer = nil
        guard let removal, !removal.isDone else { return }
        turns += 1
        let end = EventLoop.now + Self.share
        if removal.step(atMost: Self.entries, while: { EventLoop.now < end }) {
            timer = try? EventLoop.shared.schedule(after: Self.pause) { [weak self] in self?.turn() }
            // Answers and deadlines go first.
            timer?.setPriority(10)
            if timer != nil { return }
        }
        let bodies = whenDone
        whenDone = []
        for body in bodies { body() }
    }

    /// A new folder there, or `nil`.
    nonisolated static func make(in directory: String) -> String? {
        var template = Array("\(directory)/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A folder of our own, and its parents.
    nonisolated static func makeFolder(_ path: String) {
        if mkdir(path, 0o700) == 0 || errno != ENOENT { return }
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        makeFolder(String(path[..<slash]))
        mkdir(path, 0o700)
    }
}
