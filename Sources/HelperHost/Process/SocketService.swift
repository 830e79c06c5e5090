import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A program that serves one or more helpers on sockets. The sockets are the daemon's and outlive the process: a command that waits in
/// one of them is for the next process. A process that ended because it was idle is started again by the next command.
///
/// Between its first command and its end a process is never without a limit (R2): a command has its caller's deadline, a cancelled one
/// 2 s, and without any command the process is ended after a while, which is short where no further command is to be expected.
@LoopActor final class SocketService {
    /// Two services with equal keys are one.
    struct Key: Hashable {
        var exec: [String]
        /// In the order of LISTEN_FDNAMES.
        var names: [String]
        var readPaths: [String] = []
        var readWritePaths: [String] = []
        var withoutNetwork = false
    }

    /// Its process.
    private enum State {
        case stopped
        /// `wasAsked`: it has had a command.
        case running(HelperProcess, wasAsked: Bool)
        /// It was told to end. It may still accept, so further commands wait for the next one.
        case ending(HelperProcess)
    }

    typealias Listener = (name: String, path: String, descriptor: Int32)

    let key: Key
    private let start: ([Listener]) throws(HelperFault) -> HelperProcess
    private let configuration: HostConfiguration
    private var listeners: [Listener] = []
    private static var lastSocket = 0
    private var state = State.stopped
    private var lastProcess: HelperProcess?
    private var commands: [ObjectIdentifier: ServiceCommand] = [:]
    /// The commands that wait for the next process.
    private var held: [HelperCall] = []
    /// The next process is wanted before there is a command for it.
    private var isWanted = false
    private var isRetired = false
    /// The host forgets a retired service at once; its commands still need it.
    private var untilDone: SocketService?
    /// No further command is expected soon.
    private var isLeaving = false
    private var idle: EventSource?
    private var cancellation: EventSource?

    init(
        _ key: Key, configuration: HostConfiguration, start: @escaping ([Listener]) throws(HelperFault) -> HelperProcess
    ) {
        self.key = key
        self.configuration = configuration
        self.start = start
    }

    // MARK: Its sockets

    private func listen() throws(HelperFault) {
        guard listeners.isEmpty else { return }
        for name in key.names {
            Self.lastSocket += 1
            let path = "\(configuration.runtimeDirectory)/helpers/\(Self.lastSocket)"
            do throws(VarlinkError) {
                let listener = try Socket.listen(path: path, mode: 0o600).take()
                // The service manager's protocol hands over sockets that block, and only the helper ever accepts.
                _ = fcntl(listener, F_SETFL, 0)
                listeners.append((name, path, listener))
            } catch {
                closeSockets()
                throw HelperFault(.helperNotStarted, "no socket for it: \(error)")
            }
        }
    }

    private func closeSockets() {
        for listener in listeners {
            close(listener.descriptor)
            unlink(listener.path)
        }
        listeners = []
    }

    // MARK: Its process

    /// Starts the process, if there is none.
    func prepare() {
        switch state {
        case .stopped: _ = try? running()
        case .running: break
        case .ending: isWanted = true
        }
    }

    /// Ends a process that was started and never asked.
    func standDown() {
        isWanted = false
        if case .running(_, wasAsked: false) = state { endNow() }
    }

    /// Gives the sockets up, and ends the process as soon as its commands are done.
    func retire() {
        isRetired = true
        closeSockets()
        untilDone = self
        endIfRetired()
    }

    private func endIfRetired() {
        guard isRetired, commands.isEmpty, held.isEmpty else { return }
        untilDone = nil
        endNow()
    }

    func endNow() { end(kill: configuration.cancelKill) }

    private func end(kill: Duration) {
        guard case .running(let process, _) = state else { return }
        state = .ending(process)
        process.end(term: .zero, kill: kill)
    }

