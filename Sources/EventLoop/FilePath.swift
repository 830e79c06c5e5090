import Glibc

/// Paths of files and folders.
public enum FilePath {
    public enum FileType { case file, folder }

    /// Returns the type of the file at a path; `nil` if the path names no file. Everything except a folder counts as a file.
    public static func kind(of path: String) -> FileType? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
    }

    /// Returns the path with its links resolved, as far as the path exists.
    public static func canonical(_ path: String) -> String {
        guard let pointer = realpath(path, nil) else { return path }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    /// Returns whether a path is the folder or lies in it.
    public static func isWithin(_ path: String, _ folder: String) -> Bool {
        folder == "/" || path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    public static func parent(of path: String) -> String {
        let plain = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let slash = plain.lastIndex(of: "/"), slash != plain.startIndex else { return "/" }
        return String(plain[..<slash])
    }

    /// Returns the first octets of a file, without waiting at a pipe or device. Returns `nil` and sets errno if the file cannot be read.
    public static func octets(of path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Limits are far above the size of most files; the unused pages of the buffer cost no memory.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limit) { buffer in
            var filled = 0
            // Read until the end, because files of /proc come in pieces.
            while filled < limit {
                let count = read(descriptor, buffer.baseAddress! + filled, limit - filled)
                if count < 0, filled == 0 { return nil }
                guard count > 0 else { break }
                filled += count
            }
            return Array(buffer[..<filled])
        }
    }

    /// Returns the first octets of a file as text, without waiting at a pipe or device, and with U+FFFD for octets that are not UTF-8.
    public static func text(of path: String, limit: Int) -> String? {
        octets(of: path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a new file, whole or not at all. Returns `false` and sets errno if the file exists or cannot be written, as on a full disk.
    public static func create(_ path: String, _ text: String, mode: mode_t) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return false }
        var rest = Array(text.utf8)[...]
        var count = 1
        while !rest.isEmpty, count > 0 {
            count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            rest = rest.dropFirst(max(0, count))
        }
        var cause = errno
        // Some file systems report a full disk only on closing.
        let isClosed = close(descriptor) == 0
        if count > 0, isClosed { return true }
        if !isClosed { cause = errno }
        unlink(path)
        errno = cause
        return false
    }

    /// Returns the names in a folder, in the folder's order; none if it cannot be read.
    public static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the target of a symbolic link; `nil` if the path is not a link.
    public static func target(ofLink path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}
