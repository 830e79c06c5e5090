import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A command as it is sent to a helper.
struct Question {
    var method: String
    var parameters: JSONValue
    var expectation: AnswerReader.Expectation
    var hasNetwork = true

    /// It carries an answer that the vault released.
    var hasCredential: Bool { parameters["credential"]?.object?.isEmpty == false }
}

/// One call on one connection: the first answer counts, everything after it is counted and changes nothing (D18).
@LoopActor final class Exchange {
    /// Messages that came too late or too often.
    private(set) var ignored = 0
    /// Nothing can come any more.
    private(set) var isOver = false
    private(set) var isAnswered = false
    /// Called at most once, and never by ``close()``: with the answer, which may be unusable, or with `nil` if the connection ended
    /// without one.
    var onEnding: (HelperOutcome?) -> Void = { _ in }
    /// An answer came too late or too often.
    var onIgnored: () -> Void = {}
    /// The connection is over, whatever happened before.
    var onOver: () -> Void = {}

    private let connection: Connection
    private let expectation: AnswerReader.Expectation
    private static let ignoredLimit = 16

    /// Sends the question of a call.
    ///
    /// - Parameter input: what is read from; a socket is also `output`. Both are closed here.
    init(_ call: HelperCall, input: Int32, output: Int32, limit: Int) throws(HelperFault) {
        do throws(VarlinkError) { connection = try Connection(input: input, output: output, limit: limit) } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        expectation = call.question.expectation
        connection.onMessage = { [weak self] in self?.received($0) }
        connection.onClose = { [weak self] in self?.closed($0) }
        connection.send(Call(method: call.question.method, parameters: call.question.parameters))
        call.sent()
    }

    static func connect(_ path: String) throws(HelperFault) -> Int32 {
        do throws(VarlinkError) { return try Socket.connect(path: path, nonblocking: true).take() } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
    }

    /// Ends it without calling ``onEnding``.
    func close() {
        onEnding = { _ in }
        connection.close()
    }

    /// Lets the helper read end-of-file. Further answers are counted.
    func finishSending() { connection.closeOutput() }

    /// Gives the answer up: the helper reads end-of-file, and what it still answers is counted as too late.
    func abandon() {
        onEnding = { _ in }
        isAnswered = true
        finishSending()
    }

    private func received(_ message: [UInt8]) {
        guard isAnswered else { return end(AnswerReader.outcome(of: message, expecting: expectation)) }
        ignored += 1
        onIgnored()
        if ignored >= Self.ignoredLimit { connection.close() }
    }

    private func closed(_ end: Connection.End) {
        isOver = true
        if !isAnswered {
            let fault: HelperFault? =
                switch end {
                case .closedHere, .closedThere: nil
                case .failed(.tooLong(let limit)):
                    HelperFault(.helperTooLong, "its message is longer than \(limit / 1024) KiB")
                case .failed(.malformed(let what)): HelperFault(.helperMalformed, "its message is malformed: \(what)")
                case .failed(let error): HelperFault(.helperCrashed, error.description)
                }
            self.end(fault.map { .failed($0) })
        }
        let onOver = onOver
        self.onOver = {}
        onOver()
    }

    private func end(_ outcome: HelperOutcome?) {
        isAnswered = true
        let onEnding = onEnding
        self.onEnding = { _ in }
        onEnding(outcome)
    }
}
