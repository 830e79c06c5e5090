import EventLoop
import HotspotCore

/// What is known of one interface.
struct Station {
    /// Why a scan table is read.
    enum Purpose: Hashable {
        /// A scan has ended, and the list is to be told.
        case scan
        /// The association may have changed, and the table knows with whom.
        case association
    }

    /// A farewell that may turn out to be the first half of a roam: a connection manager that moves to another access point leaves
    /// the first one within the same system call that turns to the second.
    struct Parting {
        let reasonCode: Int?
        /// Ends the wait for the second half.
        let timer: EventSource?
        /// The station has turned to another access point of the same network.
        var isRoaming = false
    }

    var interface: WirelessInterface
    /// Tells this interface from an earlier one with the same index, whose answers may still be under way.
    let generation: Int
    var networks: [BSS] = []
    var association: Association?
    /// `associationBegan` was told, and its end not yet.
    var isAssociating = false
    /// The access point of a connection that has succeeded and is being read.
    var connecting: BSSID? { didSet { if connecting == nil { requested = nil } } }
    /// The name in that connection's request, which no access point can hide.
    var requested: SSID?
    var parting: Parting?
    /// What the reading that waits in the queue is for; empty if none waits.
    var wanted: Set<Purpose> = []

    /// The association that the table shows, completed from what the interface knows.
    func association(in networks: [BSS]) -> Association? {
        let entry =
            connecting.flatMap { bssid in networks.first { $0.bssid == bssid && $0.isAssociated } }
            ?? networks.first { $0.isAssociated }
            ?? connecting.flatMap { bssid in networks.first { $0.bssid == bssid } }
        guard let entry else {
            // The table has lost it, yet the connection was told: what the interface says must do.
            return connecting.map { Association(ssid: requested ?? interface.ssid ?? .empty, bssid: $0, security: .unknown) }
        }
        let ssid = requested ?? (entry.ssid.isHidden ? interface.ssid ?? entry.ssid : entry.ssid)
        return Association(
            ssid: ssid, bssid: entry.bssid, security: entry.security, frequency: entry.frequency, signal: entry.signal)
    }

    /// Whether an access point carries the network that the station is in.
    func isSameNetwork(_ bssid: BSSID) -> Bool {
        guard let association else { return false }
        return networks.contains {
            $0.bssid == bssid && $0.security == association.security && ($0.ssid == association.ssid || $0.ssid.isHidden)
        }
    }
}
