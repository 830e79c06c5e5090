import CNetlink
import Glibc
import Netlink

/// What the gate asks of the kernel: rules, groups of links, and the routes of its own table. Each call is done when it returns.
/// Not final, so that a test can let a call fail.
class GateKernel {
    private let socket: NetlinkSocket

    init() throws(NetlinkError) { socket = try NetlinkSocket(protocol: NETLINK_ROUTE) }

    // MARK: Rules

    /// All rules of a family in their order; `nil` if the kernel has no rules for it.
    func rules(_ family: Family) throws(NetlinkError) -> [GateRule]? {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = family.number
        do {
            let found = try dump(RTM_GETRULE, header).filter { message in
                // A family that is not there is answered with the rules of another one.
                message.type == UInt16(RTM_NEWRULE) && message.payload.first == family.number
            }
            return found.isEmpty ? nil : found.map { GateRule(payload: $0.payload) }
        } catch {
            guard error.code == EAFNOSUPPORT || error.code == EOPNOTSUPP else { throw error }
            return nil
        }
    }

    /// Appends a rule behind those of its priority, also if there is one like it.
    func add(_ rule: GateRule) throws(NetlinkError) {
        _ = try socket.ask(type: UInt16(RTM_NEWRULE), flags: UInt16(NLM_F_CREATE), payload: rule.payload)
    }

    /// Deletes the first rule like this; none is as well.
    func delete(_ rule: GateRule) throws(NetlinkError) {
        do {
            _ = try socket.ask(type: UInt16(RTM_DELRULE), payload: rule.payload)
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    // MARK: Groups

    /// The group of a link; `nil` if there is no such link.
    func group(of index: Int) throws(NetlinkError) -> UInt32? {
        guard let header = Self.link(index) else { return nil }
        do {
            return try socket.ask(type: UInt16(RTM_GETLINK), payload: header).lazy.compactMap(Self.group).first?.group
        } catch {
            guard error.code == ENODEV else { throw error }
            return nil
        }
    }

    /// Puts a link into a group; false if there is no such link.
    func setGroup(_ group: UInt32, of index: Int) throws(NetlinkError) -> Bool {
        guard let header = Self.link(index) else { return false }
        var payload = PayloadBuilder(header: header)
        payload.append(Int(IFLA_GROUP), integer: group)
        do {
            _ = try socket.ask(type: UInt16(RTM_SETLINK), payload: payload.octets)
            return true
        } catch {
            guard error.code == ENODEV else { throw error }
            return false
        }
    }

    /// The links of a group.
    func links(in group: UInt32) throws(NetlinkError) -> [Int] {
        try dump(RTM_GETLINK, [UInt8](repeating: 0, count: 16)).compactMap(Self.group).filter { $0.group == group }.map(\.index)
    }

    private static func group(_ message: NetlinkMessage) -> (index: Int, group: UInt32)? {
        guard message.type == UInt16(RTM_NEWLINK), let index = message.payload.host(Int32.self, at: 4),
            let attributes = message.payload.after(16).flatMap({ try? AttributeReader($0) }),
            let group = try? attributes.integer(Int(IFLA_GROUP), as: UInt32.self)
        else { return nil }
        return (Int(index), group)
    }

    /// struct ifinfomsg for one link. Never for index 0: a request without a link speaks of all links of a group.
    private static func link(_ index: Int) -> [UInt8]? {
        guard let number = Int32(exactly: index), number > 0 else { return nil }
        var header: [UInt8] = [UInt8(AF_UNSPEC), 0, 0, 0]
        header.appendHost(number)
        return header + [UInt8](repeating: 0, count: 8)
    }

    // MARK: Routes

    /// The plain routes of a family, of every table.
    func routes(_ family: Family) throws(NetlinkError) -> [HiddenRoute] {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = family.number
        return try dump(RTM_GETROUTE, header).filter { $0.payload.first == family.number }.compactMap(HiddenRoute.init)
    }

    /// Adds a route to the gate's table.
    func add(_ route: HiddenRoute) throws(NetlinkError) {
        _ = try socket.ask(
            type: UInt16(RTM_NEWROUTE), flags: UInt16(NLM_F_CREATE | NLM_F_APPEND), payload: route.payload)
    }

    /// Takes a route out of the gate's table.
    func delete(_ route: HiddenRoute) throws(NetlinkError) {
        do {
            _ = try socket.ask(type: UInt16(RTM_DELROUTE), payload: route.payload)
        } catch {
            // Routes go by themselves with their link or address.
            if error.code != ESRCH && error.code != ENODEV { throw error }
        }
    }

    /// A whole table; read again if it changed meanwhile.
    private func dump(_ type: Int, _ header: [UInt8]) throws(NetlinkError) -> [NetlinkMessage] {
        var answers: [NetlinkMessage] = []
        for _ in 0..<4 {
            answers = try socket.ask(type: UInt16(type), flags: UInt16(NLM_F_DUMP), payload: header)
            if !answers.contains(where: \.isInterrupted) { break }
        }
        return answers
    }
}
