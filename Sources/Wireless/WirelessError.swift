import Glibc
import Netlink

/// The reason why the radio cannot be watched or commanded.
public enum WirelessError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel has no nl80211: no Wi-Fi driver is loaded.
    case unavailable
    /// The process lacks the capability for the operation.
    case notPermitted(operation: String)
    /// The interface does not exist, or no longer exists.
    case noInterface(index: Int)
    /// The radio is busy with another scan.
    case busy(operation: String)
    /// The interface is down or blocked by a switch.
    case down(operation: String)
    /// Any other error, with a positive error number.
    case system(operation: String, code: Int32)

    /// One sentence for the user.
    public var description: String {
        switch self {
        case .unavailable: "This machine has no Wi-Fi: the kernel does not offer nl80211."
        case .notPermitted(let operation): "\(operation) needs the capability CAP_NET_ADMIN, which this process does not have."
        case .noInterface(let index): "There is no Wi-Fi interface with the index \(index)."
        case .busy(let operation): "\(operation) must wait: the radio is busy."
        case .down(let operation): "\(operation) is not possible while the interface is down or switched off."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }

    /// Makes the error from the kernel's answer to a command.
    init(_ error: NetlinkError, operation: String, index: Int) {
        self =
            switch error.code {
            case EPERM, EACCES: .notPermitted(operation: operation)
            case ENODEV: .noInterface(index: index)
            case EBUSY: .busy(operation: operation)
            case ENETDOWN, 132 /* ERFKILL */: .down(operation: operation)
            default: .system(operation: operation, code: error.code)
            }
    }
}