    private func running() throws(HelperFault) -> HelperProcess {
        if case .running(let process, _) = state { return process }
        guard !isRetired else { throw HelperFault(.helperNotStarted, "its file was changed or removed") }
        try listen()
        let process = try start(listeners)
        process.onExit = { [weak self, weak process] in
            if let process { self?.exited(process) }
        }
        state = .running(process, wasAsked: false)
        return process
    }

    private func exited(_ process: HelperProcess) {
        lastProcess = process
        state = .stopped
        isLeaving = false
        idle = nil
        for command in Array(commands.values) { command.processEnded() }
        handOver(from: process)
        if isWanted { prepare() }
        isWanted = false
        let held = held
        self.held = []
        for call in held where call.isLive {
            do throws(HelperFault) { try send(call) } catch { call.fail(error) }
        }
        endIfRetired()
    }

    /// Commands that the process had not accepted wait in the sockets for the next one, once: a process that ended idle just now did not
    /// know of them. Those that it had accepted have lost their connection, and find that out by themselves.
    private func handOver(from process: HelperProcess) {
        let waiting = commands.values.filter(\.isWaiting)
        let moving = process.neverRan || isRetired ? [] : waiting.filter { !$0.wasMoved }
        for command in waiting where !moving.contains(where: { $0 === command }) {
            command.fail(process.unanswered("it ended", without: "accepting the command"))
        }
        guard !moving.isEmpty else { return }
        do throws(HelperFault) {
            let next = try running()
            state = .running(next, wasAsked: true)
            for command in moving {
                command.wasMoved = true
                next.tail.add(secrets: command.call.secrets)
            }
        } catch { for command in moving { command.fail(error) } }
    }

    /// The end of its process's standard error.
    var standardError: String? {
        switch state {
        case .running(let process, _), .ending(let process): process.tail.text()
        case .stopped: lastProcess?.tail.text()
        }
    }

    /// The fault of a command that its process had accepted, if the process has ended.
    var lastFault: HelperFault? {
        if case .stopped = state { return lastProcess?.unanswered("it ended") }
        return nil
    }

    // MARK: Commands

    func send(_ call: HelperCall) throws(HelperFault) {
        if case .ending = state { return held.append(call) }
        let process = try running()
        guard let listener = listeners.first(where: { $0.name == call.name }) else {
            throw HelperFault(.helperNotStarted, "there is no socket for it")
        }
        let command = try ServiceCommand(
            call, socket: Exchange.connect(listener.path), service: self, configuration: configuration)
        commands[ObjectIdentifier(command)] = command
        process.tail.add(secrets: call.secrets)
        state = .running(process, wasAsked: true)
        isLeaving = false
        idle = nil
    }

    func done(_ command: ServiceCommand) {
        commands[ObjectIdentifier(command)] = nil
        limitTime()
    }

    /// Ends the process soon: its helper lost a race, or its work is done.
    func expectNothing() {
        if commands.values.contains(where: \.call.isLive) { return }
        isLeaving = true
        limitTime()
    }

    /// Ends the process, after a while, if no command is left, or only cancelled ones.
    func limitTime() {
        endIfRetired()
        guard case .running = state else { return }
        if commands.isEmpty {
            // One timer for the whole time without a command, and none while there is one.
            let patience = isLeaving ? configuration.serviceLeave : configuration.serviceIdle
            idle = try? EventLoop.shared.schedule(after: patience, accuracy: patience / 4) { [weak self] in
                if let self, commands.isEmpty { endNow() }
            }
        } else if cancellation == nil, commands.values.allSatisfy(\.isCancelled) {
            // A program that heeds the end-of-file has closed its connections by then.
            cancellation = try? EventLoop.shared.schedule(after: configuration.cancelTerm) { [weak self] in
                guard let self else { return }
                cancellation = nil
                guard !commands.isEmpty, commands.values.allSatisfy(\.isCancelled) else { return }
                end(kill: configuration.cancelKill - configuration.cancelTerm)
            }
        }
    }
}
