import Glibc
import HelperHost
import HotspotCore

/// The helper that is to be tried: from its file, or from a program alone.
struct Candidate {
    /// Why there is nothing to try.
    struct Unusable: Error, CustomStringConvertible {
        var description: String
    }

    /// What its file says.
    let spec: HelperSpec
    /// Its file, or the program where there is none.
    let path: String
    /// What an author should know before the first command is played.
    let remarks: [Remark]

    /// Reads a file that ends with `.helper`; takes anything else as a program that answers on standard input and output.
    init(_ argument: String) throws {
        guard let resolved = Self.absolute(argument) else {
            throw Unusable(description: "\(argument): \(String(cString: strerror(errno)))")
        }
        path = resolved
        guard resolved.hasSuffix(".helper") else {
            guard access(resolved, X_OK) == 0 else {
                throw Unusable(description: "\(argument) cannot be executed; try: chmod 755 \(argument)")
            }
            let file = resolved.split(separator: "/").last.map(String.init) ?? "helper"
            let name = file.split(separator: ".").first.map(String.init) ?? file
            spec = HelperSpec(name: name, displayName: String(name.prefix(15)), activation: .stdio(exec: [resolved]))
            remarks = [.note("There is no .helper file yet: the daemon needs one (hotspotctl helpers new NAME writes both).")]
            return
        }
        let (spec, problems) = try HelperFile.read(resolved)
        self.spec = spec
        remarks = problems.map { .wrong($0.message) } + Self.installation(spec, resolved)
    }

    /// What the daemon would refuse if the helper were installed just like this.
    private static func installation(_ spec: HelperSpec, _ path: String) -> [Remark] {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        var remarks: [Remark] = []
        for found in HelperFolders.load(directories: [folder.isEmpty ? "/" : folder]).problems
        where [spec.name, path, folder].contains(found.subject) && found.problem.code != "helperUnknownKey" {
            let hint = found.problem.hint.map { "; try: \($0)" } ?? ""
            let remark = "The daemon would refuse it where it lies: \(found.problem.message)\(hint)"
            let dependsOnPlace = ["helperNotTrusted", "helperShadowed"].contains(found.problem.code)
            remarks.append(dependsOnPlace ? .note(remark) : .wrong(remark))
        }
        if !spec.enabled { remarks.append(.note("Enabled=no: the daemon will not ask it.")) }
        if spec.ssids.isEmpty {
            remarks.append(
                .note("There is no SSID=: it will be asked about every network that is joined. Name the networks if you can."))
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_uid != 0 {
            remarks.append(.note("The file belongs to you. A daemon that runs as root takes only files and programs of root's."))
        }
        return remarks
    }

    private static func absolute(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
