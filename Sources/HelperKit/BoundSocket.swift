import Glibc

/// Ties a socket to an interface, so that not one packet leaves by another link. Failing to do so is failing as a whole: a socket that
/// is not bound is never used.
enum BoundSocket {
    /// SO_BINDTODEVICE (socket(7)); 0 or the error number. Needs no privilege since Linux 5.7 as long as the socket is not bound yet.
    static func bind(_ socket: Int32, to interface: String) -> Int32 {
        let name = Array(interface.utf8)
        guard !name.isEmpty, name.count < Int(IFNAMSIZ), !name.contains(0) else { return ENODEV }
        guard setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count)) == 0 else { return errno }
        return 0
    }
}
