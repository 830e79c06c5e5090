import HotspotCore

/// What happened on the air.
public enum WirelessEvent: Hashable, Sendable {
    /// An interface is there, also each one that was there at the start.
    case interfaceAppeared(WirelessInterface)
    /// An interface is gone, with everything that was known of it. No `disconnected` comes before.
    case interfaceVanished(index: Int)
    /// Somebody's scan has ended; the list is complete and sorted by strength.
    case scanFinished(index: Int, [BSS])
    /// The station turns to an access point; the earliest sign that there is. Followed by `connected`, `roamed` or `disconnected`.
    case associationBegan(index: Int)
    /// The station is in a network; also at the start, if it already was.
    case connected(index: Int, Association)
    /// Another access point of the same network; `association(of:)` has the rest.
    case roamed(index: Int, bssid: BSSID)
    /// The station left its network, or an attempt failed. The reason is IEEE 802.11's, if there was one.
    case disconnected(index: Int, reasonCode: Int?)
    /// The kernel could not tell everything, and all is being read again; what changed meanwhile follows.
    case lost
}
