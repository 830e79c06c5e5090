import CSystemd
import EventLoop
import Glibc
import HotspotCore

/// One end of a connection on the event loop. It never blocks, and limits the octets that wait for the peer.
///
/// Use it with ``send(_:)`` and ``close()``. It calls ``onMessage`` for each whole message and, unless the last reference is dropped first,
/// ``onClose`` exactly once.
@LoopActor public final class Connection {
    /// Why a connection ended.
    public enum End: Hashable, Sendable {
        /// This side called ``Connection/close()``.
        case closedHere
        /// The peer ended the connection.
        case closedThere
        /// The peer broke a rule, or a system call failed.
        case failed(VarlinkError)
    }

    private var input: Int32
    private var output: Int32
    private var framer: Framer
    private let outputLimit: Int
    private var pending: [UInt8] = []
    private var reader: EventSource?
    private var writer: EventSource?
    /// The descriptor for writing: a duplicate of the socket's, because epoll(7) accepts each descriptor once and the reader uses the original.
    private var watched: Int32 = -1
    private var patience: EventSource?
    /// Handles the waiting messages in a later turn.
    private var continuation: EventSource?
    private var isOpen = true
    private let isPatient: Bool
    /// The priority of a patient connection, which comes after everything else on the loop.
    private static let patientPriority: Int64 = 10
    /// The number of times that the loop was woken for the current message.
    private var wakes = 0
    /// A megabyte normally needs fewer wakes. More wakes mean a slow sender, perhaps octet by octet; then the reader pauses a moment before each
    /// further wake.
    private static let (wakeLimit, drip) = (128, Duration.milliseconds(1))

    /// The time for the rest of a message that has begun; `nil` for no limit. A slower peer is disconnected.
    public var partialLimit: Duration?
    /// Called for each whole message, without its NUL.
    public var onMessage: ([UInt8]) -> Void = { _ in }
    /// Called when the connection is over; no message comes after that.
    public var onClose: (End) -> Void = { _ in }

    /// Takes ownership of a connected, non-blocking socket.
    ///
    /// - Parameter isPatient: whether the peer may have to wait: each turn handles one of its messages, after those of all other clients, and reading
    ///   pauses until all are handled. So a client that floods delays only itself.
    public convenience init(
        socket: Int32, limit: Int, outputLimit: Int = 8 * 1024 * 1024, isPatient: Bool = false
    ) throws(VarlinkError) {
        try self.init(input: socket, output: socket, limit: limit, outputLimit: outputLimit, isPatient: isPatient)
    }

    /// Takes ownership of two non-blocking descriptors: one for reading, and one for writing. The peer never writes to the second.
    public init(
        input: Int32, output: Int32, limit: Int, outputLimit: Int = 8 * 1024 * 1024, isPatient: Bool = false
    ) throws(VarlinkError) {
        self.input = input
        self.output = output
        self.outputLimit = outputLimit
        self.isPatient = isPatient
        framer = Framer(limit: limit)
        do {
            try listen()
        } catch {
            throw .system(operation: error.operation, code: error.code)
        }
    }

    private func listen() throws(LoopError) {
        reader = try EventLoop.shared.watch(input) { [weak self] _ in self?.readable() }
        if isPatient { reader?.setPriority(Self.patientPriority) }
    }

    isolated deinit { finish(nil) }

    /// The peer's credentials; `nil` if this is not a unix socket.
    public var peer: PeerCredentials? { PeerCredentials(socket: input) }

    /// Queues a message. If more than the limit waits for the peer, the peer is disconnected.
    public func send(_ message: some Encodable) { send(encoded: Coding.encode(message)) }

    /// Queues a message that is already encoded, without its NUL.
    func send(encoded message: [UInt8]) {
        guard isOpen else { return }
        pending += message
        pending.append(0)
        writable()
        if pending.count > outputLimit { finish(.failed(.tooLong(limit: outputLimit))) }
    }

    /// Ends the connection; ``onClose`` gets ``End/closedHere``.
    public func close() { finish(.closedHere) }

    /// Ends only the sending direction: the peer reads end-of-file and may still answer.
    public func closeOutput() {
        // Once the connection has closed its descriptors, their numbers may belong to other files, so they must not be used.
        guard isOpen else { return }
        // Octets that are not sent yet are dropped, even if each direction has its own descriptor.
        pending = []
        stopWriting()
        guard output != input else {
            shutdown(output, Int32(SHUT_WR))
            return
        }
        Glibc.close(output)
        output = input
    }

