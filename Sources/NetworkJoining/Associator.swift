import EventLoop
import HotspotCore

/// An interface of this machine, as the kernel knows it.
public struct ManagedInterface: Hashable, Sendable {
    public let index: Int
    public let name: String

    public init(index: Int, name: String) {
        self.index = index
        self.name = name
    }
}

/// A network in sight that is to be joined.
public struct JoinRequest: Sendable {
    let interface: ManagedInterface
    let ssid: SSID
    let security: Security
    /// The password; without one, the program uses the password that it has stored.
    let password: String?
    /// Whether everything made for this join is removed when the interface leaves the network.
    let once: Bool

    public init(interface: ManagedInterface, ssid: SSID, security: Security, password: String?, once: Bool) {
        self.interface = interface
        self.ssid = ssid
        self.security = security
        self.password = password
        self.once = once
    }
}

/// The reason for leaving a network.
public enum Ending: Hashable, Sendable {
    /// The user leaves: the interface joins no network until the user asks for it, in hotspotd or in the program.
    case byUser
    /// The network may be joined again at once.
    case mayReturn
    /// This network is not joined automatically until ``Associations/release(_:)`` is called or the duration is over; other networks may be joined.
    case staysAway(SSID, for: Duration?)
}

/// The reason why joining or leaving a network failed.
public enum AssociationError: Error, Hashable, Sendable {
    /// The program does not see the network.
    case notInSight
    case passwordNeeded
    case wrongPassword
    /// The program cannot join networks of this kind of security.
    case unsupported(Security)
    /// The permission that is missing.
    case notPermitted(manager: String, missing: String)
    case notInNetwork
    /// The interface is down or switched off.
    case down
    /// The program has ended or does not answer.
    case managerGone(String)
    case timeout(manager: String)
    /// The program refused, with these words.
    case refused(manager: String, words: String)
    /// Another join or leave of this interface is under way.
    case busy

    /// - Parameters:
    ///   - permission: the permission that the user lacks if the program refuses, and how to get it.
    ///   - idle: the name of the program's error for an interface that is not in a network.
    init(_ failure: SystemBus.CallFailure, of manager: String, missing permission: String, idle: String) {
        if failure.isRefusal {
            self = .notPermitted(manager: manager, missing: permission)
        } else if failure.isAbsence {
            self = .managerGone(manager)
        } else if failure.name == idle {
            self = .notInNetwork
        } else {
            self = .refused(manager: manager, words: failure.words)
        }
    }

    /// One sentence for the user and, after a line feed, the words of the program.
    public var problem: Problem {
        switch self {
        case .notInSight: Problem(.joinFailed, "The network is not in sight.", hint: "hotspotctl list")
        case .passwordNeeded: Problem(.passwordNeeded, "This network requires a password.")
        case .wrongPassword: Problem(.wrongPassword, "The network does not accept this password.")
        case .unsupported(.enterprise):
            Problem(.joinFailed, "This network needs more than a password (802.1X): join it in the desktop's settings.")
        case .unsupported(let security):
            Problem(.joinFailed, "hotspotd cannot join networks with this security: \(security.rawValue).")
        case .notPermitted(let manager, let missing):
            Problem(.joinNotPermitted, "\(manager) does not let hotspotd join or leave networks: \(missing).")
        case .notInNetwork: Problem(.notJoined, "The interface is not in a network.")
        case .down: Problem(.joinFailed, "The interface is down or switched off.", hint: "rfkill list")
        case .managerGone(let manager): Problem(.managerGone, "\(manager) has ended or does not answer.")
        case .timeout(let manager): Problem(.joinFailed, "\(manager) did not finish in time.")
        case .refused(let manager, let words):
            Problem(
                .joinFailed, QuotedProblem.join("\(manager) could not join or leave the network.", words.isEmpty ? nil : words))
        case .busy: Problem(.busy, "This interface is already joining or leaving a network.")
        }
    }
}

/// A program that joins networks, or the kernel itself. Each method calls `done` once; ``Associations`` ends calls that take too long.
@LoopActor protocol Associator: AnyObject {
    /// The program's name for people.
    var name: String { get }
    /// Reports whether the program manages the interface.
    func manages(_ interface: ManagedInterface, _ done: @escaping (Bool) -> Void)
    func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void)
    /// Ends a join for which ``Associations`` no longer waits.
    func abandon(_ interface: ManagedInterface)
    func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void)
    /// Notes that the interface has left its network.
    func left(_ interface: ManagedInterface)
    /// Restores the original auto-join setting: for one network, or for all.
    func release(_ ssid: SSID?)
}
