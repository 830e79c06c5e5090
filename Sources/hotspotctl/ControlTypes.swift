import HotspotCore

// What org.hotspotd.Control answers. Words of enumerations stay text: one that is new to this program is shown as it is.

struct StatusReply: Codable {
    var interfaces: [InterfaceStatus]
    var version: String?
    var problems: [Problem]?
    /// So many more interfaces are too many for one answer; the same in the other replies.
    var omitted: Int?
}

struct InterfaceStatus: Codable, Equatable {
    var interface: String
    var state: String
    var since: Int
    var ssid: String?
    var helper: String?
    var portal: String?
    var captive: Bool?
    var secondsRemaining: Int?
    var bytesRemaining: Int?
    var nextMaintain: Int?
    /// A login that nobody asked for waits until then.
    var nextLogin: Int?
    var prompt: String?
    var problems: [Problem]
}

struct ListReply: Codable {
    var networks: [ScannedNetwork]
    var omitted: Int?
}

struct ScannedNetwork: Codable {
    var ssid: String
    var bssid: String
    var interface: String
    var signal: Int
    var security: String
    var joined: Bool
    var claims: [Claim]
    var moreClaims: Int?
    var disabled: Bool
    var lastOutcome: String?
}

struct Claim: Codable {
    var helper: String
    var displayName: String
    var confidence: String
    var source: String
    var ready: Bool
}

struct HelpersReply: Codable {
    var helpers: [HelperStatus]
    var omitted: Int?
}

struct HelperStatus: Codable {
    var name: String
    var displayName: String
    var version: String?
    var enabled: Bool
    var disabledFor: [String]
    var priority: Int
    var ssids: [String]
    var activation: String
    var running: Bool
    var strikes: Int
    var quarantined: Bool
    var problems: [Problem]
    var file: String?
    var containment: [String]?
    var missing: [String]?
    var scanList: Bool?
    /// What it was told since the daemon started, the newest first.
    var given: [Given]?
    /// So many more are left out of `ssids` and `disabledFor`.
    var moreSSIDs: Int?
    var moreDisabledFor: Int?

    /// It was refused, with its reason as a problem, and has no name but its file's; what is installed and in order names its file.
    var isRefused: Bool { file == nil && !enabled && !problems.isEmpty }
}

struct Given: Codable {
    var networks: [String]
    var count: Int
    var scanList: Bool
    var credential: Bool
    var at: Int
}

struct PromptsReply: Codable {
    var prompts: [PendingPrompt]
    var omitted: Int?
}

struct PendingPrompt: Codable {
    var id: String
    var interface: String
    var ssid: String
    var helper: String
    var portal: String?
    var title: String
    var message: String?
    var fields: [Field]
    var termsURL: String?
    var terms: String?
    var since: Int?
    /// Message, fields and terms are not for this user.
    var withheld: Bool?
}

struct MonitorReply: Codable {
    var interface: String
    var step: Step
}

struct ExplainReply: Codable {
    var steps: [Step]
    var verdict: String
}

struct HistoryReply: Codable {
    var attempts: [PastAttempt]
    /// There are older ones.
    var more: Bool?
}

struct PastAttempt: Codable {
    var id: String
    var interface: String
    var ssid: String
    var began: Int
    var ended: Int?
    var helper: String?
    var portal: String?
    var outcome: String
}

struct CheckReply: Codable {
    var verdict: String
    var interface: String?
    var detail: String?
}
