import Glibc
import Varlink

/// One of a helper's standard streams: a pair of unix sockets that carries one direction alone. Both ends are closed by exec, and the
/// daemon's does not block.
///
/// A pipe would have one lock for both ends, and who writes to it keeps the lock while the kernel copies what he writes: out of a file
/// on a server that does not answer, for as long as the server likes. The daemon's read(2) and close(2) would wait for it. The ends of
/// a pair do not wait for each other.
enum StandardStream {
    /// Its two ends.
    typealias Ends = (ours: Int32, theirs: Int32)

    /// For standard input. Nothing can be sent back.
    static func toHelper() throws(Errno) -> Ends { try pair(unused: SHUT_RD) }

    /// For standard output or error, whose reader beware: it is a ``ForeignSocket``. The helper reads its end.
    static func fromHelper() throws(Errno) -> Ends {
        let ends = try pair(unused: SHUT_WR)
        ForeignSocket.refuseDescriptors(ends.ours)
        return ends
    }

    /// Octets lie in it to be read; its mere end does not count.
    static func isReadable(_ ours: Int32) -> Bool {
        var octet: UInt8 = 0
        return recv(ours, &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    private static func pair(unused: Int) throws(Errno) -> Ends {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Errno(code: errno)
        }
        // An end has its own flags: the helper's blocks.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        shutdown(ends[0], Int32(unused))
        return (ends[0], ends[1])
    }
}
