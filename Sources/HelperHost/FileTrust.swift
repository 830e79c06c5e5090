import ForeignText
import Glibc
import HotspotCore

/// Whether a file may decide what the daemon runs: it must belong to root or to the daemon's own user, and nobody else may
/// change it or put another in its place.
enum FileTrust {
    enum Kind: String { case file, folder, program }

    /// What is wrong with it; `nil` if it may be used.
    static func problem(with path: String, kind: Kind) -> Problem? {
        let end: (path: String, status: stat)
        do throws(Distrust) { end = try walk(path) } catch {
            switch error {
            case .absent(let code):
                return Problem(
                    kind == .program ? "helperProgramMissing" : "helperFileMissing", "\(path): \(String(cString: strerror(code)))"
                )
            // Without folders there is none.
            case .entrance: return nil
            case .reason(let reason):
                return refuse(path, reason, hint: ShellWord.quoted(path).map { "chown root \($0) && chmod go-w \($0)" })
            }
        }
        switch kind {
        case .folder where end.status.st_mode & S_IFMT != S_IFDIR: return refuse(path, "it is no folder")
        case .file where end.status.st_mode & S_IFMT != S_IFREG: return refuse(path, "it is no regular file")
        case .program where end.status.st_mode & S_IFMT != S_IFREG: return refuse(path, "it is no regular file")
        case .program where end.status.st_mode & (S_ISUID | S_ISGID) != 0:
            return refuse(path, "it has the set-user or set-group bit")
        case .program where access(end.path, X_OK) != 0:
            return Problem(
                "helperProgramNotExecutable", "\(path) cannot be executed: \(String(cString: strerror(errno)))",
                hint: ShellWord.quoted(path).map { "chmod 755 \($0)" })
        case .file, .folder, .program: return nil
        }
    }

    /// So many interpreters may run one another; the kernel follows no more than five (exec.c).
    private static let interpreterLimit = 4

    /// What is wrong with a command line: the program, any file among its arguments, which may be the script that an interpreter
    /// is to run, and whatever runs the program: the interpreter that its first line names, and what an `env` would look for.
    ///
    /// A relative argument counts from `/`, where helpers begin. An interpreter that is not there is for the start to find.
    ///
    /// - Parameter writable: where helpers may write. What lies in there is theirs alone, and is not looked at: a link that one of them
    ///   put there may lead to where a look takes for ever.
    /// - Parameter others: where other helpers than this one may write.
    static func problem(withCommand exec: [String], writable: [String] = [], others: [String] = []) -> Problem? {
        guard let program = exec.first else { return Problem("helperProgramMissing", "there is no program") }
        return problem(with: program, kind: .program) ?? problem(with: program, within: others)
            ?? problem(withArguments: exec, writable) ?? problem(behind: exec, of: program, depth: 0, writable)
    }

    /// A program in a folder that another helper may write to must belong to root, and so must what leads to it there: all helpers are
    /// one user, and what that user owns the other one may have put there before this one was known.
    ///
    /// - Parameter user: the helpers' user; if that is root nothing can be told.
    static func problem(with program: String, within others: [String], user: uid_t = geteuid()) -> Problem? {
        guard user != 0, !others.isEmpty else { return nil }
        for place in places(on: program, until: []) {
            guard let folder = others.first(where: { place != $0 && FolderPath.isWithin(place, $0) }) else { continue }
            var status = stat()
            // What is gone by now somebody has just taken away.
            guard lstat(place, &status) != 0 || status.st_uid != 0 else { continue }
            return refuse(
                program,
                "another helper may write to \(Printable.text(folder, limit: 200)), and may have put \(Printable.text(place)) there",
                hint: "keep programs where no helper may write, or give this one to root")
        }
        return nil
    }

    private static func problem(withArguments exec: [String], _ writable: [String]) -> Problem? {
        files(amongArguments: exec, writable: writable).lazy.compactMap { problem(with: $0, kind: .file) }.first
    }

