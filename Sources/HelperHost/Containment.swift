import CLaunch

/// How far a helper's process is shut in: what the kernel and the daemon's own privileges allowed.
public struct Containment: Hashable, Sendable {
    /// Levels of `launch.h`.
    let levels: UInt32

    init(levels: UInt32) { self.levels = levels }

    private func has(_ level: launch_level) -> Bool { levels & level.rawValue != 0 }

    /// Whether the daemon's folders cannot be read by it. If not, it gets no stored credential.
    public var hidesFolders: Bool { has(LAUNCH_HIDDEN) || has(LAUNCH_LANDLOCK) }

    /// Whether it sees empty folders in place of the daemon's.
    var coversFolders: Bool { has(LAUNCH_HIDDEN) }

    /// Whether nothing that it starts can outlive it.
    public var leavesNothing: Bool { has(LAUNCH_PROCESS_NAMESPACE) }

    private static let table: [(level: launch_level, word: String)] = [
        (LAUNCH_NO_NEW_PRIVILEGES, "no new privileges"), (LAUNCH_NO_CAPABILITIES, "no capabilities"),
        (LAUNCH_USER_NAMESPACE, "own user namespace"), (LAUNCH_PROCESS_NAMESPACE, "own process namespace"),
        (LAUNCH_PRIVATE_PROC, "own /proc"), (LAUNCH_MOUNT_NAMESPACE, "own mount namespace"),
        (LAUNCH_READ_ONLY_ROOT, "read-only root"), (LAUNCH_PRIVATE_SCRATCH, "private TMPDIR"),
        (LAUNCH_HIDDEN, "daemon's folders covered"), (LAUNCH_LANDLOCK, "Landlock"),
        (LAUNCH_LANDLOCK_TRUNCATE, "Landlock truncation"), (LAUNCH_LANDLOCK_SCOPED, "Landlock scopes"),
        (LAUNCH_NO_NETWORK, "no network"), (LAUNCH_LIMITS, "limits"), (LAUNCH_PROCESS_LIMIT, "process limit"),
    ]

    /// What was reached, in words.
    public var words: [String] { Self.table.filter { has($0.level) }.map(\.word) }

    /// What every helper should have and this one has not.
    public var missing: [String] {
        // A user namespace is a means, no network is for one command, and the rest of Landlock depends on the kernel's age alone.
        let optional: Set<String> = ["own user namespace", "no network", "process limit"]
        return Self.table.filter { !has($0.level) && !optional.contains($0.word) }.map(\.word)
    }
}
