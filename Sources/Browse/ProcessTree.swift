import EventLoop
import Glibc

/// The processes below this one, according to `/proc`.
enum ProcessTree {
    /// Returns whether a process below this one, running as this user, made a connection to our port on loopback.
    ///
    /// Threat: another program of this machine uses the proxy, whose connections bypass a VPN. So do not serve any other client.
    static func made(connectionFrom client: UInt16, to port: UInt16) -> Bool {
        guard let owner = SocketOwner.find(connectionFrom: client, to: port), owner.user == getuid() else { return false }
        return descendants().contains { holds($0, inode: owner.inode) }
    }

    /// Returns all processes below this one.
    static func descendants() -> Set<pid_t> {
        var children: [pid_t: [pid_t]] = [:]
        for name in FilePath.names(in: "/proc") {
            guard let process = pid_t(name), let line = FilePath.text(of: "/proc/\(name)/stat", limit: 4096),
                let parent = parent(in: line)
            else { continue }
            children[parent, default: []].append(process)
        }
        var found: Set<pid_t> = []
        var next = [getpid()]
        while let process = next.popLast() {
            for child in children[process] ?? [] where found.insert(child).inserted { next.append(child) }
        }
        return found
    }

    /// Reads the parent from `/proc/PID/stat`: the second field after the name. The name is in parentheses and may contain any characters.
    static func parent(in line: String) -> pid_t? {
        guard let end = line.lastIndex(of: ")") else { return nil }
        let fields = line[line.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? pid_t(fields[1]) : nil
    }

    private static func holds(_ process: pid_t, inode: UInt64) -> Bool {
        let folder = "/proc/\(process)/fd"
        return FilePath.names(in: folder).contains { FilePath.target(ofLink: "\(folder)/\($0)") == "socket:[\(inode)]" }
    }
}
