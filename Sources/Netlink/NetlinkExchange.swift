import CNetlink
import EventLoop
import Glibc

/// A conversation with the kernel over one socket: events as they come, and requests one after the other.
///
/// One socket for both keeps their order: what a dump says after an event is at least as new as the event. The kernel allows one
/// dump at a time on a socket, so that requests wait in a queue.
@LoopActor public final class NetlinkExchange {
    /// A question to the kernel.
    public struct Request {
        /// Message type.
        var type: UInt16
        /// The whole table rather than one entry.
        var isDump: Bool
        var payload: [UInt8]
        /// Called when the request is sent, and again each time that it is repeated: whatever was gathered is void.
        var begun: () -> Void
        /// Called for each answer.
        var answered: (NetlinkMessage) -> Void
        /// Called once at the end, with the error if there was one.
        var finished: (NetlinkError?) -> Void
        fileprivate var repetitions = 0

        /// A request with its handlers.
        public init(
            type: UInt16, isDump: Bool, payload: [UInt8], begun: @escaping () -> Void = {},
            answered: @escaping (NetlinkMessage) -> Void, finished: @escaping (NetlinkError?) -> Void
        ) {
            self.type = type
            self.isDump = isDump
            self.payload = payload
            self.begun = begun
            self.answered = answered
            self.finished = finished
        }
    }

    /// A dump that was interrupted or failed is repeated so often in a row; then its last reading has to do.
    public static let repetitionLimit = 3
    /// Datagrams taken in one turn, so that a storm of events leaves the loop's other work its turns.
    private static let turnLimit = 64

    /// Called for each message that answers no request of ours.
    public var onEvent: (NetlinkMessage) -> Void = { _ in }
    /// Called when messages were lost: everything is to be read anew.
    public var onOverrun: () -> Void = {}
    /// Called after each turn of reading, when all that waited was handled.
    public var onTurn: () -> Void = {}
    /// Called when the socket is lost and could not be replaced.
    public var onFailure: (NetlinkError) -> Void = { _ in }
    /// Datagrams that did not come from the kernel.
    public private(set) var foreignCount = 0
    /// How often the kernel said that it had left out messages.
    public private(set) var overrunCount = 0
    /// Datagrams that ended in a length that cannot be.
    public private(set) var malformedCount = 0

    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: any NetlinkTransport
    private var source: EventSource?
    private var queue: [Request] = []
    private var current: (request: Request, sequence: UInt32)?
    private var sequence: UInt32 = 0
    private var isRunning = false
    private var waiting: [() -> Void] = []
    /// Failures since the last datagram: a second one in a row means that reopening does not help.
    private var failures = 0

