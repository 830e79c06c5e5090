/// Programs from snaps, which run only in their snap's own sandbox.
public enum Snap {
    private static let folder = Array("/snap/bin/".utf8)

    /// Returns the name of the snap that a program starts; `nil` if it starts none.
    public static func name(of program: String) -> String? {
        if let name = name(within: Array(program.utf8)) { return name }
        let place = FilePath.canonical(program)
        if place == "/usr/bin/snap" || place.hasPrefix("/snap/") { return program.split(separator: "/").last.map(String.init) }
        // Some packages of Ubuntu contain only a script that starts the snap.
        guard let script = FilePath.octets(of: program, limit: 8192), script.starts(with: Array("#!".utf8)) else { return nil }
        return script.split { " \"'=\n\t".utf8.contains($0) }.lazy.compactMap(name(within:)).first
    }

    private static func name(within word: some Collection<UInt8>) -> String? {
        guard word.starts(with: folder) else { return nil }
        let name = word.dropFirst(folder.count).prefix { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
