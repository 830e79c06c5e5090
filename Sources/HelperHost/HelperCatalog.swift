import FoundationEssentials
import Glibc
import HotspotCore

/// A helper and the file that it was read from.
public struct HelperEntry: Hashable, Sendable {
    /// What the file says.
    public var spec: HelperSpec
    /// Its path.
    public var file: String

    /// An entry.
    public init(spec: HelperSpec, file: String) {
        self.spec = spec
        self.file = file
    }
}

/// A problem, and what it is about.
public struct HelperProblem: Hashable, Sendable {
    /// The helper's name, or the path of a file or folder.
    public var subject: String
    /// What is wrong.
    public var problem: Problem

    /// A problem.
    public init(_ subject: String, _ problem: Problem) {
        self.subject = subject
        self.problem = problem
    }
}

/// Every helper that the folders offer, and everything in them that could not be used.
public struct HelperCatalog: Hashable, Sendable {
    /// In the order of their file names.
    public var entries: [HelperEntry] = []
    /// What was refused, cut or shadowed.
    public var problems: [HelperProblem] = []
    /// Programs that helpers want and that may not be used, or are not there, and files that links in the folders lead to: with a
    /// change to one of them the folders are worth another look.
    public var awaited: [String] = []

    /// An empty catalogue.
    public init() {}
}

/// The folders of `.helper` files.
public enum HelperFolders {
    /// The most files that are read of one folder.
    public static let fileLimit = 1024
    /// The most helpers that share a process: each has a socket in it, and they and the prober's must fit into one launch.
    public static let sharedLimit = 250
    /// The most links that are followed of one file.
    private static let linkLimit = 8

    /// Reads the folders; an earlier one masks files of the same name in the later ones (`/etc` before `/usr/lib`). An empty
    /// file, or a link to `/dev/null`, masks without offering anything. Of two files with the same `Name=` that of the first
    /// folder counts; in one folder none does, for what is kept under the name must not depend on how the files are called. For
    /// names that only read alike see ``DisplayNames``. What is masked, shadowed or refused is told, under its own path. A folder that
    /// does not exist is no problem. Nothing is executed.
    public static func load(directories: [String]) -> HelperCatalog {
        var catalog = HelperCatalog()
        /// By file name, of the first folder that has it.
        var chosen: [String: String] = [:]
        var folders: [[Found]] = []
        for directory in directories {
            var status = stat()
            guard stat(directory, &status) == 0 else {
                if errno != ENOENT {
                    catalog.problems.append(
                        HelperProblem(
                            directory, Problem(.helperFolderUnreadable, "\(directory): \(String(cString: strerror(errno)))")))
                }
                continue
            }
            if let distrust = FileTrust.problem(with: directory, kind: .folder) {
                catalog.problems.append(HelperProblem(directory, distrust))
                continue
            }
            var found: [Found] = []
            for name in names(in: directory, problems: &catalog.problems) {
                let path = directory + "/" + name
                if let earlier = chosen[name] {
                    if path != earlier { catalog.problems.append(covered(path, by: earlier)) }
                    continue
                }
                chosen[name] = path
                if isMask(path) { continue }
                catalog.awaited += targets(of: path)
                if let file = read(path, &catalog) { found.append(file) }
            }
            folders.append(found)
        }
        var owners: [String: String] = [:]
        var sharing: [[String]: Int] = [:]
        let writers = folders.joined().map(\.spec).filter { !$0.readWritePaths.isEmpty }
            .map { Writer(exec: $0.activation.exec, folders: $0.readWritePaths.map(FolderPath.plain)) }
        for found in folders {
            let paths = Dictionary(grouping: found, by: \.spec.name).mapValues { $0.map(\.path) }
            for file in found {
                let others = paths[file.spec.name, default: []].filter { $0 != file.path }
                if let other = others.first, owners[file.spec.name] == nil {
                    catalog.problems.append(ambiguous(file, beside: other))
                } else {
                    take(file, owners[file.spec.name], writers, &sharing, &catalog)
                }
            }
            for (name, paths) in paths where owners[name] == nil { owners[name] = paths[0] }
        }
        DisplayNames.settle(&catalog, directories)
        catalog.entries.sort { ($0.file.split(separator: "/").last ?? "") < ($1.file.split(separator: "/").last ?? "") }
        return catalog
    }

    /// A file of the same name in an earlier folder stands in front of it.
    private static func covered(_ path: String, by earlier: String) -> HelperProblem {
        isMask(earlier)
            ? HelperProblem(path, Problem(.helperMasked, "\(path) is masked by \(earlier)"))
            : HelperProblem(path, Problem(.helperShadowed, "\(path) is shadowed by \(earlier), which has the same file name"))
    }

