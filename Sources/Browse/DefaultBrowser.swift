import EventLoop

/// The user's default browser according to the desktop's files: mimeapps.list names a .desktop file, whose `Exec=` names the
/// program.
struct DefaultBrowser {
    /// The program's name or path; `nil` if no file names one.
    let program: String?

    private static let limit = 1 << 18

    /// - Parameters:
    ///   - environment: returns a variable of the environment.
    ///   - read: returns the text of a file.
    init(
        environment: (String) -> String?,
        read: @escaping (String) -> String? = { FilePath.text(of: $0, limit: limit) }
    ) {
        func folders(_ name: String, _ usual: String) -> [String] {
            let value = environment(name).flatMap { $0.isEmpty ? nil : $0 } ?? usual
            return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        }
        let home = environment("HOME") ?? ""
        let data =
            folders("XDG_DATA_HOME", home + "/.local/share") + folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share")
        let applications = data.map { $0 + "/applications" }
        let desktops = (environment("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":").map { $0.lowercased() + "-" } + [""]
        let lists = (folders("XDG_CONFIG_HOME", home + "/.config") + folders("XDG_CONFIG_DIRS", "/etc/xdg") + applications)
            .flatMap { folder in desktops.map { "\(folder)/\($0)mimeapps.list" } }
        let entries = lists.lazy.compactMap(read).flatMap(Self.entries)
        program =
            entries.lazy.compactMap { entry in
                applications.lazy.compactMap { read("\($0)/\(entry)") }.first.flatMap(Self.program)
            }.first
    }

    /// Returns the .desktop files that a `mimeapps.list` assigns to http addresses, the preferred one first.
    static func entries(of list: String) -> [String] {
        value(of: "x-scheme-handler/http", in: "Default Applications", list)?.split(separator: ";").map(String.init)
            .filter { !$0.contains("/") && $0.hasSuffix(".desktop") } ?? []
    }

    /// Returns the program of a .desktop file, without `env` and its variables.
    static func program(of entry: String) -> String? {
        let words = value(of: "Exec", in: "Desktop Entry", entry)?.split(separator: " ").map { $0.filter { $0 != "\"" } } ?? []
        return words.first { $0 != "env" && $0 != "/usr/bin/env" && !$0.contains("=") }
    }

    private static func value(of key: String, in group: String, _ text: String) -> String? {
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isInside = line == "[\(group)]"
            } else if isInside, let equals = line.firstIndex(of: "="), line[..<equals] == key {
                return String(line[line.index(after: equals)...])
            }
        }
        return nil
    }
}
