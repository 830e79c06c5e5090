import CSystemd
import EventLoop
import Glibc
import HotspotCore
import Synchronization

/// A unix socket whose other end may send descriptors along (SCM_RIGHTS), which nothing in these protocols does.
///
/// The last close(2) of a descriptor waits for whatever the sender has put behind it: for data that a TCP socket has yet to send, as
/// long as its SO_LINGER says, or for somebody's file system in user space. A descriptor that nobody takes out of a message is closed by
/// the kernel in the thread that reads the message, or that closes the socket on which it lies. So whoever can connect could stop that
/// thread for as long as he likes.
public enum ForeignSocket {
    /// SO_PASSRIGHTS (asm-generic/socket.h), Linux 6.16: 0 makes the sender's call fail. What a listening socket accepts inherits it.
    private static let passRights: Int32 = 83

    /// Whose sender cannot send descriptors along, where the kernel knows this.
    public static func refuseDescriptors(_ socket: Int32) {
        var no: Int32 = 0
        setsockopt(socket, SOL_SOCKET, passRights, &no, socklen_t(MemoryLayout<Int32>.size))
    }

    /// As read(2), and whether descriptors came along. They are closed, and hold nobody up.
    public static func read(_ socket: Int32, _ octets: inout [UInt8]) -> (count: Int, hadDescriptors: Bool) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(CSYSTEMD_MAXIMUM_PASSED)) { descriptors in
            var passed: Int32 = 0
            let count = csystemd_receive(socket, &octets, octets.count, descriptors.baseAddress, &passed)
            let code = errno
            if passed > 0 { ForeignDescriptors.close(Array(descriptors[..<Int(passed)])) }
            errno = code
            return (count, passed > 0)
        }
    }

    /// Ends the connection and reads out what lies on it first.
    public static func close(_ socket: Int32) {
        shutdown(socket, Int32(SHUT_RDWR))
        var octets = [UInt8](repeating: 0, count: 16 << 10)
        // From here on nothing more comes, and the kernel limits what is there.
        while true {
            let count = read(socket, &octets).count
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        Glibc.close(socket)
    }
}

/// Closes descriptors that strangers sent, in threads of their own.
private enum ForeignDescriptors {
    private struct Work {
        var waiting: [Int32] = []
        var threads = 0
    }

    /// A thread may be held up for good by a single descriptor.
    private static let threadLimit = 16
    private static let work = Mutex(Work())

    static func close(_ descriptors: [Int32]) {
        for descriptor in descriptors {
            // Nobody's data is waited for.
            var none = linger(l_onoff: 0, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        }
        let needsThread = work.withLock { work in
            work.waiting += descriptors
            guard work.threads < threadLimit else { return false }
            work.threads += 1
            return true
        }
        guard needsThread else { return }
        let hasThread = DetachedThread.start(stackSize: 256 << 10) { closeAll() }
        // Without a thread they wait for the next ones.
        if !hasThread { work.withLock { $0.threads -= 1 } }
    }

    private static func closeAll() {
        while let next = work.withLock({ work -> Int32? in
            if let next = work.waiting.popLast() { return next }
            work.threads -= 1
            return nil
        }) {
            Glibc.close(next)
        }
    }
}
