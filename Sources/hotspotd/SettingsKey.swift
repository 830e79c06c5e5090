import ForeignText
import Glibc
import HotspotCore
import HotspotMachine

/// Every key of the settings, and how it is read: the table is the documentation's source, and the list of choices in errors.
enum SettingsKey {
    typealias Reader = @Sendable (Keyfile.Entry, Keyfile, inout Settings) throws(Keyfile.Error) -> Void

    static let table: [String: [String: Reader]] = [
        "Daemon": [
            "StateDirectory": { entry, file, settings throws(Keyfile.Error) in settings.stateDirectory = try path(entry, in: file)
            },
            "RuntimeDirectory": { entry, file, settings throws(Keyfile.Error) in
                settings.runtimeDirectory = try path(entry, in: file)
            },
            "HelperDirectories": { entry, file, settings throws(Keyfile.Error) in
                settings.helperDirectories = try paths(entry, in: file)
            },
            "PortalDirectories": { entry, file, settings throws(Keyfile.Error) in
                settings.portalDirectories = try paths(entry, in: file)
            },
            "LogLevel": { entry, file, settings throws(Keyfile.Error) in settings.logLevel = try word(entry, in: file) },
        ],
        "Interfaces": [
            "Match": { entry, file, settings throws(Keyfile.Error) in settings.match = try globs(entry, in: file) },
            "ManageEthernet": { entry, file, settings throws(Keyfile.Error) in
                settings.manageEthernet = try boolean(entry, in: file)
            },
            "ScanFrequencies": { entry, file, settings throws(Keyfile.Error) in
                settings.scanFrequencies = try list(entry).map { text throws(Keyfile.Error) in
                    guard let frequency = Int(text), (2000...8000).contains(frequency) else {
                        throw file.error(entry, "takes frequencies in MHz from 2000 to 8000, separated by ;")
                    }
                    return frequency
                }
            },
            "LeaseFiles": { entry, file, settings throws(Keyfile.Error) in settings.leaseFiles = try paths(entry, in: file) },
        ],
        "Commands": [
            "TimeoutSec": { entry, file, settings throws(Keyfile.Error) in
                settings.policy.commandTimeout = try seconds(entry, in: file)
            },
            "MaintainIntervalSec": { entry, file, settings throws(Keyfile.Error) in
                settings.policy.maintainInterval = try seconds(entry, in: file)
            },
            "FilterIntervalSec": { entry, file, settings throws(Keyfile.Error) in
                settings.filterInterval = try seconds(entry, in: file)
            },
            "LowGraceSec": { entry, file, settings throws(Keyfile.Error) in
                settings.policy.lowGrace = try seconds(entry, in: file)
            },
        ],
        "Probe": [
            "Exec": { entry, file, settings throws(Keyfile.Error) in
                let words = entry.value.split(separator: " ").map(String.init)
                guard let program = words.first, program.hasPrefix("/") else {
                    throw file.error(entry, "takes a program's absolute path and its arguments")
                }
                settings.probeExec = words
            },
            "URL": { entry, file, settings throws(Keyfile.Error) in
                settings.probeURL = try url(entry, scheme: "http://", in: file)
            },
            "Expect": { entry, _, settings throws(Keyfile.Error) in
                settings.probeExpect = entry.value.isEmpty ? "204" : entry.value
            },
            "HTTPSURL": { entry, file, settings throws(Keyfile.Error) in
                settings.probeHTTPSURL = try url(entry, scheme: "https://", in: file)
            },
            "Nameservers": { entry, file, settings throws(Keyfile.Error) in
                settings.probeNameservers = try addresses(entry, in: file)
            },
        ],
        "Policy": [
            "Rules": { entry, file, _ throws(Keyfile.Error) in _ = try word(entry, in: file) as Policy.Rules },
            "OnTimeout": { entry, file, settings throws(Keyfile.Error) in settings.policy.onTimeout = try word(entry, in: file) },
            "OnFailure": { entry, file, settings throws(Keyfile.Error) in settings.policy.onFailure = try word(entry, in: file) },
            "Gate": { entry, file, settings throws(Keyfile.Error) in settings.gate = try word(entry, in: file) },
            "TrustedNetworks": { entry, file, settings throws(Keyfile.Error) in
                settings.trustedNetworks = try globs(entry, in: file)
            },
            "AcceptTerms": { entry, file, settings throws(Keyfile.Error) in settings.acceptTerms = try word(entry, in: file) },
            "AllowPlainHTTPCredentials": { entry, file, settings throws(Keyfile.Error) in
                settings.allowPlainHTTPCredentials = try boolean(entry, in: file)
            },
        ],
    ]

    static func apply(_ entry: Keyfile.Entry, of file: Keyfile, to settings: inout Settings) throws(Keyfile.Error) {
        guard let keys = table[entry.section] else {
            let known = table.keys.sorted().map { "[\($0)]" }.joined(separator: " ")
            throw Keyfile.Error(
                file: file.file, line: entry.line,
                message: "unknown section [\(Printable.text(entry.section, limit: 60))]; known are \(known)")
        }
        guard let read = keys[entry.key] else {
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
            throw file.error(entry, "takes one of \(choices), not «\(Printable.text(entry.value, limit: 60))»")
        }
        return value
    }

    static func boolean(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Bool {
        guard let value = entry.boolean else { throw file.error(entry, "takes yes or no") }
        return value
    }

    static func seconds(_ entry: Keyfile.Entry, in file: Keyfile) throws(Keyfile.Error) -> Duration {
        guard let value = Double(entry.value), value >= 0.001, value <= 86400 else {
            throw file.error(entry, "takes seconds from 0.001 to 86400; fractions are welcome")
        }
        return .milliseconds(Int64((value * 1000).rounded()))
    }

    static func list(_ entry: Keyfile.Entry) -> [String] {
        entry.value.split(whereSeparator: { $0 == ";" || $0 == "," || $0 == " " }).map(String.init)
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
            // A link-local address may say its interface.
            let number = String(address.prefix { $0 != "%" })
            var octets = [UInt8](repeating: 0, count: 16)
            guard inet_pton(AF_INET6, number, &octets) == 1 || (number == address && inet_pton(AF_INET, number, &octets) == 1)
            else {
                throw file.error(
                    entry, "takes IP addresses, separated by ;, not «\(Printable.text(address, limit: 60))»")
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
