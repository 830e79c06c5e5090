import ForeignText
import FoundationEssentials
import Glibc
import HotspotCore

/// A helper and the file that it was read from.
public struct HelperEntry: Hashable, Sendable {
    public var spec: HelperSpec
    public var file: String

    public init(spec: HelperSpec, file: String) {
        self.spec = spec
        self.file = file
    }
}

/// A problem, and what it is about.
public struct HelperProblem: Hashable, Sendable {
    /// The helper's name, or the path of a file or folder.
    public var subject: String
    public var problem: Problem

    init(_ subject: String, _ problem: Problem) {
        self.subject = subject
        self.problem = problem
    }
}

/// Every helper that the folders offer, and everything in them that could not be used.
public struct HelperCatalog: Hashable, Sendable {
    /// In the order of their file names.
    public var entries: [HelperEntry] = []
    public var problems: [HelperProblem] = []
    /// Programs that were refused or are missing, and files that links in the folders lead to: the folders must be read again when one of
    /// them changes.
    public var awaited: [String] = []
}

/// The folders of `.helper` files.
public enum HelperFolders {
    /// The most files that are read of one folder.
    static let fileLimit = 1024
    /// The most helpers that share a process: each has a socket in it, and they and the prober's must fit into one launch.
    static let sharedLimit = 250
    /// The most links that are followed of one file.
    fileprivate static let linkLimit = 8

    /// Reads the folders without executing anything. A folder that does not exist is no problem.
    ///
    /// A file masks those of the same name in later folders (`/etc` before `/usr/lib`); an empty file, or a link to `/dev/null`, masks
    /// without offering anything. Of two files with the same `Name=` that of the first folder counts; in one folder neither does, for
    /// what is kept under the name must not depend on how the files are called.
    public static func load(directories: [String]) -> HelperCatalog {
        var builder = CatalogBuilder()
        for directory in directories { builder.read(directory) }
        builder.replaceDisplayNames()
        builder.catalog.entries.sort { ($0.file.split(separator: "/").last ?? "") < ($1.file.split(separator: "/").last ?? "") }
        return builder.catalog
    }
}

/// A catalogue while its folders are read, the first one first.
private struct CatalogBuilder {
    struct File {
        var path: String
        var spec: HelperSpec
        var problems: [Problem]
    }

    var catalog = HelperCatalog()
    /// The first path with a file name.
    private var paths: [String: String] = [:]
    /// The file of an earlier folder that has a `Name=`.
    private var owners: [String: String] = [:]
    /// The number of helpers with a command line and `Activation=socket`.
    private var sharing: [[String]: Int] = [:]

    private mutating func report(_ subject: String, _ code: ProblemCode, _ message: String, hint: String? = nil) {
        catalog.problems.append(HelperProblem(subject, Problem(code, message, hint: hint)))
    }

    mutating func read(_ directory: String) {
        guard access(directory, R_OK) == 0 else {
            if errno == ENOENT { return }
            return report(directory, .helperFolderUnreadable, "\(directory): \(String(cString: strerror(errno)))")
        }
        if let problem = PathTrust.problem(with: directory, as: .folder) {
            return catalog.problems.append(HelperProblem(directory, problem))
        }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
            .filter { $0.hasSuffix(".helper") && !$0.hasPrefix(".") }.sorted()
        let limit = HelperFolders.fileLimit
        if names.count > limit {
            report(directory, .tooManyHelpers, "\(directory) has more than \(limit) helper files; the first by name count")
        }
        let files = names.prefix(limit).compactMap { file(directory + "/" + $0, name: $0) }
        let named = Dictionary(grouping: files, by: \.spec.name)
        for file in files { add(file, beside: named[file.spec.name]?.first { $0.path != file.path }) }
        for (name, files) in named where owners[name] == nil { owners[name] = files[0].path }
    }

