import HotspotCore
import Testing

@testable import Store

@Suite struct JournalTests {
    let folder = TemporaryFolder()

    @Test func anAttemptIsToldAsItHappened() throws {
        let steps = [
            Step(at: 0, time: 5000, attempt: "a1", from: .inactive, to: .evaluating, kind: "transition", detail: "joined"),
            Step(at: 12, attempt: "a1", kind: "answer", helper: "form", detail: "low"),
        ]
        let store = try folder.open()
        try store.beginAttempt("a1", interface: "wlan0", network: cafe, ssid: "Cafe", began: 5000)
        for step in steps { try store.addSteps("a1", [step]) }
        #expect(store.attempt("a1")?.outcome == Attempt.running)
        try store.endAttempt(
            "a1", ended: 6000, outcome: "online", helper: "form", portal: "https://p", verdict: "The only claim.")
        try store.beginAttempt("a2", interface: "wlan1", network: hotel, ssid: "wired:02:00:00:00:00:01", began: 7000)
        #expect(store.steps("a1") == steps)
        #expect(store.attempts().map(\.id) == ["a2", "a1"])
        #expect(store.attempts(limit: 1).map(\.id) == ["a2"])
        #expect(store.attempts(ssid: "Cafe").map(\.outcome) == ["online"])
        #expect(store.lastAttempt(interface: "wlan0")?.verdict == "The only claim.")
        #expect(store.lastAttempt(ssid: "Cafe")?.id == "a1")
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

    @Test func whatTheEndOfTheDaemonCutOffIsCalledSo() throws {
        try folder.open().beginAttempt("a", interface: "wlan0", network: cafe, ssid: "Cafe", began: 1)
        #expect(try folder.open().attempt("a")?.outcome == Attempt.interrupted)
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
