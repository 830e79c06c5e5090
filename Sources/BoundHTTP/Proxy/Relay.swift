import Glibc

/// Passes octets between two sockets, both ways, until both directions have ended.
struct Relay {
    private struct Direction {
        let source: Int32
        let target: Int32
        var waiting: ArraySlice<UInt8> = []
        /// Whether the source has ended.
        var isRead = false
        /// Whether the relay has shut down its side of the connection to the target.
        var isDone = false

        var wantsToRead: Bool { !isRead && waiting.isEmpty }
        var wantsToWrite: Bool { !waiting.isEmpty }
    }

    /// Milliseconds without an octet after which a connection ends.
    private static let patience: Int32 = 600_000
    private static let chunk = 65536

    /// Passes octets on until both sides have ended, a socket fails, or nothing comes for ten minutes. Both sockets must be
    /// non-blocking.
    static func run(_ one: Int32, _ other: Int32) {
        var directions = [Direction(source: one, target: other), Direction(source: other, target: one)]
        var buffer = [UInt8](repeating: 0, count: chunk)
        while directions.contains(where: { !$0.isDone }) {
            var polls = [one, other].map { socket in
                var events: Int32 = 0
                if directions.contains(where: { $0.source == socket && $0.wantsToRead }) { events |= POLLIN }
                if directions.contains(where: { $0.target == socket && $0.wantsToWrite }) { events |= POLLOUT }
                // Leaves out a socket without requested events: once its other end is gone, the socket would wake this loop again
                // and again.
                return pollfd(fd: events == 0 ? -1 : socket, events: Int16(events), revents: 0)
            }
            let ready = poll(&polls, 2, patience)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return }
            for index in directions.indices where !advance(&directions[index], &buffer) { return }
        }
    }

    /// Reads and writes what is possible now; returns `false` if a socket failed.
    private static func advance(_ direction: inout Direction, _ buffer: inout [UInt8]) -> Bool {
        if direction.wantsToRead {
            let count = recv(direction.source, &buffer, buffer.count, 0)
            guard count >= 0 || isPassing else { return false }
            if count > 0 { direction.waiting = buffer[..<count] }
            if count == 0 { direction.isRead = true }
        }
        if direction.wantsToWrite {
            let count = direction.waiting.withUnsafeBytes {
                send(direction.target, $0.baseAddress, $0.count, LinkSocket.noSignal)
            }
            guard count >= 0 || isPassing else { return false }
            direction.waiting = direction.waiting.dropFirst(max(0, count))
        }
        if direction.isRead, direction.waiting.isEmpty, !direction.isDone {
            shutdown(direction.target, Int32(SHUT_WR))
            direction.isDone = true
        }
        return true
    }

    private static var isPassing: Bool { errno == EAGAIN || errno == EINTR }
}
