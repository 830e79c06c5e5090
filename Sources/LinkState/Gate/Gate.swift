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

    /// The interface group of closed links, as ``LinkSnapshot/group`` shows it.
    public static let group = GateRule.group

    private let kernel: GateKernel
    private var families: [Family] = []
    /// What was begun for each link; the kernel alone knows whether it still holds.
    private var closed: [Int: ClosedLink] = [:]
    /// Our rules as the kernel had them when all was done; `nil` if something was begun and did not come to its end.
    private var known: [Family: [[UInt8]]]?

    /// Removes what an earlier gate left, and sets up the rules. No link is closed yet.
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

    /// The links that are closed, by their index.
    public var closedLinks: Set<Int> { Set(closed.keys) }

    /// Makes the kernel agree: the links in `wanted` are closed, all others open. What somebody undid is done again: rules that were
    /// swept away, a link's group that was changed, and an index that stands for another link by now. One link that cannot be
    /// closed or opened holds no other up; its error is thrown at the end, and the next call tries it again.
    ///
    /// - Parameters:
    ///   - wanted: names by index. A link that is not there (any more) is left out.
    ///   - strays: other links that seem to be in the gate's group, and do not belong there.
    /// - Returns: whether somebody had undone something.
    @discardableResult public func settle(closed wanted: [Int: String], strays: Set<Int> = []) throws(GateError) -> Bool {
        let strays = strays.filter { wanted[$0] == nil && closed[$0] == nil }
        guard !(wanted.isEmpty && closed.isEmpty && strays.isEmpty) else { return false }
        var firstError: NetlinkError?
        func attempt(_ body: () throws(NetlinkError) -> Void) {
            do { try body() } catch { firstError = firstError ?? error }
        }
        var wasUndone = false
        attempt { () throws(NetlinkError) in wasUndone = try repair() }
        for index in closed.keys.filter({ wanted[$0] == nil }).sorted() {
            attempt { () throws(NetlinkError) in try open(index) }
        }
        for index in strays.sorted() {
            attempt { () throws(NetlinkError) in
                if try kernel.group(of: index) == Self.group { _ = try kernel.setGroup(0, of: index) }
            }
        }
        for (index, name) in wanted.sorted(by: { $0.key < $1.key }) {
            attempt { () throws(NetlinkError) in if try close(index, name) { wasUndone = true } }
        }
        attempt { () throws(NetlinkError) in try copyHiddenRoutes() }
        // A pass that failed half-way leaves the rules in doubt: the next one sets them up anew.
        if firstError != nil { known = nil } else if known == nil { attempt { () throws(NetlinkError) in known = try ours() } }
        if let firstError { throw GateError(firstError) }
        return wasUndone
    }

    /// Opens everything and takes all rules away, as far as it goes; the error tells what stayed. May be called again.
    public func stop() throws(GateError) {
        // The links first: as long as one is in the group, the rules that exempt bound sockets are needed. One that cannot go back
        // to its own group is brought to group 0 below, or left to rules that are not there any more.
        for index in closed.keys.sorted() { try? open(index) }
        known = nil
        do {
            _ = try Self.restore(kernel)
            closed = [:]
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

    /// - Returns: whether somebody had taken the link out of its group.
    private func close(_ index: Int, _ name: String) throws(NetlinkError) -> Bool {
        guard let group = try kernel.group(of: index) else {
            try open(index)
            return false
        }
        if let link = closed[index] {
            // The rule is by the name.
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
            // First the exemption, so that no bound socket meets a closed gate.
            for family in families { try kernel.add(.bound(to: name, family)) }
        }
        let wasUndone = closed[index] != nil
        closed[index] = ClosedLink(name: name, group: group == Self.group ? 0 : group)
        guard try kernel.setGroup(Self.group, of: index) else {
            try open(index)
            return false
        }
        // A change of the group leaves the routes that sockets keep; a change of the rules makes them look again.
        for family in families {
            try kernel.add(.bound(to: name, family))
            try kernel.delete(.bound(to: name, family))
        }
        return wasUndone
    }

    private func open(_ index: Int) throws(NetlinkError) {
        guard let link = closed[index] else { return }
        known = nil
        // The number may stand for another link by now, which is then left where it is.
        if try kernel.group(of: index) == Self.group { _ = try kernel.setGroup(link.group, of: index) }
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
            known = nil
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
            known = try ours()
        } catch let error as NetlinkError {
            throw GateError(error)
        } catch {
            throw error as? GateError ?? .noRules
        }
    }

    /// Our rules as the kernel has them; of a family without rules none.
    private func ours() throws(NetlinkError) -> [Family: [[UInt8]]] {
        var found: [Family: [[UInt8]]] = [:]
        for family in Family.allCases {
            guard let rules = try kernel.rules(family) else { continue }
            found[family] = rules.filter(\.isOurs).map(\.identity)
        }
        return found
    }

    /// systemd-networkd takes away rules that it does not know when it starts (ManageForeignRoutingPolicyRules=). Then the gate
    /// stands open, and is set up again here; so it is after a pass that failed.
    ///
    /// - Returns: whether somebody else was at the rules.
    private func repair() throws(NetlinkError) -> Bool {
        if let known, try ours() == known { return false }
        let wasUndone = known != nil
        for family in Family.allCases {
            for rule in try kernel.rules(family) ?? [] where rule.isOurs { try kernel.delete(rule) }
        }
        do throws(GateError) {
            try install()
        } catch {
            if case .kernel(let error) = error { throw error }
            throw NetlinkError(operation: "setting up the rules again", code: error == .notPermitted ? EPERM : ENOENT)
        }
        known = nil
        for link in closed.values {
            for family in families { try kernel.add(.bound(to: link.name, family)) }
        }
        return wasUndone
    }

    /// Goes on where something fails, so that as little as possible stays closed, and throws the first error at the end.
    private static func restore(_ kernel: GateKernel) throws(NetlinkError) -> Bool {
        var found = false
        var firstError: NetlinkError?
        func attempt(_ body: () throws(NetlinkError) -> Void) {
            do { try body() } catch { firstError = firstError ?? error }
        }
        attempt { () throws(NetlinkError) in
            for index in try kernel.links(in: GateRule.group) {
                found = true
                attempt { () throws(NetlinkError) in _ = try kernel.setGroup(0, of: index) }
            }
        }
        for family in Family.allCases {
            attempt { () throws(NetlinkError) in
                guard let rules = try kernel.rules(family) else { return }
                let ours = rules.filter(\.isOurs)
                let plain = rules.filter(\.isPlainMain)
                found = found || !ours.isEmpty
                // Only if somebody else took the plain rule away, and ours is all that is left of it.
                if !ours.isEmpty, plain.isEmpty { try kernel.add(.plainMain(family)) }
                for rule in ours { try kernel.delete(rule) }
                // An end between the two steps of setting up leaves the plain rule twice.
                if !ours.isEmpty { for rule in plain.dropFirst() { try kernel.delete(rule) } }
                let routes = try kernel.routes(family).filter { $0.table == GateRule.table }
                found = found || !routes.isEmpty
                for route in routes { try kernel.delete(route) }
            }
        }
        if let firstError { throw firstError }
        return found
    }
}
