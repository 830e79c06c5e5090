import Glibc

/// The mounts of this process, by which a folder may be seen in more than one place: a bind mount, or the top of a file system that
/// is mounted beside one of its parts, or a layer of an overlay.
struct MountTable {
    /// One line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    struct Mount: Hashable {
        /// Major and minor number, which every mount of one file system has in common.
        let device: String
        /// What of the file system is mounted here.
        let root: String
        /// Where.
        let point: String
        /// The file system's type.
        let type: String
        /// Of an overlay the folders that it is made of; empty for all others.
        var layers: [String] = []
    }

    /// In the order of the file: of mounts on the same folder the last one is seen.
    let mounts: [Mount]

    /// Reads lines of `mountinfo`; what is no such line is left out, and so are layers that this process has not.
    init(_ text: String, hasFolder: (String) -> Bool = { _ in true }) {
        mounts = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count > 5, fields[3].hasPrefix("/"), fields[4].hasPrefix("/") else { return nil }
            // Behind the options come any number of optional fields, then a hyphen.
            let rest = Array(fields[5].split(separator: " ").drop { $0 != "-" }.dropFirst())
            let type = rest.first ?? ""
            return Mount(
                device: String(fields[2]), root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]), type: String(type),
                layers: type == "overlay" && rest.count > 2 ? Self.layers(Self.unescaped(rest[2])).filter(hasFolder) : [])
        }
    }

    /// The folders that are mounted as soon as somebody looks into them, and are not mounted now (autofs, automount(8)).
    var awaited: [String] {
        guard mounts.contains(where: { $0.type == Self.automount }) else { return [] }
        let seen = Dictionary(mounts.map { ($0.point, $0.type) }, uniquingKeysWith: { $1 })
        return seen.filter { $0.value == Self.automount }.map(\.key).sorted()
    }

    private static let automount = "autofs"

    /// All places where a folder, a part of it, or what another mount covers at its path is to be seen, itself first, and its layers
    /// where it is in an overlay. The path has no links.
    func views(of folder: String) -> [String] {
        var views: [String] = []
        func add(_ view: String) { if !views.contains(view) { views.append(view) } }
        // An overlay may lie on another, never on itself.
        var opened: Set<String> = []
        var folders = [folder][...]
        while let folder = folders.popFirst() {
            add(folder)
            for home in mounts {
                guard let rest = FolderPath.rest(of: folder, below: home.point) else { continue }
                let inside = FolderPath.joined(home.root, rest)
                if !home.layers.isEmpty, opened.insert(home.device).inserted {
                    folders += home.layers.map { FolderPath.joined($0, String(inside.dropFirst())) }
                }
                for mount in mounts where mount.device == home.device {
                    let view: String? =
                        if let rest = FolderPath.rest(of: inside, below: mount.root) {
                            FolderPath.joined(mount.point, rest)
                        } else if FolderPath.isWithin(mount.root, inside) {
                            mount.point
                        } else {
                            nil
                        }
                    if let view, seen(at: view) == mount { add(view) }
                }
            }
        }
        return views
    }

    /// What a path leads into: of all mounts around it the innermost, and the last of those.
    private func seen(at path: String) -> Mount? {
        var seen: Mount?
        for mount in mounts where FolderPath.isWithin(path, mount.point) {
            if mount.point.utf8.count >= seen?.point.utf8.count ?? 0 { seen = mount }
        }
        return seen
    }

    /// The folders in an overlay's options (overlayfs.rst of the kernel): `upperdir=`, and `lowerdir=` with colons between. Who mounted
    /// it named them; relative ones say nothing here.
    private static func layers(_ options: String) -> [String] {
        var layers: [String] = []
        var (option, isEscaped) = ("", false)
        func isFolder(_ key: Substring) -> Bool { ["upperdir", "lowerdir", "lowerdir+", "datadir+"].contains(key) }
        func end() {
            guard let sign = option.firstIndex(of: "="), isFolder(option[..<sign]) else { return }
            layers += option[option.index(after: sign)...].split(separator: "\0").map(String.init).filter { $0.hasPrefix("/") }
        }
        for character in options + "," {
            switch character {
            case _ where isEscaped: (isEscaped, option) = (false, option + String(character))
            case "\\": isEscaped = true
            case ":": option.append("\0")
            case ",":
                end()
                option = ""
            default: option.append(character)
            }
        }
        return layers.map(FolderPath.plain)
    }

    /// Blanks and the like stand as three octal digits behind a backslash.
    private static func unescaped(_ field: Substring) -> String {
        var octets: [UInt8] = []
        var ahead = Array(field.utf8)[...]
        while let octet = ahead.popFirst() {
            if octet == UInt8(ascii: "\\"), let number = UInt8(String(decoding: ahead.prefix(3), as: UTF8.self), radix: 8) {
                octets.append(number)
                ahead = ahead.dropFirst(3)
            } else {
                octets.append(octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

/// The mount table of this process, read again when the kernel says that it has changed.
final class MountWatch {
    private let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    private var table: MountTable?

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The table as it is now; without mounts where there is no `/proc`.
    func current() -> MountTable {
        // A change is exceptional data and an error at once, until somebody has looked (proc_pid_mounts(5)).
        var entry = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
        let changed = descriptor >= 0 && poll(&entry, 1, 0) > 0
        if let table, !changed { return table }
        // A container's root has many, and they are the host's.
        let table = MountTable(read(), hasFolder: { access($0, F_OK) == 0 })
        self.table = table
        return table
    }

    /// Up to 4 MiB, which is some twenty thousand mounts.
    private func read() -> String {
        var octets: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while descriptor >= 0, octets.count < 4 << 20 {
            let count = pread(descriptor, &piece, piece.count, off_t(octets.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            octets += piece[..<count]
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
