import EventLoop
import ForeignText
import HotspotCore
import HotspotMachine
import LinkState

/// What is known of the network that an interface is in, from the address on until it is lost.
struct Joined {
    /// The same from joining to leaving, for helpers.
    let association: String
    /// What makes it this network.
    var network: NetworkID
    var ssid: SSID
    var security: Security
    /// The access point, or the gateway of a wire.
    var bssid: HardwareAddress?
    /// dBm
    var signal: Int?
    var snapshot: LinkSnapshot
    var facts: LinkFacts

    /// The words for people: the SSID, or `wired:ADDRESS`.
    var label: String {
        switch network {
        case .wireless: ssid.description
        case .wired(let gateway): "wired:\(gateway)"
        case .anonymous: "wired"
        }
    }

    /// The network as a helper sees it.
    func network(for helper: String, chosen: String?, interface: String, autoJoined: Bool, justJoined: Bool) -> Network {
        Network(
            ssid: ssid, bssid: bssid, interface: interface, signalStrength: signal.map { SignalScale.strength(dBm: $0) },
            security: security, autoJoined: autoJoined, justJoined: justJoined, chosenHelper: chosen == helper)
    }
}

extension MachineState {
    /// The network is joined; no helper is asked, and none will be soon. Without an address a join may be on its way.
    var isSettled: Bool {
        switch self {
        case .inactive(.noAddress): false
        case .inactive(.held), .inactive(.leaving), .authenticated, .failure: true
        case .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff: false
        }
    }
}

/// Names for what has no name of its own.
enum Token {
    /// So many random octets, in hexadecimal.
    static func random(octets: Int = 8) -> String {
        var generator = SystemRandomNumberGenerator()
        return Hex.encode((0..<octets).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
