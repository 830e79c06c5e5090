import EventLoop
import Glibc

/// The part of the control group hierarchy that was given to the daemon: `daemon` for itself, and `helpers` with a numbered group for
/// each helper process.
///
/// setrlimit(2) limits every process; what all processes of a helper take together only a group can limit. Between groups the processor
/// is shared by the group and not by the process, so a helper with sixty spinning processes takes no more than its neighbour with one.
@LoopActor final class ControlGroups {
    /// The folder that the helpers' groups are in.
    let folder: String
    private let limits: HostConfiguration.Limits
    private var last = 0
    private var watch: MemoryWatch?
    private var finishing: EventSource?
    /// The groups that are there, by their folders, but for those that linger; and whether they are being ended for being the largest.
    private var members: [String: (group: ControlGroup, isEnding: Bool)] = [:]
    /// Groups that something still lives in, and how often that was found.
    private var lingering: [(group: ControlGroup, tries: Int)] = []
    private var timer: EventSource?
    private let sockets = LeftSockets()

    /// A group that does not go is left alone after so many tries, some ten seconds; the next helper's end tries again.
    static let patience = 16

    /// Divides the daemon's group: the daemon moves into its leaf, since a group with groups in it has no processes of its own. What an
    /// earlier daemon left is ended. If something fails everything is put back.
    ///
    /// - Parameter machine: the machine's memory in octets.
    init?(
        dividing place: ControlGroupPlace, process: pid_t, limits: HostConfiguration.Limits,
        machine: UInt64 = ControlGroups.physicalMemory
    ) {
        guard case .own(let own, let controllers) = place else { return nil }
        folder = own + "/" + ControlGroupPlace.parent
        self.limits = limits
        let leaf = own + "/" + ControlGroupPlace.leaf
        let enabling = ControlGroupPlace.needed.union(["cpu"]).intersection(controllers).sorted().map { "+" + $0 }
            .joined(separator: " ")
        guard Self.makeFolder(leaf), Self.makeFolder(folder), ControlFile.write("\(process)", to: leaf + "/cgroup.procs") == 0
        else {
            rmdir(leaf)
            rmdir(folder)
            return nil
        }
        guard ControlFile.write(enabling, to: own + "/cgroup.subtree_control") == 0,
            ControlFile.write(enabling, to: folder + "/cgroup.subtree_control") == 0
        else {
            let disabling = enabling.replacing("+", with: "-")
            ControlFile.write(disabling, to: own + "/cgroup.subtree_control")
            ControlFile.write("\(process)", to: own + "/cgroup.procs")
            rmdir(leaf)
            rmdir(folder)
            return nil
        }
        // The default is 100: against all helpers together the daemon, which needs little, has twice as much.
        ControlFile.write("200", to: leaf + "/cpu.weight")
        // Where the machine has no memory left, the kernel chooses among all programs.
        let unit = ControlFile.octets(own + "/memory.max").map { $0 - min(limits.reservedMemory, $0 / 2) }
        let whole = min(unit ?? .max, machine / 2)
        ControlFile.write("\(whole)", to: folder + "/memory.max")
        removeLeftovers()
        watch = MemoryWatch(
            folder: folder, limit: whole, ceiling: unit ?? machine,
            groups: { [weak self] in self.map { Array($0.members.values) } ?? [] },
            onLargest: { [weak self] group in
                self?.members[group.path]?.isEnding = true
                group.kill()
            })
    }

    /// Octets.
    nonisolated static var physicalMemory: UInt64 {
        UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    }

    private static func makeFolder(_ path: String) -> Bool { mkdir(path, 0o755) == 0 || errno == EEXIST }

    private func removeLeftovers() {
        for name in ControlFile.folders(in: folder) {
            let group = ControlGroup(existing: folder + "/" + name)
            group.kill()
            remove(group)
        }
    }

    /// The place of one process: its group, for as long as the process lives.
    struct Membership {
        let group: ControlGroup
        fileprivate let groups: ControlGroups

