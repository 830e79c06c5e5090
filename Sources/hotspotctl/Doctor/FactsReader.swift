import ControlAPI
import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// Reads the facts that every user may read on this computer, and queries the daemon.
struct FactsReader {
    /// The prefix of all paths; a test uses its own folder.
    var root = ""
    /// The largest part of a file that is read, in octets.
    private static let limit = 64 * 1024
    /// The types of links in the kernel's `if_arp.h`.
    private static let (loopback, tunnel) = ("772", "65534")

    func facts(of common: CommonOptions, interface: String?) -> DoctorFacts {
        var facts = DoctorFacts(
            interfaces: interfaces(), switches: switches(), resolvers: resolvers(), daemon: daemon(common, interface),
            desktop: root.isEmpty ? Self.desktop() : nil)
        facts.wanted = interface
        return facts
    }

    // MARK: The daemon

    private func daemon(_ common: CommonOptions, _ interface: String?) -> DoctorFacts.Daemon {
        do throws(Failure) {
            let client = try common.connect()
            // A failed check is a finding, not a failure: the daemon may not watch the interface. The check comes before the status, because its
            // verdict changes the status.
            let check = try? client.call("Check", .members(["interface": interface]), as: CheckReply.self)
            let status = try client.call("Status", as: StatusReply.self)
            let helpers = try? client.call("Helpers", as: HelpersReply.self).helpers
            return .answers(status, helpers: helpers ?? [], check: check)
        } catch {
            return .fails(error)
        }
    }

    // MARK: Files of the kernel

    func interfaces() -> [DoctorFacts.Interface] {
        let addresses = Self.addresses()
        let routes = defaultRoutes()
        return names("/sys/class/net").compactMap { name in
            func value(_ file: String) -> String? {
                text("/sys/class/net/\(name)/\(file)")?.split(separator: "\n").first.map(String.init)
            }
            guard let type = value("type"), type != Self.loopback else { return nil }
            let isWireless = access("\(root)/sys/class/net/\(name)/phy80211", F_OK) == 0
            // A tunnel has the state `unknown`, so its carrier decides.
            let state = value("operstate")
            return DoctorFacts.Interface(
                name: name, kind: isWireless ? .wireless : type == Self.tunnel ? .tunnel : .wired,
                isUp: state == "up" || (state == "unknown" && value("carrier") == "1"), addresses: addresses[name] ?? [],
                hasDefaultRoute: routes.contains(name))
        }
    }

    func switches() -> [DoctorFacts.RadioSwitch] {
        names("/sys/class/rfkill").compactMap { name in
            func has(_ file: String, _ value: String) -> Bool { text("/sys/class/rfkill/\(name)/\(file)") == value + "\n" }
            guard has("type", "wlan") else { return nil }
            return has("hard", "1") ? .offByKey : has("soft", "1") ? .offByProgram : .on
        }
    }

    func resolvers() -> [String] {
        (text("/etc/resolv.conf") ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.first == "nameserver" && words.count > 1 ? String(words[1]) : nil
        }
    }

    /// Returns the interfaces with a default route of either family in the main table.
    private func defaultRoutes() -> Set<String> {
        var names: Set<String> = []
        for line in (text("/proc/net/route") ?? "").split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            if fields.count > 7, fields[1] == "00000000", fields[7] == "00000000" { names.insert(String(fields[0])) }
        }
        for line in (text("/proc/net/ipv6_route") ?? "").split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            // Unreachable default routes do not count: the kernel lists them with the loopback interface, which is never examined.
            if fields.count > 9, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00" { names.insert(String(fields[9])) }
        }
        return names
    }

    /// Returns the addresses of each interface, without link-local ones.
    private static func addresses() -> [String: [String]] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [:] }
        defer { freeifaddrs(list) }
        var all: [String: [String]] = [:]
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry = entry?.pointee, let address = entry.ifa_addr else { continue }
            let family = Int32(address.pointee.sa_family)
            guard family == AF_INET || family == AF_INET6 else { continue }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let shown = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !shown.hasPrefix("169.254."), !shown.hasPrefix("fe80:") {
                all[String(cString: entry.ifa_name), default: []].append(shown)
            }
        }
        return all
    }

    func text(_ path: String) -> String? { FilePath.text(of: root + path, limit: Self.limit) }

    /// Returns the names in a folder, sorted.
    func names(_ path: String) -> [String] { FilePath.names(in: root + path).filter { !$0.hasPrefix(".") }.sorted() }

    // MARK: NetworkManager

    private static func desktop() -> DoctorFacts.Desktop? {
        guard let properties = NetworkManager.properties() else { return nil }
        if properties["ConnectivityCheckEnabled"]?.boolean == false { return .unknown }
        return properties["Connectivity"]?.number.flatMap(DoctorFacts.Desktop.init)
    }
}
