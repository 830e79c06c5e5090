import CLaunch
import Glibc

/// Where the daemon's own control group is, and whether it may be divided (cgroups(7); the kernel's cgroup-v2 document, «Delegation»).
///
/// A group is the daemon's own only if whoever made it gave it away, nobody else is in it, and nobody has divided it before. Everything
/// else stays as it is found.
enum ControlGroupPlace: Hashable {
    /// This folder is the daemon's to divide; these controllers are there for it.
    case own(folder: String, controllers: Set<String>)
    /// The daemon is a service of the system's manager, which keeps the group: `Delegate=` in its unit would change that.
    case kept
    /// Nothing that anybody could change in a line: no such file system, a user's session, a container.
    case none

    /// Where the unified hierarchy is mounted.
    static let root = "/sys/fs/cgroup"
    /// The groups that are made in the daemon's own: one for itself, one for everybody else.
    static let leaf = "daemon", parent = "helpers"
    /// In which systemd runs what ends or reloads a service that divides its group.
    static let control = ".control"
    /// Without these there is no use in a group; cpu comes with them where it can.
    static let needed: Set<String> = ["memory", "pids"]

    /// The group's path in the unified hierarchy, from the text of `/proc/self/cgroup`; `nil` if it has none of its own.
    static func path(in membership: String) -> String? {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
        let path = String(line.dropFirst(3))
        // The root is nobody's, and what lies above a namespace's root is out of sight.
        guard path.hasPrefix("/"), path.count > 1, !path.split(separator: "/").contains("..") else { return nil }
        return path
    }

    /// Looks, and changes nothing.
    ///
    /// - Parameters:
    ///   - root: where the hierarchy is mounted.
    ///   - membership: the text of `/proc/self/cgroup`.
    ///   - process: the daemon's number.
    ///   - isReal: the folders must be a cgroup2 file system; only tests look at others.
    ///   - isGivenAway: whether whoever made a folder gave it to the daemon.
    static func find(
        root: String, membership: String, process: pid_t, isReal: Bool = true, isGivenAway: (String) -> Bool = isGivenAway
    ) -> ControlGroupPlace {
        guard let path = path(in: membership) else { return .none }
        let folder = root + path
        guard !isReal || launch_is_control_group(folder) != 0 else { return .none }
        // A user's own manager has units as well, of which the user is told nothing.
        let refusal: ControlGroupPlace = path.hasSuffix(".service") && !path.contains("/user@") ? .kept : .none
        guard let list = ControlFile.read(folder + "/cgroup.controllers") else { return .none }
        guard isGivenAway(folder), isWritable(folder) else { return refusal }
        let controllers = Set(list.split(whereSeparator: \.isWhitespace).map(String.init))
        guard controllers.isSuperset(of: needed) else { return refusal }
        guard isAlone(process, in: ControlFile.read(folder + "/cgroup.procs")) else { return refusal }
        // Those of an earlier daemon may be there.
        guard Set(ControlFile.folders(in: folder)).isSubset(of: [leaf, parent, control]) else { return refusal }
        return .own(folder: folder, controllers: controllers)
    }

    /// Whether the list of a group's processes has nobody but this one.
    static func isAlone(_ process: pid_t, in list: String?) -> Bool {
        guard let list else { return false }
        return list.split(separator: "\n").map(String.init) == ["\(process)"]
    }

    /// By systemd's mark; and what belongs to a user who is not root was given to it.
    static func isGivenAway(_ folder: String) -> Bool {
        if launch_is_given_away(folder) != 0 { return true }
        var status = stat()
        return stat(folder, &status) == 0 && status.st_uid != 0 && status.st_uid == geteuid()
    }

    private static func isWritable(_ folder: String) -> Bool {
        ["", "/cgroup.procs", "/cgroup.subtree_control"].allSatisfy { access(folder + $0, W_OK) == 0 }
    }
}
