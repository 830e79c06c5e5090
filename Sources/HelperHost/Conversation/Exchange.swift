import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A command as it is sent to a helper.
struct Question {
    var method: String
    var parameters: JSONValue
    /// The command; `nil` for Probe and Describe.
    var command: Command?
    var hasNetwork = true

    /// Whether the question carries an answer that the vault released.
    var hasCredential: Bool { parameters["credential"]?.object?.isEmpty == false }

    /// Whether the question carries stored answers, released or confirmed by the user.
    var hasStored: Bool { hasCredential || parameters["stored"]?.array?.isEmpty == false }
}

/// One call on one connection. The first answer is used; later answers are only counted (D18).
@LoopActor final class Exchange {
    /// The program at the other end.
    enum Partner {
        /// A process that was started for this call alone.
        case process(HelperProcess)
        /// A process that serves other calls as well.
        case shared(SharedProgram)
        /// A service that the daemon does not run.
        case external
    }

    private(set) var isCancelled = false
    let call: HelperCall
    private let partner: Partner
    private let input: Int32
    private let connection: Connection
    private let configuration: HostConfiguration
    private var isAnswered = false
    /// Whether the connection is closed; the process may still be running.
    private var isClosed = false
    private var isFinished = false
    /// Answers that came too late or too often.
    private var ignored = 0
    private static let ignoredLimit = 16
    private var timer: EventSource?

    /// Sends the question of a call.
    ///
    /// - Parameter input: the descriptor to read from; for a socket, `output` is the same descriptor. The exchange closes both.
    init(
        _ call: HelperCall, with partner: Partner, input: Int32, output: Int32, _ configuration: HostConfiguration
    ) throws(HelperFault) {
        do throws(VarlinkError) {
            connection = try Connection(input: input, output: output, limit: configuration.limits.message)
        } catch {
            throw HelperFault.failed(error)
        }
        (self.call, self.partner, self.input, self.configuration) = (call, partner, input, configuration)
        // The two closures keep this object until the connection is closed.
        connection.onMessage = { self.received($0) }
        // A failed first write is reported in the next turn, because the caller does not know its call before this initializer returns.
        var isBeginning = true
        connection.onClose = { end in
            if isBeginning { EventLoop.shared.later { self.closed(end) } } else { self.closed(end) }
        }
        connection.send(Call(method: call.question.method, parameters: call.question.parameters))
        isBeginning = false
        call.sent()
        process?.tail.add(secrets: call.secrets)
        call.onCancel = { self.cancel() }
        if case .process(let process) = partner { process.onExit = { self.processEnded() } }
    }

    /// Connects to a socket and sends the question. If the daemon does not run the service, a trusted user must own the listener.
    convenience init(
        _ call: HelperCall, with partner: Partner, at path: String, _ configuration: HostConfiguration
    ) throws(HelperFault) {
        let socket: Int32
        do throws(VarlinkError) { socket = try Socket.connect(path: path, nonblocking: true).take() } catch {
            throw HelperFault.failed(error)
        }
        do throws(HelperFault) { if case .external = partner { try PathTrust.check(peerOf: socket, path: path) } } catch {
            close(socket)
            throw error
        }
        try self.init(call, with: partner, input: socket, output: socket, configuration)
    }

    private var process: HelperProcess? {
        switch partner {
        case .process(let process): process
        case .shared(let program): program.process
        case .external: nil
        }
    }

    private var shared: SharedProgram? { if case .shared(let program) = partner { program } else { nil } }

    private func received(_ message: [UInt8]) {
        guard isAnswered || isCancelled else {
            return answered(AnswerReader.outcome(of: message, to: call.question.command))
        }
        ignored += 1
        if ignored >= Self.ignoredLimit { connection.close() } else if isCancelled { closeSoon() }
    }

    private func answered(_ outcome: HelperOutcome) {
        isAnswered = true
        switch partner {
        case .process(let process):
            if case .failed = outcome {
                connection.close()
                process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
            } else {
                connection.closeOutput()
                process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
            }
        case .shared, .external: closeSoon()
        }
        call.complete(outcome, tail: process?.tail) { [weak process, weak shared, configuration] in
            // Runs if the call is cancelled after its answer: a helper that lost the race has nothing more to do.
            if let shared { return shared.expectNothing() }
            process?.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
        if outcome.isLastWord { shared?.expectNothing() }
    }

    /// Closes in the next turn, so that further answers in this turn are counted.
    private func closeSoon() {
        timer = try? EventLoop.shared.schedule(after: .zero) { [weak self] in self?.connection.close() }
    }

    // MARK: The end

    private func cancel() {
        isCancelled = true
        connection.closeOutput()
        if case .process(let process) = partner {
            return process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
        if isClosed { return finish() }
        timer = try? EventLoop.shared.schedule(after: configuration.serviceCancel) { [weak self] in
            // The process did not end the cancelled command in time, so end the process, together with its other commands.
            self?.shared?.end()
            self?.finish()
        }
        shared?.limitTime()
    }

    private func closed(_ end: Connection.End) {
        isClosed = true
        guard !isFinished, !isAnswered, !isCancelled else { return finishUnlessAwaited() }
        let fault: HelperFault
        switch end {
        case .closedHere, .closedThere: return closedWithoutAnswer()
        case .failed(.tooLong(let limit)):
            fault = HelperFault(.helperTooLong, "its message is longer than \(limit / 1024) KiB")
        case .failed(.malformed(let what)): fault = HelperFault(.helperMalformed, "its message is malformed: \(what)")
        case .failed(let error): fault = HelperFault.failed(error, .helperCrashed)
        }
        answered(.failed(fault))
        finishUnlessAwaited()
    }

    /// Finishes the exchange; but if a process was started for this call, only after that process is reaped.
    private func finishUnlessAwaited() { if case .process = partner {} else { finish() } }

    private func closedWithoutAnswer() {
        guard let process, process.isRunning else { return finish() }
        // The exit status and the error output arrive a moment later, when the process is reaped. If the program only closed the connection and keeps
        // running, it gets at most `lingerTerm`. Killing a process that is about to end would hide its status.
        switch partner {
        case .process: process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
        case .shared, .external: timer = try? EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.finish() }
        }
    }

    /// The process at the other end was reaped.
    func processEnded() {
        if isClosed || isCancelled { return finish() }
        if let shared, !shared.process.neverRan, !call.wasMoved, isUnread { return moveOn() }
        // The rest of the process's output may still be on the way; but a stray child process may hold the pipe open for ever.
        timer = try? EventLoop.shared.schedule(after: .milliseconds(20)) { self.finish() }
    }

    /// Whether the question is still unread in the socket, so that the process never saw it. That the connection is still open would not prove this:
    /// the process may have been reaped a moment before the kernel closes the connection.
    private var isUnread: Bool {
        var octets: CInt = 0
        return ioctl(input, UInt(TIOCOUTQ), &octets) == 0 && octets > 0
    }

    /// Hands the call to the next process, once: a process that just ended while idle never saw the call.
    private func moveOn() {
        isFinished = true
        connection.close()
        shared?.done(self)
        call.beginAgain()
    }

    /// Ends the exchange when no further message can come.
    private func finish() {
        guard !isFinished else { return }
        isFinished = true
        timer = nil
        connection.close()
        if call.isLive {
            let words = "it closed the connection"
            let fault = process?.unanswered(words) ?? HelperFault(.helperCrashed, words + ", without an answer")
            call.complete(.failed(fault), tail: process?.tail)
        }
        call.countIgnored(ignored)
        shared?.done(self)
    }
}
