import HotspotCore

/// An event on the air.
public enum WirelessEvent: Hashable, Sendable {
    /// An interface has appeared; also reported for each interface that exists at the start.
    case interfaceAppeared(WirelessInterface)
    /// An interface has disappeared, with all its state, without a `disconnected` before.
    case interfaceVanished(index: Int)
    /// A scan of any program has ended; the list is complete: the associated entry first, then the strongest.
    case scanFinished(index: Int, [BSS])
    /// The station begins to join an access point: the earliest sign of a join. `connected`, `roamed` or `disconnected` follows.
    case associationBegan(index: Int)
    /// The station is in a network; also reported at the start.
    case connected(index: Int, WirelessAssociation)
    /// The station moved to another access point of the same network; `association(of:)` returns the other facts.
    case roamed(index: Int, bssid: BSSID)
    /// The station left its network, or associating failed. The reason, if there is one, is a code of IEEE 802.11.
    case disconnected(index: Int, reasonCode: Int?)
    /// The kernel dropped events, so everything is being read again; changes follow as events.
    case lost
}

/// The network that an interface is in.
public struct WirelessAssociation: Hashable, Sendable {
    /// The name; empty if the scan, the request and the interface all lack it.
    public var ssid: SSID
    /// The access point.
    public var bssid: BSSID
    /// The security; `unknown` if the scan does not show it.
    public var security: Security
    /// In MHz; 0 if unknown.
    public var frequency: Int
    /// Received power at the last reading, in dBm.
    public var signal: Int?

    public init(ssid: SSID, bssid: BSSID, security: Security, frequency: Int = 0, signal: Int? = nil) {
        self.ssid = ssid
        self.bssid = bssid
        self.security = security
        self.frequency = frequency
        self.signal = signal
    }
}
