import Answers
import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import Vault

/// The settings; each one has a default.
struct Settings: Hashable, Sendable {
    enum GateKind: String, Sendable, CaseIterable { case none, routes }
    /// The browser that runs pages' scripts: the first one that is installed, none, or the one at a path.
    enum ScriptBrowser: Hashable, Sendable { case auto, none, path(String) }
    enum NamesFor: String, Sendable, CaseIterable { case permitted, everyone }
    enum LogLevel: String, Sendable, CaseIterable { case debug, info, notice, warning, error }

    /// The path of the settings file, without drop-ins, even if it does not exist.
    var file = Settings.defaultFile
    // [Daemon]
    var stateDirectory: String
    /// The vault's key.
    var keyFile: String { stateDirectory + "/vault.key" }
    var runtimeDirectory: String
    var helperDirectories = ["/etc/hotspotd/helpers", "/usr/lib/hotspotd/helpers"]
    var containment = HostConfiguration.Containment.sandbox
    var logLevel = LogLevel.info
    /// The local users that may read the names of networks, and the history.
    var namesFor = NamesFor.permitted
    var historyDays = 90
    // [Interfaces]
    var match: [SSIDPattern] = []
    var manageEthernet = false
    /// The frequencies to scan, in MHz; empty for all.
    var scanFrequencies: [Int] = []
    var leaseFiles: [String] = []
    // [Commands] and [Policy]
    var policy = Policy()
    var gate = GateKind.none
    var trustedNetworks: [SSIDPattern] = []
    var filterInterval: Duration = .seconds(5)
    var acceptTerms = AcceptTerms.remembered
    var logoffOn = LogoffOn()
    var remember = Remember.always
    var plainHTTPAnswers = PlainHTTPAnswers.confirm
    // [Probe]
    var probeExec: [String] = []
    var probeURL: String?
    var probeExpect = "204"
    var probeHTTPSURL: String?
    var probeNameservers: [String] = []
    // [Scripts]
    var browser = ScriptBrowser.auto
    /// One sentence for each entry whose key belongs to an earlier version.
    var ignoredEntries: [String] = []

    /// The defaults, with the folders that the service manager made, if it made any.
    init(environment: [String: String] = Self.environment) {
        stateDirectory = environment["STATE_DIRECTORY"] ?? "/var/lib/hotspotd"
        runtimeDirectory = environment["RUNTIME_DIRECTORY"] ?? "/run/hotspotd"
    }

    static var environment: [String: String] {
        ["STATE_DIRECTORY", "RUNTIME_DIRECTORY"].reduce(into: [:]) { all, name in
            all[name] = getenv(name).map { String(cString: $0) }
        }
    }

    /// Returns whether the gate ignores this network (C11): its name is listed, and it is protected by a password or a certificate. An open network
    /// is never trusted, because it can use any name.
    func trusts(_ ssid: SSID, _ security: Security) -> Bool {
        switch security {
        case .psk, .sae, .enterprise: trustedNetworks.contains { $0.matches(ssid) }
        case .open, .owe, .wep, .wired, .unknown: false
        }
    }

    /// Returns the settings in force after `next` was read while the daemon runs, and the keys whose change waits for the next start: the folders
    /// that are open and locked, and the containment.
    func replaced(by next: Settings) -> (settings: Settings, kept: [String]) {
        var settings = next
        var kept: [String] = []
        if next.stateDirectory != stateDirectory { kept.append("StateDirectory=") }
        if next.runtimeDirectory != runtimeDirectory { kept.append("RuntimeDirectory=") }
        if next.containment != containment { kept.append("Containment=") }
        settings.containment = containment
        settings.stateDirectory = stateDirectory
        settings.runtimeDirectory = runtimeDirectory
        return (settings, kept)
    }

    var controlSocket: String { runtimeDirectory + "/org.hotspotd.Control" }
    /// The helpers' control socket. Helpers run as the daemon's own user, which gives them no rights there.
    var helperControlSocket: String { controlSocket + ".helpers" }

    static let defaultFile = "/etc/hotspotd/hotspotd.conf"

    /// Reads a file and its drop-ins (`FILE.d/*.conf`, by name). The default file may be missing. Throws the first mistake, with file, line and the
    /// valid choices.
    static func load(_ path: String, isDefault: Bool, base: Settings = Settings()) throws(Keyfile.Error) -> Settings {
        let (settings, mistakes) = read(path, isDefault: isDefault, base: base)
        if let first = mistakes.first { throw first }
        return settings
    }

    /// Reads the files as ``load(_:isDefault:base:)`` does, but returns every mistake; entries with a mistake are left out.
    static func read(
        _ path: String, isDefault: Bool, base: Settings = Settings()
    ) -> (settings: Settings, mistakes: [Keyfile.Error]) {
        var files: [String] = []
        if access(path, F_OK) == 0 || !isDefault { files.append(path) }
        files += SettingsFile.names(in: path + ".d").filter { $0.hasSuffix(".conf") }.map { "\(path).d/\($0)" }
        var settings = base
        settings.file = path.hasPrefix("/") ? path : FilePath.canonical(path)
        var mistakes: [Keyfile.Error] = []
        func collect(_ work: () throws(Keyfile.Error) -> Void) {
            do throws(Keyfile.Error) { try work() } catch { mistakes.append(error) }
        }
        var parsed: [Keyfile] = []
        for file in files {
            collect { () throws(Keyfile.Error) in
                let octets = try SettingsFile.read(file)
                parsed.append(Keyfile(octets, file: file, errors: &mistakes))
            }
        }
        // Read Rules= first: it sets many defaults, which explicit settings override, wherever they stand. A mistake in Rules= is reported below.
        for keyfile in parsed {
            if let entry = keyfile.last("Policy", "Rules"), let rules = Policy.Rules(rawValue: entry.value) {
                settings.policy = Policy(rules: rules)
                settings.plainHTTPAnswers = rules == .strict ? .never : .confirm
            }
        }
        for keyfile in parsed {
            var unknown: Set<Int> = []
            for entry in keyfile.entries {
                // Report an unknown section only once, not for each of its entries.
                if SettingsKey.table[entry.section] == nil, !unknown.insert(entry.sectionLine).inserted { continue }
                collect { () throws(Keyfile.Error) in try SettingsKey.apply(entry, of: keyfile, to: &settings) }
            }
        }
        return (settings, mistakes.sorted { ($0.file, $0.line) < ($1.file, $1.line) })
    }
}

/// Reads settings files and the folders of their drop-ins, with limits.
enum SettingsFile {
    static func read(_ path: String) throws(Keyfile.Error) -> [UInt8] {
        // Reads one octet more than the limit, to notice a file that is too large.
        if let octets = FilePath.octets(of: path, limit: Keyfile.maximumSize + 1) { return octets }
        throw Keyfile.Error(file: path, line: 0, message: String(cString: strerror(errno)))
    }

    /// Returns the names in a folder, sorted; none if there is no such folder.
    static func names(in folder: String) -> [String] {
        FilePath.names(in: folder).filter { !$0.hasPrefix(".") }.sorted()
    }
}
