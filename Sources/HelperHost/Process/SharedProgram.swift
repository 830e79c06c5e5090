import EventLoop
import Glibc
import HotspotCore
import Varlink

/// One process that serves one or more helpers on sockets, from its start to its end. If it ends before it has read a command, the next process gets
/// that command.
///
/// Between its first command and its end, the process always has a time limit (R2): the deadline of a command's caller, 2 s after a cancelled
/// command, or otherwise a while without commands, which is short if no command is expected.
@LoopActor final class SharedProgram {
    struct Listener {
        var name: String
        var path: String
        var descriptor: Int32
    }

    let process: HelperProcess
    /// Whether the process gets no further commands, and ends when its running commands are done.
    private(set) var isRetired = false
    /// Returns whether the process has a page open in a browser, for example while the user answers a question.
    var isBrowsing: () -> Bool = { false }
    private let configuration: HostConfiguration
    private let listeners: [Listener]
    private static var lastSocket = 0
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    private(set) var wasAsked = false
    /// Whether the process waits for its first command without a time limit.
    private var isAwaiting = false
    /// Whether no further command is expected soon.
    private var isLeaving = false
    private var idle: EventSource?
    private var cancellation: EventSource?

    init(
        _ names: [String], _ configuration: HostConfiguration, start: ([Listener]) throws(HelperFault) -> HelperProcess
    ) throws(HelperFault) {
        self.configuration = configuration
        var listeners: [Listener] = []
        do throws(HelperFault) {
            for name in names { listeners.append(try Self.listen(for: name, configuration)) }
            process = try start(listeners)
        } catch {
            Self.close(listeners)
            throw error
        }
        self.listeners = listeners
        process.onExit = { self.processEnded() }
    }

    private static func listen(for name: String, _ configuration: HostConfiguration) throws(HelperFault) -> Listener {
        lastSocket += 1
        let path = "\(configuration.runtimeDirectory)/helpers/\(lastSocket)"
        do throws(VarlinkError) {
            let listener = try Socket.listen(path: path, mode: 0o600).take()
            // Make the socket blocking, as in the service manager's protocol: only the helper ever accepts connections.
            _ = fcntl(listener, F_SETFL, 0)
            return Listener(name: name, path: path, descriptor: listener)
        } catch {
            throw HelperFault.failed(error)
        }
    }

    private static func close(_ listeners: [Listener]) {
        for listener in listeners {
            Glibc.close(listener.descriptor)
            unlink(listener.path)
        }
    }

    func send(_ call: HelperCall) throws(HelperFault) {
        guard let listener = listeners.first(where: { $0.name == call.name }) else {
            throw HelperFault(.helperNotStarted, "its program has no socket for it")
        }
        let exchange = try Exchange(call, with: .shared(self), at: listener.path, configuration)
        exchanges[ObjectIdentifier(exchange)] = exchange
        (wasAsked, isAwaiting, isLeaving, idle) = (true, false, false, nil)
    }

    func done(_ exchange: Exchange) {
        exchanges[ObjectIdentifier(exchange)] = nil
        limitTime()
    }

    /// Makes the process wait for its first command, however long that takes.
    func awaitCommand() { if !wasAsked { (isAwaiting, idle) = (true, nil) } }

    // MARK: Its end

    /// Ends the process if it was started and never asked.
    func standDown() { if !wasAsked { end() } }

    func retire() {
        isRetired = true
        limitTime()
    }

    func end() { end(kill: configuration.cancelKill) }

    private func end(kill: Duration) {
        isRetired = true
        process.end(term: .zero, kill: kill)
    }

    private func processEnded() {
        isRetired = true
        // The exchanges read their answers first, because closing the sockets would drop the answers.
        for exchange in Array(exchanges.values) { exchange.processEnded() }
        Self.close(listeners)
    }

    /// Ends the process soon, because its helper lost a race or its work is done. Does nothing while another command waits for its answer.
    func expectNothing() {
        if exchanges.values.contains(where: \.call.isLive) { return }
        isLeaving = true
        limitTime()
    }

    /// If no commands are left or all of them were cancelled, ends the process after a while; ends a retired process without commands at once.
    func limitTime() {
        guard process.isRunning else { return }
        if exchanges.isEmpty {
            if isRetired { return end() }
            if isAwaiting { return }
            // One timer for the whole time without a command.
            let stay = isBrowsing() ? configuration.serviceBrowsing : configuration.serviceIdle
            let patience = isLeaving ? configuration.serviceLeave : stay
            idle = try? EventLoop.shared.schedule(after: patience, accuracy: patience / 4) { [weak self] in self?.end() }
        } else if cancellation == nil, exchanges.values.allSatisfy(\.isCancelled) {
            // Wait first: a program that obeys the end-of-file closes its connection in this time.
            cancellation = try? EventLoop.shared.schedule(after: configuration.cancelTerm) { [weak self] in
                guard let self else { return }
                cancellation = nil
                guard !exchanges.isEmpty, exchanges.values.allSatisfy(\.isCancelled) else { return }
                end(kill: configuration.cancelKill - configuration.cancelTerm)
            }
        }
    }
}
