import EventLoop
import Glibc
import HelperKit
import HotspotCore

/// The portal files of some folders. They are read again when a folder or a file has changed. Beside them in this target: which one claims
/// a page (`Matcher`), the login by one (`PortalLogin`), and recordings of logins.
package final class PortalCatalogue: Sendable {
    /// A file that was not read, or cannot be used.
    package struct Listing: Sendable {
        package var portals: [PortalFile] = []
        package var mistakes: [Keyfile.Error] = []
    }

    private struct Known {
        var stamp: [String] = []
        var listing = Listing()
    }

    /// The most files of one folder.
    private static let limit = 1000

    private let folders: [String]
    private let known = Locked(Known())

    /// - Parameter folders: of two files with the same name, that in the later folder counts.
    package init(_ folders: [String] = PortalCatalogue.usualFolders) { self.folders = folders }

    /// The folders of `HOTSPOTD_PORTALS`, separated by colons; else that of the installed program and the administrator's. The daemon
    /// passes no environment on, so that the variable is for programs started by hand.
    package static var usualFolders: [String] {
        if let list = getenv("HOTSPOTD_PORTALS") { return String(cString: list).split(separator: ":").map(String.init) }
        let parts = (FilePath.target(ofLink: "/proc/self/exe") ?? "").split(separator: "/")
        // PREFIX/libexec/hotspotd/PROGRAM
        let prefix = parts.dropLast(3).map { "/" + $0 }.joined()
        return [prefix + "/lib/hotspotd/portals", "/etc/hotspotd/portals"]
    }

    /// Returns the files that can be used, by name, and the mistakes of the others.
    ///
    /// - Parameter reporting: write new mistakes to standard error.
    package func read(reporting: Bool = true) -> Listing {
        let files = Self.files(in: folders)
        let stamp = files.map { "\($0.path) \($0.stamp)" }
        return known.with { known in
            if known.stamp == stamp { return known.listing }
            var listing = Listing()
            for folder in folders where Self.portalNames(in: folder).count > Self.limit {
                let message = "has more than \(Self.limit) portal files; the others are left out"
                listing.mistakes.append(Keyfile.Error(file: folder, line: 0, message: message))
            }
            for file in files {
                do throws(Keyfile.Error) {
                    if let portal = try Self.read(file.path) { listing.portals.append(portal) }
                } catch {
                    listing.mistakes.append(error)
                }
            }
            for mistake in listing.mistakes where reporting {
                let line = Array("\(mistake)\n".utf8)
                _ = write(2, line, line.count)
            }
            known = Known(stamp: stamp, listing: listing)
            return listing
        }
    }

    /// Reads one file; `nil` if it is empty. Throws ``Keyfile/Error``.
    package static func read(_ path: String) throws(Keyfile.Error) -> PortalFile? {
        guard let octets = octets(of: path) else {
            throw Keyfile.Error(file: path, line: 0, message: String(cString: strerror(errno)))
        }
        return try PortalFileParser.parse(octets, file: path)
    }

    /// Returns the first octets of a file, one more than a keyfile may have, without waiting at a pipe.
    package static func octets(of path: String, limit: Int = Keyfile.maximumSize + 1) -> [UInt8]? {
        FilePath.octets(of: path, limit: limit)
    }

    private static func files(in folders: [String]) -> [(path: String, stamp: String)] {
        var chosen: [String: (path: String, stamp: String)] = [:]
        for folder in folders {
            for name in portalNames(in: folder).prefix(limit) {
                let path = "\(folder)/\(name)"
                var status = stat()
                guard stat(path, &status) == 0 else { continue }
                let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(status.st_size) \(status.st_ino)"
                chosen[name] = (path, time)
            }
        }
        return chosen.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func portalNames(in folder: String) -> [String] {
        FilePath.names(in: folder).filter { $0.hasSuffix(".portal") && !$0.hasPrefix(".") }.sorted()
    }
}
