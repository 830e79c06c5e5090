import CNetlink
import Glibc
import Netlink

/// The gate's calls to the kernel: rules, groups of links, and the routes of its own table. Each call is complete when it
/// returns. Not final, so that a test can make a call fail.
class GateKernel {
    private let socket: NetlinkSocket

    init() throws(NetlinkError) { socket = try NetlinkSocket(protocol: NETLINK_ROUTE) }

    // MARK: Rules

    /// Returns all rules of a family in their order; `nil` if the kernel has no rules for the family.
    func rules(_ family: Family) throws(NetlinkError) -> [GateRule]? {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = family.number
        do {
            let answers = try dump(RTM_GETRULE, header).filter { message in
                // Check the family, because a kernel without rules for this family sends the rules of another family.
                message.type == UInt16(RTM_NEWRULE) && message.payload.first == family.number
            }
            return answers.isEmpty ? nil : answers.map { GateRule(payload: $0.payload) }
        } catch {
            guard error.code == EAFNOSUPPORT || error.code == EOPNOTSUPP else { throw error }
            return nil
        }
    }

    /// Appends a rule after all others of its priority, even if an equal rule exists.
    func add(_ rule: GateRule) throws(NetlinkError) {
        _ = try socket.ask(type: UInt16(RTM_NEWRULE), flags: UInt16(NLM_F_CREATE), payload: rule.payload)
    }

    /// Deletes the first rule that equals `rule`, if there is one.
    func delete(_ rule: GateRule) throws(NetlinkError) {
        do {
            _ = try socket.ask(type: UInt16(RTM_DELRULE), payload: rule.payload)
        } catch {
            if error.code != ENOENT { throw error }
        }
    }

    // MARK: Groups

    /// Returns the group of a link; `nil` if there is no such link.
    func group(of index: Int) throws(NetlinkError) -> UInt32? {
        guard let header = Self.link(index) else { return nil }
        do {
            return try socket.ask(type: UInt16(RTM_GETLINK), payload: header).lazy.compactMap(Self.group).first?.group
        } catch {
            guard error.code == ENODEV else { throw error }
            return nil
        }
    }

    /// Puts a link into a group; returns `false` if there is no such link.
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

    /// Returns the links of a group.
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

    /// Returns struct ifinfomsg for one link; `nil` for index 0, because such a request would apply to all links of a group.
    private static func link(_ index: Int) -> [UInt8]? {
        guard let number = Int32(exactly: index), number > 0 else { return nil }
        var header: [UInt8] = [UInt8(AF_UNSPEC), 0, 0, 0]
        header.appendHost(number)
        return header + [UInt8](repeating: 0, count: 8)
    }

    // MARK: Routes

    /// Returns the plain routes of a family from every table.
    func routes(_ family: Family) throws(NetlinkError) -> [HiddenRoute] {
        var header = [UInt8](repeating: 0, count: 12)
        header[0] = family.number
        return try dump(RTM_GETROUTE, header).filter { $0.payload.first == family.number }.compactMap(HiddenRoute.init)
    }

    func add(_ route: HiddenRoute) throws(NetlinkError) {
        _ = try socket.ask(
            type: UInt16(RTM_NEWROUTE), flags: UInt16(NLM_F_CREATE | NLM_F_APPEND), payload: route.payload)
    }

    func delete(_ route: HiddenRoute) throws(NetlinkError) {
        do {
            _ = try socket.ask(type: UInt16(RTM_DELROUTE), payload: route.payload)
        } catch {
            // Ignore a missing route or link: the kernel removes routes together with their link or address.
            if error.code != ESRCH && error.code != ENODEV { throw error }
        }
    }

    /// Reads a whole table, and reads it again if it changed in the meantime.
    private func dump(_ type: Int, _ header: [UInt8]) throws(NetlinkError) -> [NetlinkMessage] {
        var answers: [NetlinkMessage] = []
        for _ in 0..<4 {
            answers = try socket.ask(type: UInt16(type), flags: UInt16(NLM_F_DUMP), payload: header)
            if !answers.contains(where: \.isInterrupted) { break }
        }
        return answers
    }
}
