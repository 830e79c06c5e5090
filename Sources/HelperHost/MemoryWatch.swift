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
    nonisolated static let part: UInt64 = 8
    /// In octets: limits follow what is nobody's in steps.
    nonisolated static let step: UInt64 = 16 << 20

    private let folder: String
    private let limit: UInt64, ceiling: UInt64
    /// By how much the limit is above what it was at first.
    private(set) var lift: UInt64 = 0
    private let events: Descriptor
    private let groups: () -> [(group: ControlGroup, isEnding: Bool)]
    private let onLargest: (ControlGroup) -> Void
    private var source: EventSource?

    /// `nil` where the kernel has no mark or does not tell.
    ///
    /// - Parameters:
    ///   - folder: the group of all helpers.
    ///   - limit: its limit in octets, which is set.
    ///   - ceiling: where the limit ends at the latest, if it is raised for what is in files.
    ///   - groups: the groups in it, and whether they are being ended.
    ///   - onLargest: is to end this one.
    init?(
        folder: String, limit: UInt64, ceiling: UInt64, groups: @escaping () -> [(group: ControlGroup, isEnding: Bool)],
        onLargest: @escaping (ControlGroup) -> Void
    ) {
        self.folder = folder
        self.limit = limit
        self.ceiling = max(limit, ceiling)
        self.groups = groups
        self.onLargest = onLargest
        events = Descriptor(open(folder + "/memory.events", O_RDONLY | O_CLOEXEC))
        guard events.raw >= 0 else { return nil }
        // Changes of such a file are POLLPRI (the kernel's cgroup-v2 document), until it is read.
        source = try? EventLoop.shared.watch(events.raw, for: UInt32(EPOLLPRI.rawValue)) { [weak self] _ in self?.look() }
        guard source != nil, ControlFile.write("\(Self.mark(limit))", to: folder + "/memory.high") == 0 else {
            source?.cancel()
            return nil
        }
    }

    isolated deinit { source?.cancel() }

    private func look() {
        var octets = [UInt8](repeating: 0, count: 4096)
        _ = pread(events.raw, &octets, octets.count, 0)
        settle()
    }

    private nonisolated static func mark(_ limit: UInt64) -> UInt64 { limit - limit / part }

    /// Ends the largest ones, until the rest are well below the mark, if what they have is more than the kernel can take back.
    ///
    /// What nobody has who lives, as files in memory that were left in a folder of `ReadWritePaths=`, no end of anybody gives back. The
    /// limit is raised by that, or every helper would be slowed down for it.
    func settle() {
        guard let statistics = ControlFile.read(folder + "/memory.stat"),
            let whole = ControlFile.octets(folder + "/memory.current")
        else { return }
        let returnable = ["active_file", "inactive_file", "slab_reclaimable"].map { ControlFile.count($0, in: statistics) }
        let all = groups().map {
            (group: $0.group, isEnding: $0.isEnding, octets: ControlFile.octets($0.group.path + "/memory.current") ?? 0)
        }
        let standing = all.filter { !$0.isEnding }
        let returned = UInt64(returnable.reduce(0, +))
        raise(Self.lift(all.map(\.octets), whole: whole, returnable: returned, limit: limit, ceiling: ceiling))
        let allowed = Self.mark(Self.mark(limit))
        for index in Self.largest(standing.map(\.octets), whole: whole, returnable: returned, allowed: allowed) {
            onLargest(standing[index].group)
        }
    }

    private func raise(_ new: UInt64) {
        guard new != lift else { return }
        let files = [("/memory.max", limit + new), ("/memory.high", Self.mark(limit) + new)]
        // The mark is never above the limit.
        for (file, octets) in new > lift ? files : files.reversed() { ControlFile.write("\(octets)", to: folder + file) }
        lift = new
    }

    /// By how much the limit is to be raised for what is in none of the groups, and does not come back by itself: in octets, in whole
    /// steps, and nothing for what is little.
    nonisolated static func lift(
        _ groups: [UInt64], whole: UInt64, returnable: UInt64, limit: UInt64, ceiling: UInt64
    ) -> UInt64 {
        let taken = groups.reduce(0, +) + returnable
        guard whole > taken, whole - taken > limit / 16 else { return 0 }
        return min((whole - taken + step - 1) / step * step, ceiling - limit)
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
}