    private func readable() {
        read()
        guard isOpen, continuation == nil else { return }
        wakes = framer.isPartial ? wakes + 1 : 0
        if wakes > Self.wakeLimit { goOnLater(after: Self.drip) }
    }

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        // The work in one turn is limited, so that a flood from one peer does not block the others.
        for _ in 0..<(isPatient ? 1 : 16) {
            // The kernel closes descriptors that the peer attaches to its octets (unix(7)).
            let count = Glibc.read(input, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { return }
                finish(errno == ECONNRESET ? .closedThere : .failed(.system(operation: "read", code: errno)))
                return
            }
            guard count > 0 else {
                finish(.closedThere)
                return
            }
            framer.append(chunk[..<count])
            deliver()
            if !isOpen { return }
        }
    }

    private func deliver() {
        do {
            while isOpen, let message = try framer.next() {
                // Each message has its own time limit: a busy peer may have begun the next one already.
                patience?.cancel()
                patience = nil
                wakes = 0
                onMessage(message)
                if isPatient, isOpen, framer.hasMessage { return goOnLater(after: .zero) }
            }
        } catch {
            finish(.failed(error))
        }
        if isOpen { watchPartial() }
    }

    /// Handles the next message later. Until all received octets are handled, reading pauses.
    private func goOnLater(after delay: Duration) {
        reader?.cancel()
        reader = nil
        continuation = try? EventLoop.shared.schedule(after: delay) { [weak self] in
            guard let self, isOpen else { return }
            continuation = nil
            deliver()
            guard isOpen, continuation == nil, reader == nil else { return }
            do throws(LoopError) {
                try listen()
            } catch {
                finish(.failed(.system(operation: error.operation, code: error.code)))
            }
        }
        guard continuation != nil else { return finish(.failed(.system(operation: "timerfd", code: ENOMEM))) }
        continuation?.setPriority(Self.patientPriority)
    }

    private func watchPartial() {
        guard framer.isPartial, let partialLimit else {
            patience?.cancel()
            patience = nil
            return
        }
        guard patience == nil else { return }
        patience = try? EventLoop.shared.schedule(after: partialLimit, accuracy: .milliseconds(100)) { [weak self] in
            self?.finish(.failed(.malformed("it is still incomplete after \(partialLimit)")))
        }
    }

    private func writable() {
        while isOpen, !pending.isEmpty {
            // The process ignores SIGPIPE.
            let count = pending.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    if writer == nil { awaitRoom() }
                    return
                }
                // ECONNRESET means that the peer closed without having read everything.
                if errno == EPIPE || errno == ECONNRESET {
                    // The peer no longer reads, but may have answered before that: the reader still reads the answer and notices the end.
                    pending = []
                    stopWriting()
                    return
                }
                finish(.failed(.system(operation: "write", code: errno)))
                return
            }
            pending.removeFirst(count)
        }
        stopWriting()
    }

    /// Continues writing once the peer has read some of the octets. If the loop cannot watch for that, ends the connection, because the remaining
    /// octets would wait for ever.
    private func awaitRoom() {
        if output == input {
            watched = fcntl(output, F_DUPFD_CLOEXEC, 0)
            guard watched >= 0 else { return finish(.failed(.system(operation: "fcntl", code: errno))) }
        }
        do {
            let descriptor = output == input ? watched : output
            writer = try EventLoop.shared.watch(descriptor, for: UInt32(EPOLLOUT.rawValue)) { [weak self] _ in self?.writable() }
        } catch {
            finish(.failed(.system(operation: error.operation, code: error.code)))
        }
    }

    private func stopWriting() {
        writer?.cancel()
        writer = nil
        if watched >= 0 { Glibc.close(watched) }
        watched = -1
    }

    private func finish(_ end: End?) {
        guard isOpen else { return }
        isOpen = false
        framer.clear()
        pending = []
        reader?.cancel()
        stopWriting()
        patience?.cancel()
        continuation?.cancel()
        Glibc.close(input)
        if output != input { Glibc.close(output) }
        let onClose = onClose
        self.onClose = { _ in }
        onMessage = { _ in }
        if let end { onClose(end) }
    }
}
