/// Paths within folders, as texts: absolute, and without links.
enum FolderPath {
    /// What follows the folder in the path: "" for the folder itself, `nil` if the path is not in it.
    static func rest(of path: String, below folder: String) -> String? {
        if path == folder { return "" }
        let start = folder == "/" ? "/" : folder + "/"
        return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : nil
    }

    /// Whether the path is the folder, or in it.
    static func isWithin(_ path: String, _ folder: String) -> Bool { rest(of: path, below: folder) != nil }

    /// An absolute path without the slashes that say nothing.
    static func plain(_ path: String) -> String { "/" + path.split(separator: "/").joined(separator: "/") }

    /// A path in a folder; the folder itself without one.
    static func joined(_ folder: String, _ rest: String) -> String {
        if rest.isEmpty { return folder }
        return folder == "/" ? "/" + rest : folder + "/" + rest
    }
}