    private mutating func file(_ path: String, name: String) -> File? {
        if let earlier = paths[name] {
            if path != earlier, Self.isMask(earlier) {
                report(path, .helperMasked, "\(path) is masked by \(earlier)")
            } else if path != earlier {
                report(path, .helperShadowed, "\(path) is shadowed by \(earlier), which has the same file name")
            }
            return nil
        }
        paths[name] = path
        if Self.isMask(path) { return nil }
        catalog.awaited += Self.targets(of: path)
        if let problem = PathTrust.problem(with: path, as: .file) {
            catalog.problems.append(HelperProblem(path, problem))
            return nil
        }
        do {
            let (spec, problems) = try HelperFile.read(path)
            return File(path: path, spec: spec, problems: problems)
        } catch {
            report(path, .helperFileInvalid, error.description)
            return nil
        }
    }

    private static func isMask(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        if status.st_mode & S_IFMT == S_IFREG { return status.st_size == 0 }
        var null = stat()
        return status.st_mode & S_IFMT == S_IFCHR && stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev
    }

    /// Returns where a link leads, and where that leads if it is a link again.
    private static func targets(of path: String) -> [String] {
        var (path, targets) = (path, [String]())
        while targets.count < HelperFolders.linkLimit,
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        {
            path = target.hasPrefix("/") ? target : path[...(path.lastIndex(of: "/") ?? path.startIndex)] + target
            targets.append(path)
        }
        return targets
    }

    /// - Parameter other: another file of this folder that has the same name.
    private mutating func add(_ file: File, beside other: File?) {
        let (path, spec) = (file.path, file.spec)
        if let owner = owners[spec.name] {
            return report(path, .helperShadowed, "\(path) is shadowed by \(owner), which has the name \"\(spec.name)\" already")
        }
        if let other {
            return report(
                path, .helperNameTwice,
                "\(path) is not used: \(other.path), in the same folder, has the name \"\(spec.name)\" too, and neither is used.",
                hint: "give one of them another Name=, or remove it")
        }
        catalog.problems += file.problems.map { HelperProblem(spec.name, $0) }
        if let program = spec.activation.exec?.first, let problem = PathTrust.problem(withProgram: program) {
            catalog.problems.append(HelperProblem(spec.name, problem))
            catalog.awaited.append(program)
            return
        }
        if case .socket(let exec) = spec.activation {
            let limit = HelperFolders.sharedLimit
            guard sharing[exec, default: 0] < limit else {
                return report(
                    spec.name, .tooManySharing,
                    "\(path) is left out: \(limit) helpers have the same Exec= with Activation=socket already.",
                    hint: "give it an argument of its own in Exec=, and with that another process")
            }
            sharing[exec, default: 0] += 1
        }
        catalog.entries.append(HelperEntry(spec: spec, file: path))
    }

    /// Shows a helper by its `Name=` where its display name is another helper's too, or the daemon's: people could not tell them apart.
    mutating func replaceDisplayNames() {
        var uses = [HelperFile.daemonName: 1]
        for spec in catalog.entries.map(\.spec) {
            for name in Set([spec.name.lowercased(), spec.displayName.lowercased()]) { uses[name, default: 0] += 1 }
        }
        for (index, entry) in catalog.entries.enumerated() {
            let (name, shown) = (entry.spec.name, entry.spec.displayName)
            guard shown != name, uses[shown.lowercased(), default: 0] > 1 else { continue }
            catalog.entries[index].spec.displayName = name
            report(
                name, .displayNameNotUsed,
                "\(entry.file): the display name \"\(Printable.text(shown, limit: 256))\" is another helper's too, or the daemon's; it is shown as \"\(name)\"",
                hint: "give it another DisplayName=")
        }
    }
}

extension HelperSpec.Activation {
    /// The program and its arguments, if the daemon starts it.
    public var exec: [String]? {
        switch self {
        case .stdio(let exec), .socket(let exec): exec
        case .external: nil
        }
    }
}
