import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A program that serves one or more helpers on sockets. The sockets are the daemon's, and outlive a process that a command waits for in
/// one of them: it is the next one's then. A process that ended because it was idle is started anew by the next command.
///
/// Between its first command and its end a process is never without a limit: a command has its caller's deadline, a cancelled one 2 s,
/// and without any command it is ended after a while, which is short where nobody will ask soon.
@LoopActor final class SocketService {
    /// What makes two services the same.
    struct Key: Hashable {
        var exec: [String]
        /// In the order of LISTEN_FDNAMES.
        var names: [String]
        var writable: [String]
        var withoutNetwork = false
    }

    /// What a service asks of its host.
    struct Host {
        /// Starts a process for the service.
        var start: ([(name: String, descriptor: Int32)]) throws(HelperFault) -> HelperProcess
        /// Calls back as soon as the process has told how far it is shut in, or is gone.
        var whenContained: (HelperProcess, @escaping () -> Void) -> Void
        /// Whether the process sees or may write what it would not if it were started now.
        var isOutdated: (HelperProcess) -> Bool
    }

    let key: Key
    private let host: Host
    private let directory: String
    private let configuration: HostConfiguration
    /// In the order of the key's names.
    private var listeners: [(name: String, descriptor: Int32)] = []
    /// By these the daemon connects to them (O_PATH).
    private var handles: [String: Int32] = [:]
    /// Helpers whose socket could not be made; the others are served.
    private var listenFaults: [String: HelperFault] = [:]
    private var process: HelperProcess?
    private var lastProcess: HelperProcess?
    private var wasAsked = false
    private var commands: [ObjectIdentifier: ServiceCommand] = [:]
    /// Commands that wait for their process to tell how far it is shut in.
    private var waitingForLevel = 0
    /// The process was told to end. It may still accept, so nothing is sent until it is gone.
    private var isEnding = false
    /// No further command is to be expected soon.
    private var isLeaving = false
    private var held: [() -> Void] = []
    private var idle: EventSource?
    private var cancellation: EventSource?
    private var isRetired = false
    /// The host forgets a retired service at once; its commands still need it.
    private var untilDone: SocketService?

    init(_ key: Key, directory: String, configuration: HostConfiguration, host: Host) {
        self.key = key
        self.directory = directory
        self.configuration = configuration
        self.host = host
    }

    // MARK: Its sockets

    /// Sockets that are in order, for the next process.
    ///
    /// A process and the daemon share each socket, and what the process does to it stays when the process is gone: after
    /// shutdown(2) nobody can connect any more, which shows as a hang-up, and listen(2) changes how many may wait.
    ///
    /// They have no names in the file system: where a helper has no mount namespace, it could connect to those of others.
    private func listen() {
        // The kernel keeps the name that a socket had, for everybody to read in /proc/net/unix: it says nothing of the helper.
        for listener in listeners where Self.isDead(listener.descriptor) { drop(listener.name) }
        for listener in listeners { Glibc.listen(listener.descriptor, Socket.backlog) }
        guard listeners.count < key.names.count else { return }
        var kept = Dictionary(listeners.map { ($0.name, $0.descriptor) }, uniquingKeysWith: { first, _ in first })
        for (number, name) in key.names.enumerated() where kept[name] == nil {
            do throws(VarlinkError) {
                let (listener, handle) = try Socket.listenUnnamed(passing: "\(directory)/\(number)")
                // The service manager's protocol hands over sockets that block, and only the helper ever accepts.
                _ = fcntl(listener, F_SETFL, 0)
                kept[name] = listener
                handles[name] = handle
                listenFaults[name] = nil
            } catch {
                listenFaults[name] = HelperFault(.helperNotStarted, "no socket for it: \(error)")
            }
        }
        listeners = key.names.compactMap { name in kept[name].map { (name, $0) } }
    }

    /// Gives a socket up; ``listen()`` makes another.
    private func drop(_ name: String) {
        for listener in listeners where listener.name == name { close(listener.descriptor) }
        listeners.removeAll { $0.name == name }
        if let handle = handles.removeValue(forKey: name) { close(handle) }
    }

