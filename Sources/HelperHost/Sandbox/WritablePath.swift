import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// A folder of a helper's `ReadWritePaths=`. R1: a helper that a portal has taken over must not change the system or the daemon, even if an
/// administrator wrote a wrong path.
enum WritablePath {
    /// Folders in which no helper may write.
    private static let closed = ["/proc", "/sys", "/dev", "/boot", "/usr", "/etc/hotspotd"]
    /// Folders in which parts may be writable, but never the whole.
    private static let divided = ["/", "/etc", "/var", "/var/lib", "/run", "/home", "/root"]

    /// Returns why the helper may not write to the path, even if the kernel would allow it; `nil` if it may.
    static func refusal(of path: String, hidden: [String]) -> Problem? {
        let canonical = FilePath.canonical(path)
        let hidden = hidden.map(FilePath.canonical)
        // Refuses a link, because each start would follow it again, to its target at that time.
        guard canonical == path || canonical + "/" == path || FilePath.kind(of: path) == nil else {
            return refuse(path, "it leads to \(Printable.text(canonical, limit: 200)) through a link")
        }
        func overlaps(_ folder: String) -> Bool { FilePath.isWithin(canonical, folder) || FilePath.isWithin(folder, canonical) }
        if let folder = hidden.first(where: overlaps) { return refuse(path, "\(folder) is the daemon's") }
        let isClosed = closed.contains(where: overlaps)
        return isClosed || divided.contains(canonical) ? refuse(path, "it is the system's") : nil
    }

    static func refuse(_ path: String, _ reason: String) -> Problem {
        Problem(
            .helperPathRefused, "ReadWritePaths= contains \(Printable.text(path, limit: 200)), which stays read-only: \(reason).",
            hint: "name the helper's own folder")
    }

    /// Returns the problem if a helper is allowed to write to a folder but cannot.
    static func problem(with path: String) -> Problem? {
        guard let code = obstacle(path) else { return nil }
        let word = ShellWord.quoted(path)
        let hint: String? =
            switch code {
            case ENOENT: word.map { "mkdir -p \($0)" }
            // Name the path only if it needs no quotes, because a unit file uses other quotes (systemd.syntax(7)).
            case EROFS: "systemctl edit hotspotd, with ReadWritePaths=\(word == path ? path : "the folder") in [Service]"
            case EACCES, EPERM: word.map { "chown \(geteuid()) \($0) && chmod u+rwx \($0)" }
            default: "hotspotctl helpers --verbose"
            }
        return Problem(
            .helperPathMissing,
            "ReadWritePaths= contains \(Printable.text(path, limit: 200)), but the helper cannot write there: \(String(cString: strerror(code))).",
            hint: hint)
    }

    /// Returns the error number if the path is not a folder that can be written to.
    private static func obstacle(_ path: String) -> Int32? {
        if access(path, W_OK) != 0 { return errno }
        return FilePath.kind(of: path) == .folder ? nil : ENOTDIR
    }
}
