import EventLoop
import Glibc
import HotspotCore

/// The names that portal files give to portals (docs/portals.md). The administrator or hotspotd wrote these names, not the portal.
struct PortalNames: Sendable, Equatable {
    /// The helper that logs in with portal files. For this helper, the kind of a portal is the name of the portal's file.
    static let helper = "catalogue"

    /// The folders with portal files. Of two files with the same name, the file in the earlier folder is used.
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

    /// Returns the name of a portal of this kind where this helper logs in; `nil` if no portal file contains a name.
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