    /// Nobody can connect to it any more (unix(7): a listening socket hangs up only when it was shut down).
    private static func isDead(_ listener: Int32) -> Bool {
        // POLLRDHUP, which Glibc's module leaves out.
        var state = pollfd(fd: listener, events: 0x2000, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & ~Int16(POLLIN) != 0
    }

    /// Connects for a command; `nil` if the process has shut the socket down, which is given up with that.
    private func connect(_ name: String) throws(HelperFault) -> Int32? {
        for isSecond in [false, true] {
            guard let handle = handles[name] else { return nil }
            do throws(VarlinkError) {
                return try Socket.connect(handle: handle).take()
            } catch {
                switch error {
                case .unreachable(_, ECONNREFUSED), .unreachable(_, EINVAL):
                    drop(name)
                    return nil
                case .unreachable(_, EAGAIN) where !isSecond:
                    // Full. Perhaps because the process has made it small.
                    for listener in listeners where listener.name == name { Glibc.listen(listener.descriptor, Socket.backlog) }
                case .unreachable(_, let code):
                    throw HelperFault(.helperNotStarted, "its socket: \(String(cString: strerror(code)))")
                default: throw HelperFault(.helperNotStarted, error.description)
                }
            }
        }
        return nil
    }

    // MARK: Its process

    /// Starts the process, if there is none.
    func prepare() {
        guard !isEnding else { return held.append { [weak self] in self?.prepare() } }
        _ = try? running()
    }

    /// Ends a process that was started and never asked.
    func standDown() {
        guard !wasAsked, commands.isEmpty, waitingForLevel == 0 else { return }
        end(kill: configuration.cancelKill)
    }

    /// Gives the sockets up now, and ends the process as soon as its commands are done.
    func retire() {
        isRetired = true
        for name in key.names { drop(name) }
        untilDone = self
        endIfRetired()
    }

    private func endIfRetired() {
        guard isRetired, commands.isEmpty, waitingForLevel == 0, held.isEmpty else { return }
        untilDone = nil
        end(kill: configuration.cancelKill)
    }

    private func end(kill: Duration) {
        guard let process, process.isRunning, !isEnding else { return }
        isEnding = true
        process.end(term: .zero, kill: kill)
    }

    private func running() throws(HelperFault) -> HelperProcess {
        if let process, process.isRunning { return process }
        guard !isRetired else { throw HelperFault(.helperNotStarted, "there is no socket for it any more") }
        // A process can leave word for the next one in a socket's options. Only where a command waits in one is it kept.
        if commands.isEmpty { for name in key.names { drop(name) } }
        listen()
        if listeners.isEmpty, let fault = listenFaults.values.first { throw fault }
        let process = try host.start(listeners)
        process.isBusy = { [weak self] in self?.isAwaited ?? false }
        process.onRelief = { [weak self] in self?.isEnding = true }
        process.onExit = { [weak self, weak process] in
            if let process { self?.exited(process) }
        }
        self.process = process
        wasAsked = false
        return process
    }

    /// Somebody waits for what its process does.
    private var isAwaited: Bool { waitingForLevel > 0 || commands.values.contains { $0.call.isLive } }

    private func exited(_ process: HelperProcess) {
        guard self.process === process else { return }
        self.process = nil
        lastProcess = process
        isEnding = false
        isLeaving = false
        idle = nil
        for command in Array(commands.values) { command.processEnded() }
        again(process)
        let held = held
        self.held = []
        for resume in held { resume() }
        endIfRetired()
    }

    /// A command that the process had accepted has lost its connection, and finds that out by itself. The others wait in the socket for
    /// the next process: one that ended idle just now did not know of them.
    private func again(_ process: HelperProcess) {
        let waiting = commands.values.filter { $0.isWaiting }
        let again = waiting.filter { !$0.wasRetried && !process.neverRan && !isRetired }
        for command in waiting where !again.contains(where: { $0 === command }) {
            command.fail(
                process.lackedRoom
                    ? process.unanswered("")
                    : HelperFault(
                        process.neverRan ? .helperNotStarted : .helperCrashed,
                        (process.ending ?? "it ended") + ", without taking the command"))
        }
        guard !again.isEmpty else { return }
        do throws(HelperFault) {
            let next = try running()
            for command in again {
                command.wasRetried = true
                if command.question.hasCredential {
                    // How far the next process is shut in is not known yet.
                    commands[ObjectIdentifier(command)] = nil
                    command.detach()
                    resume(command.call, command.name) { () throws(HelperFault) in
                        try self.send(
                            command.question, to: command.name, call: command.call, onIgnored: command.onIgnored, isSecond: true)
                    }
                } else {
                    next.tail.add(secrets: command.secrets)
                }
            }
            wasAsked = true
        } catch { for command in again { command.fail(error) } }
    }

    /// Everything that its process was given.
    func standardError() -> String? { (process ?? lastProcess)?.tail.text() }

    /// What became of a command that its process had taken, if the process has ended.
    var lastFault: HelperFault? { process == nil ? lastProcess?.unanswered("it ended") : nil }

    // MARK: Commands

    /// - Parameter isSecond: it was sent before, to a process that ended without having taken it.
    func send(
        _ question: Question, to name: String, call: HelperCall, onIgnored: @escaping (Int) -> Void, isSecond: Bool = false
    ) throws(HelperFault) {
        if isEnding { return hold(question, name, call, onIgnored, isSecond) }
        if let process, process.isRunning {
            // One that idles may do so for long: what has come to be hidden meanwhile is hidden from the next one. Who has just answered
            // idles as well, though its connection is not closed yet.
            if !isAwaited, !process.isOutdated { process.isOutdated = host.isOutdated(process) }
            if process.isOutdated {
                guard !isAwaited else {
                    throw HelperFault(
                        .helperNoRoom,
                        "its process was started before there was something to be hidden from it, and is still at work")
                }
                end(kill: .zero)
                return hold(question, name, call, onIgnored, isSecond)
            }
        }
        let process = try running()
        if let fault = listenFaults[name] { throw fault }
        var question = question
        if question.hasCredential {
            guard let containment = process.containment else {
                waitingForLevel += 1
                host.whenContained(process) {
                    self.waitingForLevel -= 1
                    self.resume(call, name) { () throws(HelperFault) in
                        guard process.isRunning || !isSecond else {
                            throw HelperFault(.helperNotStarted, process.ending ?? "its process is gone already")
                        }
                        // Its second process, if the first one was gone before it told anything.
                        try self.send(
                            question, to: name, call: call, onIgnored: onIgnored, isSecond: isSecond || !process.isRunning)
                    }
                    self.reconsider()
                }
                return
            }
            if !containment.hidesFolders {
                question = question.withoutCredential()
                call.onWithheld()
            }
        }
        guard let socket = try connect(name) else {
            // The process goes, and the command is for the next one, with another socket.
            end(kill: configuration.cancelKill)
            guard !isSecond else {
                throw HelperFault(.helperCrashed, "nobody can connect to its socket, which it may have shut down")
            }
            return hold(question, name, call, onIgnored, true)
        }
        let command = try ServiceCommand(
            question, name: name, socket: socket, call: call, service: self, configuration: configuration, onIgnored: onIgnored)
        command.wasRetried = isSecond
        commands[ObjectIdentifier(command)] = command
        process.tail.add(secrets: command.secrets)
        wasAsked = true
        isLeaving = false
        idle = nil
        call.onSent(question)
    }

    /// Sends it to the next process, when this one is gone.
    private func hold(
        _ question: Question, _ name: String, _ call: HelperCall, _ onIgnored: @escaping (Int) -> Void, _ isSecond: Bool
    ) {
        held.append {
            self.resume(call, name) { () throws(HelperFault) in
                try self.send(question, to: name, call: call, onIgnored: onIgnored, isSecond: isSecond)
            }
        }
    }

    /// Goes on with a command that was held back; what goes wrong is told to its caller.
    private func resume(_ call: HelperCall, _ name: String, _ body: () throws(HelperFault) -> Void) {
        guard call.isLive else { return }
        do throws(HelperFault) { try body() } catch {
            call.complete(HelperOutcome.failed(error).named(name, standardError: nil))
        }
    }

    func done(_ command: ServiceCommand) {
        commands[ObjectIdentifier(command)] = nil
        reconsider()
    }

    /// It lost a race, or its work is done. What its process does beside its commands does not go on for long.
    func nothingFollows() {
        guard !isAwaited else { return }
        isLeaving = true
        reconsider()
    }

    /// The commands are other ones than before.
    func reconsider() {
        endIfRetired()
        guard waitingForLevel == 0, process != nil, !isEnding else { return }
        if process?.isOutdated == true, !isAwaited {
            end(kill: configuration.cancelKill)
        } else if commands.isEmpty {
            // One timer for the whole time without a command, and none while there is one.
            let patience = isLeaving ? configuration.serviceLeave : configuration.serviceIdle
            idle = try? EventLoop.shared.schedule(after: patience, accuracy: patience / 4) { [weak self] in
                guard let self, commands.isEmpty, waitingForLevel == 0 else { return }
                end(kill: configuration.cancelKill)
            }
        } else if cancellation == nil, commands.values.allSatisfy(\.isCancelled) {
            // Nobody waits for anything that it does. Who heeds the end-of-file has closed by then.
            cancellation = try? EventLoop.shared.schedule(after: configuration.cancelTerm) { [weak self] in
                guard let self else { return }
                cancellation = nil
                guard !commands.isEmpty, waitingForLevel == 0, commands.values.allSatisfy(\.isCancelled) else { return }
                end(kill: configuration.cancelKill - configuration.cancelTerm)
            }
        }
    }

    /// A command was cancelled long ago, and its connection is still not closed on the other side. What the process does beside it is cut
    /// off with it: all of it is the same program, and that program does not let go.
    func ignoredCancellation() { end(kill: configuration.cancelKill) }
}
