import CNetlink
import EventLoop
import Glibc

/// Events and requests over one socket to the kernel: events as they arrive, requests one after the other.
///
/// Events and answers share one socket, which keeps their order: a dump that follows an event is at least as new as the event.
/// The kernel allows one dump at a time on a socket, so requests wait in a queue.
@LoopActor public final class NetlinkExchange {
    public struct Request {
        var type: UInt16
        /// Whether the request asks for the whole table, not for one entry.
        var isDump: Bool
        var payload: [UInt8]
        /// Called when the request is sent, and again whenever it is repeated; answers received before are then invalid.
        var begun: () -> Void
        var answered: (NetlinkMessage) -> Void
        /// Called once at the end, with the error if there was one.
        var finished: (NetlinkError?) -> Void
        fileprivate var repetitions = 0

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

    /// The largest number of times that an interrupted or failed dump is repeated; then the last answers are used.
    public static let repetitionLimit = 3
    /// The largest number of datagrams read in one turn, so that a storm of events does not block the loop.
    private static let turnLimit = 64

    /// Called for each message that does not answer a request of this exchange.
    public var onEvent: (NetlinkMessage) -> Void = { _ in }
    /// Called when messages were lost, so that everything must be read again.
    public var onOverrun: () -> Void = {}
    /// Called at the end of each turn of reading.
    public var onTurn: () -> Void = {}
    /// Called when the socket is lost and cannot be replaced.
    public var onFailure: (NetlinkError) -> Void = { _ in }
    /// For tests: the number of datagrams that did not come from the kernel.
    package private(set) var foreignCount = 0
    /// For tests: the number of times that the kernel left out messages.
    package private(set) var overrunCount = 0
    /// For tests: the number of datagrams with an impossible length.
    package private(set) var malformedCount = 0

    private let open: () throws(NetlinkError) -> any NetlinkTransport
    private var transport: any NetlinkTransport
    private var source: EventSource?
    private var queue: [Request] = []
    private var current: (request: Request, sequence: UInt32)?
    private var sequence: UInt32 = 0
    private var isRunning = false
    /// Whether the table changed during the current dump.
    private var isInterrupted = false
    private var idleHandlers: [() -> Void] = []
    /// The number of failures since the last datagram. After two failures in a row, the socket is not reopened.
    private var failures = 0

    /// - Parameter open: opens a socket and joins its groups; called again if that socket is lost.
    public init(open: @escaping () throws(NetlinkError) -> any NetlinkTransport) throws(NetlinkError) {
        self.open = open
        transport = try open()
    }

    /// Starts listening, and sends the first request of the queue.
    public func start() throws(NetlinkError) {
        guard !isRunning else { return }
        try listen()
        isRunning = true
        sendNext()
    }

    /// Stops listening. No handler is called afterwards.
    public func stop() {
        isRunning = false
        source?.cancel()
        source = nil
        queue = []
        current = nil
        callIdleHandlers()
    }

    public func enqueue(_ request: Request) {
        queue.append(request)
        sendNext()
    }

    /// Whether no request is running or waiting.
    public var isIdle: Bool { current == nil && queue.isEmpty }

    /// Calls `body` once when ``isIdle``: now, or after the turn that ends the last request. The owner's ``onTurn`` is called first.
    public func whenIdle(_ body: @escaping () -> Void) {
        if isIdle || !isRunning { body() } else { idleHandlers.append(body) }
    }

    private func callIdleHandlers() {
        guard isIdle || !isRunning else { return }
        let bodies = idleHandlers
        idleHandlers = []
        for body in bodies { body() }
    }

    /// Reads and handles the datagrams of one turn, up to the limit. The loop calls this method; a test with a scripted transport
    /// calls it directly.
    public func readTurn() {
        reading: for _ in 0..<Self.turnLimit {
            guard isRunning else { return }
            switch transport.receive() {
            case .datagram(let octets):
                failures = 0
                handle(octets)
            case .foreign: foreignCount += 1
            case .overrun: overrun()
            case .nothing: break reading
            case .failed(let code):
                reopen(after: code)
                break reading
            }
        }
        if isRunning { onTurn() }
        callIdleHandlers()
    }

    private func listen() throws(NetlinkError) {
        guard let descriptor = transport.descriptor else { return }
        do {
            source = try EventLoop.shared.watch(descriptor) { [weak self] _ in self?.readTurn() }
        } catch {
            throw NetlinkError(operation: error.operation, code: error.code)
        }
    }

    private func handle(_ octets: [UInt8]) {
        var messages = NetlinkMessages(datagram: octets)
        while isRunning, let message = messages.next() {
            if let current, message.sequence == current.sequence, message.port == transport.port {
                handleAnswer(message)
            } else if message.port == transport.port {
                // This late answer belongs to a request that has already ended.
                continue
            } else if message.type == UInt16(NLMSG_OVERRUN) {
                overrun()
            } else if message.type >= UInt16(NLMSG_MIN_TYPE) {
                onEvent(message)
            }
        }
        if messages.isMalformed { malformedCount += 1 }
    }

    private func handleAnswer(_ message: NetlinkMessage) {
        if message.isInterrupted { isInterrupted = true }
        if let code = message.errorCode {
            // If the socket is full, a dump begins with this error, and the kernel continues the dump later (__netlink_dump_start in
            // net/netlink/af_netlink.c). The dump ends with NLMSG_DONE.
            if code == ENOBUFS, message.type == UInt16(NLMSG_ERROR), current?.request.isDump == true { return }
            finish(code == 0 ? nil : NetlinkError(operation: "asking the kernel", code: code))
        } else if message.type >= UInt16(NLMSG_MIN_TYPE) {
            current?.request.answered(message)
        }
    }

    private func finish(_ error: NetlinkError?) {
        guard var (request, _) = current else { return }
        current = nil
        if request.isDump, isInterrupted || error != nil, request.repetitions < Self.repetitionLimit {
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
        // Ends a request for one entry, because its acknowledgement may be among the lost messages. A dump, in contrast, continues.
        if let current, !current.request.isDump { finish(NetlinkError(operation: "asking the kernel", code: ENOBUFS)) }
    }

    private func sendNext() {
        guard isRunning, current == nil, !queue.isEmpty else { return }
        let request = queue.removeFirst()
        sequence = sequence == .max ? 1 : sequence + 1
        isInterrupted = false
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

    /// Replaces a lost socket once. The running request ends, and the owner reads everything again as after an overrun.
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