    /// The arguments that are files, one of which may be the script that an interpreter is to run.
    static func files(amongArguments exec: [String], writable: [String]) -> [String] {
        exec.dropFirst().map(absolute).filter { path in
            var status = stat()
            return !leads(path, into: writable) && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Whether the way leads through one of these folders.
    private static func leads(_ path: String, into folders: [String]) -> Bool {
        guard !folders.isEmpty else { return false }
        do throws(Distrust) { _ = try walk(path, isChecked: false, until: folders) } catch { return error.isEntrance }
        return false
    }

    /// Helpers begin in `/`.
    private static func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "/" + path }

    /// What runs a program that can be trusted itself.
    private static func problem(
        behind command: [String], of program: String, depth: Int, _ writable: [String]
    ) -> Problem? {
        let next: [String]
        if command[0].split(separator: "/").last == "env" {
            switch EnvLine(Array(command.dropFirst())) {
            case .command(let words): next = words
            case .nothing: return nil
            case .unclear(let reason): return refuse(program, "its env \(reason); name the program itself")
            }
        } else {
            guard let interpreter = FirstLine(of: command[0])?.interpreter, !interpreter.isEmpty else { return nil }
            next = interpreter + command
        }
        guard depth < interpreterLimit else {
            return refuse(program, "more than \(interpreterLimit) interpreters run one another")
        }
        let command = [absolute(next[0])] + next.dropFirst()
        if let problem = problem(with: command[0], kind: .program) {
            // The kernel's refusal to start it says more.
            guard problem.code == "helperNotTrusted" else { return nil }
            return refuse(program, "what runs it is not trusted: \(problem.message)", hint: problem.hint)
        }
        return problem(withArguments: command, writable) ?? problem(behind: command, of: program, depth: depth + 1, writable)
    }

    private static func refuse(_ path: String, _ reason: String, hint: String? = nil) -> Problem {
        Problem("helperNotTrusted", "\(path) is not used: \(reason)", hint: hint)
    }

    /// Why a path is not trusted, or leads nowhere.
    enum Distrust: Error {
        case absent(Int32)
        case reason(String)
        /// It leads into a folder that was not to be entered.
        case entrance

        var isEntrance: Bool { if case .entrance = self { true } else { false } }
    }

    /// Goes the way of the kernel (path_resolution(7)), and looks at every folder and link on it: who can change one of them chooses
    /// where the path leads. The thing itself must not be writable by others at all; folders on the way may be sticky, as `/tmp` is.
    ///
    /// - Parameter othersMayWrite: the permissions of the thing itself do not matter, as those of a socket do not.
    /// - Parameter isChecked: whether it matters who can change what is on the way.
    /// - Parameter folders: not to be entered.
    /// - Parameter visited: every folder, link and file on the way.
    static func walk(
        _ path: String, othersMayWrite: Bool = false, isChecked: Bool = true, until folders: [String] = [],
        visited: (String) -> Void = { _ in }
    ) throws(Distrust) -> (path: String, status: stat) {
        guard path.hasPrefix("/") else { throw .absent(ENOENT) }
        var ahead = Array(path.split(separator: "/").reversed())
        var here = "/"
        func look(_ path: String, isLast: Bool) throws(Distrust) -> stat {
            guard isChecked else { return try Self.look(path) }
            return try Self.look(path, isLast: isLast, othersMayWrite: isLast && othersMayWrite)
        }
        var status = try look("/", isLast: ahead.isEmpty)
        var links = 0
        while let part = ahead.popLast() {
            if part == "." { continue }
            if part == ".." {
                here = parent(of: here)
                status = try look(here, isLast: ahead.isEmpty)
                continue
            }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw .absent(ENOTDIR) }
            let next = here == "/" ? "/" + part : here + "/" + part
            visited(next)
            if folders.contains(where: { next != $0 && FolderPath.isWithin(next, $0) }) { throw .entrance }
            let found = try look(next, isLast: ahead.isEmpty)
            guard found.st_mode & S_IFMT == S_IFLNK else {
                (here, status) = (next, found)
                continue
            }
            links += 1
            guard links <= 40 else { throw .absent(ELOOP) }
            let target = try target(of: next)
            if target.hasPrefix("/") {
                here = "/"
                status = try look("/", isLast: false)
            }
            ahead += target.split(separator: "/").reversed()
        }
        return (here, status)
    }

    /// Every folder, link and file on the way, as far as into one of these folders.
    static func places(on path: String, until folders: [String]) -> [String] {
        var places: [String] = []
        _ = try? walk(path, isChecked: false, until: folders) { places.append($0) }
        return places
    }

    /// One step: who owns it, and who may write to it.
    private static func look(_ path: String, isLast: Bool, othersMayWrite: Bool) throws(Distrust) -> stat {
        let status = try look(path)
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        let name = isLast ? "it" : "\(isLink ? "the link" : "the folder") \(Printable.text(path))"
        guard isTrusted(status.st_uid) else {
            throw .reason("\(name) belongs to user \(status.st_uid), not to root or the daemon's user")
        }
        // The permissions of a link mean nothing, and the folder that it is in was looked at.
        if isLink || othersMayWrite { return status }
        let isSticky = !isLast && status.st_mode & S_ISVTX != 0
        if !isSticky, status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
            throw .reason("\(name) can be written by group or others")
        }
        return status
    }

    private static func look(_ path: String) throws(Distrust) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .absent(errno) }
        return status
    }

    /// Root or the daemon's own user.
    static func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == geteuid() }

    /// Where a link leads.
    static func target(of link: String) throws(Distrust) -> String {
        var octets = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &octets, octets.count)
        guard count >= 0 else { throw .absent(errno) }
        guard count > 0, count < octets.count,
            let text = String(validating: octets[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        else { throw .absent(ENOENT) }
        return text
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