    /// - Parameter open: makes a socket that has joined its groups; called again if the first is lost.
    public init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) throws(NetlinkError) {
        self.open = open
        transport = try open()
    }

    /// Begins to listen, and sends what is in the queue.
    public func start() throws(NetlinkError) {
        guard !isRunning else { return }
        try listen()
        isRunning = true
        sendNext()
    }

    /// Ends listening. Handlers are not called any more.
    public func stop() {
        isRunning = false
        source?.cancel()
        source = nil
        queue = []
        current = nil
        tellIdle()
    }

    /// Appends a request to the queue.
    public func enqueue(_ request: Request) {
        queue.append(request)
        sendNext()
    }

    /// No request is under way or waiting.
    public var isIdle: Bool { current == nil && queue.isEmpty }

    /// Calls once when no request is under way or waiting any more, after the turn that ended the last one; at once if that is so
    /// now. The owner's ``onTurn`` comes first.
    public func whenIdle(_ body: @escaping () -> Void) {
        if isIdle || !isRunning { body() } else { waiting.append(body) }
    }

    private func tellIdle() {
        guard isIdle || !isRunning, !waiting.isEmpty else { return }
        let bodies = waiting
        waiting = []
        for body in bodies { body() }
    }

    /// Takes what the socket has, one turn's worth. The loop calls this; a test with a scripted transport does so itself.
    public func takeTurn() {
        reading: for _ in 0..<Self.turnLimit {
            guard isRunning else { return }
            switch transport.receive() {
            case .datagram(let octets):
                failures = 0
                take(octets)
            case .foreign: foreignCount += 1
            case .overrun: overrun()
            case .nothing: break reading
            case .failed(let code):
                reopen(after: code)
                break reading
            }
        }
        if isRunning { onTurn() }
        tellIdle()
    }

    private func listen() throws(NetlinkError) {
        guard let descriptor = transport.descriptor else { return }
        do {
            source = try EventLoop.shared.watch(descriptor) { [weak self] _ in self?.takeTurn() }
        } catch {
            throw NetlinkError(operation: error.operation, code: error.code)
        }
    }

    private func take(_ octets: [UInt8]) {
        var messages = NetlinkMessages(datagram: octets)
        while isRunning, let message = messages.next() {
            if let current, message.sequence == current.sequence, message.port == transport.port {
                answer(message)
            } else if message.port == transport.port {
                // The rest of a request that has ended: nobody waits for it, and it is no event.
                continue
            } else if message.type == UInt16(NLMSG_OVERRUN) {
                overrun()
            } else if message.type >= UInt16(NLMSG_MIN_TYPE) {
                onEvent(message)
            }
        }
        if messages.isMalformed { malformedCount += 1 }
    }

    private func answer(_ message: NetlinkMessage) {
        if message.isInterrupted { interrupted = true }
        if let code = message.errorCode {
            // A dump that finds the socket full begins with this error, and goes on by itself when there is room
            // (__netlink_dump_start in net/netlink/af_netlink.c). Its end is the message that says so.
            if code == ENOBUFS, message.type == UInt16(NLMSG_ERROR), current?.request.isDump == true { return }
            finish(code == 0 ? nil : NetlinkError(operation: "asking the kernel", code: code))
        } else if message.type >= UInt16(NLMSG_MIN_TYPE) {
            current?.request.answered(message)
        }
    }

    private var interrupted = false

    private func finish(_ error: NetlinkError?) {
        guard var (request, _) = current else { return }
        current = nil
        if request.isDump, interrupted || error != nil, request.repetitions < Self.repetitionLimit {
            request.repetitions += 1
            queue.insert(request, at: 0)
        } else {
            request.finished(error)
        }
        sendNext()
    }

    private func overrun() {
        overrunCount += 1
        onOverrun()
        // The kernel may have had no room for an acknowledgement. A dump, in contrast, goes on when there is room again.
        if let current, !current.request.isDump { finish(NetlinkError(operation: "asking the kernel", code: ENOBUFS)) }
    }

    private func sendNext() {
        guard isRunning, current == nil, !queue.isEmpty else { return }
        let request = queue.removeFirst()
        sequence = sequence == .max ? 1 : sequence + 1
        interrupted = false
        current = (request, sequence)
        request.begun()
        let flags = request.isDump ? NLM_F_REQUEST | NLM_F_DUMP : NLM_F_REQUEST | NLM_F_ACK
        let message = NetlinkMessage(
            type: request.type, flags: UInt16(flags), sequence: sequence, port: transport.port, payload: request.payload[...])
        do {
            try transport.send(message.octets)
        } catch {
            finish(error)
        }
    }

    /// A lost socket is replaced once; its requests end, and the owner reads everything anew as after an overrun.
    private func reopen(after code: Int32) {
        source?.cancel()
        source = nil
        failures += 1
        do throws(NetlinkError) {
            guard failures < 2 else { throw NetlinkError(operation: "receiving from the kernel", code: code) }
            transport = try open()
            try listen()
            onOverrun()
            if current != nil { finish(NetlinkError(operation: "receiving from the kernel", code: code)) }
        } catch {
            stop()
            onFailure(error)
        }
    }
}
