import HotspotCore
import HotspotMachine

/// A list of 1,000 BSSs, 100 helpers and 1,000 patterns: grouped, labelled, and cut to what each helper may see.
struct ScanCost {
    /// Nanoseconds for the labelled list, undisturbed.
    static let budget = 10_000_000

    let baseline: Int

    func run() -> Bool {
        var random = SystemRandomNumberGenerator()
        let scan = (0..<1000).map { number in
            ScannedBSS(
                ssid: SSID(octets: Array("Network \(number % 600)".utf8))!,
                bssid: BSSID(octets: [2, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)])!, frequency: 2412,
                signal: -Int.random(in: 30...95, using: &random), security: number % 3 == 0 ? .psk : .open, lastSeen: number,
                interface: "wlan0")
        }
        let helpers = (0..<100).map { number in
            let patterns = (0..<10).map { "Network \((number * 10 + $0) % 700)*" }.joined(separator: ";")
            return HelperSpec(
                name: "helper\(number)", activation: .stdio(exec: ["/bin/true"]), ssids: (try? SSIDPattern.list(patterns)) ?? [])
        }
        let list = Stopwatch.time(rounds: 50) {
            var count = 0
            for group in ScanClaims.groups(scan) {
                count +=
                    ScanClaims.claims(
                        for: group, helpers: helpers, answers: [:], remembered: nil, hasCredential: { _ in false },
                        isDisabled: { _ in false }
                    ).count
            }
            return count
        }
        let groups = ScanClaims.groups(scan)
        let visible = Stopwatch.time(rounds: 50) {
            helpers.reduce(0) { $0 + ScanClaims.visible(to: $1, in: groups).count }
        }
        print("a list of 1,000 BSSs with 100 helpers and 1,000 patterns:")
        print(
            "  \(list.median / 1000) µs, at best \(list.best / 1000) µs  grouped and labelled  "
                + "(\(list.median / max(1, baseline)) times the baseline)")
        print("  \(visible.median / 1000) µs, at best \(visible.best / 1000) µs  cut to what each helper may see")
        if list.best >= Self.budget { print("  TOO LONG, budget \(Self.budget / 1000) µs") }
        return list.best < Self.budget
    }
}
