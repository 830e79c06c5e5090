import EventLoop
import Glibc
import HotspotCore

/// A command to a helper that is a process of its own: the call on its standard input, the answer on its standard output.
@LoopActor final class OneShot {
    private let process: HelperProcess
    private let call: HelperCall
    private let exchange: Exchange
    private let configuration: HostConfiguration
    private var patience: EventSource?

    /// Asks a process that waits on its standard input.
    ///
    /// - Parameter waited: it was started earlier, and can have no answer yet.
    init(_ call: HelperCall, process: HelperProcess, waited: Bool, configuration: HostConfiguration) throws(HelperFault) {
        guard let streams = process.takeStreams() else {
            throw process.lackedRoom ? process.unanswered("") : HelperFault(.helperNotStarted, "its process is gone already")
        }
        if waited, HelperPipe.isReadable(streams.output) {
            close(streams.input)
            close(streams.output)
            throw HelperFault(.helperMalformed, "it answered before it was asked")
        }
        exchange = try Exchange(call, input: streams.output, output: streams.input, limit: configuration.limits.message)
        self.process = process
        self.call = call
        self.configuration = configuration
        process.tail.add(secrets: call.secrets)
        call.onCancel = { self.cancel() }
        exchange.onEnding = { self.ended($0) }
        process.onExit = { self.exited() }
    }

    private func cancel() {
        exchange.abandon()
        process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
    }

    private func ended(_ outcome: HelperOutcome?) {
        guard let outcome else {
            // How it ended and what it complained of is known in a moment, when it is reaped. On a busy machine the moment is longer
            // than a cancellation's: a kill that overtakes its own end would hide the status.
            if process.isRunning {
                process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
            } else {
                crashed()
            }
            return
        }
        if case .failed = outcome {
            exchange.close()
            process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        } else {
            exchange.finishSending()
            process.end(term: configuration.lingerTerm, kill: configuration.lingerKill)
        }
        call.complete(outcome, standardError: process.tail.text()) { [process, configuration] in
            // The race is decided: a helper that lost has nothing left to tidy up.
            process.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
        }
    }

    private func exited() {
        if exchange.isOver { return finish() }
        // Its last words may still be on the way; but a stray child of its may hold its output open for ever.
        patience = try? EventLoop.shared.schedule(after: .milliseconds(20)) { self.finish() }
    }

    private func crashed() { call.fail(process.unanswered("it closed its output"), standardError: process.tail.text()) }

    private func finish() {
        exchange.close()
        if call.isLive { crashed() }
        call.onCancel = nil
        call.countIgnored(exchange.ignored)
        patience = nil
    }
}
