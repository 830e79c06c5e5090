import EventLoop
import Glibc
import HotspotCore
import Varlink

/// Commands to a helper that someone else runs: nothing is known of its process but who made its socket.
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
        exchange.onReceived = call.onReceived
        exchange.onOver = { onIgnored(exchange.ignored) }
        call.onSent(question)
    }

    /// Nothing is sent before it is known who listens.
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

    /// Whether the helper is kept from what the daemon keeps: its last process could not read the daemon's folders, or someone who is
    /// trusted runs it. Without that it must get no stored credential; the process that is about to get one is looked at once more.
    public func isKeptFromFolders(_ name: String) -> Bool {
        if case .external(let path) = byName[name]?.spec.activation {
            do throws(HelperFault) { try PathTrust.check(path: path) } catch { return false }
            return true
        }
        return containments[name]?.hidesFolders ?? false
    }
}
