// This target seals the stored answers, and decides to whom they may be released. ``Vault`` provides the calls.

import CSodium
import Glibc

/// The file with the key of the vault or of the companion service: 32 random octets, readable only by the file's owner.
package enum KeyFile {
    static let length = 32

    /// Reads the key; returns `nil` if there is no such file. Throws ``VaultError/keyRefused(path:reason:)``.
    package static func read(_ path: String) throws(VaultError) -> SecretBytes? {
        func refuse(_ reason: String) -> VaultError { .keyRefused(path: path, reason: reason) }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw refuse(errno == ELOOP ? "it is a symbolic link" : String(cString: strerror(errno)))
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw refuse("it is not a file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw refuse("it belongs to user \(status.st_uid)") }
        // A credential of the service manager (systemd.exec(5)) belongs to root. The access list that lets the daemon read it shows in the mode as a
        // group that may read.
        let forbidden: mode_t = status.st_uid == geteuid() ? 0o077 : 0o037
        guard status.st_mode & forbidden == 0 else { throw refuse("other users may read or write it; set its mode to 0600") }
        guard status.st_size == length else { throw refuse("it has \(status.st_size) octets instead of \(length)") }
        let key = try SecretBytes(count: length)
        let count = key.withMutableBytes { Glibc.read(file, $0.baseAddress, length) }
        guard count == length else { throw refuse("it cannot be read completely") }
        guard key.withBytes({ sodium_is_zero($0.baseAddress!, length) == 0 }) else { throw refuse("it is empty") }
        return key
    }

    /// Creates a new key, and flushes it to the disk before its first use. Never replaces a file.
    package static func make(_ path: String) throws(VaultError) -> SecretBytes {
        let key = try SecretBytes(count: length)
        key.withMutableBytes { randombytes_buf($0.baseAddress!, length) }
        try write(key, to: path)
        return key
    }

    /// Renames a key's file.
    static func putAside(_ path: String) throws(VaultError) {
        guard rename(path, "\(path).replaced-\(time(nil))") == 0 else {
            throw .keyRefused(path: path, reason: "cannot be moved aside: \(String(cString: strerror(errno)))")
        }
    }

    /// Writes a key to a file that does not exist, and flushes it.
    static func write(_ key: borrowing SecretBytes, to path: String) throws(VaultError) {
        func refuse(_ reason: String, _ code: Int32) -> VaultError {
            .keyRefused(path: path, reason: "\(reason): \(String(cString: strerror(code)))")
        }
        let draft = "\(path).new-\(getpid())"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw refuse("cannot be created", errno) }
        defer { unlink(draft) }
        let written = key.withBytes { Glibc.write(file, $0.baseAddress, length) }
        let synced = fsync(file)
        let code = errno
        close(file)
        guard written == length, synced == 0 else { throw refuse("cannot be written", written < 0 || synced < 0 ? code : ENOSPC) }
        // Unlike a rename, a link fails if another process created the file meanwhile.
        guard link(draft, path) == 0 else { throw refuse("cannot be moved into place", errno) }
        let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }
}
