import EventLoop
import ForeignText
import Glibc
import HelperHost
import HotspotCore

/// The helper to test, read from its file or from a program alone.
struct HelperUnderTest {
    /// The content of the helper's file.
    let spec: HelperSpec
    /// The path of the helper's file, or of the program if there is no file.
    let path: String
    /// Remarks on the file and the program.
    let remarks: [Remark]

    /// Reads a file that ends with `.helper`, or the only such file of a folder. Any other path names a program that answers on standard input and
    /// output.
    init(_ argument: String) throws {
        let resolved = FilePath.canonical(argument)
        guard access(resolved, F_OK) == 0 else {
            throw CannotTest("\(Printable.text(argument)): \(String(cString: strerror(errno)))")
        }
        path = try Self.isFolder(resolved) ? Self.onlyFile(in: resolved) : resolved
        guard path.hasSuffix(".helper") else {
            guard access(resolved, X_OK) == 0 else {
                throw CannotTest("\(Printable.text(argument)) cannot be executed; try: chmod 755 \(Printable.text(argument))")
            }
            let file = resolved.split(separator: "/").last.map(String.init) ?? "helper"
            let name = file.split(separator: ".").first.map(String.init) ?? file
            spec = HelperSpec(name: name, displayName: String(name.prefix(15)), activation: .stdio(exec: [resolved]))
            remarks = [
                .note(
                    "The daemon also needs a .helper file. To write a program with its .helper file: hotspotctl helpers new NAME"
                )
            ]
            return
        }
        var spec = try HelperFile.read(path)
        spec.displayName = String(spec.displayName.prefix(HelperSpec.displayNameLimit))
        self.spec = spec
        try Self.checkProgram(spec)
        remarks = Self.networks(spec) + Self.installation(spec, path)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func onlyFile(in folder: String) throws(CannotTest) -> String {
        let shown = Printable.text(folder)
        guard access(folder, R_OK) == 0 else { throw CannotTest("\(shown): \(String(cString: strerror(errno)))") }
        let names = FilePath.names(in: folder).filter { $0.hasSuffix(".helper") && !$0.hasPrefix(".") }.sorted()
        guard let first = names.first else {
            throw CannotTest("\(shown) contains no .helper file; to write one: hotspotctl helpers new NAME")
        }
        guard names.count == 1 else {
            let all = names.map { Printable.text($0) }.joined(separator: ", ")
            throw CannotTest("\(shown) contains several helpers; name one: \(all)")
        }
        return folder + "/" + first
    }

    /// Throws if the program does not exist, instead of letting every command fail.
    private static func checkProgram(_ spec: HelperSpec) throws(CannotTest) {
        guard let program = spec.activation.exec?.first, access(program, F_OK) != 0 else { return }
        let shown = Printable.text(program)
        if let build = program.firstRange(of: "/.build/") {
            let command = "swift build -c release --package-path \(Printable.text(String(program[..<build.lowerBound])))"
            throw CannotTest("Exec= names \(shown), which is not built yet; to build it: \(command)")
        }
        throw CannotTest("Exec= names \(shown): \(String(cString: strerror(errno)))")
    }

    private static func networks(_ spec: HelperSpec) -> [Remark] {
        guard !spec.ssids.isEmpty else {
            return [
                .note(
                    "SSID= is missing, so the daemon asks this helper about every network that you join. Name the networks if you can."
                )
            ]
        }
        var remarks: [Remark] = []
        for source in spec.ssids.map(\.source) {
            let shown = Printable.text(source, limit: 80)
            if source == HelperSpec.networkPlaceholder {
                remarks.note("SSID= contains the placeholder \"\(shown)\": replace it with your network's name.")
            }
            if source.contains(",") {
                remarks.note("SSID= contains a comma, which is part of the name \"\(shown)\"; names are separated by ;")
            }
            if let first = source.first, "\"'«“".contains(first) {
                remarks.note(
                    "SSID= contains quotes, which are part of the name \"\(shown)\"; remove them if the network's name has none.")
            }
        }
        return remarks
    }

    /// Returns remarks on problems for which the daemon would refuse the helper as it is installed.
    private static func installation(_ spec: HelperSpec, _ path: String) -> [Remark] {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        var remarks: [Remark] = []
        let loose = [path, spec.activation.exec?.first].compactMap { $0 }.filter(isLoose)
        for file in loose {
            let shown = Printable.text(file)
            remarks.wrong("\(shown) can be changed by other users, so the daemon refuses it; try: chmod go-w \(shown)")
        }
        for reported in HelperCatalog(directories: [folder.isEmpty ? "/" : folder]).problems
        where [spec.name, path, folder].contains(reported.subject) {
            // Skips a problem that may repeat the file modes reported above: the catalogue gives only its first reason not to trust a helper.
            if !loose.isEmpty, reported.problem.code == .helperNotTrusted { continue }
            // Skips the problem of another file with the same name.
            if reported.problem.code == .helperShadowed, !reported.problem.message.hasPrefix(path) { continue }
            if reported.problem.code == .displayNameTooLong {
                remarks.wrong("\(reported.problem.message).")
                continue
            }
            let hint = reported.problem.hint.map { "; try: \($0)" } ?? ""
            let remark = "The daemon would refuse it in this folder: \(reported.problem.message)\(hint)"
            let dependsOnPlace = [.helperNotTrusted, .helperShadowed].contains(reported.problem.code)
            remarks.append(dependsOnPlace ? .note(remark) : .wrong(remark))
        }
        if !spec.enabled { remarks.note("Enabled=no: the daemon will not ask this helper.") }
        var status = stat()
        if stat(path, &status) == 0, status.st_uid != 0 {
            remarks.note("The file belongs to you. The system's daemon accepts only files and programs that belong to root.")
        }
        return remarks
    }

    private static func isLoose(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & (S_IWGRP | S_IWOTH) != 0
    }
}

/// The reason why a test is not possible.
struct CannotTest: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
