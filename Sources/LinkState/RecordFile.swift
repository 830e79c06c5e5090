import Glibc

/// Reads the files of other programs, which may contain anything: regular files only, up to a limit.
enum RecordFile {
    /// The largest part of a file that is read, in octets.
    static let limit = 256 * 1024
    /// The largest number of entries in a folder that are read.
    static let entryLimit = 1024

    struct Content {
        let octets: [UInt8]
        /// The time of the last change, in seconds since 1970.
        let written: Int64
    }

    /// Reads a file; `nil` if it is absent, unreadable, not a regular file, or too large.
    ///
    /// - Parameter tail: whether to read only the end of a file that is too large, after the first line that is a closing brace.
    static func read(_ path: String, tail: Bool = false) -> Content? {
        // Non-blocking, because opening a pipe would block the loop.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let isTail = status.st_size > limit
        if isTail {
            guard tail, lseek(descriptor, status.st_size - limit, SEEK_SET) >= 0 else { return nil }
        }
        // Read until the end, because the files of /proc report no size.
        var content: ArraySlice<UInt8> = []
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { chunk in
            while content.count < limit {
                let count = Glibc.read(descriptor, chunk.baseAddress, min(chunk.count, limit - content.count))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                content += chunk[..<count]
            }
        }
        if isTail {
            // Begin after a whole block: a reading that begins within a quotation would take quotations for text, and text for quotations.
            let end = Array("\n}\n".utf8)
            while !content.isEmpty, !content.starts(with: end) { content = content.dropFirst() }
        }
        return Content(octets: Array(content), written: Int64(status.st_mtim.tv_sec))
    }

    /// Returns the names in a folder with this prefix and suffix, sorted; none if the folder cannot be read.
    static func names(in folder: String, prefix: String, suffix: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        for _ in 0..<entryLimit {
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count >= prefix.utf8.count + suffix.utf8.count {
                names.append(name)
            }
        }
        return names.sorted()
    }
}
