import EventLoop
import HotspotCore

/// The data that a helper received, without the secrets: for the user who wants to know what a helper knows.
public struct Disclosure: Hashable, Sendable {
    /// The names that people read: SSIDs, or `wired:ADDRESS`. Of a long list, only the first names.
    public var networks: [String]
    /// The number of all networks that were sent.
    public var count: Int
    /// Whether the list of networks in sight was sent, rather than the joined network.
    public var isScanList: Bool
    /// Whether a stored credential was sent with these networks, now or in an earlier command for this network.
    public var hasCredential: Bool
    /// The time of the last disclosure, in milliseconds of Unix time.
    public var time: Int

    /// The largest number of disclosures that are kept for one helper: joined networks, and the last list.
    static let limit = 8
    static let networkLimit = 16

    /// Reads the networks in a question; `nil` if it contains none.
    init?(_ question: Question) {
        func label(_ network: JSONValue) -> String {
            if network["security"]?.string == Security.wired.rawValue {
                return "wired:" + (network["bssid"]?.string ?? "unknown")
            }
            return network["ssid"]?.string ?? ""
        }
        let joined = question.parameters["network"]
        guard let all = joined.map({ [$0] }) ?? question.parameters["networks"]?.array else { return nil }
        networks = all.prefix(Self.networkLimit).map(label)
        count = all.count
        isScanList = joined == nil
        hasCredential = question.hasStored
        time = WallClock.now
    }

    /// Returns the disclosure without this network; `nil` if nothing is left.
    func without(_ network: String) -> Disclosure? {
        var rest = self
        rest.networks.removeAll { $0 == network }
        rest.count -= networks.count - rest.networks.count
        return rest.count > 0 ? rest : nil
    }

    /// Returns the disclosures, the newest first, with each network once.
    static func adding(_ new: Disclosure, to known: [Disclosure]) -> [Disclosure] {
        func isSame(_ old: Disclosure) -> Bool {
            old.isScanList == new.isScanList && (old.isScanList || old.networks == new.networks)
        }
        var first = new
        first.hasCredential = new.hasCredential || known.contains { isSame($0) && $0.hasCredential }
        return [first] + known.filter { !isSame($0) }.prefix(limit - 1)
    }
}
