import EventLoop
import Glibc
import HotspotCore

/// Commands to a helper that another program runs, such as a systemd service: of its process only the user is known that listens.
extension HelperHost {
    func ask(_ call: HelperCall, at path: String) throws(HelperFault) {
        try PathTrust.check(path: path)
        let socket = try Exchange.connect(path)
        // Nothing is sent before the listener's user is checked.
        do throws(HelperFault) { try PathTrust.check(peerOf: socket, path: path) } catch {
            close(socket)
            throw error
        }
        let exchange = try Exchange(call, input: socket, output: socket, limit: configuration.limits.message)
        let patience = configuration.serviceCancel
        call.onCancel = {
            exchange.onIgnored = { self.later { exchange.close() } }
            exchange.abandon()
            self.later(patience) { exchange.close() }
        }
        exchange.onEnding = {
            call.complete($0 ?? .failed(HelperFault(.helperCrashed, "it closed the connection without an answer")))
            self.later { exchange.close() }
        }
        exchange.onOver = { call.countIgnored(exchange.ignored) }
    }

    /// Whether the helper may get stored answers: the daemon starts it in a sandbox, or a trusted user runs it.
    public func mayHaveCredentials(_ name: String) -> Bool {
        guard case .external(let path) = byName[name]?.spec.activation else { return configuration.containment == .sandbox }
        return (try? PathTrust.check(path: path)) != nil
    }
}
