import HotspotCore

/// One BSS of a scan, as far as lists and claims need it.
public struct ScannedBSS: Hashable, Sendable {
    /// The name; empty or all zero where it is hidden.
    public var ssid: SSID
    public var bssid: BSSID
    /// In MHz.
    public var frequency: Int
    /// In dBm.
    public var signal: Int
    public var security: Security
    /// Unix time in milliseconds.
    public var lastSeen: Int
    /// The station that heard it.
    public var interface: String
    /// The access point's announcement, which anyone nearby can send: a hint.
    public var announced: AnnouncedAccess?

    public init(
        ssid: SSID, bssid: BSSID, frequency: Int, signal: Int, security: Security, lastSeen: Int, interface: String,
        announced: AnnouncedAccess? = nil
    ) {
        self.ssid = ssid
        self.bssid = bssid
        self.frequency = frequency
        self.signal = signal
        self.security = security
        self.lastSeen = lastSeen
        self.interface = interface
        self.announced = announced
    }
}
