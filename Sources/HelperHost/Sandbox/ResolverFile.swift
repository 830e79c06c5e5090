import EventLoop
import Glibc
import HotspotCore

/// The copy of `/etc/resolv.conf` that helpers see.
///
/// A helper is started before the network has announced its nameservers, and the programs that manage links replace the file. A sandbox would keep
/// showing the old file. So helpers see a copy that the daemon rewrites in place whenever the system's file changes; a C library reads it again when
/// its modification time changes.
@LoopActor final class ResolverFile {
    /// The largest part of the file that is copied, in octets; a resolver reads three nameservers.
    private static let limit = 16 << 10
    private static let source = "/etc/resolv.conf"

    let path: String
    /// The inode and the modification time of the copied file.
    private var known: [Int] = []

    init(path: String) { self.path = path }

    /// Copies the system's file if it has changed, or if the copy is missing.
    func update() {
        var status = stat()
        let exists = stat(Self.source, &status) == 0
        let state = exists ? [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : []
        if exists, state == known, access(path, F_OK) == 0 { return }
        guard let octets = exists ? FilePath.octets(of: Self.source, limit: Self.limit) : [] else { return }
        let copy = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard copy >= 0 else { return }
        _ = pwrite(copy, octets, octets.count, 0)
        ftruncate(copy, off_t(octets.count))
        close(copy)
        known = state
    }
}
