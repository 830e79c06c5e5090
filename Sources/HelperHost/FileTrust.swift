import FoundationEssentials
import Glibc

/// The way of a path through links, for ``WritableFolders`` and ``Launcher`` alone; it goes with them.
enum FileTrust {
    /// The arguments that are files, one of which may be the script that an interpreter is to run.
    static func files(amongArguments exec: [String], writable: [String]) -> [String] {
        exec.dropFirst().map { $0.hasPrefix("/") ? $0 : "/" + $0 }.filter { path in
            var status = stat()
            let places = places(on: path, until: writable)
            let isInside = writable.contains { folder in places.contains { $0 != folder && FolderPath.isWithin($0, folder) } }
            return !isInside && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Every folder, link and file on the way, as far as into one of these folders.
    static func places(on path: String, until folders: [String]) -> [String] {
        var ahead = Array(path.split(separator: "/").map(String.init).reversed())
        var (here, places) = ("/", [String]())
        while let part = ahead.popLast(), places.count < 512 {
            if part == "." { continue }
            if part == ".." {
                here = "/" + here.split(separator: "/").dropLast().joined(separator: "/")
                continue
            }
            let next = FolderPath.joined(here, part)
            places.append(next)
            if folders.contains(where: { next != $0 && FolderPath.isWithin(next, $0) }) { break }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: next) else {
                guard access(next, F_OK) == 0 else { break }
                here = next
                continue
            }
            if target.hasPrefix("/") { here = "/" }
            ahead += target.split(separator: "/").map(String.init).reversed()
        }
        return places
    }
}
