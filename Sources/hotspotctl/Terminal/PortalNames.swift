import EventLoop
import Glibc
import HotspotCore

/// The names that portal files give to portals (docs/portals.md). The administrator or hotspotd wrote these names, not the portal.
struct PortalNames: Sendable, Equatable {
    /// The helper that logs in with portal files. Its kind of a portal is the file's name.
    static let helper = "catalogue"

    /// If two files have the same name, the one in the earlier folder counts; without folders, no portal has a name.
    var folders: [String] = []

    /// The folders of `HOTSPOTD_PORTALS`, separated by colons, the most important last; otherwise the folders of the administrator and of the
    /// installed program.
    static var usual: PortalNames {
        if let list = getenv("HOTSPOTD_PORTALS") {
            return PortalNames(folders: String(cString: list).split(separator: ":").map(String.init).reversed())
        }
        // PREFIX/bin/PROGRAM
        let prefix = (FilePath.target(ofLink: "/proc/self/exe") ?? "").split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        return PortalNames(folders: ["/etc/hotspotd/portals", prefix + "/lib/hotspotd/portals"])
    }

    /// Returns the name of a portal where this helper logs in; `nil` if no file gives it one.
    func name(of kind: String?, by helper: String) -> String? {
        guard helper == Self.helper, let kind, !kind.isEmpty, !kind.hasPrefix("."),
            !kind.contains(where: { $0 == "/" || $0 == "\0" })
        else { return nil }
        let paths = folders.map { "\($0)/\(kind).portal" }
        guard let path = paths.first(where: { access($0, R_OK) == 0 }),
            let octets = FilePath.octets(of: path, limit: Keyfile.maximumSize + 1)
        else { return nil }
        return (try? Keyfile(octets, file: path))?.last("Portal", "Name").map(\.value).flatMap { $0.isEmpty ? nil : $0 }
    }
}
