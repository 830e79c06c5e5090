import EventLoop
import HotspotCore
import Wireless

/// The kernel itself, if no program manages the radio: it joins unencrypted networks.
@LoopActor final class RadioAssociator: Associator {
    let name = "The kernel"
    var monitor: WirelessMonitor?
    private var waiting: [Int: (ssid: SSID, done: (AssociationError?) -> Void)] = [:]

    func manages(_ interface: ManagedInterface, _ done: @escaping (Bool) -> Void) { done(true) }

    func join(_ request: JoinRequest, _ done: @escaping (AssociationError?) -> Void) {
        guard request.security == .open else { return done(.unsupported(request.security)) }
        attempt(done) { monitor throws(WirelessError) in
            // Disconnects first, because only the program that made an association may replace it.
            if monitor.association(of: request.interface.index) != nil { try monitor.disconnect(index: request.interface.index) }
            try monitor.connect(index: request.interface.index, ssid: request.ssid)
            waiting[request.interface.index] = (request.ssid, done)
        }
    }

    func joined(_ interface: ManagedInterface, _ ssid: SSID) {
        if waiting[interface.index]?.ssid == ssid { waiting.removeValue(forKey: interface.index)?.done(nil) }
    }

    func abandon(_ interface: ManagedInterface) { waiting[interface.index] = nil }

    func end(_ interface: ManagedInterface, _ ending: Ending, _ done: @escaping (AssociationError?) -> Void) {
        attempt(done) { monitor throws(WirelessError) in
            guard monitor.association(of: interface.index) != nil else { return done(.notInNetwork) }
            try monitor.disconnect(index: interface.index)
            done(nil)
        }
    }

    func left(_ interface: ManagedInterface) {}
    func release(_ ssid: SSID?) {}

    private func attempt(
        _ done: (AssociationError?) -> Void, _ body: (WirelessMonitor) throws(WirelessError) -> Void
    ) {
        do throws(WirelessError) {
            guard let monitor else { return done(.down) }
            try body(monitor)
        } catch {
            switch error {
            case .notPermitted: done(.notPermitted(manager: name, missing: "CAP_NET_ADMIN is missing"))
            case .down: done(.down)
            case .unavailable, .noInterface, .busy, .system: done(.refused(manager: name, words: "\(error)"))
            }
        }
    }
}
