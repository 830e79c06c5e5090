import EventLoop
import Glibc

/// The facts of links from the records that the machine's own DHCP clients and resolvers keep.
///
/// The records are read in the order networkd, NetworkManager, dhclient, dhcpcd, resolved, resolv.conf. The first one with resolvers of
/// the link gives the resolvers, and the first lease gives the portal's API. A lease counts only while it is valid and its address is on
/// the link, so that a record of another network is ignored. Files are not watched.
@LoopActor public final class SystemLinkFacts: LinkFactsSource {
    private let root: String
    private let extraLeaseFiles: [String]
    private let now: () -> Int64

    /// - Parameters:
    ///   - root: the folder with `run`, `var` and `etc`.
    ///   - extraLeaseFiles: further lease files of dhclient, with their full paths.
    public convenience init(root: String = "/", extraLeaseFiles: [String] = []) {
        // Leases have times of the wall clock.
        self.init(root: root, extraLeaseFiles: extraLeaseFiles, now: { Int64(time(nil)) })
    }

    init(root: String, extraLeaseFiles: [String], now: @escaping () -> Int64) {
        self.root = root.hasSuffix("/") ? root : root + "/"
        self.extraLeaseFiles = extraLeaseFiles
        self.now = now
    }

    /// Reads the present facts of this link; `nil` if no record has any.
    public func facts(for link: LinkSnapshot) -> LinkFacts? {
        var facts: LinkFacts?
        // Sources after the one that completes the facts are not read at all.
        for source in [networkd, networkManager, dhclient, dhcpcd, resolved, resolvConf] {
            guard let new = source(link) else { continue }
            var known = facts ?? new
            if known.nameservers.isEmpty { known.nameservers = new.nameservers }
            if known.portalAPI == nil, !known.isUnrestricted {
                known.portalAPI = new.portalAPI
                known.isUnrestricted = new.isUnrestricted
            }
            facts = known
            if !known.nameservers.isEmpty { break }
        }
        return facts
    }

    // MARK: The records

    private func networkd(_ link: LinkSnapshot) -> LinkFacts? {
        let state = record("run/systemd/netif/links/\(link.index)")
        let lease = record("run/systemd/netif/leases/\(link.index)").flatMap { isOn(link, $0["ADDRESS"]) ? $0 : nil }
        guard state != nil || lease != nil else { return nil }
        // The state also has the resolvers of router advertisements.
        let words = [state, lease].compactMap { $0?.words("DNS") }.first { !$0.isEmpty } ?? []
        let api = [lease, state].compactMap { $0?["CAPTIVE_PORTAL"] }.first
        guard !words.isEmpty || lease != nil else { return nil }
        return facts(NameserverText.addresses(in: words, on: link), api.flatMap { PortalAPIAddress($0.utf8) }, "networkd")
    }

    private func networkManager(_ link: LinkSnapshot) -> LinkFacts? {
        let folder = root + "var/lib/NetworkManager"
        let leases = RecordFile.names(in: folder, prefix: "internal-", suffix: "-\(link.name).lease")
            .compactMap { RecordFile.read("\(folder)/\($0)") }.sorted { $0.written < $1.written }
            .map { AssignmentRecord($0.octets) }.filter { isOn(link, $0["ADDRESS"]) }
        guard let lease = leases.last else { return nil }
        var servers = NameserverText.addresses(in: lease.words("DNS"), on: link)
        if servers.isEmpty {
            // The present internal client writes only the address to the lease, and the resolvers to this file.
            servers = nameservers("run/NetworkManager/no-stub-resolv.conf", link)
        }
        return facts(servers, lease["CAPTIVE_PORTAL"].flatMap { PortalAPIAddress($0.utf8) }, "NetworkManager")
    }