    /// Where a link leads, and where that leads if it is a link again: none if the path is no link.
    private static func targets(of path: String) -> [String] {
        var targets: [String] = []
        var path = path
        for _ in 0..<linkLimit {
            guard let target = try? FileTrust.target(of: path) else { break }
            let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
            path = target.hasPrefix("/") ? target : "\(parent)/\(target)"
            targets.append(path)
        }
        return targets
    }

    /// A helper that may write somewhere.
    private struct Writer {
        var exec: [String]?
        var folders: [String]
    }

    /// A file that could be read.
    private struct Found {
        var path: String
        var spec: HelperSpec
        var problems: [Problem]
    }

    private static func read(_ path: String, _ catalog: inout HelperCatalog) -> Found? {
        if let distrust = FileTrust.problem(with: path, kind: .file) {
            catalog.problems.append(HelperProblem(path, distrust))
            return nil
        }
        do {
            let (spec, problems) = try HelperFile.read(path)
            return Found(path: path, spec: spec, problems: problems)
        } catch {
            catalog.problems.append(HelperProblem(path, Problem(.helperFileInvalid, error.description)))
            return nil
        }
    }

    /// Two files of one folder have the same name, and nothing tells whose it is.
    private static func ambiguous(_ file: Found, beside other: String) -> HelperProblem {
        HelperProblem(
            file.path,
            Problem(
                .helperNameTwice,
                "\(file.path) is not used: \(other), in the same folder, has the name «\(file.spec.name)» too, and neither is used.",
                hint: "give one of them another Name=, or remove it"))
    }

    /// - Parameter owner: the file of an earlier folder that has the name.
    /// - Parameter writers: the helpers that may write somewhere.
    private static func take(
        _ file: Found, _ owner: String?, _ writers: [Writer], _ sharing: inout [[String]: Int], _ catalog: inout HelperCatalog
    ) {
        let (path, spec) = (file.path, file.spec)
        if let owner {
            catalog.problems.append(
                HelperProblem(
                    path, Problem(.helperShadowed, "\(path) is shadowed by \(owner), which has the name «\(spec.name)» already"))
            )
            return
        }
        catalog.problems += file.problems.map { HelperProblem(spec.name, $0) }
        if let exec = spec.activation.exec,
            let distrust = FileTrust.problem(
                withCommand: exec, writable: writers.flatMap(\.folders),
                others: writers.filter { $0.exec != exec }.flatMap(\.folders))
        {
            catalog.problems.append(HelperProblem(spec.name, distrust))
            catalog.awaited.append(exec[0])
            return
        }
        if case .socket(let exec) = spec.activation {
            guard sharing[exec, default: 0] < sharedLimit else {
                catalog.problems.append(
                    HelperProblem(
                        spec.name,
                        Problem(
                            .tooManySharing,
                            "\(path) is left out: \(sharedLimit) helpers have the same Exec= with Activation=socket already.",
                            hint: "give it an argument of its own in Exec=, and with that another process")))
                return
            }
            sharing[exec, default: 0] += 1
        }
        catalog.entries.append(HelperEntry(spec: spec, file: path))
    }

    private static func names(in directory: String, problems: inout [HelperProblem]) -> [String] {
        guard let stream = opendir(directory) else {
            problems.append(
                HelperProblem(directory, Problem(.helperFolderUnreadable, "\(directory): \(String(cString: strerror(errno)))")))
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let octets = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard octets.first != UInt8(ascii: "."), let name = String(validating: octets, as: UTF8.self),
                name.hasSuffix(".helper")
            else { continue }
            names.append(name)
            // A folder without end must not hold the loop up either.
            if names.count == 64 * fileLimit { break }
        }
        names.sort()
        guard names.count > fileLimit else { return names }
        problems.append(
            HelperProblem(
                directory,
                Problem(.tooManyHelpers, "\(directory) has more than \(fileLimit) helper files; the first by name count")))
        return Array(names.prefix(fileLimit))
    }

    private static func isMask(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        if status.st_mode & S_IFMT == S_IFREG { return status.st_size == 0 }
        var null = stat()
        return status.st_mode & S_IFMT == S_IFCHR && stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev
    }
}

extension HelperSpec.Activation {
    /// The program and its arguments, if the daemon starts it.
    var exec: [String]? {
        switch self {
        case .stdio(let exec), .socket(let exec): exec
        case .external: nil
        }
    }
}
