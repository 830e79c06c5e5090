import CSystemd
import Glibc
import HotspotCore

/// A descriptor that this value closes at the end of its life: the only owner of a socket or pipe.
public struct Descriptor: ~Copyable, Sendable {
    /// The number; valid as long as this value lives.
    public let raw: Int32

    /// Takes over a descriptor.
    public init(_ raw: Int32) { self.raw = raw }

    deinit { close(raw) }

    /// Gives up the ownership; the receiver must close the descriptor.
    public consuming func take() -> Int32 {
        let raw = raw
        discard self
        return raw
    }
}

/// Unix stream sockets.
public enum Socket {
    /// The number of connections that may wait for accept(2).
    public static let backlog: Int32 = 64

    /// The longest path of a socket, in octets, with its NUL (unix(7)).
    static let pathLimit = 108

    /// Connects; blocks unless `nonblocking` is set.
    public static func connect(path: String, nonblocking: Bool = false) throws(VarlinkError) -> Descriptor {
        let socket = try make(nonblocking: nonblocking)
        let result = try withAddress(path) { address, length in Glibc.connect(socket.raw, address, length) }
        guard result == 0 || (nonblocking && errno == EINPROGRESS) else { throw .unreachable(path: path, code: errno) }
        return socket
    }

    /// Makes a non-blocking socket that listens at the path. Replaces a socket file if no process listens on it.
    ///
    /// - Parameter isLocked: whether the caller has locked the folder. Then only a child of a killed daemon can still listen, so the file is replaced
    ///   anyway.
    public static func listen(path: String, mode: mode_t, isLocked: Bool = false) throws(VarlinkError) -> Descriptor {
        let socket = try make(nonblocking: true)
        var result = try withAddress(path) { address, length in Glibc.bind(socket.raw, address, length) }
        if result != 0, errno == EADDRINUSE {
            if !isLocked, hasListener(path) { throw .unreachable(path: path, code: EADDRINUSE) }
            unlink(path)
            result = try withAddress(path) { address, length in Glibc.bind(socket.raw, address, length) }
        }
        guard result == 0 else { throw .unreachable(path: path, code: errno) }
        guard chmod(path, mode) == 0, Glibc.listen(socket.raw, backlog) == 0 else { throw .unreachable(path: path, code: errno) }
        return socket
    }

    /// Returns whether a process listens there, without waiting; a process with a full queue counts.
    private static func hasListener(_ path: String) -> Bool {
        do throws(VarlinkError) {
            let peer = try connect(path: path, nonblocking: true)
            return peer.raw >= 0
        } catch {
            return error == .unreachable(path: path, code: EAGAIN)
        }
    }

    /// Returns two connected ends.
    public static func pair(nonblocking: Bool = false) throws(VarlinkError) -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | (nonblocking ? Int32(SOCK_NONBLOCK.rawValue) : 0)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system(operation: "socketpair", code: errno) }
        return (ends[0], ends[1])
    }

    private static func make(nonblocking: Bool) throws(VarlinkError) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | (nonblocking ? Int32(SOCK_NONBLOCK.rawValue) : 0)
        let raw = socket(AF_UNIX, type, 0)
        guard raw >= 0 else { throw .system(operation: "socket", code: errno) }
        return Descriptor(raw)
    }

    /// Calls the body with the address of a path, for system calls. Throws if the path is too long.
    public static func withAddress<T>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
    ) throws(VarlinkError) -> T {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        guard octets.count < pathLimit, !octets.contains(0) else { throw .unreachable(path: path, code: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}

/// The process at the other end of a unix socket, as recorded by the kernel when the connection was made.
public struct PeerCredentials: Hashable, Sendable {
    /// User.
    public let uid: uid_t
    /// Primary group.
    public let gid: gid_t
    /// The supplementary groups at the time of the connection; empty if the kernel does not report them.
    public let groups: [gid_t]
    /// The process number, only for the log: the process may have ended, and the number may be reused.
    public let pid: pid_t

    /// Credentials, for tests.
    public init(uid: uid_t, gid: gid_t, groups: [gid_t] = [], pid: pid_t) {
        self.uid = uid
        self.gid = gid
        self.groups = groups
        self.pid = pid
    }

    /// Reads SO_PEERCRED, which is three 32-bit numbers: process, user, group.
    public init?(socket: Int32) {
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(12)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12 else { return nil }
        self.init(
            uid: credentials.uid, gid: credentials.gid, groups: Self.groups(ofPeerOf: socket), pid: credentials.pid)
    }

    /// Returns the groups of the peer with SO_PEERGROUPS (Linux 4.13). The user database is not read: it may be remote, and behind this very portal.
    private static func groups(ofPeerOf socket: Int32) -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: 256)
        for _ in 0..<2 {
            var length = socklen_t(groups.count * MemoryLayout<gid_t>.size)
            if getsockopt(socket, SOL_SOCKET, 59 /* SO_PEERGROUPS */, &groups, &length) == 0 {
                return Array(groups.prefix(Int(length) / MemoryLayout<gid_t>.size))
            }
            // After this error, the length is the needed size; NGROUPS_MAX is 65,536.
            guard errno == ERANGE, length <= 1 << 18 else { return [] }
            groups = [gid_t](repeating: 0, count: Int(length) / MemoryLayout<gid_t>.size)
        }
        return []
    }
}
