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
    /// Programs that helpers want and that may not be used, or are not there: with a change to one of them the folders are worth
    /// another look.
    public var awaited: [String] = []

    /// An empty catalogue.
    public init() {}
}

/// The folders of `.helper` files.
public enum HelperFolders {
    /// The most files that are read of one folder.
    public static let fileLimit = 1024

    /// Reads the folders; an earlier one masks files of the same name in the later ones (`/etc` before `/usr/lib`). An empty file, or a
    /// link to `/dev/null`, masks without offering anything. A folder that does not exist is no problem. Nothing is executed.
    public static func load(directories: [String]) -> HelperCatalog {
        var catalog = HelperCatalog()
        var chosen: [String: String] = [:]
        for directory in directories {
            var status = stat()
            guard stat(directory, &status) == 0 else {
                if errno != ENOENT {
                    catalog.problems.append(
                        HelperProblem(
                            directory, Problem("helperFolderUnreadable", "\(directory): \(String(cString: strerror(errno)))")))
                }
                continue
            }
            if let distrust = FileTrust.problem(with: directory, kind: .folder) {
                catalog.problems.append(HelperProblem(directory, distrust))
                continue
            }
            for name in names(in: directory, problems: &catalog.problems) where chosen[name] == nil {
                chosen[name] = directory + "/" + name
            }
        }
        var first: [String: String] = [:]
        for (_, path) in chosen.sorted(by: { $0.key < $1.key }) {
            guard !isMask(path) else { continue }
            if let distrust = FileTrust.problem(with: path, kind: .file) {
                catalog.problems.append(HelperProblem(path, distrust))
                continue
            }
            do {
                let (spec, problems) = try HelperFile.read(path)
                catalog.problems += problems.map { HelperProblem(spec.name, $0) }
                if let owner = first[spec.name] {
                    catalog.problems.append(
                        HelperProblem(
                            spec.name,
                            Problem("helperShadowed", "\(path) is ignored: \(owner) has the name «\(spec.name)» already")))
                    continue
                }
                first[spec.name] = path
                if let exec = spec.activation.exec, let distrust = FileTrust.problem(withCommand: exec) {
                    catalog.problems.append(HelperProblem(spec.name, distrust))
                    catalog.awaited.append(exec[0])
                    continue
                }
                catalog.entries.append(HelperEntry(spec: spec, file: path))
            } catch {
                catalog.problems.append(HelperProblem(path, Problem("helperFileInvalid", error.description)))
            }
        }
        return catalog
    }

    private static func names(in directory: String, problems: inout [HelperProblem]) -> [String] {
        guard let stream = opendir(directory) else {
            problems.append(
                HelperProblem(directory, Problem("helperFolderUnreadable", "\(directory): \(String(cString: strerror(errno)))")))
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let octets = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard octets.first != UInt8(ascii: "."), let name = String(validating: octets, as: UTF8.self),
                name.hasSuffix(".helper")
            else { continue }
            guard names.count < fileLimit else {
                problems.append(
                    HelperProblem(directory, Problem("tooManyHelpers", "\(directory) has more than \(fileLimit) helper files")))
                break
            }
            names.append(name)
        }
        return names
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
