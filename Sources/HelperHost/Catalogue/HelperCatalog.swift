import EventLoop
import Glibc
import HotspotCore

/// A helper and the path of its file.
public struct HelperEntry: Hashable, Sendable {
    public var spec: HelperSpec
    public var file: String

    public init(spec: HelperSpec, file: String) {
        self.spec = spec
        self.file = file
    }
}

/// A problem and its subject.
public struct HelperProblem: Hashable, Sendable {
    /// The helper's name, or the path of a file or folder.
    public var subject: String
    public var problem: Problem
}

/// Every helper that the folders of `.helper` files offer, and everything in them that could not be used.
public struct HelperCatalog: Hashable, Sendable {
    /// The helpers, in the order of their file names.
    public private(set) var entries: [HelperEntry] = []
    public private(set) var problems: [HelperProblem] = []
    /// Programs of helpers, and targets of links in the folders: the folders must be read again when one of these files appears, disappears or
    /// changes.
    public private(set) var awaited: Set<String> = []

    /// The largest number of problems that are reported for one folder.
    static let problemLimit = 100

    /// The first path of each file name.
    private var paths: [String: String] = [:]
    /// The first file that uses a `Name=`.
    private var owners: [String: String] = [:]

    /// Reads the folders without executing anything. A missing folder is not a problem.
    ///
    /// A file masks files of the same name in later folders (`/etc` before `/usr/lib`); an empty file, or a link to `/dev/null`, only masks. If
    /// several files have the same `Name=`, the first one counts, in the order of folders and file names.
    public init(directories: [String]) {
        for directory in directories { read(directory) }
        entries.sort { ($0.file.split(separator: "/").last ?? "") < ($1.file.split(separator: "/").last ?? "") }
    }

    private mutating func report(_ subject: String, _ problem: Problem) {
        problems.append(HelperProblem(subject: subject, problem: problem))
    }

    private mutating func read(_ directory: String) {
        guard access(directory, R_OK) == 0 else {
            if errno == ENOENT { return }
            return report(directory, Problem(.helperFolderUnreadable, "\(directory): \(String(cString: strerror(errno)))"))
        }
        if let problem = PathTrust.problem(with: directory, as: .folder) { return report(directory, problem) }
        let first = problems.count
        for name in FilePath.names(in: directory).sorted() where name.hasSuffix(".helper") && !name.hasPrefix(".") {
            read(directory + "/" + name, name)
        }
        let omitted = problems.count - first - Self.problemLimit
        guard omitted > 0 else { return }
        problems.removeLast(omitted)
        report(directory, Problem(.moreProblems, "\(directory) has \(omitted) more problems with .helper files."))
    }

    private mutating func read(_ path: String, _ name: String) {
        if let earlier = paths[name] {
            if path == earlier { return }
            return report(
                path,
                Self.isMask(earlier)
                    ? Problem(.helperMasked, "\(path) is masked by \(earlier)")
                    : Problem(.helperShadowed, "\(path) is shadowed by \(earlier), which has the same file name"))
        }
        paths[name] = path
        if Self.isMask(path) { return }
        let target = FilePath.canonical(path)
        if target != path { awaited.insert(target) }
        if let problem = PathTrust.problem(with: path, as: .file) { return report(path, problem) }
        do { add(HelperEntry(spec: try HelperFile.read(path), file: path)) } catch {
            report(path, Problem(.helperFileInvalid, error.description))
        }
    }

    private static func isMask(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG ? status.st_size == 0 : FilePath.canonical(path) == "/dev/null"
    }

    private mutating func add(_ entry: HelperEntry) {
        let (path, name) = (entry.file, entry.spec.name)
        if let owner = owners[name] {
            return report(
                path, Problem(.helperShadowed, "\(path) is shadowed by \(owner), which already has the name \"\(name)\""))
        }
        owners[name] = path
        if let program = entry.spec.activation.exec?.first {
            awaited.insert(program)
            if let problem = PathTrust.problem(with: program, as: .program) { return report(name, problem) }
        }
        var entry = entry
        if entry.spec.displayName.count > HelperSpec.displayNameLimit {
            let (shown, count) = (entry.spec.displayName.prefix(HelperSpec.displayNameLimit), entry.spec.displayName.count)
            let message = "\(path): DisplayName= has \(count) characters; \(shown.count) are shown: \"\(shown)\""
            report(name, Problem(.displayNameTooLong, message))
            entry.spec.displayName = String(shown)
        }
        entries.append(entry)
    }
}
