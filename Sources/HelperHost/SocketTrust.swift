import ForeignText
import Glibc
import HotspotCore
import Varlink

/// Whether the socket of a helper that someone else runs may be talked to: what is said there decides a login, and it may be given a
/// credential.
///
/// The socket and every folder above it must belong to root or to the daemon's own user, and nobody else may put another in its place;
/// who listens must be root (a service manager that hands the socket over) or the daemon's user. Who may *connect* is the helper's
/// concern, so the socket's own permissions do not matter.
enum SocketTrust {
    /// Refuses a socket that could be somebody else's. One that is not there is for the connection to find.
    static func check(path: String) throws(HelperFault) {
        let end: (path: String, status: stat)
        do throws(FileTrust.Distrust) {
            end = try FileTrust.walk(path, othersMayWrite: true)
        } catch {
            switch error {
            case .absent, .entrance: return
            case .reason(let reason): throw refuse(path, reason)
            }
        }
        guard end.status.st_mode & S_IFMT == S_IFSOCK else { throw refuse(path, "it is no socket") }
    }

    /// Refuses a listener of another user: the socket may have been made for it by somebody who may not.
    static func check(peerOf socket: Int32, path: String) throws(HelperFault) {
        // For a listening socket these are the credentials of whoever called listen(2).
        guard let peer = PeerCredentials(socket: socket) else { throw refuse(path, "nothing is known of who listens") }
        guard FileTrust.isTrusted(peer.uid) else {
            throw refuse(path, "user \(peer.uid) listens there, not root or the daemon's user")
        }
    }

    private static func refuse(_ path: String, _ reason: String) -> HelperFault {
        let path = Printable.text(path)
        let sentence = "\(path) is not used: \(reason)"
        return HelperFault(
            .helperNotTrusted, sentence,
            cause: Problem(
                HelperFault.Code.helperNotTrusted.rawValue, sentence,
                hint: "let systemd make it (hotspot-helper@.socket), or give it and its folder to root"))
    }
}
