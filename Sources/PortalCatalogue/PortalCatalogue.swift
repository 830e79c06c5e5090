import EventLoop
import Glibc
import HelperKit
import HotspotCore

/// The portal files of some folders. For logins, reads only each file's `[Match]` sections at first, and the other sections once `[Match]` matches;
/// reads the files again when a folder or a file has changed. This target also decides which file claims a page (`Matcher`), logs in with a file
/// (`PortalLogin`), and records logins.
package final class PortalCatalogue: Sendable {
    /// The usable portal files, and the mistakes in the other files.
    package struct Listing: Sendable {
        package var portals: [PortalFile] = []
        package var mistakes: [Keyfile.Error] = []
    }

    private struct File: Hashable {
        var path: String
        var size: Int
        var inode: UInt
        var seconds: Int
        var nanoseconds: Int
    }

    private struct Known {
        var files: [File] = []
        var outlines: [PortalOutline] = []
    }

    /// The largest number of files in one folder.
    private static let limit = 1000

    private let folders: [String]
    private let known = Locked(Known())

    /// - Parameter folders: if two files have the same name, the file in the later folder counts.
    package init(_ folders: [String] = PortalCatalogue.usualFolders) { self.folders = folders }

    /// The folders of `HOTSPOTD_PORTALS`, separated by colons; otherwise the folders of the installed program and of the administrator. The daemon
    /// clears its helpers' environment, so the variable applies only to programs started by hand.
    package static var usualFolders: [String] {
        if let list = getenv("HOTSPOTD_PORTALS") { return String(cString: list).split(separator: ":").map(String.init) }
        let parts = (FilePath.target(ofLink: "/proc/self/exe") ?? "").split(separator: "/")
        // PREFIX/libexec/hotspotd/PROGRAM
        let prefix = parts.dropLast(3).map { "/" + $0 }.joined()
        return [prefix + "/lib/hotspotd/portals", "/etc/hotspotd/portals"]
    }

    /// Reads all files. Returns the usable files in the order of their names, and the mistakes in the other files.
    ///
    /// - Parameter reporting: whether to write the mistakes to standard error.
    package func read(reporting: Bool = true) -> Listing {
        var listing = Listing(mistakes: overfullFolders)
        for file in files {
            do throws(Keyfile.Error) {
                if let portal = try Self.read(file.path) { listing.portals.append(portal) }
            } catch {
                listing.mistakes.append(error)
            }
        }
        if reporting { listing.mistakes.forEach(Self.report) }
        return listing
    }

    /// Reads the `[Match]` sections of all files if they are not known yet or a file has changed. After that, a login begins faster.
    package func prepare() { _ = outlines }

    private var outlines: [PortalOutline] {
        let files = files
        return known.with { known in
            if known.files == files { return known.outlines }
            overfullFolders.forEach(Self.report)
            known = Known(files: files)
            for file in files {
                do throws(Keyfile.Error) {
                    guard let octets = Self.octets(of: file.path) else { throw Self.unreadable(file.path) }
                    if let outline = try PortalFileParser.outline(octets, file: file.path) { known.outlines.append(outline) }
                } catch {
                    Self.report(error)
                }
            }
            return known.outlines
        }
    }

    private var overfullFolders: [Keyfile.Error] {
        folders.filter { Self.portalNames(in: $0).count > Self.limit }.map {
            Keyfile.Error(file: $0, line: 0, message: "contains more than \(Self.limit) portal files; the others are ignored")
        }
    }

    /// Writes a mistake to standard error, which the daemon keeps.
    private static func report(_ mistake: Keyfile.Error) {
        let line = Array("\(mistake)\n".utf8)
        _ = write(2, line, line.count)
    }

    private static func unreadable(_ path: String) -> Keyfile.Error {
        Keyfile.Error(file: path, line: 0, message: String(cString: strerror(errno)))
    }

    /// Reads one file; `nil` if it is empty. Throws ``Keyfile/Error``.
    package static func read(_ path: String) throws(Keyfile.Error) -> PortalFile? {
        guard let octets = octets(of: path) else { throw unreadable(path) }
        return try PortalFileParser.parse(octets, file: path)
    }

    /// Returns the first octets of a file, without waiting at a pipe. The usual limit is one octet more than a keyfile may have, to notice a file
    /// that is too long.
    package static func octets(of path: String, limit: Int = Keyfile.maximumSize + 1) -> [UInt8]? {
        FilePath.octets(of: path, limit: limit)
    }

    private var files: [File] {
        var chosen: [String: File] = [:]
        for folder in folders {
            for name in Self.portalNames(in: folder).prefix(Self.limit) {
                let path = "\(folder)/\(name)"
                var status = stat()
                guard stat(path, &status) == 0 else { continue }
                chosen[name] = File(
                    path: path, size: status.st_size, inode: status.st_ino, seconds: status.st_mtim.tv_sec,
                    nanoseconds: status.st_mtim.tv_nsec)
            }
        }
        return chosen.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func portalNames(in folder: String) -> [String] {
        FilePath.names(in: folder).filter { $0.hasSuffix(".portal") && !$0.hasPrefix(".") }.sorted()
    }
}

extension PortalCatalogue: PortalSource {
    package func claims(on hops: [HTTPResponse], ssid: SSID?) -> [PortalClaim] {
        Matcher.claims(outlines, on: hops, ssid: ssid, report: Self.report)
    }

    package func portal(named id: String) -> PortalFile? {
        do throws(Keyfile.Error) { return try outlines.first { $0.id == id }?.whole() } catch {
            Self.report(error)
            return nil
        }
    }
}
