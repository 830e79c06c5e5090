import EventLoop
import ForeignText
import Glibc
import HotspotCore
import Varlink

/// Decides whether the daemon may run or connect to a path. The threat: another user's program with the daemon's rights.
///
/// Checks paths as sshd checks its own files: the file and each folder above it must belong to root or to the daemon's user, and only they may write
/// there. The same applies to every link on the path, and to its target.
enum PathTrust {
    enum Role { case file, folder, program, socket }

    /// Returns why the daemon does not use or start the file at a path; `nil` if it may.
    static func problem(with path: String, as role: Role) -> Problem? {
        let (shown, word) = (Printable.text(path), ShellWord.quoted(path))
        func refuse(_ reason: String, hint: String? = nil) -> Problem {
            Problem(.helperNotTrusted, "\(shown) is not used: \(reason)", hint: hint)
        }
        var status = stat()
        errno = ENOENT
        guard path.hasPrefix("/"), stat(path, &status) == 0 else {
            let code: ProblemCode = role == .program ? .helperProgramMissing : .helperFileMissing
            return Problem(code, "\(shown): \(String(cString: strerror(errno)))")
        }
        if let reason = weakness(of: path, role, isEnd: true) {
            return refuse(reason, hint: word.map { "chown root \($0) && chmod go-w \($0)" })
        }
        let (type, noun) =
            switch role {
            case .file, .program: (S_IFREG, "regular file")
            case .folder: (S_IFDIR, "folder")
            case .socket: (S_IFSOCK, "socket")
            }
        guard status.st_mode & S_IFMT == type else { return refuse("it is not a \(noun)") }
        guard role != .program || access(path, X_OK) == 0 else {
            return Problem(
                .helperProgramNotExecutable, "\(shown) cannot be executed: \(String(cString: strerror(errno)))",
                hint: word.map { "chmod 755 \($0)" })
        }
        return nil
    }

    /// Returns how another user could replace the file at a path; `nil` if none can.
    ///
    /// - Parameter isEnd: whether the path leads to the file itself, and not to a folder on the way.
    private static func weakness(of path: String, _ role: Role, isEnd: Bool) -> String? {
        let parts = path.split(separator: "/")
        for count in 0...parts.count {
            let place = "/" + parts.prefix(count).joined(separator: "/")
            var status = stat()
            guard lstat(place, &status) == 0 else { return "\(Printable.text(place)): \(String(cString: strerror(errno)))" }
            let (isLast, isLink) = (isEnd && count == parts.count, status.st_mode & S_IFMT == S_IFLNK)
            let name = isLast ? "it" : "the \(isLink ? "link" : "folder") \(Printable.text(place))"
            guard isTrusted(status.st_uid) else {
                return "\(name) belongs to user \(status.st_uid), not to root or the daemon's user"
            }
            if isLink, let target = FilePath.target(ofLink: place) {
                let start = target.hasPrefix("/") ? "" : parts.prefix(count - 1).joined(separator: "/") + "/"
                if let reason = weakness(of: start + target, role, isEnd: isLast) { return reason }
            }
            // Ignore modes that let nobody replace the file: the mode of a link means nothing, and the mode of a socket only limits who may connect.
            // In a sticky folder, such as /tmp, only the owner of a file can rename it.
            if isLink || isLast && role == .socket || !isLast && status.st_mode & S_ISVTX != 0 { continue }
            if status.st_mode & (S_IWGRP | S_IWOTH) != 0 { return "\(name) can be written by group or others" }
        }
        return nil
    }

    private static func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == geteuid() }

    /// Refuses a helper's socket if another user could have put it there. If the socket is missing, the connection reports that.
    static func check(path: String) throws(HelperFault) {
        guard let problem = problem(with: path, as: .socket), problem.code == .helperNotTrusted else { return }
        throw fault(problem.message)
    }

    /// Refuses a connection if another user's process listens: the kernel keeps the credentials of the process that called listen(2).
    static func check(peerOf socket: Int32, path: String) throws(HelperFault) {
        let user = PeerCredentials(socket: socket)?.uid
        guard user.map(isTrusted) != true else { return }
        let listener = user.map { "user \($0)" } ?? "an unknown user"
        throw fault("\(Printable.text(path)) is not used: \(listener) listens there, not root or the daemon's user")
    }

    private static func fault(_ sentence: String) -> HelperFault {
        let hint = "let systemd make the socket (hotspot-helper@.socket), or make root the owner of the socket and its folder"
        return HelperFault(.helperNotTrusted, sentence, cause: Problem(.helperNotTrusted, sentence, hint: hint))
    }
}
