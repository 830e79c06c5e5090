import EventLoop
import Glibc
import HotspotCore

/// One command on one connection to a service.
@LoopActor final class ServiceCommand {
    let call: HelperCall
    /// It waited for one process in vain, and waits for the next.
    var wasMoved = false
    private(set) var isCancelled = false
    private var isAwaitingEnding = false
    private let exchange: Exchange
    private let descriptor: Int32
    private weak var service: SocketService?
    private var timer: EventSource?

    init(_ call: HelperCall, socket: Int32, service: SocketService, configuration: HostConfiguration) throws(HelperFault) {
        descriptor = socket
        exchange = try Exchange(call, input: socket, output: socket, limit: configuration.limits.message)
        self.call = call
        self.service = service
        let patience = configuration.serviceCancel
        call.onCancel = { [weak self] in self?.cancel(patience) }
        exchange.onEnding = { [weak self] in self?.ended($0) }
        exchange.onOver = { [weak self] in self?.over() }
    }

    /// Sent, not answered, and nothing to read: the helper has not closed it, and if the helper is gone it never had it.
    var isWaiting: Bool {
        guard !exchange.isOver, !exchange.isAnswered else { return false }
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 0
    }

    func fail(_ fault: HelperFault) {
        // The outcome first, and then the end, which takes it off the service's list.
        call.fail(fault, standardError: service?.standardError)
        exchange.close()
        // It goes on later, as a command of its own.
        if call.isPausing { service?.done(self) }
    }

    private func cancel(_ patience: Duration) {
        isCancelled = true
        if exchange.isOver {
            timer?.cancel()
            service?.done(self)
            return
        }
        exchange.onIgnored = { [weak self] in self?.closeSoon() }
        exchange.abandon()
        timer = try? EventLoop.shared.schedule(after: patience) { [weak self] in
            // The process does not let go of a command. Its other work is cut off as well: all of it is the same program.
            self?.service?.endNow()
            self?.exchange.close()
        }
        service?.limitTime()
    }

    private func ended(_ outcome: HelperOutcome?) {
        if let outcome {
            call.complete(outcome, standardError: service?.standardError) { [weak service] in service?.expectNothing() }
            if outcome.isLastWord { service?.expectNothing() }
            return closeSoon()
        }
        // If its process crashed, that is known in a moment, with its last words. A process that lives on and only closed the
        // connection is not waited for any longer than this.
        isAwaitingEnding = true
        if service?.lastFault != nil { return failAsClosed() }
        timer = try? EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.failAsClosed() }
    }

    /// The process behind its connection has ended.
    func processEnded() {
        if isAwaitingEnding { return failAsClosed() }
        // Its caller is gone, so the next process need not find it in the socket.
        if isCancelled { exchange.close() }
    }

    private func failAsClosed() {
        guard isAwaitingEnding else { return }
        isAwaitingEnding = false
        timer?.cancel()
        fail(service?.lastFault ?? HelperFault(.helperCrashed, "it closed the connection, without an answer"))
        service?.done(self)
    }

    /// In the next turn, so that further answers in this one are counted.
    private func closeSoon() {
        timer = try? EventLoop.shared.schedule(after: .zero) { [weak self] in self?.exchange.close() }
    }

    private func over() {
        call.countIgnored(exchange.ignored)
        // A closed connection without an answer waits for its timer.
        if isCancelled || !call.isLive { service?.done(self) }
    }
}
