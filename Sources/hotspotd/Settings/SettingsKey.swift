import ForeignText
import Glibc
import HotspotCore
import HotspotMachine

/// Every key of the settings, with the function that reads it. Errors list the known keys from the table.
enum SettingsKey {
    typealias Reader = @Sendable (Keyfile.Entry, Keyfile, inout Settings) throws(Keyfile.Error) -> Void

    static let table: [String: [String: Reader]] = [
        "Daemon": [
            "StateDirectory": set(\.stateDirectory, path), "RuntimeDirectory": set(\.runtimeDirectory, path),
            "HelperDirectories": set(\.helperDirectories, paths), "Containment": set(\.containment, word),
            "LogLevel": set(\.logLevel, word), "NamesFor": set(\.namesFor, word), "HistoryDays": set(\.historyDays, days),
        ],
        "Interfaces": [
            "Match": set(\.match, globs), "ManageEthernet": set(\.manageEthernet, boolean),
            "ScanFrequencies": set(\.scanFrequencies, frequencies), "LeaseFiles": set(\.leaseFiles, paths),
        ],
        "Commands": [
            "TimeoutSec": set(\.policy.commandTimeout, seconds), "MaintainIntervalSec": set(\.policy.maintainInterval, seconds),
            "FilterIntervalSec": set(\.filterInterval, seconds),
            "LowGraceSec": set(\.policy.lowGrace) { entry, file throws(Keyfile.Error) in try seconds(entry, in: file) },
        ],
        "Probe": [
            "Exec": set(\.probeExec, commandLine),
            "URL": set(\.probeURL) { entry, file throws(Keyfile.Error) in try url(entry, scheme: "http://", in: file) },
            "Expect": set(\.probeExpect) { entry, _ in entry.value.isEmpty ? "204" : entry.value },
            "HTTPSURL": set(\.probeHTTPSURL) { entry, file throws(Keyfile.Error) in try url(entry, scheme: "https://", in: file)
            },
            "Nameservers": set(\.probeNameservers, addresses),
        ],
        "Policy": [
            "Rules": { entry, file, _ throws(Keyfile.Error) in _ = try word(entry, in: file) as Policy.Rules },
            "OnTimeout": set(\.policy.onTimeout, word), "OnFailure": set(\.policy.onFailure, word), "Gate": set(\.gate, word),
            "TrustedNetworks": set(\.trustedNetworks, globs), "AcceptTerms": set(\.acceptTerms, word),
            "LogoffOn": set(\.logoffOn, absence), "Remember": set(\.remember, word),
            "PlainHTTPAnswers": set(\.plainHTTPAnswers, word),
        ],
        "Scripts": ["Browser": set(\.browser, browser)],
    ]

    /// Keys of earlier versions that still have an effect.
    private static let former: [String: [String: Reader]] = [
        "Policy": [
            "AllowPlainHTTPCredentials": set(\.plainHTTPAnswers) { entry, file throws(Keyfile.Error) in
                try boolean(entry, in: file) ? .automatic : .never
            }
        ]
    ]

    /// Keys of earlier versions, which are accepted and ignored.
    static let obsolete: [String: Set<String>] = ["Daemon": ["PortalDirectories"]]

    private static func set<Value>(
        _ member: any WritableKeyPath<Settings, Value> & Sendable,
        _ read: @escaping @Sendable (Keyfile.Entry, Keyfile) throws(Keyfile.Error) -> Value
    ) -> Reader {
        { entry, file, settings throws(Keyfile.Error) in settings[keyPath: member] = try read(entry, file) }
    }

    static func apply(_ entry: Keyfile.Entry, of file: Keyfile, to settings: inout Settings) throws(Keyfile.Error) {
        guard let keys = table[entry.section] else {
            let known = table.keys.sorted().map { "[\($0)]" }.joined(separator: " ")
            throw Keyfile.Error(
                file: file.file, line: entry.line,
                message: "unknown section [\(Printable.text(entry.section, limit: 60))]; known are \(known)")
        }
        if obsolete[entry.section]?.contains(entry.key) == true {
            settings.ignoredEntries.append("\(file.file):\(entry.line): \(entry.key)= is no longer used and is ignored.")
            return
        }
        guard let read = keys[entry.key] ?? former[entry.section]?[entry.key] else {
            let known = keys.keys.sorted().joined(separator: " ")
            throw Keyfile.Error(
                file: file.file, line: entry.line,
                message: "unknown key \(Printable.text(entry.key, limit: 60))= in [\(entry.section)]; known are \(known)")
        }
        try read(entry, file, &settings)
    }

