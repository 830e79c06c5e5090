import ControlAPI
import ControlServer
import HotspotCore
import HotspotMachine
import Store
import TestSupport
import Varlink

/// The list of networks as the daemon makes it: up to 1,000 BSSs, 100 helpers, 1,000 patterns, and a store that knows many of the networks in sight.
/// It is grouped, compared with the store, labelled and encoded. Smaller worlds show how the cost grows.
struct ScanCost {
    let baseline: Int

    func run() { [10, 30, 100, 300, 1000].forEach(measure) }

    /// - Parameter count: the BSSs, and the patterns of a tenth as many helpers.
    private func measure(_ count: Int) {
        let scan = Array(Self.scan.prefix(count))
        let helpers = Array(Self.helpers.prefix(count / 10))
        let folder = TemporaryFolder(below: memory)
        guard let store = try? Store(directory: folder.path + "/state"), (try? Self.fill(store)) != nil else {
            return print("the store cannot be made in \(folder.path)")
        }
        let asked = ScanClaims.groups(scan)
        var labels: [String: ScanClaims.Labels] = [:]
        for helper in helpers.prefix(max(1, helpers.count / 5)) {
            let annotations = asked.map { group in
                Annotation(ssidHex: group.ssid.hex, confidence: .low, password: group.security.isSecured ? "long enough" : nil)
            }
            labels[helper.name] = ScanClaims.Labels(annotations, asked: asked)
        }
        print("a list of \(count) BSSs with \(helpers.count) helpers, \(count) patterns and a store:")
        let whole = Stopwatch.time(rounds: 50) {
            var coverage = ScanClaims.Coverage()
            return Self.list(scan, helpers, labels, store, &coverage).count
        }
        var coverage = ScanClaims.Coverage()
        let again = Stopwatch.time(rounds: 50) { Self.list(scan, helpers, labels, store, &coverage).count }
        let memories = Stopwatch.time(rounds: 50) { store.records(now: 1000)[asked[0].network].credentials.count }
        let visible = Stopwatch.time(rounds: 50) {
            let switches = store.switches
            return coverage.visible(in: asked) { switches.isOff(helper: $0.name, $1.network) }.reduce(0) { $0 + $1.count }
        }
        let networks = Self.list(scan, helpers, labels, store, &coverage)
        let encoding = Stopwatch.time(rounds: 10) { networks.reduce(0) { $0 + $1.json.count } }
        report(whole, "the whole list, every name new")
        report(again, "the whole list, the same names in sight as before")
        report(memories, "of it: what is remembered, read from the store")
        report(visible, "cut to what each helper may see")
        report(encoding, "written as JSON for one client, \(networks.reduce(0) { $0 + $1.claims.count }) claims")
    }

    private func report(_ time: (median: Int, best: Int), _ what: String) {
        print(
            "  \(time.median / 1000) µs, at best \(time.best / 1000) µs  \(what)  (\(time.median / max(1, baseline)) times the baseline)"
        )
    }

    /// Makes the list as the daemon does, in the same order.
    private static func list(
        _ scan: [ScannedBSS], _ helpers: [HelperSpec], _ labels: [String: ScanClaims.Labels], _ store: Store,
        _ coverage: inout ScanClaims.Coverage
    ) -> [ScannedNetwork] {
        let groups = ScanClaims.groups(scan)
        coverage.add(groups, for: helpers)
        let memories = store.records(now: 1000)
        let switches = store.switches
        return groups.map { group in
            let network = group.network
            let memory = memories[network]
            let claims = coverage.claims(
                for: group, labels: labels, remembered: memory.helper, credentials: memory.credentials,
                isDisabled: { switches.isOff(helper: $0, network) })
            let strongest = group.strongest
            return ScannedNetwork(
                ssid: group.ssid, bssid: strongest.bssid, interface: strongest.interface, frequency: strongest.frequency,
                signal: strongest.signal, security: group.security, stations: group.stations, lastSeen: group.lastSeen,
                joined: false,
                claims: claims.map {
                    ClaimStatus(
                        helper: $0.helper, displayName: $0.displayName, confidence: $0.confidence, source: $0.source.rawValue,
                        ready: $0.ready)
                },
                disabled: switches.isOff(network), autoJoin: memory.hold.map { $0.reason != .autoJoinOff } ?? true,
                last: memory.outcome.map { ($0.word, $0.time) })
        }
    }

    // MARK: Networks and helpers

    private static func ssid(_ number: Int) -> SSID { SSID(octets: Array("Network \(number)".utf8))! }

    private static var scan: [ScannedBSS] {
        var random = SystemRandomNumberGenerator()
        return (0..<1000).map { number in
            ScannedBSS(
                ssid: ssid(number % 600), bssid: BSSID(octets: [2, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)])!,
                frequency: 2412, signal: -Int.random(in: 30...95, using: &random), security: security(number), lastSeen: number,
                interface: "wlan0")
        }
    }

    private static func security(_ number: Int) -> Security { number % 3 == 0 ? .psk : .open }

    private static var helpers: [HelperSpec] {
        (0..<100).map { number in
            let patterns = (0..<10).map { "Network \((number * 10 + $0) % 700)*" }.joined(separator: ";")
            return HelperSpec(
                name: "helper\(number)", activation: .stdio(exec: ["/bin/true"]), ssids: (try? SSIDPattern.list(patterns)) ?? [])
        }
    }

    /// 400 choices, 600 outcomes, 200 credentials, 100 holds and 100 switches.
    private static func fill(_ store: Store) throws {
        for number in 0..<600 {
            let network = NetworkID.wireless(ssid(number), security(number))
            try store.setOutcome(network, StoredOutcome(word: "online", time: number))
            if number % 3 != 0 { try store.remember(network, RememberedChoice(helper: "helper\(number / 10)", committed: 0)) }
            if number % 3 == 1 {
                try store.setCredential(
                    network, helper: "helper\(number / 10)", origin: "https://p", pin: nil, fieldNames: ["room"], sealed: [1])
            }
            if number % 6 == 5 { try store.setHold(network, StoredHold(reason: .autoJoinOff, sentence: "It failed.")) }
            if number % 12 == 7 { try store.setEnabled(helper: "helper\(number / 10)", ssid: ssid(number).hex, enabled: false) }
            if number % 12 == 8 { try store.setEnabled(helper: nil, ssid: ssid(number).hex, enabled: false) }
        }
    }
}
