import Glibc
import HotspotCore

/// Whether a file may decide what the daemon runs: it must belong to root or to the daemon's own user, and nobody else may
/// change it or put another in its place.
enum FileTrust {
    enum Kind: String { case file, folder, program }

    /// What is wrong with it; `nil` if it may be used.
    static func problem(with path: String, kind: Kind) -> Problem? {
        guard let resolved = resolve(path) else {
            let reason = String(cString: strerror(errno))
            return Problem(kind == .program ? "helperProgramMissing" : "helperFileMissing", "\(path): \(reason)")
        }
        // Who can change a link can choose its target, so the link's folders count as well as the target's.
        for candidate in resolved == path ? [path] : [path, resolved] {
            if let reason = chainProblem(candidate) {
                return refuse(path, reason, hint: "chown root \(Printable.text(path)) && chmod go-w \(Printable.text(path))")
            }
        }
        var status = stat()
        guard stat(resolved, &status) == 0 else { return refuse(path, String(cString: strerror(errno))) }
        switch kind {
        case .folder where status.st_mode & S_IFMT != S_IFDIR: return refuse(path, "it is no folder")
        case .file where status.st_mode & S_IFMT != S_IFREG: return refuse(path, "it is no regular file")
        case .program where status.st_mode & S_IFMT != S_IFREG: return refuse(path, "it is no regular file")
        case .program where status.st_mode & (S_ISUID | S_ISGID) != 0: return refuse(path, "it has the set-user or set-group bit")
        case .program where access(resolved, X_OK) != 0:
            return Problem(
                "helperProgramNotExecutable", "\(path) cannot be executed: \(String(cString: strerror(errno)))",
                hint: "chmod 755 \(Printable.text(path))")
        case .file, .folder, .program: return nil
        }
    }

    private static func refuse(_ path: String, _ reason: String, hint: String? = nil) -> Problem {
        Problem("helperNotTrusted", "\(path) is not used: \(reason)", hint: hint)
    }

    /// The thing itself strictly; its parents may be sticky, as `/tmp` is.
    private static func chainProblem(_ path: String) -> String? {
        var current = path
        var isParent = false
        while true {
            var status = stat()
            // The last part may be a link; of parents only what they lead to matters, and that was resolved before.
            guard (isParent ? stat(current, &status) : lstat(current, &status)) == 0 else {
                return String(cString: strerror(errno))
            }
            guard status.st_uid == 0 || status.st_uid == geteuid() else {
                return
                    "\(isParent ? "the folder \(current)" : "it") belongs to user \(status.st_uid), not to root or the daemon's user"
            }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            let isSticky = isParent && status.st_mode & S_ISVTX != 0
            if !isLink, !isSticky, status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
                return "\(isParent ? "the folder \(current)" : "it") can be written by group or others"
            }
            guard let slash = current.lastIndex(of: "/"), current != "/" else { return nil }
            current = slash == current.startIndex ? "/" : String(current[..<slash])
            isParent = true
        }
    }

    private static func resolve(_ path: String) -> String? {
        guard path.hasPrefix("/"), let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
