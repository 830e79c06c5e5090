import CNetlink
import Glibc
import Netlink

/// Closes links to ordinary programs with the kernel's routing rules; ``GateRule`` lists the rules.
///
/// Only sockets that are bound to a closed link can use it. For all other sockets, the link's default route and the hosts on the link do not exist,
/// over IPv4 and IPv6. The routes of the table main are never changed. When a call returns, the kernel has applied its changes. Calls may be
/// repeated.
///
/// A gate works in the network namespace in which it was made. It also applies to packets that the machine forwards and to existing connections, but
/// not to multicast, to broadcast, or to packets that other programs' rules route by the table main.
public final class Gate {
    private struct ClosedLink {
        var name: String
        /// The link's group before it was closed.
        let group: UInt32
    }

    /// The interface group of closed links.
    public static let group = GateRule.group

    private let kernel: GateKernel
    private var families: [Family] = []
    /// The links that this gate closed. Other programs may have changed them in the meantime.
    private var closed: [Int: ClosedLink] = [:]
    /// The gate's rules as the kernel had them after the last complete pass. `nil` while a pass changes them, and after a failed pass.
    private var known: [Family: [[UInt8]]]?

    /// Removes the remains of an earlier gate, and adds the rules. No link is closed yet.
    public convenience init() throws(GateError) {
        do {
            try self.init(kernel: GateKernel())
        } catch let error as NetlinkError {
            throw GateError(error)
        } catch {
            throw error as? GateError ?? .noRules
        }
    }

    init(kernel: GateKernel) throws(GateError) {
        self.kernel = kernel
        do {
            _ = try Self.restore(kernel)
        } catch {
            throw GateError(error)
        }
        do throws(GateError) {
            try install()
        } catch {
            _ = try? Self.restore(kernel)
            throw error
        }
    }

    /// For tests: the indices of the closed links.
    package var closedLinks: Set<Int> { Set(closed.keys) }

    /// Closes the links in `wanted`, and opens all others. Repairs changes by other programs: removed rules, a link's changed group, and an index
    /// that now belongs to another link. If a link cannot be closed or opened, the gate continues with the others, throws the error at the end, and
    /// tries again at the next call.
    ///
    /// - Parameters:
    ///   - wanted: names by index. A link that does not exist is ignored.
    ///   - strays: other links that seem to be in the gate's group but do not belong there.
    /// - Returns: whether another program had changed something.
    @discardableResult public func apply(closed wanted: [Int: String], strays: Set<Int> = []) throws(GateError) -> Bool {
        let strays = strays.filter { wanted[$0] == nil && closed[$0] == nil }
        // Return early only after a complete pass: a failed pass may have left rules for a link that is still open.
        guard !(wanted.isEmpty && closed.isEmpty && strays.isEmpty && known != nil) else { return false }
        var firstError: NetlinkError?
        func attempt(_ body: () throws(NetlinkError) -> Void) {
            do { try body() } catch { firstError = firstError ?? error }
        }
        var wasChanged = false
        attempt { () throws(NetlinkError) in wasChanged = try repair() }
        for index in closed.keys.filter({ wanted[$0] == nil }).sorted() {
            attempt { () throws(NetlinkError) in try open(index) }
        }
        for index in strays.sorted() {
            attempt { () throws(NetlinkError) in
                if try kernel.group(of: index) == Self.group { _ = try kernel.setGroup(0, of: index) }
            }
        }
        for (index, name) in wanted.sorted(by: { $0.key < $1.key }) {
            attempt { () throws(NetlinkError) in if try close(index, name) { wasChanged = true } }
        }
        attempt { () throws(NetlinkError) in try copyHiddenRoutes() }
        // After a failed pass, let the next pass add all rules again.
        if firstError != nil { known = nil } else if known == nil { attempt { () throws(NetlinkError) in known = try ours() } }
        if let firstError { throw GateError(firstError) }
        return wasChanged
    }

    /// Opens all links and removes all rules, as far as possible; throws the first error. May be called again.
    public func stop() throws(GateError) {
        // Open the links before the rules go: while a link is in the gate's group, sockets bound to it need its rule. A link that cannot return to
        // its earlier group is put into group 0 below. If that fails too, it stays in the gate's group, which then has no rules.
        for index in closed.keys.sorted() { try? open(index) }
        known = nil
        do {
            _ = try Self.restore(kernel)
            closed = [:]
        } catch {
            throw GateError(error)
        }
    }

    /// Removes the rules, routes and groups of a gate that ended without ``stop()``. If there is nothing to remove, no privilege is needed.
    ///
    /// Links are put into group 0, the kernel's default, because their earlier group is not recorded.
    ///
    /// - Returns: whether there was anything to remove.
    @discardableResult public static func restore() throws(GateError) -> Bool {
        do {
            return try restore(GateKernel())
        } catch {
            throw GateError(error)
        }
    }

    // MARK: Links

    /// Closes a link. Returns whether another program had taken it out of the gate's group.
    private func close(_ index: Int, _ name: String) throws(NetlinkError) -> Bool {
        guard let group = try kernel.group(of: index) else {
            try open(index)
            return false
        }
        if let link = closed[index] {
            // If the link was renamed, replace its rule, which still has the earlier name.
            if link.name != name {
                known = nil
                for family in families {
                    try kernel.add(.bound(to: name, family))
                    try kernel.delete(.bound(to: link.name, family))
                }
                closed[index]?.name = name
            }
            if group == Self.group { return false }
        } else {
            known = nil
            // Add the exemption first, so that sockets bound to the link can always use it.
            for family in families { try kernel.add(.bound(to: name, family)) }
        }
        let wasChanged = closed[index] != nil
        closed[index] = ClosedLink(name: name, group: group == Self.group ? 0 : group)
        guard try kernel.setGroup(Self.group, of: index) else {
            try open(index)
            return false
        }
        // Change the rules once more: sockets keep a cached route when a link's group changes, but not when the rules change.
        for family in families {
            try kernel.add(.bound(to: name, family))
            try kernel.delete(.bound(to: name, family))
        }
        return wasChanged
    }

