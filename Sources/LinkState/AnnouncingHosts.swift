import HotspotCore
import PortalAnnouncement

/// The hosts that may announce a portal's API on a link: the lease's server and the default routers.
extension LinkSnapshot {
    /// The largest number of hosts, because any guest can add default routers by router advertisements.
    public static let announcingLimit = 8

    /// Returns the addresses whose MAC addresses ``announcers(leaseServer:hardware:)`` needs: the lease's server if it is on the link, and the
    /// default routers.
    ///
    /// - Parameter leaseServer: the server identifier of the lease (RFC 2131, 9.7).
    public func announcingAddresses(leaseServer: String?) -> [String] {
        let server = leaseServer.flatMap { reaches($0) ? $0 : nil }
        // A server on the link needs no IPv4 router to forward its answers, so leave those routers out.
        let routers = gateways.filter { server == nil || $0.contains(":") }
        return Array(([server].compactMap { $0 } + routers).prefix(Self.announcingLimit))
    }

    /// Returns the hosts whose announcements count. With a DHCP lease: the lease's server or, if that server is beyond the link, the routers that
    /// forward or relay (RFC 1542) its answers. Without a known lease: the default routers.
    ///
    /// - Parameter hardware: the MAC addresses of ``announcingAddresses(leaseServer:)``; an address without one is ignored.
    public func announcers(leaseServer: String?, hardware: [String: HardwareAddress]) -> Announcers {
        let known = announcingAddresses(leaseServer: leaseServer).compactMap { address in
            hardware[address].flatMap { LinkHost(address, $0.octets) }
        }
        guard let leaseServer, !reaches(leaseServer) else { return Announcers(Set(known), leaseServer: leaseServer) }
        let behind = known.filter { !$0.isIPv6 }.compactMap { LinkHost(leaseServer, $0.hardware) }
        return Announcers(Set(known + behind), leaseServer: leaseServer)
    }
}
