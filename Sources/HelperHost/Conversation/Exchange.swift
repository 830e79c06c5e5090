import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A command as it is sent to a helper.
struct Question {
    var method: String
    var parameters: JSONValue
    /// `nil` for Probe and Describe.
    var command: Command?
    var hasNetwork = true

    /// It carries an answer that the vault released.
    var hasCredential: Bool { parameters["credential"]?.object?.isEmpty == false }

    /// It carries what was stored: released, or confirmed by the user.
    var hasStored: Bool { hasCredential || parameters["stored"]?.array?.isEmpty == false }
}

/// One call on one connection: the first answer counts, everything after it is counted and changes nothing (D18).
@LoopActor final class Exchange {
    /// The program at the other end.
    enum Partner {
        /// Was started for this call alone.
        case process(HelperProcess)
        /// Serves other calls as well.
        case shared(SharedProgram)
        /// Is run by another program.
        case external
    }

    private(set) var isCancelled = false
    let call: HelperCall
    private let partner: Partner
    private let input: Int32
    private let connection: Connection
    private let configuration: HostConfiguration
    private var isAnswered = false
    /// The connection is over; the end of the process may still be awaited.
    private var isClosed = false
    private var isFinished = false
    /// Answers that came too late or too often.
    private var ignored = 0
    private static let ignoredLimit = 16
    private var timer: EventSource?

    /// Sends the question of a call.
    ///
    /// - Parameter input: what is read from; a socket is also `output`. Both are closed here.
    init(
        _ call: HelperCall, with partner: Partner, input: Int32, output: Int32, _ configuration: HostConfiguration
    ) throws(HelperFault) {
        do throws(VarlinkError) {
            connection = try Connection(input: input, output: output, limit: configuration.limits.message)
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        (self.call, self.partner, self.input, self.configuration) = (call, partner, input, configuration)
        // The two closures keep this object until the connection is closed.
        connection.onMessage = { self.received($0) }
        connection.onClose = { self.closed($0) }
        connection.send(Call(method: call.question.method, parameters: call.question.parameters))
        call.sent()
        process?.tail.add(secrets: call.secrets)
        call.onCancel = { self.cancel() }
        if case .process(let process) = partner { process.onExit = { self.processEnded() } }
    }

    /// Connects to a socket and sends the question there; to another program's only if a trusted user listens.
    convenience init(
        _ call: HelperCall, with partner: Partner, at path: String, _ configuration: HostConfiguration
    ) throws(HelperFault) {
        let socket: Int32
        do throws(VarlinkError) { socket = try Socket.connect(path: path, nonblocking: true).take() } catch {
            throw HelperFault(.helperNotStarted, error.description)
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
            // Cancelled after its answer: a helper that lost the race has nothing left to tidy up.
            if let shared { return shared.expectNothing() }
            process?.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
        if outcome.isLastWord { shared?.expectNothing() }
    }

    /// In the next turn, so that further answers in this one are counted.
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
            // The process does not let go of a command. Its other work is cut off as well: all of it is the same program.
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
        case .failed(let error): fault = HelperFault(.helperCrashed, error.description)
        }
        answered(.failed(fault))
        finishUnlessAwaited()
    }

    /// A process of its own is reaped first.
    private func finishUnlessAwaited() { if case .process = partner {} else { finish() } }

    private func closedWithoutAnswer() {
        guard let process, process.isRunning else { return finish() }
        // How it ended and what it complained of is known in a moment, when it is reaped. A program that lives on and only closed the
        // connection is not waited for any longer than this; a kill that overtakes a process's own end would hide its status.
        switch partner {
        case .process: process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
        case .shared, .external: timer = try? EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in self?.finish() }
        }
    }

    /// The process at the other end was reaped.
    func processEnded() {
        if isClosed || isCancelled { return finish() }
        if let shared, !shared.process.neverRan, !call.wasMoved, isUnread { return moveOn() }
        // Its last words may still be on the way; but a stray child of its may hold its output open for ever.
        timer = try? EventLoop.shared.schedule(after: .milliseconds(20)) { self.finish() }
    }

    /// The question lies in the socket, so that the process never knew of it. That the helper's end is still open says less: the
    /// process may have been reaped a moment before the kernel closes it.
    private var isUnread: Bool {
        var octets: CInt = 0
        return ioctl(input, UInt(TIOCOUTQ), &octets) == 0 && octets > 0
    }

    /// Leaves the call to the next process, once: one that ended idle just now did not know of it.
    private func moveOn() {
        isFinished = true
        connection.close()
        shared?.done(self)
        call.beginAgain()
    }

    /// Nothing more can come.
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
