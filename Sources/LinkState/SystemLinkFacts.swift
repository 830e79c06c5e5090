import EventLoop
import ForeignText
import Glibc
import PortalAnnouncement

/// The facts about links: from the programs that manage them (``LinkManagers``), then from the records of dhclient and dhcpcd, which have no other
/// interface, and finally from resolv.conf.
///
/// The resolvers come from the first source that has resolvers for the link; likewise the portal's API and the lease's server. A lease counts only
/// while it is valid and its address is on the link, so that another network's record is ignored. ``RecordWatch`` reports when to read again.
@LoopActor public final class SystemLinkFacts {
    private let root: String
    private let extraLeaseFiles: [String]
    private let now: () -> Int64

    /// - Parameters:
    ///   - root: the folder with `run`, `var` and `etc`.
    ///   - extraLeaseFiles: additional lease files of dhclient, with their full paths.
    public convenience init(root: String = "/", extraLeaseFiles: [String] = []) {
        // The times of leases follow the wall clock.
        self.init(root: root, extraLeaseFiles: extraLeaseFiles, now: { Int64(time(nil)) })
    }

    init(root: String, extraLeaseFiles: [String], now: @escaping () -> Int64) {
        self.root = root.hasSuffix("/") ? root : root + "/"
        self.extraLeaseFiles = extraLeaseFiles
        self.now = now
    }

    /// Reads the current facts about this link; `nil` if there are none.
    ///
    /// - Parameter managers: the facts from programs, which outweigh records.
    public func facts(for link: LinkSnapshot, after managers: [LinkFacts]) -> LinkFacts? {
        var facts: LinkFacts?
        let sources: [() -> LinkFacts?] =
            managers.map { known in { known } } + [dhclient, dhcpcd, resolvConf].map { source in { source(link) } }
        // Once the facts are complete, the remaining sources are not read.
        for source in sources {
            guard let new = source() else { continue }
            var known = facts ?? new
            if known.nameservers.isEmpty { known.nameservers = new.nameservers }
            if known.announcement == nil { known.announcement = new.announcement }
            if known.leaseServer == nil { known.leaseServer = new.leaseServer }
            facts = known
            if !known.nameservers.isEmpty { break }
        }
        // resolved reports the DNS servers but not the DHCP server, which the client's lease file names.
        if var known = facts, known.leaseServer == nil {
            known.leaseServer = dhclient(link)?.leaseServer ?? dhcpcd(link)?.leaseServer
            facts = known
        }
        return facts
    }

    /// Returns whether a DHCP client is about to write its record of this link: the client wrote one before, and resolv.conf, which it writes first,
    /// is still older than the link's address.
    ///
    /// - Parameter time: the time at which the link got its address, in milliseconds of Unix time.
    public func isRecordDue(for link: LinkSnapshot, since time: Int) -> Bool {
        var status = stat()
        if stat(root + "etc/resolv.conf", &status) == 0,
            status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1_000_000 >= time
        {
            return false
        }
        return dhclientLeases.contains { $0.interface == link.name } || !dhcpcdRecords(of: link).isEmpty
    }

    // MARK: The records

    private static let dhclientFolders = [
        ("var/lib/dhcp", "dhclient", ".leases"), ("var/lib/NetworkManager", "dhclient-", ".lease"),
    ]
    private static let dhcpcdFolders = ["var/lib/dhcpcd", "var/db/dhcpcd", "var/lib/dhcpcd5"]

    /// The folders in which DHCP clients write their records.
    public var folders: [String] {
        (Self.dhclientFolders.map(\.0) + Self.dhcpcdFolders).map { root + $0 } + extraLeaseFiles.map(FilePath.parent)
    }

    private var dhclientLeases: [DHClientLeases.Lease] {
        var paths = extraLeaseFiles
        for (folder, prefix, suffix) in Self.dhclientFolders {
            paths += RecordFile.names(in: root + folder, prefix: prefix, suffix: suffix).map { "\(root)\(folder)/\($0)" }
        }
        let files = paths.compactMap { RecordFile.read($0, tail: true) }.sorted { $0.written < $1.written }
        return files.flatMap { DHClientLeases($0.octets).leases }
    }

    private func dhclient(_ link: LinkSnapshot) -> LinkFacts? {
        let leases = dhclientLeases.filter {
            $0.interface == link.name && ($0.expires ?? .max) > now() && link.hasAny(of: $0.addresses)
        }
        guard let lease = leases.last(where: { !$0.isIPv6 }) else { return nil }
        let words = lease.nameservers + (leases.last(where: \.isIPv6)?.nameservers ?? [])
        return LinkFacts(
            nameservers: NameserverText.addresses(in: words, on: link), api: lease.portalAPI, leaseServer: lease.server,
            source: "dhclient")
    }

    private func dhcpcdRecords(of link: LinkSnapshot) -> [String] {
        // NAME.lease, NAME-SSID.lease, and dhcpcd-NAME.lease in old versions.
        Self.dhcpcdFolders.flatMap { folder in
            (RecordFile.names(in: root + folder, prefix: link.name, suffix: ".lease")
                + RecordFile.names(in: root + folder, prefix: "dhcpcd-\(link.name)", suffix: ".lease"))
                .map { "\(root)\(folder)/\($0)" }
        }
    }

    private func dhcpcd(_ link: LinkSnapshot) -> LinkFacts? {
        let leases = dhcpcdRecords(of: link).compactMap { RecordFile.read($0) }.sorted { $0.written < $1.written }.compactMap {
            file -> DHCPPacket? in
            guard let packet = DHCPPacket(file.octets), link.hasAny(of: [packet.address]) else { return nil }
            // The lease began when the file was written, because dhcpcd writes it when the packet arrives.
            if let time = packet.leaseTime, time != .max, file.written + Int64(time) <= now() { return nil }
            return packet
        }
        guard let lease = leases.last else { return nil }
        let servers = NameserverText.addresses(in: lease.nameservers, on: link)
        return LinkFacts(nameservers: servers, api: lease.portalAPI, leaseServer: lease.server, source: "dhcpcd")
    }

    private func resolvConf(_ link: LinkSnapshot) -> LinkFacts? {
        // If the first file lists only this machine's stub resolver, the second one lists the servers behind it.
        for path in ["etc/resolv.conf", "run/systemd/resolve/resolv.conf"] {
            let servers = RecordFile.read(root + path).map { Self.nameservers(in: $0.octets, on: link) } ?? []
            if !servers.isEmpty { return LinkFacts(nameservers: servers, source: "resolv.conf") }
        }
        return nil
    }

    /// Reads the `nameserver` lines of a file (resolv.conf(5)).
    nonisolated static func nameservers(in octets: [UInt8], on link: LinkSnapshot) -> [String] {
        let words = octets.split(separator: UInt8(ascii: "\n")).compactMap { line -> Substring? in
            guard let text = String(validating: line, as: UTF8.self).map(StreamSafe.text) else { return nil }
            let words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            return words.count >= 2 && words[0] == "nameserver" ? words[1] : nil
        }
        return NameserverText.addresses(in: words, on: link)
    }
}
