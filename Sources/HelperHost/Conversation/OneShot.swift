import EventLoop
import Glibc
import HotspotCore
import Varlink

/// A command to a helper that is a process of its own: the call on its standard input, the answer on its standard output.
@LoopActor final class OneShot {
    private let name: String
    private let process: HelperProcess
    private let call: HelperCall
    private let exchange: Exchange
    private let secrets: [String]
    private let configuration: HostConfiguration
    private var patience: EventSource?
    private let onIgnored: (Int) -> Void

    /// Asks a process that waits on its standard input.
    ///
    /// - Parameter waited: it was started earlier, and can have no answer yet.
    init(
        _ question: Question, name: String, process: HelperProcess, waited: Bool, call: HelperCall,
        configuration: HostConfiguration, onIgnored: @escaping (Int) -> Void
    ) throws(HelperFault) {
        guard let streams = process.takeStreams() else {
            throw process.lackedRoom ? process.unanswered("") : HelperFault(.helperNotStarted, "its process is gone already")
        }
        if waited, HelperPipe.isReadable(streams.output) {
            close(streams.input)
            close(streams.output)
            throw HelperFault(.helperMalformed, "it answered before it was asked")
        }
        do throws(VarlinkError) {
            exchange = Exchange(
                question, on: try Connection(input: streams.output, output: streams.input, limit: configuration.limits.message))
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        self.name = name
        self.process = process
        self.call = call
        self.configuration = configuration
        self.onIgnored = onIgnored
        secrets = question.parameters.secrets
        process.tail.add(secrets: secrets)
        call.onCancel = { self.cancel() }
        exchange.onEnding = { self.ended($0) }
        process.onExit = { self.exited() }
        call.onSent(question)
    }

    private func cancel() {
        exchange.abandon()
        process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
    }

    private func ended(_ ending: Exchange.Ending) {
        switch ending {
        case .answered(let outcome):
            if case .failed = outcome {
                exchange.close()
                process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
            } else {
                exchange.finishSending()
                process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
            }
            call.complete(outcome.named(name, standardError: process.tail.text(), without: secrets)) { [process, configuration] in
                // The race is decided: a helper that lost has nothing left to tidy up.
                process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
            }
        case .closed:
            // How it ended and what it complained of is known in a moment, when it is reaped. On a busy machine the moment is longer
            // than a cancellation's: a kill that overtakes its own end would hide the status.
            if process.isRunning {
                process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
            } else {
                crashed()
            }
        }
    }

    private func exited() {
        if exchange.isOver {
            if call.isLive { crashed() }
            finish()
        } else {
            // Its last words may still be on the way; but a stray child of its may hold its output open for ever.
            patience = try? EventLoop.shared.schedule(after: .milliseconds(20)) {
                self.exchange.close()
                if self.call.isLive { self.crashed() }
                self.finish()
            }
        }
    }

    private func crashed() {
        call.complete(
            HelperOutcome.failed(process.unanswered("it closed its output")).named(
                name, standardError: process.tail.text(), without: secrets))
    }

    private func finish() {
        call.onCancel = nil
        onIgnored(exchange.ignored)
        exchange.close()
        patience = nil
    }
}
