import CLaunch
import Glibc
import Varlink

/// Keeps helpers from sending descriptors along with octets (SCM_RIGHTS, unix(7)), also to themselves.
///
/// Sockets that lie unread in one another's queues outlive who sent them. The kernel collects them when somebody closes a unix
/// socket, whoever that is: with a TCP socket among them, he waits in its last close(2) as long as its SO_LINGER says, and until then
/// the others live on, listening and sending (seen with Linux 6.1 for minutes).
///
/// No filter sees what comes along with a message. But the kernel counts by user what was sent and not received, and refuses more
/// (ETOOMANYREFS) to a process with a lower limit of open descriptors than that. Helpers are the daemon's user, and their limit is
/// low: so the daemon sends more to itself, and never receives it.
final class PassingBan {
    private let ends: (Int32, Int32)?

    /// For processes with at most so many descriptors. Without room for it nothing is banned.
    init(limit: Int) {
        ends = try? Socket.pair()
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        if let ends { _ = launch_send_copies(ends.0, file, Int32(limit + 1)) }
        close(file)
    }

    deinit {
        guard let ends else { return }
        close(ends.0)
        close(ends.1)
    }
}
