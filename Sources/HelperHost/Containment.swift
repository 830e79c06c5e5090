import CLaunch
import Glibc

/// How far a helper's process is shut in: what the kernel and the daemon's own privileges allowed.
public struct Containment: Hashable, Sendable {
    /// Levels of `launch.h`.
    let levels: UInt32
    /// Folders of its `ReadWritePaths=` that it cannot write to, with the error numbers of the kernel.
    let deniedPaths: [String: Int32]
    /// The daemon runs as root, as it does outside of its unit, and the helper with it.
    let isRoot: Bool

    /// A control group of its own could have been had, if the daemon's unit allowed it.
    private let missesGroup: Bool

    init(
        levels: UInt32, deniedPaths: [String: Int32] = [:], missesGroup: Bool = false, isRoot: Bool = geteuid() == 0
    ) {
        self.levels = levels
        self.missesGroup = missesGroup
        self.isRoot = isRoot
        self.deniedPaths = deniedPaths
    }

    private func has(_ level: launch_level) -> Bool { levels & level.rawValue != 0 }

    /// Whether the daemon's folders are out of its reach. If not, it gets no stored credential. Landlock alone does not count: it
    /// keeps files from being opened, but not sockets from being connected to (landlock(7)), and the control sockets are in there.
    public var hidesFolders: Bool { has(LAUNCH_HIDDEN) }

    /// Whether nothing that it starts can outlive it.
    public var leavesNothing: Bool { has(LAUNCH_PROCESS_NAMESPACE) }

    /// Whether it can send a signal to the daemon, whose user it shares.
    private var canSignal: Bool { !has(LAUNCH_PROCESS_NAMESPACE) && !has(LAUNCH_LANDLOCK_SCOPED) }

    private static let table: [(level: launch_level, word: String)] = [
        (LAUNCH_NO_NEW_PRIVILEGES, "no new privileges"), (LAUNCH_NO_CAPABILITIES, "no capabilities"),
        (LAUNCH_USER_NAMESPACE, "own user namespace"), (LAUNCH_PROCESS_NAMESPACE, "own process namespace"),
        (LAUNCH_PRIVATE_PROC, "own /proc"), (LAUNCH_MOUNT_NAMESPACE, "own mount namespace"),
        (LAUNCH_READ_ONLY_ROOT, "read-only root"), (LAUNCH_PRIVATE_SCRATCH, "private TMPDIR"),
        (LAUNCH_HIDDEN, "daemon's folders covered"), (LAUNCH_IPC_NAMESPACE, "own IPC namespace"),
        (LAUNCH_FILTER, "system-call filter"), (LAUNCH_LANDLOCK, "Landlock"),
        (LAUNCH_LANDLOCK_TRUNCATE, "Landlock truncation"), (LAUNCH_LANDLOCK_SCOPED, "Landlock scopes"),
        (LAUNCH_NO_NETWORK, "no network"), (LAUNCH_LIMITS, "limits"), (LAUNCH_PROCESS_LIMIT, "process limit"),
        (LAUNCH_OWN_GROUP, "own control group"), (LAUNCH_CONNECTION_LIMIT, "connection limit"),
    ]

    /// What was reached, in words.
    public var words: [String] { Self.table.filter { has($0.level) }.map(\.word) }

    /// What every helper should have and this one has not, and what follows from that.
    public var missing: [String] {
        // A user namespace is a means, and no network is for one command. Without an IPC namespace the filter refuses all that is
        // kept in one.
        var optional: Set<String> = ["own user namespace", "no network"]
        // Where nobody could give a control group its lack is nothing to be told of; the limits of each process hold there.
        if !missesGroup { optional.insert("own control group") }
        if has(LAUNCH_FILTER) { optional.insert("own IPC namespace") }
        let lacking = Self.table.filter { !has($0.level) && !optional.contains($0.word) }
        // A helper has the daemon's user. Without any capability root's files are still root's.
        return lacking.map { $0.word + (consequence(of: $0.level) ?? "") }
            + (isRoot ? ["a user other than root (it can read what only root may)"] : [])
    }

    /// What a helper can do without a level, where its name does not say so.
    private func consequence(of level: launch_level) -> String? {
        switch level {
        case LAUNCH_HIDDEN: " (it gets no stored credential)"
        case LAUNCH_PROCESS_NAMESPACE:
            canSignal ? " (it can end the daemon, leave processes)" : " (it can leave processes behind)"
        case LAUNCH_IPC_NAMESPACE: " (it can leave shared memory)"
        case LAUNCH_FILTER: " (it can see networks in sight)"
        case LAUNCH_PRIVATE_SCRATCH: " (it can fill the file system of the daemon's runtime folder)"
        case LAUNCH_LANDLOCK_SCOPED: " (it can reach programs that listen on abstract sockets)"
        case LAUNCH_PROCESS_LIMIT: " (it can start any number)"
        case LAUNCH_CONNECTION_LIMIT: " (it can take all ports to a server for a minute)"
        case LAUNCH_OWN_GROUP: " (its processes together may take what is there for all)"
        default: nil
        }
    }
}
