import EventLoop
import Glibc
import HotspotCore
import Varlink

/// One command on one connection to a service.
@LoopActor final class ServiceCommand {
    let question: Question
    let name: String
    let call: HelperCall
    let onIgnored: (Int) -> Void
    let secrets: [String]
    /// It waited for one process in vain, and waits for the next.
    var wasMoved = false
    private(set) var isCancelled = false
    private var isAwaitingEnding = false
    private let exchange: Exchange
    private let descriptor: Int32
    private weak var service: SocketService?
    private var timer: EventSource?

    init(
        _ question: Question, name: String, socket: Int32, call: HelperCall, service: SocketService,
        configuration: HostConfiguration, onIgnored: @escaping (Int) -> Void
    ) throws(HelperFault) {
        descriptor = socket
        do throws(VarlinkError) {
            exchange = Exchange(question, on: try Connection(socket: socket, limit: configuration.limits.message))
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        self.question = question
        self.name = name
        self.call = call
        self.service = service
        self.onIgnored = onIgnored
        secrets = question.parameters.secrets
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
        call.complete(outcome(.failed(fault)))
        exchange.close()
        // It goes on later, as a command of its own.
        if call.isPausing { service?.done(self) }
    }

    private func outcome(_ outcome: HelperOutcome) -> HelperOutcome {
        outcome.named(name, standardError: service?.standardError(), without: secrets)
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
            guard let self else { return }
            service?.ignoredCancellation()
            exchange.close()
        }
        service?.limitTime()
    }

    private func ended(_ ending: Exchange.Ending) {
        switch ending {
        case .answered(let outcome):
            call.complete(self.outcome(outcome)) { [weak service] in service?.expectNothing() }
            if outcome.isLastWord { service?.expectNothing() }
            closeSoon()
        case .closed:
            // If its process crashed, that is known in a moment, with its last words. A process that lives on and only closed the
            // connection is not waited for any longer than this.
            isAwaitingEnding = true
            if service?.lastFault != nil { return failAsClosed() }
            timer = try? EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.failAsClosed() }
        }
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
        onIgnored(exchange.ignored)
        // A closed connection without an answer waits for its timer.
        if isCancelled || !call.isLive { service?.done(self) }
    }
}
