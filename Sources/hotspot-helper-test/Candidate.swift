import EventLoop
import ForeignText
import Glibc
import HelperHost
import HotspotCore

/// The helper that is to be tried: from its file, or from a program alone.
struct Candidate {
    /// What its file says.
    let spec: HelperSpec
    /// Its file, or the program where there is none.
    let path: String
    /// What an author should know before the first command is played.
    let remarks: [Remark]

    /// Reads a file that ends with `.helper`, or the only such file of a folder; takes anything else as a program that answers on
    /// standard input and output.
    init(_ argument: String) throws {
        guard let resolved = Self.absolute(argument) else {
            throw Unusable("\(Printable.text(argument)): \(String(cString: strerror(errno)))")
        }
        path = try Self.isFolder(resolved) ? Self.onlyFile(in: resolved) : resolved
        guard path.hasSuffix(".helper") else {
            guard access(resolved, X_OK) == 0 else {
                throw Unusable("\(Printable.text(argument)) cannot be executed; try: chmod 755 \(Printable.text(argument))")
            }
            let file = resolved.split(separator: "/").last.map(String.init) ?? "helper"
            let name = file.split(separator: ".").first.map(String.init) ?? file
            spec = HelperSpec(name: name, displayName: String(name.prefix(15)), activation: .stdio(exec: [resolved]))
            remarks = [.note("There is no .helper file yet: the daemon needs one (hotspotctl helpers new NAME writes both).")]
            return
        }
        let (spec, problems) = try HelperFile.read(path)
        self.spec = spec
        try Self.checkProgram(spec)
        remarks = problems.map { .wrong($0.message) } + Self.networks(spec) + Self.installation(spec, path, said: problems)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func onlyFile(in folder: String) throws(Unusable) -> String {
        guard let stream = opendir(folder) else {
            throw Unusable("\(Printable.text(folder)): \(String(cString: strerror(errno)))")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name.hasSuffix(".helper"), !name.hasPrefix(".") { names.append(name) }
        }
        guard names.count == 1 else {
            throw Unusable(
                names.isEmpty
                    ? "\(Printable.text(folder)) has no .helper file; hotspotctl helpers new NAME writes one."
                    : "\(Printable.text(folder)) has several helpers; name one: \(names.sorted().map { Printable.text($0) }.joined(separator: ", "))"
            )
        }
        return folder + "/" + names[0]
    }

    /// A program that is not there yet needs no ten failures.
    private static func checkProgram(_ spec: HelperSpec) throws(Unusable) {
        guard let program = program(of: spec), access(program, F_OK) != 0 else { return }
        let shown = Printable.text(program)
        if let build = program.firstRange(of: "/.build/") {
            throw Unusable(
                "Exec= names \(shown), which is not built yet; first: swift build -c release --package-path \(Printable.text(String(program[..<build.lowerBound])))"
            )
        }
        throw Unusable("Exec= names \(shown): \(String(cString: strerror(errno)))")
    }

    /// What the daemon would start.
    static func program(of spec: HelperSpec) -> String? {
        switch spec.activation {
        case .stdio(let exec), .socket(let exec): exec[0]
        case .external: nil
        }
    }

    private static func networks(_ spec: HelperSpec) -> [Remark] {
        guard !spec.ssids.isEmpty else {
            return [
                .note("There is no SSID=: it will be asked about every network that is joined. Name the networks if you can.")
            ]
        }
        var remarks: [Remark] = []
        for source in spec.ssids.map(\.source) {
            let shown = Printable.text(source, limit: 80)
            if source == HelperSpec.networkPlaceholder {
                remarks.append(.note("SSID= has the placeholder «\(shown)»: put your network's name there."))
            }
            if source.contains(",") {
                remarks.append(.note("SSID= has a comma, which is part of the name «\(shown)»; names are separated by ;"))
            }
            if let first = source.first, "\"'«“".contains(first) {
                remarks.append(
                    .note("SSID= has quotes, which are part of the name «\(shown)»; leave them out if the network has none."))
            }
        }
        return remarks
    }

    /// What the daemon would refuse if the helper were installed just like this.
    private static func installation(_ spec: HelperSpec, _ path: String, said: [Problem]) -> [Remark] {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        var remarks: [Remark] = []
        let loose = [path, program(of: spec)].compactMap { $0 }.filter(isLoose)
        for file in loose {
            let shown = Printable.text(file)
            remarks.append(
                .wrong(
                    "\(shown) can be written by others, and the daemon uses no such file, wherever it lies; try: chmod go-w \(shown)"
                ))
        }
        for found in HelperFolders.load(directories: [folder.isEmpty ? "/" : folder]).problems
        where [spec.name, path, folder].contains(found.subject) && !said.contains(found.problem) {
            // A loose mode is said above, and the first reason of several is the only one that is found here.
            if !loose.isEmpty, found.problem.code == "helperNotTrusted" { continue }
            // Another file that is ignored for its name is that file's concern.
            if found.problem.code == "helperShadowed", !found.problem.message.hasPrefix(path) { continue }
            let hint = found.problem.hint.map { "; try: \($0)" } ?? ""
            let remark = "The daemon would refuse it where it lies: \(found.problem.message)\(hint)"
            let dependsOnPlace = ["helperNotTrusted", "helperShadowed"].contains(found.problem.code)
            remarks.append(dependsOnPlace ? .note(remark) : .wrong(remark))
        }
        if !spec.enabled { remarks.append(.note("Enabled=no: the daemon will not ask it.")) }
        var status = stat()
        if stat(path, &status) == 0, status.st_uid != 0 {
            remarks.append(.note("The file belongs to you. A daemon that runs as root takes only files and programs of root's."))
        }
        return remarks
    }

    private static func isLoose(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & (S_IWGRP | S_IWOTH) != 0
    }

    private static func absolute(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
