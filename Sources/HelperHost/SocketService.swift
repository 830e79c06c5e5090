import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A program that serves one or more helpers on sockets. The sockets are the daemon's and outlive the process, so that a process that
/// ended because it was idle is started anew by the next command.
@LoopActor final class SocketService {
    /// What makes two services the same.
    struct Key: Hashable {
        var exec: [String]
        /// In the order of LISTEN_FDNAMES.
        var names: [String]
        var writable: [String]
    }

    let key: Key
    /// Starts a process for the service.
    var start: ([(name: String, descriptor: Int32)]) throws(HelperFault) -> HelperProcess
    private let directory: String
    private let configuration: HostConfiguration
    private var listeners: [(name: String, descriptor: Int32)] = []
    private var listenFault: HelperFault?
    private var process: HelperProcess?
    private var lastProcess: HelperProcess?
    private var wasAsked = false
    private var commands: [ObjectIdentifier: ServiceCommand] = [:]
    private var isRetired = false
    /// The host forgets a retired service at once; its commands still need it.
    private var untilDone: SocketService?

    init(
        _ key: Key, directory: String, configuration: HostConfiguration,
        start: @escaping ([(name: String, descriptor: Int32)]) throws(HelperFault) -> HelperProcess
    ) {
        self.key = key
        self.directory = directory
        self.configuration = configuration
        self.start = start
        for name in key.names {
            do throws(VarlinkError) {
                let socket = try Socket.listen(path: path(name), mode: 0o600).take()
                // The service manager's protocol hands over sockets that block, and only the helper ever accepts.
                _ = fcntl(socket, F_SETFL, 0)
                listeners.append((name, socket))
            } catch {
                listenFault = HelperFault(.helperNotStarted, "no socket for it: \(error)")
            }
        }
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Starts the process, if there is none.
    func prepare() { _ = try? running() }

    /// Ends a process that was started and never asked.
    func standDown() {
        guard !wasAsked, let process else { return }
        process.end(term: .zero, kill: configuration.cancelKill)
    }

    /// Gives the sockets up now, and ends the process as soon as its commands are done.
    func retire() {
        isRetired = true
        for listener in listeners {
            close(listener.descriptor)
            unlink(path(listener.name))
        }
        listeners = []
        untilDone = self
        endIfRetired()
    }

    /// What it complained of lately.
    func standardError(masking secrets: [String]) -> String? { (process ?? lastProcess)?.tail.text(masking: secrets) }

    func send(_ question: Question, to name: String, call: HelperCall, onIgnored: @escaping (Int) -> Void) throws(HelperFault) {
        if let listenFault { throw listenFault }
        _ = try running()
        let command = try ServiceCommand(
            question, name: name, path: path(name), call: call, service: self, configuration: configuration, onIgnored: onIgnored)
        commands[ObjectIdentifier(command)] = command
        wasAsked = true
    }

    fileprivate func done(_ command: ServiceCommand) {
        commands[ObjectIdentifier(command)] = nil
        endIfRetired()
    }

    /// A command was cancelled, and its connection is still not closed on the other side.
    fileprivate func ignoredCancellation() {
        // Others that are still being served are not cut off for it.
        guard commands.values.allSatisfy(\.isCancelled) else { return }
        process?.end(term: .zero, kill: configuration.cancelKill)
    }

    /// How the process ended, if it did.
    fileprivate var lastEnding: String? { process == nil ? lastProcess?.ending : nil }

    private func endIfRetired() {
        guard isRetired, commands.isEmpty else { return }
        untilDone = nil
        process?.end(term: .zero, kill: configuration.cancelKill)
    }

    private func running() throws(HelperFault) -> HelperProcess {
        if let process, process.isRunning { return process }
        let process = try start(listeners)
        process.onExit = { [weak self, weak process] in
            if let process { self?.exited(process) }
        }
        self.process = process
        wasAsked = false
        return process
    }

    private func exited(_ process: HelperProcess) {
        guard self.process === process else { return }
        self.process = nil
        lastProcess = process
        for command in Array(commands.values) { command.processEnded() }
        // A command that the process had accepted has lost its connection, and finds that out by itself. The others wait in the
        // socket for the next process: one that ended idle just now did not know of them.
        let waiting = commands.values.filter { $0.isWaiting }
        guard !waiting.isEmpty else { return }
        let again = waiting.filter { !$0.wasRetried && !process.neverRan && !isRetired }
        for command in waiting where !again.contains(where: { $0 === command }) {
            command.fail(
                HelperFault(
                    process.neverRan ? .helperNotStarted : .helperCrashed,
                    (process.ending ?? "it ended") + ", without taking the command"))
        }
        guard !again.isEmpty else { return }
        for command in again { command.wasRetried = true }
        do throws(HelperFault) { _ = try running() } catch { for command in again { command.fail(error) } }
    }
}

/// One command on one connection to a service.
@LoopActor private final class ServiceCommand {
    let name: String
    var wasRetried = false
    private(set) var isCancelled = false
    private var isAwaitingEnding = false
    private let call: HelperCall
    private let exchange: Exchange
    private let secrets: [String]
    private let descriptor: Int32
    private weak var service: SocketService?
    private var timer: EventSource?
    private let onIgnored: (Int) -> Void

    init(
        _ question: Question, name: String, path: String, call: HelperCall, service: SocketService,
        configuration: HostConfiguration, onIgnored: @escaping (Int) -> Void
    ) throws(HelperFault) {
        do throws(VarlinkError) {
            descriptor = try Socket.connect(path: path, nonblocking: true).take()
            exchange = Exchange(question, on: try Connection(socket: descriptor, limit: configuration.limits.message))
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
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
        // First the word, then the end, which takes it off the service's list.
        call.complete(HelperOutcome.failed(fault).named(name, standardError: service?.standardError(masking: secrets)))
        exchange.close()
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
    }

    private func ended(_ ending: Exchange.Ending) {
        switch ending {
        case .answered(let outcome):
            call.complete(outcome.named(name, standardError: service?.standardError(masking: secrets)))
            closeSoon()
        case .closed:
            // If its process crashed, that is known in a moment, with its last words: the kernel ends its namespace first. A process
            // that lives on and only closed the connection is not waited for any longer than this.
            isAwaitingEnding = true
            if service?.lastEnding != nil { return failAsClosed() }
            timer = try? EventLoop.shared.schedule(after: .milliseconds(200)) { [weak self] in self?.failAsClosed() }
        }
    }

    /// The process behind a connection that closed without an answer has ended.
    func processEnded() {
        if isAwaitingEnding { failAsClosed() }
    }

    private func failAsClosed() {
        guard isAwaitingEnding else { return }
        isAwaitingEnding = false
        timer?.cancel()
        fail(HelperFault(.helperCrashed, (service?.lastEnding ?? "it closed the connection") + ", without an answer"))
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
