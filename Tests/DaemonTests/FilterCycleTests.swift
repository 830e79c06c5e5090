import EventLoop
import Glibc
import HelperHost
import HotspotCore
import HotspotMachine
import LinkState
import Testing
import Varlink

@testable import hotspotd

/// FilterScanList with helpers that are real processes, and a list that changes under them. The numbers are those of the conformance
/// list.
@Suite("Conformance: FilterScanList with processes", .serialized) struct FilterCycleTests {
    init() { EventLoop.startThread() }

    static let low = #""confidence": "low""#
    static let high = #""confidence": "high""#

    @Test("21 All are asked at once when the list is opened, again and again, and not after it is closed") @LoopActor
    func cycle() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open), ("Bar", .open))
        var announced = AnnouncedAccess()
        (announced.openRoaming, announced.loginURL) = (true, "https://portal.example/login")
        bench.scan[0].announced = announced
        for name in ["a", "b"] { try bench.add(name) }
        try bench.add("none", scanList: false)
        #expect(bench.told("a").isEmpty, "no client watches")
        for name in ["a", "b"] { bench.hold(name) }
        bench.cycle.watch(1)
        #expect(await bench.eventually { ["a", "b"].allSatisfy { bench.told($0).count == 1 } }, "neither waits for the other")
        bench.cycle.watch(2)
        for name in ["a", "b"] { bench.letGo(name) }
        #expect(await bench.eventually { ["a", "b"].allSatisfy { bench.told($0).count >= 4 } })
        bench.cycle.watch(1)
        let before = bench.told("a").count
        #expect(await bench.eventually { bench.told("a").count > before }, "one client still watches")
        bench.cycle.watch(0)
        // The helpers that were being asked have ended; none is asked again, in far more than an interval.
        #expect(await bench.eventually { bench.services.host.processCount == 0 })
        let last = bench.told("a").count + bench.told("b").count
        await bench.pause(.milliseconds(400))
        #expect(bench.told("a").count + bench.told("b").count == last)
        #expect(bench.told("none").isEmpty)
        // The helper is not told the addresses that a stranger announces.
        let told = bench.told("a")[0]["networks"]?.array?.map { $0["announced"] }
        #expect(told == [["openRoaming": true], nil], "\(told ?? [])")
        await bench.close()
    }

    @Test("26 For a join the helpers are asked for the password, of which nothing else is kept") @LoopActor
    func passwordForAJoin() async throws {
        let bench = try FilterBench()
        bench.see(("Home", .psk))
        try bench.add("a")
        bench.labels("a", [("Home", Self.high + #", "password": "coffee beans""#)])
        var answers: [String?] = []
        let home = NetworkID.wireless(SSID(printable: "Home")!, .psk)
        bench.cycle.password(for: home) { answers.append($0) }
        #expect(await bench.eventually { answers == ["coffee beans"] })
        bench.labels("a", [("Home", Self.high + #", "password": "short""#)])
        bench.cycle.password(for: home) { answers.append($0) }
        #expect(await bench.eventually { answers == ["coffee beans", nil] })
        await bench.close()
    }

    @Test("21 After a change of the folders they are asked at once, if a client watches") @LoopActor func folders() async throws {
        let bench = try FilterBench(interval: .seconds(3600))
        bench.see(("Cafe", .open))
        try bench.add("a")
        bench.labels("a", [("Cafe", Self.low)])
        bench.cycle.askAgain()
        #expect(bench.services.host.processCount == 0)
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a"] })
        bench.labels("a", [])
        bench.cycle.askAgain()
        #expect(await bench.eventually { bench.labellers("Cafe").isEmpty })
        await bench.close()
    }

    @Test("21 One question at a time for each helper: a tick is skipped, not queued") @LoopActor func skipped() async throws {
        let bench = try FilterBench(interval: .milliseconds(10))
        bench.see(("Cafe", .open))
        try bench.add("slow")
        bench.hold("slow")
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.told("slow").count == 1 && bench.changes > 10 })
        #expect(bench.told("slow").count == 1)
        bench.letGo("slow")
        #expect(await bench.eventually { bench.told("slow").count > 1 }, "the next tick asks again")
        await bench.close()
    }

    @Test("23, 29 A helper sees the list as the user does, without a network of its own, and later the changed one") @LoopActor
    func seen() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open), ("Home", .psk), ("", .open))
        try bench.add("all")
        try bench.add("cafes", ssids: "Cafe*")
        bench.cycle.watch(1)
        #expect(await bench.eventually { !bench.told("all").isEmpty && !bench.told("cafes").isEmpty })
        let first = bench.told("all")[0]
        #expect(bench.asked(first) == ["Cafe", "Home"], "a hidden network is in no list")
        #expect(first["network"] == nil && first["link"] == nil)
        let home = first["networks"]?.array?.first { $0["ssid"] == "Home" }
        #expect(home?["security"] == "psk" && home?["interface"] == "wlan0" && home?["autoJoined"] == false)
        #expect(bench.asked(bench.told("cafes")[0]) == ["Cafe"])
        bench.see(("Cafe", .open), ("Cafe 2", .open))
        #expect(await bench.eventually { bench.asked(bench.told("all").last) == ["Cafe", "Cafe 2"] })
        #expect(await bench.eventually { bench.asked(bench.told("cafes").last) == ["Cafe", "Cafe 2"] })
        #expect(bench.disclosed.filter { $0.helper == "all" }.map(\.names) == [["Cafe", "Home"], ["Cafe", "Cafe 2"]])
        await bench.close()
    }

    @Test("24, 25, 26, 28 Labels: on open networks, on secured ones with a password that fits, and one from each helper")
    @LoopActor func labels() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open), ("Home", .psk), ("Work", .psk), ("Lab", .psk))
        try bench.add("a")
        try bench.add("b")
        bench.labels(
            "a",
            [
                ("Cafe", Self.low), ("Home", Self.low), ("Work", #""confidence": "high", "password": "correct horse""#),
                ("Lab", #""confidence": "high", "password": "short""#),
            ])
        bench.labels("b", [("Cafe", Self.high)])
        await bench.once()
        // Without clients no label is left; while a client watches, labels are shown.
        #expect(bench.shown.allSatisfy { $0.labels.isEmpty })
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a", "b"] })
        let cafe = try #require(bench.shown.first { $0.name == "Cafe" })
        #expect(cafe.labels.map(\.confidence) == [.low, .high] && cafe.labels.map(\.displayName) == ["The a", "The b"])
        #expect(cafe.labels.allSatisfy { !$0.ready })
        #expect(bench.labellers("Home", .psk) == [], "25: no password, no label")
        #expect(bench.labellers("Lab", .psk) == [], "25: an impossible password is ignored")
        #expect(bench.shown.first { $0.name == "Work" }?.labels.map(\.ready) == [true], "26")
        #expect(!String(describing: bench.cycle.labels).contains("correct horse"), "what was said to be a password is not kept")
        bench.cycle.watch(0)
        #expect(bench.cycle.labels.isEmpty)
        await bench.close()
    }

    @Test("27 No list set, an empty list, an error and no answer all mean: no labels") @LoopActor func nothing() async throws {
        let bench = try FilterBench(timeout: .milliseconds(700))
        bench.see(("Cafe", .open))
        for name in ["unset", "empty", "none", "broken", "silent"] { try bench.add(name) }
        for name in ["unset", "empty", "none", "broken", "silent"] { bench.labels(name, [("Cafe", Self.low)]) }
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe").count == 5 })
        bench.answers("unset", "{}")
        bench.answers("empty", #"{"annotations": []}"#)
        bench.labels("none", [("Cafe", #""confidence": "none""#)])
        bench.answers("broken", "no JSON")
        #expect(await bench.eventually { bench.labellers("Cafe") == ["silent"] })
        // A missed deadline removes the label, and clients learn that without a tick.
        bench.hold("silent")
        #expect(await bench.eventually { bench.labellers("Cafe").isEmpty })
        await bench.close()
    }

    @Test("27 A missed deadline is told to clients that watch, and takes the last answer with it") @LoopActor func missed()
        async throws
    {
        let bench = try FilterBench(interval: .milliseconds(50), timeout: .milliseconds(600))
        bench.see(("Cafe", .open))
        try bench.add("a")
        bench.labels("a", [("Cafe", Self.low)])
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a"] })
        bench.hold("a")
        let asked = bench.told("a").count
        #expect(await bench.eventually { bench.told("a").count > asked })
        // After one more tick, no tick could announce the deadline's effect.
        bench.services.settings.filterInterval = .seconds(3600)
        #expect(await bench.eventually { bench.labellers("Cafe").isEmpty })
        #expect(bench.announced.isEmpty, "the list was announced again")
        await bench.close()
    }

    @Test("29 A helper can neither add, remove nor reorder, nor label what it was not asked about") @LoopActor
    func bounds() async throws {
        let bench = try FilterBench()
        bench.see(("One", .open), ("Two", .open), ("Three", .psk))
        try bench.add("all")
        try bench.add("two", ssids: "Two")
        let everything = ["Three", "Two", "One", "Elsewhere", "One"].map {
            ($0, #""confidence": "high", "password": "long enough""#)
        }
        bench.labels("all", everything)
        bench.labels("two", everything)
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Two") == ["all", "two"] })
        #expect(bench.shown.map(\.name) == ["One", "Two", "Three"])
        #expect(bench.labellers("One") == ["all"] && bench.labellers("Three", .psk) == ["all"])
        await bench.close()
    }

    @Test("29 A late answer labels the list that it was asked about, not what came into sight since") @LoopActor
    func generations() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open))
        try bench.add("a")
        bench.labels("a", [("Cafe", Self.low), ("Bar", Self.low)])
        bench.hold("a")
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.told("a").count == 1 })
        bench.services.settings.filterInterval = .seconds(3600)
        await bench.pause(.milliseconds(100))
        bench.see(("Cafe", .open), ("Bar", .open))
        bench.letGo("a")
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a"] })
        #expect(bench.told("a").count == 1 && bench.labellers("Bar").isEmpty)
        await bench.once()
        #expect(bench.labellers("Bar") == ["a"], "it was asked about it now")
        await bench.close()
    }

    @Test("19 A helper that is switched off hears nothing and labels nothing, at once; one that is gone is forgotten") @LoopActor
    func switches() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open), ("Bar", .open))
        for name in ["a", "b"] {
            try bench.add(name)
            bench.labels(name, [("Cafe", Self.low), ("Bar", Self.low)])
        }
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a", "b"] && bench.labellers("Bar") == ["a", "b"] })
        // One network is switched off for one helper: the answer on its way does not restore the label.
        bench.hold("a")
        var count = bench.told("a").count
        #expect(await bench.eventually { bench.told("a").count > count })
        let cafe = SSID(printable: "Cafe")!
        let changes = bench.changes
        try bench.switch(helper: "a", ssid: cafe, on: false)
        #expect(bench.labellers("Cafe") == ["b"] && bench.changes > changes)
        bench.letGo("a")
        count = bench.told("a").count
        #expect(await bench.eventually { bench.told("a").count > count + 1 })
        #expect(bench.asked(bench.told("a").last) == ["Bar"] && bench.labellers("Cafe") == ["b"])
        #expect(bench.labellers("Bar") == ["a", "b"])
        // After the helper is switched on again, it has no label until it has been asked again.
        bench.hold("a")
        count = bench.told("a").count
        #expect(await bench.eventually { bench.told("a").count > count })
        try bench.switch(helper: "a", ssid: cafe, on: true)
        #expect(bench.labellers("Cafe") == ["b"])
        bench.letGo("a")
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a", "b"] })
        // One network is switched off for all helpers.
        try bench.switch(helper: nil, ssid: cafe, on: false)
        #expect(bench.labellers("Cafe").isEmpty)
        count = bench.told("b").count
        #expect(await bench.eventually { bench.told("b").count > count + 1 })
        #expect(bench.asked(bench.told("b").last) == ["Bar"])
        // One helper is switched off everywhere, while it is being asked.
        bench.hold("b")
        count = bench.told("b").count
        #expect(await bench.eventually { bench.told("b").count > count })
        try bench.switch(helper: "b", ssid: nil, on: false)
        #expect(bench.labellers("Bar") == ["a"] && bench.cycle.labels["b"] == nil)
        #expect(await bench.eventually { !bench.services.host.isRunning("b") }, "the question is withdrawn")
        // The same for a helper that was removed; a new one with its name starts without labels.
        bench.remove("a")
        #expect(bench.cycle.labels.isEmpty)
        bench.hold("a")
        try bench.add("a", ssids: "Bar")
        #expect(bench.labellers("Bar").isEmpty)
        await bench.close()
    }

    @Test("D18 What comes after the list was closed is counted, told, and changes nothing") @LoopActor
    func late() async throws {
        let bench = try FilterBench(interval: .seconds(3600)) {
            $0.cancelTerm = .seconds(20)
            $0.cancelKill = .seconds(30)
        }
        bench.see(("Cafe", .open))
        try bench.add("a")
        bench.labels("a", [("Cafe", Self.high)])
        bench.answerAfterTheEnd("a")
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.told("a").count == 1 })
        bench.cycle.watch(0)
        let changes = bench.changes
        #expect(await bench.eventually { bench.ignored["a"] == 1 })
        #expect(bench.services.host.ignoredAnswers["a"] == 1)
        #expect(bench.cycle.labels.isEmpty && bench.changes == changes)
        await bench.close()
    }

    @Test("A list that is asked for once waits a second at most, and late questions are withdrawn") @LoopActor
    func once() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open))
        try bench.add("quick")
        try bench.add("slow")
        for name in ["quick", "slow"] { bench.labels(name, [("Cafe", Self.low)]) }
        bench.hold("slow")
        // On a busy machine the quick helper needs more than a second for its start.
        bench.cycle.patience = .seconds(10)
        var seen: [[String]] = []
        await withCheckedContinuation { continuation in
            bench.cycle.once { seen.append(bench.labellers("Cafe")) }
            bench.cycle.once {
                seen.append(bench.labellers("Cafe"))
                continuation.resume()
            }
        }
        #expect(seen == [["quick"], ["quick"]], "both heard what came in time")
        #expect(await bench.eventually { bench.services.host.processCount == 0 && bench.cycle.labels.isEmpty })
        #expect(bench.told("quick").count == 1 && bench.told("slow").count == 1)
        // If no helper is to be asked, no client waits.
        bench.see()
        await bench.once()
        #expect(bench.told("quick").count == 1)
        await bench.close()
    }

    @Test("22, 30, 31 The list is asked beside a pending command of the same helper, and no answer moves the machine") @LoopActor
    func besideACommand() async throws {
        let bench = try FilterBench()
        bench.see(("Cafe", .open))
        try bench.add("a")
        bench.write("\(bench.folder)/notes/a.Authenticate.hold", "")
        let ssid = SSID(printable: "Cafe")!
        let controller = InterfaceController(index: 7, name: "wlan0", services: bench.services)
        controller.join(
            Joined(
                association: "0", network: .wireless(ssid, .open), ssid: ssid, security: .open,
                snapshot: LinkSnapshot(index: 7, name: "wlan0", addresses: ["192.0.2.2/24"], gateways: ["192.0.2.1"]),
                facts: LinkFacts(nameservers: ["192.0.2.1"], source: "test")))
        // 30: the helper never answered FilterScanList, and on joining it is asked like any other helper.
        #expect(await bench.eventually { bench.told("a", "Authenticate").count == 1 })
        #expect(bench.told("a", "Evaluate").count == 1 && bench.told("a").isEmpty)
        let state = controller.machine.state
        bench.labels("a", [("Cafe", Self.high)])
        bench.cycle.watch(1)
        #expect(await bench.eventually { bench.labellers("Cafe") == ["a"] && bench.told("a").count >= 3 })
        bench.labels("a", [])
        #expect(await bench.eventually { bench.labellers("Cafe").isEmpty })
        #expect(controller.machine.state == state, "31")
        #expect(bench.told("a", "Authenticate").count == 1 && bench.told("a", "Evaluate").count == 1)
        // Authenticate was not disturbed either: its answer counts.
        bench.cycle.watch(0)
        unlink("\(bench.folder)/notes/a.Authenticate.hold")
        #expect(await bench.eventually { controller.machine.state != state })
        controller.leave("the test ends")
        await bench.close()
    }
}
