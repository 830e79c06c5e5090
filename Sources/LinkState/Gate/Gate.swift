import CNetlink
import Glibc
import Netlink

/// Withholds links from ordinary programs, by the kernel's routing rules (``GateRule`` says which).
///
/// A closed link's routes are not found by who did not bind a socket to it: neither its default route nor the hosts on it, by IPv4 or
/// IPv6. Sockets bound to the link have it. Main's routes are never touched. Every call is done when it returns, and may be repeated.
///
/// It lives where it was made, in that network namespace. Packets that the machine forwards are gated as well, and so are connections
/// that were there before. Not gated are multicast, broadcast, and rules of others that look main up by themselves.
public final class Gate {
    private struct ClosedLink {
        var name: String
        /// Where the link goes back to.
        let group: UInt32
    }

    private let kernel: GateKernel
    private var families: [Family] = []
    private var closed: [Int: ClosedLink] = [:]

    /// Removes what an earlier gate left, and sets up the rules. No link is closed yet.
    public init() throws(GateError) {
        do {
            kernel = try GateKernel()
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

    /// The links that are closed, by their index.
    public var closedLinks: Set<Int> { Set(closed.keys) }

    /// Closes or opens a link. A link that is not there any more is forgotten.
    public func set(open: Bool, link index: Int, name: String) throws(GateError) {
        guard open == (closed[index] != nil) else { return }
        do {
            try repair()
            if open { try self.open(index) } else { try close(index, name) }
            try copyHiddenRoutes()
        } catch {
            throw GateError(error)
        }
    }

    /// A link was renamed: its rule is by its name.
    public func renamed(link index: Int, to name: String) throws(GateError) {
        guard let link = closed[index], link.name != name else { return }
        do {
            for family in families {
                try kernel.add(.bound(to: name, family))
                try kernel.delete(.bound(to: link.name, family))
            }
        } catch {
            throw GateError(error)
        }
        closed[index]?.name = name
    }

    /// Links, addresses or routes changed: what the closed links hide is looked at again, and the rules, should somebody have
    /// swept them away.
    public func linksChanged() throws(GateError) {
        guard !closed.isEmpty else { return }
        do {
            try repair()
            try copyHiddenRoutes()
        } catch {
            throw GateError(error)
        }
    }

    /// Opens everything and takes all rules away.
    public func stop() throws(GateError) {
        do {
            // The links first: as long as one is in the group, the rules that exempt bound sockets are needed.
            for index in closed.keys.sorted() { try open(index) }
            _ = try Self.restore(kernel)
        } catch {
            throw GateError(error)
        }
    }

    /// Takes away what a gate left that could not: rules, routes and groups. Needs no privilege if there is nothing.
    ///
    /// Links go to group 0, where the kernel puts them; what group they had before is known to the gate alone that took them out.
    ///
    /// - Returns: whether there was anything.
    @discardableResult public static func restore() throws(GateError) -> Bool {
        do {
            return try restore(GateKernel())
        } catch {
            throw GateError(error)
        }
    }

    // MARK: Links

    private func close(_ index: Int, _ name: String) throws(NetlinkError) {
        guard let group = try kernel.group(of: index) else { return }
        // First the exemption, so that no bound socket meets a closed gate.
        for family in families { try kernel.add(.bound(to: name, family)) }
        closed[index] = ClosedLink(name: name, group: group == GateRule.group ? 0 : group)
        guard try kernel.setGroup(GateRule.group, of: index) else { return try open(index) }
        // A change of the group leaves the routes that sockets keep; a change of the rules makes them look again.
        for family in families {
            try kernel.add(.bound(to: name, family))
            try kernel.delete(.bound(to: name, family))
        }
    }

    private func open(_ index: Int) throws(NetlinkError) {
        guard let link = closed[index] else { return }
        // The number may stand for another link by now, which is then left where it is.
        if try kernel.group(of: index) == GateRule.group { _ = try kernel.setGroup(link.group, of: index) }
        for family in families { try kernel.delete(.bound(to: link.name, family)) }
        closed[index] = nil
    }

    /// Main has one best route for a destination; behind a closed link's, the others are found in the gate's table.
    private func copyHiddenRoutes() throws(NetlinkError) {
        for family in families {
            let all = try kernel.routes(family)
            let there = Set(all.filter { $0.table == GateRule.table })
            var wanted: [HiddenRoute] = []
            if !closed.isEmpty {
                wanted = all.filter { $0.table == UInt32(RT_TABLE_MAIN.rawValue) && closed[$0.link] == nil }
                // The way to a router comes before the route through it.
                wanted = Array((wanted.filter { !$0.hasGateway } + wanted.filter(\.hasGateway)).prefix(HiddenRoute.limit))
            }
            for route in there.subtracting(wanted) { try kernel.delete(route) }
            // A route that the kernel takes in main and not here costs the others nothing.
            for route in wanted where !there.contains(route) { try? kernel.add(route) }
        }
    }

    // MARK: Rules

    private func install() throws(GateError) {
        do {
            families = []
            for family in Family.allCases {
                guard let rules = try kernel.rules(family) else {
                    if family == .ipv6, access("/proc/net/if_inet6", F_OK) != 0 { continue }
                    throw GateError.noRules
                }
                let plain = rules.filter(\.isPlainMain)
                guard let main = plain.last else { throw GateError.noMainRule }
                for rule in GateRule.standing(family) { try kernel.add(rule) }
                // The plain rule again, behind ours, and only then the one before them away: main is looked up all the time.
                try kernel.add(main)
                for rule in plain { try kernel.delete(rule) }
                families.append(family)
            }
        } catch let error as NetlinkError {
            throw GateError(error)
        } catch {
            throw error as? GateError ?? .noRules
        }
    }

    /// systemd-networkd takes away rules that it does not know when it starts (ManageForeignRoutingPolicyRules=). Then the gate
    /// stands open, and is set up again here.
    private func repair() throws(NetlinkError) {
        var isWhole = true
        for family in families {
            let count = try kernel.rules(family)?.count(where: \.isOurs)
            if count != GateRule.standing(family).count + closed.count { isWhole = false }
        }
        guard !isWhole else { return }
        for family in families {
            for rule in try kernel.rules(family) ?? [] where rule.isOurs { try kernel.delete(rule) }
        }
        do throws(GateError) {
            try install()
        } catch {
            if case .kernel(let error) = error { throw error }
            throw NetlinkError(operation: "setting up the rules again", code: ENOENT)
        }
        for link in closed.values {
            for family in families { try kernel.add(.bound(to: link.name, family)) }
        }
    }

    private static func restore(_ kernel: GateKernel) throws(NetlinkError) -> Bool {
        var found = false
        for index in try kernel.links(in: GateRule.group) {
            found = true
            _ = try kernel.setGroup(0, of: index)
        }
        for family in Family.allCases {
            guard let rules = try kernel.rules(family) else { continue }
            let ours = rules.filter(\.isOurs)
            let plain = rules.filter(\.isPlainMain)
            // Only if somebody else took the plain rule away, and ours is all that is left of it.
            if !ours.isEmpty, plain.isEmpty { try kernel.add(.plainMain(family)) }
            for rule in ours { try kernel.delete(rule) }
            // An end between the two steps of setting up leaves the plain rule twice.
            if !ours.isEmpty { for rule in plain.dropFirst() { try kernel.delete(rule) } }
            let routes = try kernel.routes(family).filter { $0.table == GateRule.table }
            for route in routes { try kernel.delete(route) }
            found = found || !ours.isEmpty || !routes.isEmpty
        }
        return found
    }
}
