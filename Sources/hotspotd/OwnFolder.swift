import Glibc

/// The folders that the daemon makes for itself.
enum OwnFolder {
    /// Makes a folder and its parents if they are missing.
    static func make(_ path: String, mode: mode_t) throws(DaemonError) {
        var built = ""
        for part in path.split(separator: "/") {
            built += "/" + part
            if mkdir(built, built == path ? mode : 0o755) != 0, errno != EEXIST {
                throw DaemonError("\(built): \(String(cString: strerror(errno)))")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw DaemonError("\(path) is not a folder") }
        guard access(path, W_OK) == 0 else { throw DaemonError("\(path) cannot be written; name another folder in the settings") }
        chmod(path, mode)
    }

    /// Allows only one daemon for a runtime folder. The lock lasts as long as the process, or until its file is removed. A helper that outlives a
    /// killed daemon does not hold the lock, because record locks are not inherited (fcntl(2)).
    static func lock(_ folder: String) throws(DaemonError) {
        let descriptor = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DaemonError("\(folder)/lock: \(String(cString: strerror(errno)))") }
        var whole = flock()
        whole.l_type = Int16(F_WRLCK)
        guard fcntl(descriptor, F_SETLK, &whole) == 0 else {
            throw DaemonError("another hotspotd is using \(folder); stop it first")
        }
    }
}

/// The reason why the daemon cannot start, as one sentence.
struct DaemonError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
