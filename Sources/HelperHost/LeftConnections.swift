import EventLoop
import Glibc
import HotspotCore

/// The connections of helpers whose daemon did not end by itself.
///
/// Connections are known by their control group (``LeftSockets``). The service manager takes a service's groups away when all of it has
/// ended, and the next daemon cannot know what they were; so this is for what the manager runs in between (`ExecStopPost=`).
@LoopActor public enum LeftConnections {
    /// Ends those of all groups that a daemon made in this process's service, without a moment for last words. Where there is no such
    /// group, or no right to do so (CAP_NET_ADMIN), nothing happens.
    ///
    /// - Parameter patience: the longest time that it takes.
    /// - Parameter body: called in the end.
    public static func end(within patience: Duration, _ body: @escaping @LoopActor () -> Void) {
        end(
            root: ControlGroupPlace.root, membership: ControlFile.read("/proc/self/cgroup") ?? "",
            sockets: LeftSockets(grace: .zero),
            patience, body)
    }

    /// - Parameters:
    ///   - root: where the hierarchy is mounted.
    ///   - membership: the text of `/proc/self/cgroup`.
    static func end(
        root: String, membership: String, sockets: LeftSockets, _ patience: Duration, _ body: @escaping @LoopActor () -> Void
    ) {
        for group in groups(root: root, membership: membership) { sockets.end(ofGroup: group) }
        wait(for: sockets, until: EventLoop.now + patience, body)
    }

    /// The numbers of the groups, those below them among them.
    static func groups(root: String, membership: String) -> [UInt64] {
        guard let path = ControlGroupPlace.path(in: membership) else { return [] }
        // Who runs at the end of a service that divides its group has a part of its own.
        let service =
            path.hasSuffix("/" + ControlGroupPlace.control) ? path.dropLast(ControlGroupPlace.control.count + 1) : path[...]
        var found: [UInt64] = []
        var folders = [root + service + "/" + ControlGroupPlace.parent]
        while let folder = folders.popLast(), found.count < LeftSockets.limit {
            var status = stat()
            if lstat(folder, &status) == 0 { found.append(UInt64(status.st_ino)) }
            folders += ControlFile.folders(in: folder).map { folder + "/" + $0 }
        }
        return found
    }

    private static var timer: EventSource?

    private static func wait(for sockets: LeftSockets, until end: Instant, _ body: @escaping @LoopActor () -> Void) {
        timer = nil
        guard sockets.count > 0, EventLoop.now < end else { return body() }
        timer = try? EventLoop.shared.schedule(after: .milliseconds(10)) { wait(for: sockets, until: end, body) }
        if timer == nil { body() }
    }
}
