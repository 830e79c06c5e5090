import CSystemd
import EventLoop
import Glibc
import Varlink

/// Decides who may change things and read prompts and traces: root, the group `hotspotd`, the user in front of the machine, and
/// the daemon's own user if that is a person.
///
/// Helpers have a socket of their own; their sandbox hides the socket for users. Helpers run as the daemon's user. If this user is not a person, as
/// with the system's daemon (`hotspotd`), its processes may change nothing in the daemon and the companion service, sandboxed or not.
public struct Permission: Sendable {
    private let trusted: Set<uid_t>
    private let restricted: Set<uid_t>
    private let groupID: gid_t?
    private let companion: uid_t?
    private let activeUser: @Sendable () -> uid_t?

    /// The users of the daemon with its helpers, and of the companion service, as `systemd/hotspotd.sysusers` names them.
    public static let (daemonName, companionName) = ("hotspotd", "hotspot-companion")

    /// The permissions on this computer. The numbers of the group and the users are read once; the user in front of the machine is looked up at each
    /// call.
    ///
    /// - Parameter users: the file with the users.
    public init(groupName: String = "hotspotd", users: String = "/etc/passwd") {
        let isOfSystem = geteuid() != 0 && geteuid() <= Self.lastSystemUser
        var restricted: Set<uid_t> = isOfSystem ? [geteuid()] : []
        if let daemon = Self.number(ofUser: Self.daemonName, file: users) { restricted.insert(daemon) }
        self.init(
            trusted: isOfSystem ? [0] : [0, geteuid()], restricted: restricted, group: Self.number(ofGroup: groupName),
            companion: Self.number(ofUser: Self.companionName, file: users), activeUser: Permission.userOfActiveSeat)
    }

    /// Returns the number of a user that is in the file.
    static func number(ofUser name: String, file: String = "/etc/passwd") -> uid_t? {
        var entry = Glibc.passwd()
        var result: UnsafeMutablePointer<Glibc.passwd>?
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        guard let file = fopen(file, "re") else { return nil }
        defer { fclose(file) }
        while fgetpwent_r(file, &entry, &buffer, buffer.count, &result) == 0, result != nil {
            if strcmp(entry.pw_name, name) == 0 { return entry.pw_uid }
        }
        return nil
    }

    /// Returns the number of a group. Looks in the file first, which contains the package's group. The modules of nsswitch.conf are loaded only for
    /// other groups, because the modules stay in the daemon's memory (libnss_systemd: 0.3 MiB).
    static func number(ofGroup name: String, file: String = "/etc/group") -> gid_t? {
        var entry = Glibc.group()
        var result: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        if let file = fopen(file, "re") {
            defer { fclose(file) }
            while fgetgrent_r(file, &entry, &buffer, buffer.count, &result) == 0, result != nil {
                if strcmp(entry.gr_name, name) == 0 { return entry.gr_gid }
            }
        }
        let isKnown = getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0 && result != nil
        return isKnown ? entry.gr_gid : nil
    }

    /// SYS_UID_MAX of login.defs(5), with the value that distributions use.
    static let lastSystemUser: uid_t = 999

    public init(
        trusted: Set<uid_t>, restricted: Set<uid_t> = [], group: gid_t?, companion: uid_t? = nil,
        activeUser: @escaping @Sendable () -> uid_t?
    ) {
        self.trusted = trusted
        self.restricted = restricted
        self.companion = companion
        groupID = group
        self.activeUser = activeUser
    }

    public func standing(of peer: PeerCredentials) -> Standing {
        // Check this first, because a helper also belongs to the daemon's group.
        if restricted.contains(peer.uid) { return .restricted }
        if trusted.contains(peer.uid) { return .permitted }
        if let groupID, peer.gid == groupID || peer.groups.contains(groupID) { return .permitted }
        return .stranger
    }

    func isCompanion(_ peer: PeerCredentials) -> Bool { peer.uid == companion }

    /// Returns whether this caller may change things, and read prompts and traces. The answer can change during a connection, when another user sits
    /// down in front of the machine.
    @LoopActor public func allows(_ call: ServerCall) -> Bool {
        switch call.standing {
        case .permitted: true
        case .stranger: activeUser() == call.peer.uid
        case .restricted: false
        }
    }

    private static func userOfActiveSeat() -> uid_t? {
        var user = uid_t()
        return sd_seat_get_active("seat0", nil, &user) >= 0 ? user : nil
    }
}