        /// Why something in it was ended for its memory; `nil` if nothing was.
        @LoopActor var memoryEnding: ControlGroup.MemoryEnding? {
            groups.members[group.path]?.isEnding == true ? .largest : group.memoryEnding
        }

        /// Its process was reaped, or never came.
        @LoopActor func end() { groups.remove(group) }
    }

    /// Where a process may be.
    enum Place: Hashable {
        /// Where the daemon is.
        case daemon
        /// In the group with this folder, or below it.
        case helper(group: String)
        case outside
    }

    /// Where a process is, or was when it ended; `nil` if there is none with this number.
    func place(of process: pid_t) -> Place? {
        ControlFile.read("/proc/\(process)/cgroup").map { place(root: ControlGroupPlace.root, membership: $0) }
    }

    /// The same from the text of its `/proc/PID/cgroup` and from where the hierarchy is mounted.
    func place(root: String, membership: String) -> Place {
        guard let path = ControlGroupPlace.path(in: membership) else { return .outside }
        let parts = (root + path).split(separator: "/"), own = folder.split(separator: "/").dropLast()
        guard parts.starts(with: own), parts.count > own.count else { return .outside }
        if parts[own.count] != ControlGroupPlace.parent { return parts[own.count] == ControlGroupPlace.leaf ? .daemon : .outside }
        // The kernel adds « (deleted)» to a group that is gone.
        guard parts.count > own.count + 1, let name = parts[own.count + 1].split(separator: " ").first else { return .outside }
        return .helper(group: folder + "/" + name)
    }

    /// A place in a new group; `nil` if there can be none.
    func join() -> Membership? { make().map { Membership(group: $0, groups: self) } }

    /// A new group with its limits; `nil` if there can be none.
    func make() -> ControlGroup? {
        // Perhaps what it was raised for is gone.
        if let watch, watch.lift > 0 { watch.settle() }
        for _ in 0..<64 {
            last += 1
            if let group = ControlGroup(path: "\(folder)/\(last)", limits: limits) {
                members[group.path] = (group, false)
                return group
            }
            // A number may be taken by what would not go.
            if errno != EEXIST { return nil }
        }
        return nil
    }

    /// Takes a group away whose process was reaped. What lives on in it is ended.
    func remove(_ group: ControlGroup) {
        members[group.path] = nil
        lingering.removeAll { $0.tries >= Self.patience && takeAway($0.group) }
        if !takeAway(group) {
            group.kill()
            lingering.append((group, 0))
        }
        again()
    }

    /// Whether it went.
    private func takeAway(_ group: ControlGroup) -> Bool { group.remove { sockets.end(ofGroup: $0) } }

    /// Calls back when no group lingers and no connection is left that somebody waits for, or after that time.
    func finish(within patience: Duration, _ body: @escaping () -> Void) {
        let isDone = patience <= .zero || (lingering.isEmpty && !sockets.hasFresh)
        guard !isDone else { return body() }
        finishing = try? EventLoop.shared.schedule(after: .milliseconds(50)) { [weak self] in
            guard let self else { return body() }
            finish(within: patience - .milliseconds(50), body)
        }
        if finishing == nil { body() }
    }

    /// How many do not go yet.
    var lingeringCount: Int { lingering.count }

    private func again() {
        guard timer == nil, let tries = lingering.map(\.tries).min(), tries < Self.patience else { return }
        let delay = Duration.milliseconds(min(10 << tries, 1000))
        timer = try? EventLoop.shared.schedule(after: delay, accuracy: .milliseconds(5)) { [weak self] in
            guard let self else { return }
            timer = nil
            tryAgain()
        }
    }

    private func tryAgain() {
        lingering = lingering.compactMap { group, tries in
            if tries >= Self.patience { return (group, tries) }
            if takeAway(group) { return nil }
            group.kill()
            return (group, tries + 1)
        }
        again()
    }
}
