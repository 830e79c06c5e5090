import Glibc
import HotspotCore

/// The private folders of helpers. Where a helper has a mount namespace, its `TMPDIR` is a file system that ends with it, and the
/// folder here stays empty; elsewhere what it left is removed.
enum Scratch {
    private static let prefix = "helper-"
    /// The most entries that are removed of one folder, so that no helper can keep the loop busy with what it leaves.
    private static let entryLimit = 10_000

    /// Makes the folder of folders, and removes what an earlier daemon left in it.
    static func prepare(_ directory: String) {
        makeFolder(directory)
        var budget = entryLimit
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for name in names(in: descriptor) where name.starts(with: Array(prefix.utf8).map { CChar(bitPattern: $0) }) {
            remove(name, in: descriptor, depth: 0, budget: &budget)
        }
    }

    /// A new folder, or `nil`.
    static func make(in directory: String) -> String? {
        var template = Array("\(directory)/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder that ``make(in:)`` made.
    static func remove(_ path: String) {
        if rmdir(path) == 0 { return }
        var budget = entryLimit
        remove(Array(path.utf8CString.dropLast()), in: AT_FDCWD, depth: 0, budget: &budget)
    }

    /// A folder of our own, and its parents.
    static func makeFolder(_ path: String) {
        if mkdir(path, 0o700) == 0 || errno != ENOENT { return }
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        makeFolder(String(path[..<slash]))
        mkdir(path, 0o700)
    }

    /// Never follows a link, so nothing outside is touched.
    private static func remove(_ name: [CChar], in parent: Int32, depth: Int, budget: inout Int) {
        guard budget > 0, depth < 32 else { return }
        budget -= 1
        let name = name + [0]
        if unlinkat(parent, name, 0) == 0 { return }
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, 0o700)
        for child in names(in: descriptor) { remove(child, in: descriptor, depth: depth + 1, budget: &budget) }
        close(descriptor)
        unlinkat(parent, name, AT_REMOVEDIR)
    }

    private static func names(in descriptor: Int32) -> [[CChar]] {
        let copy = dup(descriptor)
        guard copy >= 0, let stream = fdopendir(copy) else { return [] }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while names.count < entryLimit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } }
            if name != [46], name != [46, 46] { names.append(name) }
        }
        return names
    }
}
