import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Commands to a helper that another program runs, such as a systemd service: of its process only the user is known that listens.
extension HelperHost {
    func ask(
        _ question: Question, at path: String, name: String, call: HelperCall, onIgnored: @escaping (Int) -> Void
    ) throws(HelperFault) {
        try PathTrust.check(path: path)
        let exchange = try connect(question, path)
        let secrets = question.parameters.secrets
        let patience = configuration.serviceCancel
        call.onCancel = {
            exchange.onIgnored = { self.later { exchange.close() } }
            exchange.abandon()
            self.later(patience) { exchange.close() }
        }
        exchange.onEnding = { ending in
            switch ending {
            case .answered(let outcome): call.complete(outcome.named(name, standardError: nil, without: secrets))
            case .closed:
                call.complete(.failed(HelperFault(.helperCrashed, "\(name): it closed the connection without an answer")))
            }
            self.later { exchange.close() }
        }
        exchange.onOver = { onIgnored(exchange.ignored) }
        call.onSent(question)
    }

    /// Connects; nothing is sent before the listener's user is checked.
    private func connect(_ question: Question, _ path: String) throws(HelperFault) -> Exchange {
        let socket: Int32
        do throws(VarlinkError) { socket = try Socket.connect(path: path, nonblocking: true).take() } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
        do throws(HelperFault) { try PathTrust.check(peerOf: socket, path: path) } catch {
            close(socket)
            throw error
        }
        do throws(VarlinkError) {
            return Exchange(question, on: try Connection(socket: socket, limit: configuration.limits.message))
        } catch {
            throw HelperFault(.helperNotStarted, error.description)
        }
    }

    /// Whether the helper may get stored answers: the daemon starts it in a sandbox, or a trusted user runs it.
    public func mayHaveCredentials(_ name: String) -> Bool {
        guard case .external(let path) = byName[name]?.spec.activation else { return configuration.containment == .sandbox }
        do throws(HelperFault) { try PathTrust.check(path: path) } catch { return false }
        return true
    }
}
