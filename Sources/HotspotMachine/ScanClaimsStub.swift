import HotspotCore
public struct ScannedBSS: Hashable, Sendable {
    public var ssid: SSID; public var bssid: HardwareAddress; public var frequency: Int; public var signal: Int; public var security: Security; public var lastSeen: Int; public var interface: String
    public init(ssid: SSID, bssid: HardwareAddress, frequency: Int, signal: Int, security: Security, lastSeen: Int, interface: String) {
        self.ssid = ssid; self.bssid = bssid; self.frequency = frequency; self.signal = signal; self.security = security; self.lastSeen = lastSeen; self.interface = interface }
}
public enum ScanClaims {
    public struct Group: Hashable, Sendable { public var ssid: SSID; public var security: Security; public var strongest: ScannedBSS; public var stations: Int }
    public struct Claim: Hashable, Sendable { public enum Source: String, Sendable { case manifest, filter, remembered }
        public var helper: String; public var displayName: String; public var confidence: Confidence; public var source: Source; public var ready: Bool }
    public static func groups(_ s: [ScannedBSS]) -> [Group] { s.map { Group(ssid: $0.ssid, security: $0.security, strongest: $0, stations: 1) } }
    public static func claims(for g: Group, helpers: [HelperSpec], answers: [String: [Annotation]], remembered: String?, hasCredential: (String) -> Bool, isDisabled: (String) -> Bool) -> [Claim] { [] }
    public static func visible(to: HelperSpec, in g: [Group]) -> [Group] { g }
}
