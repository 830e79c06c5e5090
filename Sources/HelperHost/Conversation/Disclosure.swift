import EventLoop
import HotspotCore

/// Data that a helper received, without the secrets: it answers the user's question about what a helper knows.
public struct Disclosure: Hashable, Sendable {
    /// Names that people read: SSIDs, or `wired:ADDRESS`. Of a long list the first ones.
    public var networks: [String]
    /// How many there were in all.
    public var count: Int
    /// It was the list of networks in sight, and not the one that was joined.
    public var isScanList: Bool
    /// A stored credential went with it, now or at an earlier command for this network.
    public var hasCredential: Bool
    /// The last time, Unix time in milliseconds.
    public var time: Int

    /// The most that is kept of a helper: joined networks, and with them the last list.
    static let limit = 8
    static let networkLimit = 16

    /// Reads what a question names; `nil` if that is no network.
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

    /// Returns the rest without this network; `nil` if that is nothing.
    func without(_ network: String) -> Disclosure? {
        var rest = self
        rest.networks.removeAll { $0 == network }
        rest.count -= networks.count - rest.networks.count
        return rest.count > 0 ? rest : nil
    }

    /// The newest first; the same network once.
    static func adding(_ new: Disclosure, to known: [Disclosure]) -> [Disclosure] {
        func isSame(_ old: Disclosure) -> Bool {
            old.isScanList == new.isScanList && (old.isScanList || old.networks == new.networks)
        }
        var first = new
        first.hasCredential = new.hasCredential || known.contains { isSame($0) && $0.hasCredential }
        return [first] + known.filter { !isSame($0) }.prefix(limit - 1)
    }
}
