import Glibc
import Testing

/// A folder that goes with its owner.
final class Folder {
    let path: String

    init() throws {
        var template = Array("/tmp/hotspotctl-test-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit { Self.remove(path) }

    @discardableResult func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws -> String {
        let file = path + "/" + name
        let isProgram = mode & 0o111 != 0
        let draft = isProgram ? file + ".draft" : file
        let stream = try #require(fopen(draft, "we"))
        fputs(text, stream)
        fclose(stream)
        if isProgram {
            // Processes that other tests start meanwhile inherit the open file, and the kernel executes no file that is open for writing
            // (ETXTBSY). So another process, which has ended, writes the copy.
            var pid = pid_t()
            var status: Int32 = -1
            let words: [UnsafeMutablePointer<CChar>?] = ["cp", draft, file].map { (word: String) in strdup(word) } + [nil]
            defer { for word in words { free(word) } }
            try #require(posix_spawn(&pid, "/bin/cp", nil, nil, words, nil) == 0 && waitpid(pid, &status, 0) == pid)
            try #require(status == 0)
            unlink(draft)
        }
        chmod(file, mode)
        return file
    }

    func read(_ name: String) throws -> String {
        let stream = try #require(fopen(path + "/" + name, "r"), "\(name)")
        defer { fclose(stream) }
        var octets = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: octets[..<fread(&octets, 1, octets.count, stream)], as: UTF8.self)
    }

    /// A link is removed, never followed.
    private static func remove(_ path: String) {
        guard unlink(path) != 0, let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != ".", name != ".." { remove(path + "/" + name) }
        }
        closedir(directory)
        rmdir(path)
    }
}
