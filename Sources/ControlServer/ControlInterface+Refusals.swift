import ControlAPI
import EventLoop
import Varlink

/// Tells callers of errors, and the log of refused calls.
extension ControlInterface {
    func fail(_ call: ServerCall, _ error: ControlError) {
        let (name, parameters) = error.reply
        call.fail(name, parameters)
    }

    /// Reports the first refusal, and counts the others for a while, so that a caller without end does not fill the log.
    func noteRefusal(of call: ServerCall) {
        // A caller may make up as many method names as it likes.
        let method = Self.methods[call.method] == nil ? "an unknown method" : call.method
        if refusalTimer == nil {
            refusalTimer = try? EventLoop.shared.schedule(after: Self.refusalInterval, accuracy: .seconds(1)) { [weak self] in
                self?.reportRefusals()
            }
        }
        if refusals.note(.init(user: call.peer.uid, method: method)) { onChange(method, call.peer, false) }
    }

    func reportRefusals() {
        refusalTimer = nil
        for (caller, count) in refusals.drain() { onRefusals(caller?.method, caller?.user, count) }
    }
}
