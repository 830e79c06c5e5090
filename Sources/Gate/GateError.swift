import Glibc
import Netlink

/// The reason why the gate does not work. The links then behave as they would without a gate.
public enum GateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process has no permission to change rules.
    case notPermitted
    /// Main's plain rule is not at its usual priority: the administrator or another program has rearranged the rules.
    case noMainRule
    /// The kernel does not support routing rules for an address family.
    case noRules
    /// Another call failed.
    case kernel(NetlinkError)

    init(_ error: NetlinkError) { self = error.code == EPERM || error.code == EACCES ? .notPermitted : .kernel(error) }

    /// One sentence for the user.
    public var description: String {
        switch self {
        case .notPermitted: "The gate does not work: hotspotd needs the capability CAP_NET_ADMIN to change routing rules."
        case .noMainRule: "The gate stays open: the rule for the table main does not have its usual priority, 32766."
        case .noRules: "The gate stays open: this kernel has no routing rules."
        case .kernel(let error): "The gate does not work: \(error)."
        }
    }
}
