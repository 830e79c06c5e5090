import CSystemd
import EventLoop
import Glibc
import Varlink

/// Ends the largest helper before all helpers together have no memory left.
///
/// The kernel would choose by what processes have mapped, which says little: buffers of sockets are nobody's there, though the group
/// pays for them. Then the small and honest ones go first. So the group of all helpers has a mark (`memory.high`) below its limit: at
/// the mark the kernel slows down whoever takes more, and tells; what it can take back by itself, as pages of files, is not counted here.
@LoopActor final class MemoryWatch {
    /// The part of the limit that lies above the mark.
    static let part: UInt64 = 8

    private let folder: String
    private let mark: UInt64
    private let events: Descriptor
    private let groups: () -> [ControlGroup]
    private let onLargest: (ControlGroup) -> Void
    private var source: EventSource?

    /// `nil` where the kernel has no mark or does not tell.
    ///
    /// - Parameters:
    ///   - folder: the group of all helpers.
    ///   - limit: its limit in octets.
    ///   - groups: the groups in it that are not being ended.
    ///   - onLargest: is to end this one.
    init?(folder: String, limit: UInt64, groups: @escaping () -> [ControlGroup], onLargest: @escaping (ControlGroup) -> Void) {
        self.folder = folder
        mark = limit - limit / Self.part
        self.groups = groups
        self.onLargest = onLargest
        events = Descriptor(open(folder + "/memory.events", O_RDONLY | O_CLOEXEC))
        guard events.raw >= 0 else { return nil }
        // Changes of such a file are POLLPRI (the kernel's cgroup-v2 document), until it is read.
        source = try? EventLoop.shared.watch(events.raw, for: UInt32(EPOLLPRI.rawValue)) { [weak self] _ in self?.look() }
        guard source != nil, ControlFile.write("\(mark)", to: folder + "/memory.high") == 0 else {
            source?.cancel()
            return nil
        }
    }

    isolated deinit { source?.cancel() }

    private func look() {
        var octets = [UInt8](repeating: 0, count: 4096)
        _ = pread(events.raw, &octets, octets.count, 0)
        endLargest()
    }

    /// Ends the largest ones, until the rest are well below the mark, if what they have is more than the kernel can take back.
    private func endLargest() {
        guard let statistics = ControlFile.read(folder + "/memory.stat"), let current = Self.octets(in: folder) else { return }
        let returnable = ["active_file", "inactive_file", "slab_reclaimable"].map { ControlFile.count($0, in: statistics) }
        let groups = groups().map { (group: $0, octets: Self.octets(in: $0.path) ?? 0) }
        let chosen = Self.largest(
            groups.map(\.octets), whole: current, returnable: UInt64(returnable.reduce(0, +)), allowed: mark - mark / Self.part)
        for index in chosen { onLargest(groups[index].group) }
    }

    /// Which of the groups, by what they have in octets, are to be ended so that the rest have no more than is allowed.
    ///
    /// - Parameters:
    ///   - whole: what there is in all of them, and in those that are being ended and have not given everything back yet.
    ///   - returnable: the part of it that the kernel takes back when it needs it.
    nonisolated static func largest(_ groups: [UInt64], whole: UInt64, returnable: UInt64, allowed: UInt64) -> [Int] {
        var order = groups.indices.sorted { groups[$0] < groups[$1] }
        let standing = min(groups.reduce(0, +), whole)
        var taken = standing - min(returnable, standing)
        var chosen: [Int] = []
        while taken > allowed, let index = order.popLast() {
            taken -= min(taken, groups[index])
            chosen.append(index)
        }
        return chosen
    }

    private static func octets(in folder: String) -> UInt64? {
        ControlFile.read(folder + "/memory.current").flatMap { UInt64($0.split(separator: "\n").first ?? "") }
    }
}
