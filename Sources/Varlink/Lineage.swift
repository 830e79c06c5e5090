import CSystemd
import Glibc
import HotspotCore

/// Which processes come from this one.
public enum Lineage {
    /// From now on every descendant stays one: whoever loses its parent by a double fork becomes this process's own child
    /// (prctl(2), PR_SET_CHILD_SUBREAPER), and is this process's to reap. `false` if the kernel refuses.
    @discardableResult public static func keepOrphans() -> Bool { csystemd_adopt_orphans() == 0 }

    /// Processes whose parent this process is now, as the kernel lists them (proc(5), /proc/PID/task/TID/children); empty where it does
    /// not.
    public static var children: [pid_t] {
        guard let stream = opendir("/proc/self/task") else { return [] }
        defer { closedir(stream) }
        var children: [pid_t] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard Int(name) != nil else { continue }
            let text = String(decoding: read("/proc/self/task/\(name)/children"), as: UTF8.self)
            children += text.split(separator: " ").compactMap { pid_t($0) }
        }
        return children
    }

    /// What a process is to this one.
    public enum Descent: Hashable, Sendable {
        /// It does not come from this process.
        case foreign
        /// It is this child, or descends from it.
        case child(pid_t)
        /// It comes from this process, or that cannot be told.
        case unclear
    }

    /// What the peer of a unix socket is to this process. What cannot be told is no stranger: a peer that is gone already may have been
    /// anybody.
    ///
    /// - Parameters:
    ///   - pid: the peer's number as SO_PEERCRED has it; 0 stands for a process outside of our PID namespace, and nobody who comes from
    ///     us is there.
    ///   - known: what is known of a number otherwise. Where it is `nil` the parents are looked up in /proc/PID/stat, and the kernel
    ///     takes hold of a process's memory for that: should the process end meanwhile, this one waits for what its end waits for, as
    ///     the server of a file that it had mapped.
    static func descent(ofPeerOf socket: Int32, pid: pid_t, known: (pid_t) -> Descent?) -> Descent {
        guard pid != 0, pid != getpid() else { return .foreign }
        // The number could be another's by now; the descriptor (SO_PEERPIDFD, Linux 6.5) is the very process. An older kernel has none.
        var pidfd: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        let has = getsockopt(socket, SOL_SOCKET, 77 /* SO_PEERPIDFD */, &pidfd, &length) == 0
        guard has || errno == ENOPROTOOPT else { return .unclear }
        defer { if has { close(pidfd) } }
        // Twice, because an ancestor may end and its number be given away while one looks.
        var descent = known(pid) ?? descent(of: pid)
        if descent == .foreign { descent = known(pid) ?? Self.descent(of: pid) }
        guard has else { return descent }
        // A pidfd is readable as soon as its process has ended: then the walk may have begun at another's number.
        var state = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) != 0 ? .unclear : descent
    }

    /// From a process up to its oldest ancestor.
    private static func descent(of pid: pid_t) -> Descent {
        var current = pid
        for _ in 0..<256 {
            guard let parent = parent(of: current) else { return .unclear }
            if parent == getpid() { return .child(current) }
            if parent <= 1 { return .foreign }
            current = parent
        }
        return .unclear
    }

    /// The fourth field of /proc/PID/stat; the second is in brackets and may hold anything.
    private static func parent(of pid: pid_t) -> pid_t? {
        let octets = read("/proc/\(pid)/stat")
        guard let bracket = octets.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = octets[(bracket + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
    }

    private static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: 16 * 1024)
        let count = Glibc.read(descriptor, &octets, octets.count)
        return count > 0 ? Array(octets[..<count]) : []
    }
}
