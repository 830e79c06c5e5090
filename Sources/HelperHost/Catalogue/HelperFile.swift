import ForeignText
import Glibc
import HotspotCore

/// One `.helper` file.
public enum HelperFile {
    private static let keys = [
        "Name", "DisplayName", "Exec", "Socket", "Activation", "SSID", "Security", "Priority", "Enabled", "ScanList",
        "ReadPaths", "ReadWritePaths",
    ]
    /// No helper may have it, nor be shown by it.
    static let daemonName = "hotspotd"

    /// The most octets of `DisplayName=`, of `Exec=`, of all `SSID=` together, and of one path.
    private static let (displayNameOctets, execOctets, ssidOctets, pathOctets) = (256, 4096, 16 * 1024, 1024)
    /// The most globs of `SSID=`, and the most paths of `ReadPaths=` and of `ReadWritePaths=`.
    private static let (ssidLimit, pathLimit) = (256, 32)

    /// Reads a file. Returns what is wrong but harmless as problems, and throws what makes the helper unusable.
    public static func read(_ path: String) throws(Keyfile.Error) -> (spec: HelperSpec, problems: [Problem]) {
        // One octet more than a keyfile may have tells that it is too large.
        guard let octets = octets(of: path, limit: Keyfile.maximumSize + 1) else {
            throw Keyfile.Error(file: path, line: 0, message: String(cString: strerror(errno)))
        }
        return try parse(octets, file: path)
    }

    /// Returns the first octets of a file, without waiting at a pipe or device; `nil` and errno if it cannot be read.
    public static func octets(of path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(descriptor, &octets, limit)
        return count < 0 ? nil : Array(octets[..<count])
    }

    static func parse(_ octets: [UInt8], file: String) throws(Keyfile.Error) -> (spec: HelperSpec, problems: [Problem]) {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw Keyfile.Error(
                file: file, line: 1, message: "the file begins with a byte order mark (BOM); save it as UTF-8 without one")
        }
        let keyfile = try Keyfile(octets, file: file)
        try checkWords(keyfile)
        var problems: [Problem] = []
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
        guard name.value != HelperHost.proberName, name.value.lowercased() != daemonName else {
            throw keyfile.error(name, "may not be \"\(name.value)\", which hotspotd uses itself")
        }

        var spec = HelperSpec(name: name.value, activation: try activation(keyfile))
        spec.displayName = String(name.value.prefix(HelperSpec.displayNameLimit))
        if let entry = last("DisplayName"), !entry.value.isEmpty {
            // A character can have any number of marks.
            guard entry.value.utf8.count <= displayNameOctets else {
                throw keyfile.error(entry, "has \(entry.value.utf8.count) octets; at most \(displayNameOctets) are taken")
            }
            spec.displayName = String(entry.value.prefix(HelperSpec.displayNameLimit))
            if spec.displayName != entry.value {
                let message =
                    "\(file):\(entry.line): DisplayName= has \(entry.value.count) characters; \(HelperSpec.displayNameLimit) are shown: \"\(spec.displayName)\""
                problems.append(Problem(.displayNameTooLong, message))
            }
        }
        for entry in keyfile.entries where entry.key == "SSID" {
            // An empty value takes back what came before, as in a unit file.
            do { spec.ssids = entry.value.isEmpty ? [] : spec.ssids + (try SSIDPattern.list(entry.value)) } catch {
                throw keyfile.error(entry, error.description)
            }
            // Each is compared with each name in sight, and every client that lists the helpers gets all of them.
            guard spec.ssids.count <= ssidLimit, spec.ssids.reduce(0, { $0 + $1.source.utf8.count }) <= ssidOctets else {
                throw keyfile.error(
                    entry, "has more than \(ssidLimit) entries or \(ssidOctets / 1024) KiB in all; use globs, such as Cafe*")
            }
        }
        if let entry = last("SSID"), spec.ssids.isEmpty {
            throw keyfile.error(entry, "is empty, and the helper would hear of every network; leave the key out if that is meant")
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
                throw keyfile.error(entry, "is no whole number from 0 to 100")
            }
            spec.priority = priority
        }
        spec.enabled = try boolean("Enabled", default: true)
        spec.scanList = try boolean("ScanList", default: false)
        spec.readPaths = try paths("ReadPaths", of: "folders or files", keyfile)
        spec.readWritePaths = try paths("ReadWritePaths", of: "folders", keyfile)
        return (spec, problems)
    }

    /// Refuses what is unknown: a misspelt `SSID=` would let the helper hear of every network.
    private static func checkWords(_ keyfile: Keyfile) throws(Keyfile.Error) {
        for entry in keyfile.entries {
            guard entry.section == "Helper" else {
                let known =
                    Nearest.word(to: entry.section, in: ["Helper"]) == nil ? "there is [Helper] alone" : "did you mean [Helper]?"
                let message = "the section [\(Printable.text(entry.section, limit: 64))] is unknown; \(known)"
                throw Keyfile.Error(file: keyfile.file, line: entry.sectionLine, message: message)
            }
            guard !keys.contains(entry.key) else { continue }
            let known =
                Nearest.word(to: entry.key, in: keys).map { "did you mean \($0)=?" }
                ?? "known are \(keys.map { $0 + "=" }.joined(separator: ", "))"
            let message = "\(Printable.text(entry.key, limit: 64))= is unknown; \(known)"
            throw Keyfile.Error(file: keyfile.file, line: entry.line, message: message)
        }
    }

    private static func activation(_ keyfile: Keyfile) throws(Keyfile.Error) -> HelperSpec.Activation {
        let word = keyfile.last("Helper", "Activation")
        if let socket = keyfile.last("Helper", "Socket") {
            guard keyfile.last("Helper", "Exec") == nil else { throw keyfile.error(socket, "and Exec= exclude each other") }
            if let word, word.value != "external" {
                throw keyfile.error(word, "does not go with Socket=, where the daemon starts no program")
            }
            guard socket.value.hasPrefix("/"), socket.value.utf8.count < 108 else {
                throw keyfile.error(socket, "must be an absolute path of at most 107 octets")
            }
            return .external(path: socket.value)
        }
        guard let exec = keyfile.last("Helper", "Exec") else {
            throw Keyfile.Error(file: keyfile.file, line: 0, message: "Exec= or Socket= is missing in [Helper]")
        }
        guard exec.value.utf8.count <= execOctets else {
            throw keyfile.error(exec, "has \(exec.value.utf8.count) octets; at most \(execOctets) are taken")
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
                    throw keyfile.error(entry, "has \"\(Printable.text(path, limit: 64))\"; it takes absolute \(kind) below /")
                }
                guard path.utf8.count <= pathOctets else {
                    throw keyfile.error(entry, "has a path of \(path.utf8.count) octets; at most \(pathOctets) are taken")
                }
                guard paths.count < pathLimit else { throw keyfile.error(entry, "has more than \(pathLimit) \(kind)") }
                paths.append(path)
            }
        }
        return paths
    }

    private static func words(_ entry: Keyfile.Entry, in keyfile: Keyfile) throws(Keyfile.Error) -> [String] {
        do { return try ExecLine.split(entry.value) } catch { throw keyfile.error(entry, error.description) }
    }
}
