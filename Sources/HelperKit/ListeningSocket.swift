import Glibc

/// A socket that the daemon listens on and handed over by the service manager's protocol (sd_listen_fds(3)).
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let name: String

    /// The sockets in the environment, if it is meant for this process.
    static func fromEnvironment() -> [ListeningSocket] {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        guard let process = variable("LISTEN_PID").flatMap(Int32.init), process == getpid(),
            let count = variable("LISTEN_FDS").flatMap(Int32.init), (1...256).contains(count)
        else { return [] }
        let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        return (0..<count).map { index in
            _ = fcntl(3 + index, F_SETFD, FD_CLOEXEC)
            return ListeningSocket(descriptor: 3 + index, name: Int(index) < names.count ? names[Int(index)] : "")
        }
    }
}
