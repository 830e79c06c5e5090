import Glibc

/// The folder of the database and the vault's key: accessible only to the daemon's user, and no symbolic link.
enum StateFolder {
    /// Creates the folder if it is missing, checks it, and returns its path with symbolic links among the parents resolved, because
    /// SQLite refuses those. The parents must exist.
    static func prepare(_ path: String) throws(StoreError) -> String {
        func refuse(_ reason: String) -> StoreError { .folder(path: path, reason: reason) }
        var name = path
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        guard name.hasPrefix("/"), name.count > 1 else { throw refuse("the state folder must be an absolute path") }
        if mkdir(name, 0o700) != 0, errno != EEXIST { throw refuse("cannot be made: \(message(errno))") }
        var status = stat()
        guard lstat(name, &status) == 0 else { throw refuse(message(errno)) }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw refuse("is a symbolic link; name the folder itself") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw refuse("is not a folder") }
        guard status.st_uid == geteuid() else {
            throw refuse("belongs to user \(status.st_uid), and hotspotd runs as user \(geteuid()); give it to the latter")
        }
        guard status.st_mode & 0o022 == 0 else { throw refuse("others may write to it; set its mode to 0700") }
        if status.st_mode & 0o077 != 0, chmod(name, 0o700) != 0 {
            throw refuse("its mode cannot be set to 0700: \(message(errno))")
        }
        guard access(name, W_OK | X_OK) == 0 else { throw refuse("cannot be written to: \(message(errno))") }
        guard let real = realpath(name, nil) else { throw refuse(message(errno)) }
        defer { free(real) }
        return String(cString: real)
    }

    /// Creates an empty file with mode 0600 if it is missing; refuses links and other users' files.
    static func prepareFile(_ path: String) throws(StoreError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw .database(path: path, reason: errno == ELOOP ? "is a symbolic link" : "cannot be opened: \(message(errno))")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .database(path: path, reason: "is not a file")
        }
        guard status.st_uid == geteuid() else { throw .database(path: path, reason: "belongs to user \(status.st_uid)") }
        if status.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
    }

    static func message(_ code: Int32) -> String { String(cString: strerror(code)) }
}
