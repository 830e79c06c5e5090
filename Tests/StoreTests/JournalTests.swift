import HotspotCore
import TestSupport
import Testing

@testable import Store

@Suite struct JournalTests {
    let folder = TemporaryFolder()

    @Test func anAttemptIsReadAsItHappened() throws {
        let steps = [
            Step(at: 0, time: 5000, attempt: "a1", from: .inactive, to: .evaluating, kind: "transition", detail: "joined"),
            Step(at: 12, attempt: "a1", kind: "answer", helper: "form", detail: "low"),
        ]
        let store = try folder.open()
        try store.beginAttempt("a1", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5000)
        for step in steps { try store.addSteps("a1", [step]) }
        #expect(store.attempt("a1")?.outcome == Attempt.running)
        try store.endAttempt(
            "a1", ended: 6000, outcome: "online", helper: "form", portal: "https://p", portalKind: "tik",
            verdict: "The only claim.")
        try store.beginAttempt("a2", interface: "wlan1", network: hotel, ssid: "wired:02:00:00:00:00:01", began: 7000)
        #expect(store.steps("a1") == steps)
        #expect(store.attempts().map(\.id) == ["a2", "a1"])
        #expect(store.attempts(limit: 1).map(\.id) == ["a2"])
        #expect(store.attempts(ssid: "Cafe").map(\.outcome) == ["online"])
        #expect(store.lastAttempt(interface: "wlan0")?.verdict == "The only claim.")
        #expect(store.lastAttempt(ssid: "Cafe")?.id == "a1" && store.lastAttempt(ssid: "Cafe")?.portalKind == "tik")
        #expect(store.lastAttempt(ssid: "Other") == nil)
        #expect(throws: StoreError.self) { try store.addSteps("nobody", [steps[0]]) }
        #expect(throws: StoreError.self) {
            try store.beginAttempt("a1", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5000)
        }
    }

    @Test func stepsAndTheirDetailsHaveLimits() throws {
        let store = try folder.open()
        try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 1)
        let long = String(repeating: "é", count: Store.detailLimit)
        for number in 0..<Store.stepLimit + 5 {
            try store.addSteps("a", [Step(at: number, kind: "trace", detail: number == 0 ? long : "x")])
        }
        let steps = store.steps("a")
        #expect(steps.count == Store.stepLimit)
        #expect(steps[0].detail.utf8.count <= Store.detailLimit + 3)
        #expect(steps.last?.kind == "problem")
    }

    @Test func manyStepsAtOnceAreKeptInTheirOrderUpToTheLimit() throws {
        let store = try folder.open()
        try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 1)
        try store.addSteps("a", [])
        try store.addSteps("a", (0..<3).map { Step(at: $0, kind: "trace", detail: "x") })
        try store.addSteps("a", (3..<Store.stepLimit + 5).map { Step(at: $0, kind: "trace", detail: "x") })
        let steps = store.steps("a")
        #expect(steps.map(\.at) == Array(0..<Store.stepLimit))
        #expect(steps.filter { $0.kind == "problem" }.map(\.at) == [Store.stepLimit - 1])
    }

    @Test func theJournalIsPrunedByNumberAndAge() throws {
        let store = try folder.open()
        for number in 0..<Store.attemptLimit + 3 {
            try store.beginAttempt("a\(number)", interface: "wlan0", network: cafe, ssid: "Cafe", began: number)
        }
        try store.addSteps("a3", [Step(at: 0, kind: "trace", detail: "x")])
        #expect(store.attempts(limit: 5000).count == Store.attemptLimit)
        #expect(store.attempt("a2") == nil && store.attempt("a3") != nil)
        try store.setOutcome(cafe, StoredOutcome(word: "online", time: 0))
        try store.beginAttempt("late", interface: "wlan0", network: cafe, ssid: "Cafe", began: 91 * day)
        #expect(store.attempts(limit: 5000).map(\.id) == ["late"])
        #expect(store.steps("a3").isEmpty)
        #expect(store.lastOutcome(cafe) == nil)
    }

    @Test func anInterruptedAttemptIsMarked() throws {
        try folder.open().beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 1)
        let attempt = try #require(try folder.open().attempt("a"))
        #expect(attempt.outcome == Attempt.interrupted && attempt.ended == nil)
        #expect(attempt.verdict == Store.interruptedVerdict)
    }

    @Test func anOlderDaemonsInterruptedAttemptGetsAVerdict() throws {
        let store = try folder.open()
        for id in ["old", "ended"] { try store.beginAttempt(id, interface: "wlan0", network: cafe, ssid: "Cafe", began: 1) }
        try store.endAttempt("ended", ended: 2, outcome: "online", verdict: "Online.")
        let raw = try Database(path: store.path)
        try raw.run("UPDATE attempts SET outcome = 'interrupted' WHERE id = 'old'")
        let again = try folder.open()
        #expect(again.attempt("old")?.verdict == Store.interruptedVerdict)
        #expect(again.attempt("ended")?.verdict == "Online." && again.attempt("ended")?.outcome == "online")
    }

    @Test func theJournalIsReadPageByPage() throws {
        let store = try folder.open()
        for number in 0..<7 {
            let name = number.isMultiple(of: 2) ? "Cafe" : "Bar"
            try store.beginAttempt("a\(number)", interface: "wlan0", network: cafe, ssid: name, began: number)
        }
        #expect(store.attempts(limit: 3).map(\.id) == ["a6", "a5", "a4"])
        #expect(store.attempts(before: "a4", limit: 3).map(\.id) == ["a3", "a2", "a1"])
        #expect(store.attempts(before: "a1", limit: 3).map(\.id) == ["a0"])
        #expect(store.attempts(ssid: "Cafe", before: "a4", limit: 3).map(\.id) == ["a2", "a0"])
        #expect(store.attempts(before: "a0").isEmpty && store.attempts(before: "nobody").isEmpty)
    }

    /// A periodic maintain, with the daemon's steps.
    private func maintain(
        _ store: Store, _ id: String, ssid: String = "Cafe", from: StateName = .authenticated, outcome: String = "online",
        also: [Step] = []
    ) throws {
        try store.beginAttempt(id, interface: "wlan0", network: cafe, ssid: ssid, began: 5)
        let steps = [Step(at: 0, from: from, to: .maintaining, kind: "transition", detail: "the timer")] + also
        try store.addSteps(id, steps)
        try store.endAttempt(id, ended: 6, outcome: outcome)
        // The daemon's last step comes after the end.
        try store.addSteps(id, [Step(at: 1, from: .maintaining, to: .authenticated, kind: "transition", detail: "success")])
    }

    @Test func onlyAMaintainWithoutAProblemIsRoutine() throws {
        let store = try folder.open()
        try maintain(store, "well")
        try maintain(store, "joined", from: .inactive)
        try maintain(store, "expired", outcome: "expired")
        try maintain(store, "crashed", also: [Step(at: 0, kind: "problem", detail: "It crashed.")])
        try maintain(
            store, "renewed", also: [Step(at: 0, from: .maintaining, to: .authenticating, kind: "transition", detail: "")])
        let routine = store.attempts().filter(\.isRoutine).map(\.id)
        #expect(routine == ["well"])
    }

    @Test func aLongSessionDoesNotPushTheCafesOut() throws {
        let store = try folder.open()
        for number in 0..<20 {
            try store.beginAttempt("cafe\(number)", interface: "wlan0", network: cafe, ssid: "Cafe \(number)", began: 1)
            try store.endAttempt("cafe\(number)", ended: 2, outcome: "online")
            try maintain(store, "old\(number)", ssid: "Cafe \(number)")
        }
        let raw = try Database(path: store.path)
        func add(_ count: Int, _ name: String, ssid: String, routine: Int) throws {
            try raw.run(
                """
                WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
                INSERT INTO attempts (id, interface, network, ssid, began, outcome, routine)
                SELECT '\(name)' || i, 'wlan0', NULL, '\(ssid)', 5, 'online', \(routine) FROM n
                """)
            // Each new attempt prunes.
            try store.beginAttempt("begun \(name)", interface: "wlan0", network: cafe, ssid: ssid, began: 5)
        }
        try add(Store.attemptLimit + 200, "m", ssid: "Home", routine: 1)
        let kept = store.attempts(limit: 5000)
        #expect(kept.count == Store.attemptLimit)
        #expect(kept.filter { $0.id.hasPrefix("cafe") }.count == 20, "the visits are all there")
        #expect(kept.filter { $0.id.hasPrefix("old") }.count == 20, "and of each network the newest maintains")
        #expect(kept[1].id == "m\(Store.attemptLimit + 199)")
        // After many visits, a handful of the Maintains is kept.
        try add(Store.attemptLimit - 30, "visit", ssid: "New", routine: 0)
        let later = store.attempts(limit: 5000)
        #expect(later.filter { $0.ssid == "Home" && $0.isRoutine }.count == Store.routineLimit)
        #expect(later.count == Store.attemptLimit)
        // Without routine attempts, the oldest of the network with the most are deleted.
        try add(Store.attemptLimit, "new", ssid: "New", routine: 0)
        let last = store.attempts(limit: 5000)
        #expect(last.count == Store.attemptLimit && last.allSatisfy { !$0.id.hasPrefix("visit") })
        #expect(last.filter { $0.ssid.hasPrefix("Cafe") }.count == 40, "the cafés are still there")
        #expect(last.filter { $0.ssid == "New" }.map(\.id) == last.filter { $0.ssid == "New" }.map(\.id).sorted(by: newer))
    }

    /// By the numbers at the ends of two names of ``aLongSessionDoesNotPushTheCafesOut()``; the newest attempt is the last one begun.
    private func newer(_ a: String, _ b: String) -> Bool {
        (Int(a.drop { !$0.isNumber }) ?? .max) > (Int(b.drop { !$0.isNumber }) ?? .max)
    }

    /// Writes attempts as fast as the database can, without pruning.
    private func fill(_ raw: borrowing Database, _ count: Int, ssid: String, routine: Int = 0) throws {
        try raw.run(
            """
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
            INSERT INTO attempts (id, interface, network, ssid, began, outcome, routine)
            SELECT '\(ssid)/' || i, 'wlan0', NULL, '\(ssid)', 5, 'online', \(routine) FROM n
            """)
    }

    @Test func aStormInOneNetworkLeavesTheOthersTheirHistory() throws {
        let store = try folder.open()
        let raw = try Database(path: store.path)
        for number in 0..<15 { try fill(raw, 50, ssid: "Cafe \(number)") }
        try fill(raw, 9_250, ssid: "Storm")
        #expect(store.attempts(limit: 20_000).count == 10_000)
        let clock = ContinuousClock()
        let first = try clock.measure {
            try store.beginAttempt("one more", interface: "wlan0", network: cafe, ssid: "Storm", began: 5)
        }
        let kept = store.attempts(limit: 20_000)
        #expect(kept.count == Store.attemptLimit)
        for number in 0..<15 { #expect(kept.count { $0.ssid == "Cafe \(number)" } == 50) }
        let storm = kept.filter { $0.ssid == "Storm" }.map(\.id)
        #expect(storm.prefix(2) == ["one more", "Storm/9249"] && storm.last == "Storm/9001", "of the storm the newest")

        // Each further attempt of this network replaces one of its own.
        let next = try clock.measure {
            for number in 0..<50 {
                try store.beginAttempt("next\(number)", interface: "wlan0", network: cafe, ssid: "Storm", began: 5)
            }
        }
        #expect(store.attempts(ssid: "Cafe 0").map(\.id).last == "Cafe 0/0")
        #expect(store.attempts(ssid: "Storm", limit: 5000).count == 250)
        print("journal: from 10,001 to 1,000 attempts in \(first), then \(next / 50) for a new one with its pruning")

        // A new network displaces attempts of the network with the most, up to an equal share.
        for number in 0..<300 {
            try store.beginAttempt("new\(number)", interface: "wlan0", network: cafe, ssid: "New", began: 5)
        }
        let later = Dictionary(grouping: store.attempts(limit: 5000), by: \.ssid).mapValues(\.count)
        #expect(later["New"] == 125 && later["Storm"] == 125 && later["Cafe 3"] == 50)
    }

    @Test func manyNetworksShareTheJournalEvenly() throws {
        let store = try folder.open()
        let raw = try Database(path: store.path)
        for number in 0..<100 { try fill(raw, 100, ssid: "Net \(number)") }
        try store.beginAttempt("one more", interface: "wlan0", network: cafe, ssid: "Net 0", began: 5)
        let counts = Dictionary(grouping: store.attempts(limit: 20_000), by: \.ssid).mapValues(\.count)
        #expect(counts.count == 100 && counts.values.allSatisfy { $0 == 10 })
    }

    @Test func aStepWithAStateOfTomorrowIsSkipped() throws {
        let store = try folder.open()
        try store.beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 1)
        try store.addSteps("a", [Step(at: 0, kind: "trace", detail: "x")])
        let raw = try Database(path: store.path)
        try raw.run("INSERT INTO steps SELECT number, 2, 0, NULL, 'levitating', NULL, 'transition', NULL, '' FROM attempts")
        #expect(store.steps("a").count == 1)
        #expect(store.skippedRows == 1)
    }
}