    private func dhclient(_ link: LinkSnapshot) -> LinkFacts? {
        let folders = [("var/lib/dhcp", "dhclient", ".leases"), ("var/lib/NetworkManager", "dhclient-", ".lease")]
        var paths = extraLeaseFiles
        for (folder, prefix, suffix) in folders {
            paths += RecordFile.names(in: root + folder, prefix: prefix, suffix: suffix).map { "\(root)\(folder)/\($0)" }
        }
        let files = paths.compactMap { RecordFile.read($0, tail: true) }.sorted { $0.written < $1.written }
        let leases = files.flatMap { DHClientLeases($0.octets).leases }.filter {
            $0.interface == link.name && ($0.expires ?? .max) > now() && $0.addresses.contains { isOn(link, $0) }
        }
        guard let lease = leases.last(where: { !$0.isIPv6 }) else { return nil }
        let words = lease.nameservers + (leases.last(where: \.isIPv6)?.nameservers ?? [])
        return facts(NameserverText.addresses(in: words, on: link), lease.portalAPI, "dhclient")
    }

    private func dhcpcd(_ link: LinkSnapshot) -> LinkFacts? {
        // NAME.lease, NAME-SSID.lease, and dhcpcd-NAME.lease in old versions.
        let paths = ["var/lib/dhcpcd", "var/db/dhcpcd", "var/lib/dhcpcd5"].flatMap { folder in
            (RecordFile.names(in: root + folder, prefix: link.name, suffix: ".lease")
                + RecordFile.names(in: root + folder, prefix: "dhcpcd-\(link.name)", suffix: ".lease"))
                .map { "\(root)\(folder)/\($0)" }
        }
        let leases = paths.compactMap { RecordFile.read($0) }.sorted { $0.written < $1.written }.compactMap {
            file -> DHCPPacket? in
            guard let packet = DHCPPacket(file.octets), isOn(link, packet.address) else { return nil }
            // The file was written when the packet came.
            if let time = packet.leaseTime, time != .max, file.written + Int64(time) <= now() { return nil }
            return packet
        }
        guard let lease = leases.last else { return nil }
        return facts(NameserverText.addresses(in: lease.nameservers, on: link), lease.portalAPI, "dhcpcd")
    }

    private func resolved(_ link: LinkSnapshot) -> LinkFacts? {
        guard let record = record("run/systemd/resolve/netif/\(link.index)") else { return nil }
        let servers = NameserverText.addresses(in: record.words("SERVERS"), on: link)
        return servers.isEmpty ? nil : facts(servers, nil, "resolved")
    }

    private func resolvConf(_ link: LinkSnapshot) -> LinkFacts? {
        // If the first has only this machine's stub resolver, the second has the servers behind it.
        for path in ["etc/resolv.conf", "run/systemd/resolve/resolv.conf"] {
            let servers = nameservers(path, link)
            if !servers.isEmpty { return facts(servers, nil, "resolv.conf") }
        }
        return nil
    }

    private func record(_ path: String) -> AssignmentRecord? {
        RecordFile.read(root + path).map { AssignmentRecord($0.octets) }
    }

    /// Reads the `nameserver` lines of a file (resolv.conf(5)).
    private func nameservers(_ path: String, _ link: LinkSnapshot) -> [String] {
        guard let content = RecordFile.read(root + path) else { return [] }
        let words = content.octets.split(separator: UInt8(ascii: "\n")).compactMap { line -> Substring? in
            guard let text = String(validating: line, as: UTF8.self) else { return nil }
            let words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            return words.count >= 2 && words[0] == "nameserver" ? words[1] : nil
        }
        return NameserverText.addresses(in: words, on: link)
    }

    /// Returns whether a lease's address is one of the link's.
    private func isOn(_ link: LinkSnapshot, _ address: String?) -> Bool {
        guard let address, !address.isEmpty else { return false }
        return link.addresses.contains { $0.prefix { $0 != "/" } == address }
    }

    private func facts(_ nameservers: [String], _ api: PortalAPIAddress?, _ source: String) -> LinkFacts {
        switch api {
        case .url(let url): LinkFacts(nameservers: nameservers, portalAPI: url, source: source)
        case .unrestricted: LinkFacts(nameservers: nameservers, isUnrestricted: true, source: source)
        case nil: LinkFacts(nameservers: nameservers, source: source)
        }
    }
}
