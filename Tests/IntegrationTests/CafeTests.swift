import Foundation
import Testing

/// The café, run once for each mode: every line of its results is asserted.
@Suite(
    .serialized, .enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that serve in the café"))
struct CafeTests {
    private struct Line: Decodable {
        var name: String?
        var ok: Bool?
        var detail: String?
    }

    /// The tests themselves: those that want radios run in the virtual laptop as well.
    private static let bundle = Machine.checkout.appendingPathComponent(".build/debug/hotspotdPackageTests.xctest")

    private func visit(mode: String, _ more: [String] = [], expected: [String]) throws {
        let scratch = try Scratch()
        let results = scratch.path + "/results.jsonl"
        let run = try Finished.run(
            Machine.checkout.appendingPathComponent("Tests/Cafe/cafe").path,
            ["--bin", Machine.release.path, "--mode", mode, "--results", results] + more,
            environment: ProcessInfo.processInfo.environment.filter {
                ["HOTSPOTD_CAFE_CACHE", "XDG_CACHE_HOME", "CI"].contains($0.key)
            })
        print(run.output)
        if run.status == 77, !Machine.isCI {
            // It said in one line what this machine lacks.
            try Test.cancel("\(run.output.split(separator: "\n").last ?? "something is missing")")
        }
        let lines = try String(contentsOfFile: results, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        let held = lines.filter { $0.name != nil && $0.ok != nil }
        for line in held { #expect(line.ok == true, "\(line.name!): \(line.detail ?? "")") }
        for name in expected { #expect(held.contains { $0.name == name }, "\(name) was not even tried") }
        #expect(run.status == 0)
    }

    /// What both ways of visiting must show.
    private static let always = [
        "join.states", "silent.authenticated", "silent.page", "silent.check", "question.asked", "question.answered",
        "question.page",
        "return.maintained", "return.page", "logoff.states", "logoff.atThePortal", "wispr.noPasswordOnScreen",
        "wispr.storedAccount", "wispr.secondPage", "daemon.ends", "secrets.nowhereInTheClear",
    ]

    /// Above the radio, over cables, in seconds.
    @Test func overCables() throws {
        try visit(
            mode: "veth",
            expected: Self.always + [
                "helpers.known", "return.faster", "logoff.closed", "host.veth", "host.nftables", "host.landlock",
                "host.userNamespaces", "host.pidNamespaces",
            ])
    }

    /// Portals that hang, lie and flood, a helper that is not there and one that is killed: a true state and a reason each time.
    @Test func hostilePortals() throws {
        let faults = ["hang", "garbage", "empty", "drip", "redirects", "gigabyte", "status511"]
        let pages = ["hang", "garbage", "empty", "drip", "redirects", "gigabyte", "selfSigned"].map { "\($0)InPages" }
        try visit(
            mode: "veth", ["--hostile"],
            expected: (faults + pages).flatMap { ["hostile.\($0).state", "hostile.\($0).inTime", "hostile.\($0).nextWorks"] } + [
                "hostile.hang.reason", "hostile.gigabyteInPages.reason", "hostile.selfSignedInPages.reason",
                "hostile.unknownInterface", "hostile.missingHelper", "hostile.inARow", "hostile.killed.reason",
                "hostile.killed.recovers", "hostile.memory",
            ])
    }

    /// Everything, with simulated radios in the virtual laptop.
    @Test func overTheAir() throws {
        let hasBundle = FileManager.default.fileExists(atPath: Self.bundle.path)
        #expect(hasBundle || !Machine.isCI, "the tests lie at \(Self.bundle.path)")
        try visit(
            mode: "radio", hasBundle ? ["--test-bundle", Self.bundle.path] : [],
            expected: Self.always + [
                "list.names", "list.security", "list.claims", "laptop.netem", "laptop.cgroup",
            ] + (hasBundle ? ["radio.liveTests", "radio.liveTestsAsAnyone"] : []))
    }

    /// Labels in the list, two radios, who was told what, and a suspend to RAM in the middle of a session: one boot for all.
    @Test func labelsTwoRadiosAndASleep() throws {
        let expected = Self.labels + Self.stations + Self.asleep + Self.discretion + ["daemon.ends"]
        try visit(mode: "radio", ["--air"], expected: expected)
    }

    /// What helpers say of the networks in sight, and that nobody is asked when nobody looks.
    private static let labels = [
        "open", "twoOnOneNetwork", "ownNetwork", "notElsewhere", "passwordNeeded", "passwordMakesReady", "oneSwitchedOff",
        "oneSeesItNoMore", "networkSwitchedOff", "nobodySeesItAnyMore", "switchedOnAgain", "networkSwitchedOnAgain",
        "newNetworkAppears", "nothingAdded", "orderIsTheSignals", "askedAgainAndAgain", "notAskedWithoutScanList",
        "ownNetworkOnly", "passwordNotInTheList", "nobodyLooksNobodyIsAsked", "done",
    ].map { "labels.\($0)" }

    /// One interface's doings and the other's peace; one is renamed, vanishes and comes back.
    private static let stations = [
        "secondIsManaged", "firstOnline", "joinUnnoticed", "independent", "oneQuestion", "leaveUnnoticed", "secondOnline",
        "firstStaysOut", "firstMaintained", "returnUnnoticed", "bothOnline", "listMovesNothing.first",
        "listMovesNothing.second", "renamed", "oldNameGone", "renamedMaintained", "renamedOnline", "renameUnnoticed", "removed",
        "removedEndsInactive", "addedAgain", "addedAgainIsAnother", "addedAgainOpen", "addedAgainOnline", "removalUnnoticed",
        "logoffAtThePortal", "logoffUnnoticed", "secondStillOnline", "secondIsGone", "done",
    ].map { "stations.\($0)" }

    /// What the laptop finds when it wakes up.
    private static let asleep = [
        "suspend.asleep", "suspend.daemonThere", "suspend.oneMaintain", "suspend.sessionKept", "suspend.page", "laptop.suspend",
        "suspend.done",
    ]

    /// The helpers' own records of the whole run, and the daemon's journal beside them.
    private static let discretion = [
        "allSixCommands", "ownNetworkOnly", "joinedNetworkOnly", "everyJoinedNetwork", "listForWhoAsksForIt", "wholeListForOne",
        "listAlone", "journal.all-seeing", "journal.no-password", "journal.train-only", "journal.joined-only",
        "journal.scanList", "journal.nothingElse", "log", "noSecretAnywhere", "done",
    ].map { "discretion.\($0)" }
}
