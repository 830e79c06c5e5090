import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// One `.helper` file.
public enum HelperFile {
    private static let keys = [
        "Name", "DisplayName", "Exec", "Socket", "Activation", "SSID", "Security", "Priority", "Enabled", "ScanList",
        "ReadPaths", "ReadWritePaths", "Browser",
    ]

    /// Reads a file.
    public static func read(_ path: String) throws(Keyfile.Error) -> HelperSpec {
        // Reads one octet more than the limit, to notice a file that is too large.
        guard let octets = FilePath.octets(of: path, limit: Keyfile.maximumSize + 1) else {
            throw Keyfile.Error(file: path, line: 0, message: String(cString: strerror(errno)))
        }
        return try parse(octets, file: path)
    }

    static func parse(_ octets: [UInt8], file: String) throws(Keyfile.Error) -> HelperSpec {
        let keyfile = try Keyfile(octets, file: file)
        try checkWords(keyfile)
        func last(_ key: String) -> Keyfile.Entry? { keyfile.last("Helper", key) }
        func boolean(_ key: String, default standard: Bool) throws(Keyfile.Error) -> Bool {
            guard let entry = last(key) else { return standard }
            guard let truth = entry.boolean else { throw keyfile.error(entry, "is neither yes nor no") }
            return truth
        }

        guard let name = last("Name") else { throw Keyfile.Error(file: file, line: 0, message: "Name= is missing in [Helper]") }
        guard HelperSpec.isName(name.value) else {
            throw keyfile.error(
                name,
                "must have 1 to \(HelperSpec.nameLimit) letters, digits, dots, hyphens or underscores, and begin with a letter or digit"
            )
        }
        guard name.value != HelperHost.proberName, name.value.lowercased() != "hotspotd" else {
            throw keyfile.error(name, "may not be \"\(name.value)\", which hotspotd uses itself")
        }

        var spec = HelperSpec(name: name.value, activation: try activation(keyfile))
        spec.displayName = String(name.value.prefix(HelperSpec.displayNameLimit))
        if let entry = last("DisplayName"), !entry.value.isEmpty {
            // The octets are limited, because a character can have any number of marks.
            guard entry.value.utf8.count <= 256 else { throw keyfile.error(entry, "has more than 256 octets") }
            spec.displayName = entry.value
        }
        for entry in keyfile.entries where entry.key == "SSID" {
            // An empty value takes back the earlier values, as in a unit file.
            do { spec.ssids = entry.value.isEmpty ? [] : spec.ssids + (try SSIDPattern.list(entry.value)) } catch {
                throw keyfile.error(entry, error.description)
            }
        }
        if let entry = last("SSID"), spec.ssids.isEmpty {
            throw keyfile.error(entry, "is empty, so the helper would learn about every network; to allow that, remove the key")
        }
        if let entry = last("Security") {
            for word in entry.value.split(whereSeparator: { $0 == ";" || $0 == "," || $0.isWhitespace }) {
                guard let security = Security(rawValue: String(word)) else {
                    let known = Security.allCases.map(\.rawValue).joined(separator: ", ")
                    throw keyfile.error(entry, "has \"\(Printable.text(String(word), limit: 64))\"; known are \(known)")
                }
                spec.security.insert(security)
            }
        }
        if let entry = last("Priority") {
            guard let priority = Int(entry.value), (0...100).contains(priority) else {
                throw keyfile.error(entry, "is not a whole number from 0 to 100")
            }
            spec.priority = priority
        }
        spec.enabled = try boolean("Enabled", default: true)
        spec.scanList = try boolean("ScanList", default: false)
        spec.browses = try boolean("Browser", default: false)
        spec.readPaths = try paths("ReadPaths", of: "folders or files", keyfile)
        spec.readWritePaths = try paths("ReadWritePaths", of: "folders", keyfile)
        return spec
    }

    /// Refuses unknown keys and sections: with a misspelt `SSID=`, the helper would learn about every network.
    private static func checkWords(_ keyfile: Keyfile) throws(Keyfile.Error) {
        func refuse(_ line: Int, _ what: String, _ known: String) -> Keyfile.Error {
            Keyfile.Error(file: keyfile.file, line: line, message: "\(what) is unknown; \(known)")
        }
        for entry in keyfile.entries {
            guard entry.section == "Helper" else {
                let isNear = Nearest.word(to: entry.section, in: ["Helper"]) != nil
                throw refuse(
                    entry.sectionLine, "the section [\(Printable.text(entry.section, limit: 64))]",
                    isNear ? "did you mean [Helper]?" : "the only section is [Helper]")
            }
            guard !keys.contains(entry.key) else { continue }
            throw refuse(
                entry.line, "\(Printable.text(entry.key, limit: 64))=",
                Nearest.word(to: entry.key, in: keys).map { "did you mean \($0)=?" }
                    ?? "known are \(keys.map { $0 + "=" }.joined(separator: ", "))")
        }
    }

    private static func activation(_ keyfile: Keyfile) throws(Keyfile.Error) -> HelperSpec.Activation {
        let word = keyfile.last("Helper", "Activation")
        if let socket = keyfile.last("Helper", "Socket") {
            guard keyfile.last("Helper", "Exec") == nil else { throw keyfile.error(socket, "and Exec= exclude each other") }
            if let word, word.value != "external" {
                throw keyfile.error(word, "cannot be used with Socket=, because the daemon then starts no program")
            }
            guard socket.value.hasPrefix("/"), socket.value.utf8.count < 108 else {
                throw keyfile.error(socket, "must be an absolute path of at most 107 octets")
            }
            return .external(path: socket.value)
        }
        guard let exec = keyfile.last("Helper", "Exec") else {
            throw Keyfile.Error(file: keyfile.file, line: 0, message: "Exec= or Socket= is missing in [Helper]")
        }
        let arguments = try words(exec, in: keyfile)
        guard let program = arguments.first, program.hasPrefix("/") else {
            throw keyfile.error(exec, "must begin with the absolute path of a program")
        }
        guard let word, word.value != "stdio" else { return .stdio(exec: arguments) }
        guard word.value == "socket" else {
            throw keyfile.error(word, "is \"\(Printable.text(word.value, limit: 64))\"; known are stdio, socket")
        }
        return .socket(exec: arguments)
    }

    private static func paths(_ key: String, of kind: String, _ keyfile: Keyfile) throws(Keyfile.Error) -> [String] {
        var paths: [String] = []
        for entry in keyfile.entries where entry.key == key {
            if entry.value.isEmpty { paths = [] }
            for path in try words(entry, in: keyfile) {
                guard path.hasPrefix("/"), path != "/", !path.split(separator: "/").contains("..") else {
                    throw keyfile.error(
                        entry, "has \"\(Printable.text(path, limit: 64))\"; it takes absolute \(kind), but not / itself")
                }
                paths.append(path)
            }
        }
        return paths
    }

    private static func words(_ entry: Keyfile.Entry, in keyfile: Keyfile) throws(Keyfile.Error) -> [String] {
        do { return try ExecLine.split(entry.value) } catch { throw keyfile.error(entry, error.description) }
    }
}
