import Glibc

/// The small files of a control group. Everything is bounded, and nothing waits: a file that is no plain one is not opened.
enum ControlFile {
    /// The most that is read of one; the longest list that is of interest is that of a group's processes.
    static let limit = 64 << 10

    /// The text, or `nil` if it cannot be read.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var octets = [UInt8](repeating: 0, count: limit)
        var length = 0
        while length < limit {
            let count = octets.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + length, limit - length) }
            if count < 0 { return nil }
            if count == 0 { break }
            length += count
        }
        return String(decoding: octets[..<length], as: UTF8.self)
    }

    /// The number of octets that a file holds; `nil` if it holds none, as where there is no limit.
    static func octets(_ path: String) -> UInt64? { read(path).flatMap { UInt64($0.split(separator: "\n").first ?? "") } }

    /// Writes into a file that is there. Returns 0 or an errno.
    @discardableResult static func write(_ text: String, to path: String) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        let count = Glibc.write(descriptor, octets, octets.count)
        if count < 0 { return errno }
        return count == octets.count ? 0 : EIO
    }

    /// A count in a file of lines like `oom_kill 1`; 0 if it is not there.
    static func count(_ name: String, in text: String) -> Int {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == name { return Int(words[1]) ?? 0 }
        }
        return 0
    }

    /// The folders in a folder, at most so many; nothing is followed.
    static func folders(in path: String, atMost most: Int = 4096) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < most, let entry = readdir(stream) {
            guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
