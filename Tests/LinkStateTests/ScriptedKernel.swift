import CNetlink
import Glibc
import Netlink
import PortalAnnouncement

@testable import LinkState

/// A kernel's rtnetlink as a value of the test: answers dumps from its tables, and sends the events that the test adds.
final class ScriptedKernel: NetlinkTransport {
    let descriptor: Int32? = nil
    let port: UInt32 = 815
    var links: [[UInt8]] = []
    var addresses: [[UInt8]] = []
    var routes: [[UInt8]] = []
    /// The messages that the socket holds.
    var inbox: [NetlinkReceived] = []
    /// The types of the requested dumps.
    var asked: [Int] = []
    /// The errno with which dumps fail.
    var failure: Int32?

    func send(_ octets: [UInt8]) throws(NetlinkError) {
        var messages = NetlinkMessages(datagram: octets)
        let request = messages.next()!
        asked.append(Int(request.type))
        let (type, table) =
            switch Int(request.type) {
            case Int(RTM_GETLINK): (Int(RTM_NEWLINK), links)
            case Int(RTM_GETADDR): (Int(RTM_NEWADDR), addresses)
            default: (Int(RTM_NEWROUTE), routes)
            }
        var end: [UInt8] = []
        end.appendHost(-(failure ?? 0))
        let answers = failure == nil ? table.map { (UInt16(type), $0) } : []
        for (type, payload) in answers + [(UInt16(NLMSG_DONE), end)] {
            inbox.append(
                .datagram(
                    NetlinkMessage(
                        type: type, flags: UInt16(NLM_F_MULTI), sequence: request.sequence, port: port, payload: payload[...]
                    ).octets))
        }
    }

    func receive() -> NetlinkReceived { inbox.isEmpty ? .nothing : inbox.removeFirst() }

    /// Queues an event in the socket. Its sequence and port belong to the process that caused it.
    func happen(_ type: Int, _ payload: [UInt8]) {
        inbox.append(
            .datagram(NetlinkMessage(type: UInt16(type), flags: 0, sequence: 1, port: 99, payload: payload[...]).octets))
    }

    static func link(
        _ index: Int32, _ name: String, isUp: Bool = true, hasCarrier: Bool = true, kind: String? = nil, family: UInt8 = 0
    ) -> [UInt8] {
        var header: [UInt8] = [family, 0]
        header.appendHost(UInt16(1))
        header.appendHost(index)
        header.appendHost(UInt32(isUp ? 1 : 0))
        header.appendHost(UInt32(0))
        var payload = PayloadBuilder(header: header)
        payload.append(Int(IFLA_IFNAME), Array(name.utf8) + [0])
        payload.append(Int(IFLA_ADDRESS), [2, 0, 0, 0, 0, UInt8(truncatingIfNeeded: index)])
        payload.append(Int(IFLA_CARRIER), integer: UInt8(hasCarrier ? 1 : 0))
        if let kind { payload.append(Int(IFLA_LINKINFO)) { $0.append(Int(IFLA_INFO_KIND), Array(kind.utf8) + [0]) } }
        return payload.octets
    }

    static func address(_ index: UInt32, _ text: String, _ prefixLength: UInt8, flags: UInt32 = 0x80, scope: UInt8 = 0) -> [UInt8]
    {
        let octets = AddressText.octets(of: text)!
        var header: [UInt8] = [UInt8(octets.count == 4 ? AF_INET : AF_INET6), prefixLength, UInt8(flags & 0xFF), scope]
        header.appendHost(index)
        var payload = PayloadBuilder(header: header)
        payload.append(Int(IFA_ADDRESS), octets)
        payload.append(Int(IFA_FLAGS), integer: flags)
        return payload.octets
    }

    static func route(
        _ index: UInt32, _ gateway: String, metric: UInt32 = 100, length: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1
    ) -> [UInt8] {
        let octets = AddressText.octets(of: gateway)!
        let family = UInt8(octets.count == 4 ? AF_INET : AF_INET6)
        var payload = PayloadBuilder(header: [family, length, 0, 0, table, 3, 0, type, 0, 0, 0, 0])
        payload.append(Int(RTA_OIF.rawValue), integer: index)
        payload.append(Int(RTA_GATEWAY.rawValue), octets)
        payload.append(Int(RTA_PRIORITY.rawValue), integer: metric)
        return payload.octets
    }
}
