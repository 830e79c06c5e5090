import Glibc

/// Identifies the file at a path, to notice that another file has replaced it.
struct FileIdentity: Equatable {
    private let (device, inode): (dev_t, ino_t)

    /// Returns `nil` if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}

/// The folder of the database and the vault's key: accessible only to the daemon's user, and not a symbolic link.
enum StateFolder {
    /// Returns the folder's path without symbolic links among its parents, because SQLite refuses those. The parents must exist.
    static func resolve(_ path: String) throws(StoreError) -> String {
        let parts = path.split(separator: "/")
        guard path.hasPrefix("/"), let last = parts.last else {
            throw .folder(path: path, reason: "the state folder must be an absolute path")
        }
        guard let real = realpath("/" + parts.dropLast().joined(separator: "/"), nil) else {
            throw .folder(path: path, reason: "cannot be made: \(message(errno))")
        }
        defer { free(real) }
        let parent = String(cString: real)
        return (parent == "/" ? "" : parent) + "/" + last
    }

    /// Creates the folder if it is missing, and checks it. Throws ``StoreError/notSaved(reason:)`` if nothing can be written at
    /// the moment.
    static func prepare(_ name: String) throws(StoreError) {
        func refuse(_ reason: String) -> StoreError { .folder(path: name, reason: reason) }
        if mkdir(name, 0o700) != 0, errno != EEXIST { throw unsaved(errno) ?? refuse("cannot be made: \(message(errno))") }
        var status = stat()
        guard lstat(name, &status) == 0 else { throw refuse(message(errno)) }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw refuse("is a symbolic link; name the folder itself") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw refuse("is not a folder") }
        guard status.st_uid == geteuid() else {
            throw refuse("belongs to user \(status.st_uid), but hotspotd runs as user \(geteuid()); make that user its owner")
        }
        guard status.st_mode & 0o022 == 0 else { throw refuse("other users may write to it; set its mode to 0700") }
        if status.st_mode & 0o077 != 0, chmod(name, 0o700) != 0 {
            throw unsaved(errno) ?? refuse("its mode cannot be set to 0700: \(message(errno))")
        }
        guard access(name, W_OK | X_OK) == 0 else { throw unsaved(errno) ?? refuse("cannot be written to: \(message(errno))") }
    }

    /// Returns the error for a folder that cannot be written at the moment; `nil` for any other error number.
    private static func unsaved(_ code: Int32) -> StoreError? {
        [EROFS, ENOSPC, EDQUOT, EIO, EACCES, EPERM].contains(code) ? .notSaved(reason: message(code)) : nil
    }

    /// Creates an empty file with mode 0600 if it is missing; refuses symbolic links and other users' files.
    static func prepareFile(_ path: String) throws(StoreError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw unsaved(errno)
                ?? .database(path: path, reason: errno == ELOOP ? "is a symbolic link" : "cannot be opened: \(message(errno))")
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
