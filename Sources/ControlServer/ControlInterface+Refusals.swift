import ControlAPI
import EventLoop
import Varlink

/// Sends errors to callers, and reports refused calls to the log.
extension ControlInterface {
    func fail(_ call: ServerCall, _ error: ControlError) {
        let (name, parameters) = error.reply
        call.fail(name, parameters)
    }

    /// Reports the first refusal of each user and method to the log. For a minute, only counts further refusals, so that no caller can fill the log.
    func noteRefusal(of call: ServerCall) {
        // The name of an unknown method is not logged, because a caller can invent any number of names.
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
