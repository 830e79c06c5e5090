import EventLoop
import Glibc
import HotspotCore
import Varlink

/// What is asked of a helper.
struct Question {
    var method: String
    var parameters: JSONValue
    var expectation: AnswerReader.Expectation

    /// It carries an answer that the vault released.
    var hasCredential: Bool { parameters["credential"]?.object?.isEmpty == false }
}

/// One call on one connection: the first answer counts, everything after it is counted and changes nothing (D18).
@LoopActor final class Exchange {
    enum Ending {
        /// A message came; it may be unusable.
        case answered(HelperOutcome)
        /// The connection ended before a message.
        case closed
    }

    /// Messages that came too late or too often.
    private(set) var ignored = 0
    /// Nothing can come any more.
    private(set) var isOver = false
    private(set) var isAnswered = false
    /// Called at most once, and never by ``close()``.
    var onEnding: (Ending) -> Void = { _ in }
    /// An answer came too late or too often.
    var onIgnored: () -> Void = {}
    /// The connection is over, whatever happened before.
    var onOver: () -> Void = {}

    private let connection: Connection
    private let expectation: AnswerReader.Expectation
    private static let ignoredLimit = 16

    init(_ question: Question, on connection: Connection) {
        self.connection = connection
        expectation = question.expectation
        connection.onMessage = { [weak self] in self?.received($0) }
        connection.onClose = { [weak self] in self?.closed($0) }
        connection.send(Call(method: question.method, parameters: question.parameters))
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
        if isAnswered {
            ignored += 1
            onIgnored()
            if ignored >= Self.ignoredLimit { connection.close() }
            return
        }
        isAnswered = true
        end(.answered(AnswerReader.outcome(of: message, expecting: expectation)))
    }

    private func closed(_ end: Connection.End) {
        isOver = true
        if !isAnswered {
            isAnswered = true
            switch end {
            case .closedHere, .closedThere: self.end(.closed)
            case .failed(.tooLong(let limit)):
                self.end(.answered(.failed(HelperFault(.helperTooLong, "its message is longer than \(limit / 1024) KiB"))))
            case .failed(.malformed(let what)):
                self.end(.answered(.failed(HelperFault(.helperMalformed, "its message is malformed: \(what)"))))
            case .failed(let error): self.end(.answered(.failed(HelperFault(.helperCrashed, error.description))))
            }
        }
        let onOver = onOver
        self.onOver = {}
        onOver()
    }

    private func end(_ ending: Ending) {
        let onEnding = onEnding
        self.onEnding = { _ in }
        onEnding(ending)
    }
}

extension HelperOutcome {
    /// A fault gets the helper's name and what it wrote to standard error, and loses the secrets of the call, which it may quote.
    func named(_ name: String, standardError: String?, without secrets: some Sequence<String> = []) -> HelperOutcome {
        guard case .failed(let fault) = self else { return self }
        return .failed(
            HelperFault(
                fault.code, "\(name): \(fault.sentence)", standardError: standardError ?? fault.standardError, cause: fault.cause
            ).masked(Secrets(secrets)))
    }
}
