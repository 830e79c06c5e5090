import HotspotCore

/// One BSS of a scan, with the facts that lists and claims need.
public struct ScannedBSS: Hashable, Sendable {
    /// The name; empty or all zero where it is hidden.
    public var ssid: SSID
    public var bssid: BSSID
    /// The frequency, in MHz.
    public var frequency: Int
    /// The received power, in dBm.
    public var signal: Int
    public var security: Security
    /// The last time at which the BSS was seen, in milliseconds of Unix time.
    public var lastSeen: Int
    /// The interface of the station that received the BSS.
    public var interface: String
    /// The access point's announcement, which is only a hint, because anyone nearby can send one.
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