    private func open(_ index: Int) throws(NetlinkError) {
        guard let link = closed[index] else { return }
        known = nil
        // The index may now belong to another link: do not change the group of that link.
        if try kernel.group(of: index) == Self.group { _ = try kernel.setGroup(link.group, of: index) }
        for family in families { try kernel.delete(.bound(to: link.name, family)) }
        closed[index] = nil
    }

    /// Copies those routes of main that lead over open links into the gate's table. Without a copy, a better route over a closed link would hide
    /// them.
    private func copyHiddenRoutes() throws(NetlinkError) {
        for family in families {
            let all = try kernel.routes(family)
            let there = Set(all.filter { $0.table == GateRule.table })
            var wanted: [HiddenRoute] = []
            if !closed.isEmpty {
                wanted = all.filter { $0.table == UInt32(RT_TABLE_MAIN.rawValue) && closed[$0.link] == nil }
                // The kernel accepts a route through a router only after the route to that router.
                wanted = Array((wanted.filter { !$0.hasGateway } + wanted.filter(\.hasGateway)).prefix(HiddenRoute.limit))
            }
            for route in there.subtracting(wanted) { try kernel.delete(route) }
            // If the kernel refuses a route in this table, the others are still added.
            for route in wanted where !there.contains(route) { try? kernel.add(route) }
        }
    }

    // MARK: Rules

    private func install() throws(GateError) {
        do {
            families = []
            known = nil
            for family in Family.allCases {
                guard let rules = try kernel.rules(family) else {
                    if family == .ipv6, access("/proc/net/if_inet6", F_OK) != 0 { continue }
                    throw GateError.noRules
                }
                let plain = rules.filter(\.isPlainMain)
                guard let main = plain.last else { throw GateError.noMainRule }
                for rule in GateRule.standing(family) { try kernel.add(rule) }
                // Add the plain rule again behind the gate's rules before deleting the original, so that main is consulted at every moment.
                try kernel.add(main)
                for rule in plain { try kernel.delete(rule) }
                families.append(family)
            }
            known = try ours()
        } catch let error as NetlinkError {
            throw GateError(error)
        } catch {
            throw error as? GateError ?? .noRules
        }
    }

    /// Returns the gate's rules from the kernel.
    private func ours() throws(NetlinkError) -> [Family: [[UInt8]]] {
        var ours: [Family: [[UInt8]]] = [:]
        for family in Family.allCases {
            guard let rules = try kernel.rules(family) else { continue }
            ours[family] = rules.filter(\.isOurs).map(\.identity)
        }
        return ours
    }

    /// Adds all rules again if they were changed: systemd-networkd removes unknown rules when it starts (ManageForeignRoutingPolicyRules=).
    ///
    /// - Returns: whether another program had changed the rules.
    private func repair() throws(NetlinkError) -> Bool {
        if let known, try ours() == known { return false }
        let wasChanged = known != nil
        for family in Family.allCases {
            for rule in try kernel.rules(family) ?? [] where rule.isOurs { try kernel.delete(rule) }
        }
        do throws(GateError) {
            try install()
        } catch {
            if case .kernel(let error) = error { throw error }
            throw NetlinkError(operation: "adding the rules again", code: error == .notPermitted ? EPERM : ENOENT)
        }
        known = nil
        for link in closed.values {
            for family in families { try kernel.add(.bound(to: link.name, family)) }
        }
        return wasChanged
    }

    /// Removes the remains of a gate. Continues after errors, so that as few links as possible stay closed, and throws the first error at the end.
    private static func restore(_ kernel: GateKernel) throws(NetlinkError) -> Bool {
        var hasLeftovers = false
        var firstError: NetlinkError?
        func attempt(_ body: () throws(NetlinkError) -> Void) {
            do { try body() } catch { firstError = firstError ?? error }
        }
        attempt { () throws(NetlinkError) in
            for index in try kernel.links(in: GateRule.group) {
                hasLeftovers = true
                attempt { () throws(NetlinkError) in _ = try kernel.setGroup(0, of: index) }
            }
        }
        for family in Family.allCases {
            attempt { () throws(NetlinkError) in
                guard let rules = try kernel.rules(family) else { return }
                let ours = rules.filter(\.isOurs)
                let plain = rules.filter(\.isPlainMain)
                hasLeftovers = hasLeftovers || !ours.isEmpty
                // Add the plain rule if another program removed it, because the computer needs it once the gate's rules are gone.
                if !ours.isEmpty, plain.isEmpty { try kernel.add(.plainMain(family)) }
                for rule in ours { try kernel.delete(rule) }
                // Keep one plain rule: a process that ended while it added the rules may have left two.
                if !ours.isEmpty { for rule in plain.dropFirst() { try kernel.delete(rule) } }
                let routes = try kernel.routes(family).filter { $0.table == GateRule.table }
                hasLeftovers = hasLeftovers || !routes.isEmpty
                for route in routes { try kernel.delete(route) }
            }
        }
        if let firstError { throw firstError }
        return hasLeftovers
    }
}
