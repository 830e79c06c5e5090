import HotspotCore
import Store
import TestSupport

/// The history after many days with two visits each: the cost of one more visit, and of reading the newest hundred.
struct HistoryCost {
    let baseline: Int

    func run() {
        let folder = TemporaryFolder(below: memory)
        guard let store = try? Store(directory: folder.path + "/state") else { return print("no store in \(memory)") }
        print("history of visits to 40 networks, two a day, twelve steps each, in memory:")
        var visits = 0
        for days in [1, 10, 100, 1000, 10_000] {
            while visits < 2 * days { visits = visit(store, visits) }
            let more = Stopwatch.time(rounds: 50) {
                visits = visit(store, visits)
                return visits
            }
            let look = Stopwatch.time(rounds: 50) { store.attempts().count }
            print(
                """
                  \(days) days: \(store.attempts(limit: 100_000).count) attempts kept, one more visit \(more.median / 1000) µs \
                (\(more.median / max(1, baseline)) times the baseline), the newest hundred \(look.median / 1000) µs
                """)
        }
    }

    private func visit(_ store: Store, _ number: Int) -> Int {
        let (id, began) = ("attempt-\(number)", 1_700_000_000_000 + number * 43_200_000)
        let ssid = SSID(printable: "Cafe \(number % 40)")!
        let steps = (0..<12).map {
            Step(at: began + $0, time: $0, kind: "verdict", detail: "captive, portal http://portal.example")
        }
        try? store.beginAttempt(id, interface: "wlan0", network: .wireless(ssid, .open), ssid: ssid.description, began: began)
        try? store.addSteps(id, steps)
        try? store.endAttempt(id, ended: began + 900, outcome: "online", helper: "form", portal: "http://portal.example")
        return number + 1
    }
}
