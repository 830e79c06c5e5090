import Glibc
import Netlink

/// Why the gate cannot be worked. The links are then as they would be without a gate.
public enum GateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The daemon may not change rules.
    case notPermitted
    /// Someone has arranged the rules in a way of their own: main's plain rule is not at its place.
    case noMainRule
    /// The kernel has no rules for a family of addresses that it has.
    case noRules
    /// Another call that failed.
    case kernel(NetlinkError)

    init(_ error: NetlinkError) { self = error.code == EPERM || error.code == EACCES ? .notPermitted : .kernel(error) }

    /// One sentence for the user.
    public var description: String {
        switch self {
        case .notPermitted: "The gate stays as it is: changing routing rules takes the capability CAP_NET_ADMIN."
        case .noMainRule: "The gate stays open: the rule for the table main is not at its usual place, 32766."
        case .noRules: "The gate stays open: this kernel has no routing rules."
        case .kernel(let error): "The gate does not work: \(error)."
        }
    }
}