    static func word<T: RawRepresentable & CaseIterable>(
        _ entry: Keyfile.Entry, in file: Keyfile
    ) throws(Keyfile.Error) -> T where T.RawValue == String {
        guard let value = T(rawValue: entry.value) else {
            let choices = T.allCases.map(\.rawValue).joined(separator: ", ")
            throw file.error(entry, "takes one of \(choices), not \"\(Printable.text(entry.value, limit: 60))\"")
        }
        return value
    }

    static func browser(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Settings.ScriptBrowser {
        switch entry.value {
        case "auto": return .auto
        case "none": return .none
        case let path where path.hasPrefix("/") && !path.contains("\0"): return .path(path)
        default: throw file.error(entry, "takes auto, none or the absolute path of a browser of the Chromium family")
        }
    }

    static func boolean(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Bool {
        guard let value = entry.boolean else { throw file.error(entry, "takes yes or no") }
        return value
    }

    static func seconds(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Duration {
        guard let value = Double(entry.value), value >= 0.001, value <= 86400 else {
            throw file.error(entry, "takes seconds from 0.001 to 86400, fractions allowed")
        }
        return .milliseconds(Int64((value * 1000).rounded()))
    }

    static func days(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Int {
        guard let value = Int(entry.value), (0...3650).contains(value) else {
            throw file.error(entry, "takes whole days from 0 to 3650")
        }
        return value
    }

    static func absence(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> LogoffOn {
        var logoffOn = LogoffOn()
        for word in list(entry) {
            switch word {
            case "sleep": logoffOn.sleep = true
            case "lid": logoffOn.lid = true
            case "lock": logoffOn.lock = true
            default:
                let units = ["s": 1, "min": 60, "h": 3600]
                let time = word.hasPrefix("idle:") ? word.dropFirst(5) : ""
                guard let unit = units[String(time.drop { $0.isNumber })], let count = Int(time.prefix { $0.isNumber }),
                    (1...86400).contains(count)
                else { throw file.error(entry, "takes sleep, lid, lock and idle:TIME, such as idle:30min, separated by ;") }
                logoffOn.idle = .seconds(count * unit)
            }
        }
        return logoffOn
    }

    static func list(_ entry: Keyfile.Entry) -> [String] {
        entry.value.split(whereSeparator: { $0 == ";" || $0 == "," || $0 == " " }).map(String.init)
    }

    static func frequencies(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> [Int] {
        try list(entry).map { text throws(Keyfile.Error) in
            guard let frequency = Int(text), (2000...8000).contains(frequency) else {
                throw file.error(entry, "takes frequencies in MHz from 2000 to 8000, separated by ;")
            }
            return frequency
        }
    }

    static func commandLine(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> [String] {
        let words = entry.value.split(separator: " ").map(String.init)
        guard let program = words.first, program.hasPrefix("/") else {
            throw file.error(entry, "takes a program's absolute path and its arguments")
        }
        return words
    }

    static func path(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> String {
        guard entry.value.hasPrefix("/") else { throw file.error(entry, "takes an absolute path") }
        return entry.value.count > 1 && entry.value.hasSuffix("/") ? String(entry.value.dropLast()) : entry.value
    }

    static func paths(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> [String] {
        try entry.value.split(separator: ";").map { text throws(Keyfile.Error) in
            guard text.hasPrefix("/") else { throw file.error(entry, "takes absolute paths, separated by ;") }
            return String(text)
        }
    }

    static func addresses(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> [String] {
        let addresses = list(entry)
        guard addresses.count <= 8 else { throw file.error(entry, "takes at most 8 addresses") }
        for address in addresses {
            // A link-local address may include its interface.
            let number = String(address.prefix { $0 != "%" })
            var octets = [UInt8](repeating: 0, count: 16)
            guard inet_pton(AF_INET6, number, &octets) == 1 || (number == address && inet_pton(AF_INET, number, &octets) == 1)
            else {
                throw file.error(
                    entry, "takes IP addresses, separated by ;, not \"\(Printable.text(address, limit: 60))\"")
            }
        }
        return addresses
    }

    static func globs(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> [SSIDPattern] {
        do {
            return try SSIDPattern.list(entry.value)
        } catch {
            throw file.error(entry, error.description)
        }
    }

    static func url(_ entry: Keyfile.Entry, scheme: String, in file: Keyfile) throws(Keyfile.Error) -> String? {
        if entry.value.isEmpty { return nil }
        guard entry.value.hasPrefix(scheme), entry.value.utf8.count > scheme.utf8.count,
            !entry.value.contains(where: { $0.isWhitespace })
        else { throw file.error(entry, "takes an address that begins with \(scheme)") }
        return entry.value
    }
}
