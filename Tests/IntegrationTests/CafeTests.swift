import Foundation
import TestSupport
import Testing

/// One run of `Tests/Cafe/cafe`: every line of its results.
struct CafeVisit: Sendable {
    struct Line: Decodable {
        var scene: String?
        var name: String?
        var ok: Bool?
        var detail: String?
    }

    private let run: Finished
    private let lines: [Line]
    /// The run needs programs that are not available everywhere, so that it is skipped in CI as well.
    private let isOptional: Bool

    /// Runs it on a thread of its own: it takes minutes, and other tests want the concurrency pool's.
    ///
    /// - Parameter root: the words of a command that runs it in another root.
    static func start(
        _ arguments: [String], of program: String = "Tests/Cafe/cafe", in root: [String] = [], isOptional: Bool = false
    ) async throws -> CafeVisit {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try CafeVisit(arguments, of: program, in: root, isOptional: isOptional) })
            }
        }
    }

    private init(_ arguments: [String], of program: String, in root: [String], isOptional: Bool) throws {
        self.isOptional = isOptional
        let scratch = TemporaryFolder()
        let results = scratch.path + "/results.jsonl"
        let words =
            root + [Machine.checkout.appendingPathComponent(program).path, "--bin", Machine.release.path, "--results", results]
        run = try Finished.run(
            words[0], words.dropFirst() + arguments,
            environment: ProcessInfo.processInfo.environment.filter {
                ["HOTSPOTD_CAFE_CACHE", "HOTSPOTD_SERVERS", "PATH", "XDG_CACHE_HOME", "CI"].contains($0.key)
            })
        print(run.output)
        let text = (try? String(contentsOfFile: results, encoding: .utf8)) ?? ""
        lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Expects that every result of the scene whose name begins with one of the prefixes is good, and that none is missing.
    func expect(_ scene: String, prefixes: [String] = [""], _ expected: [String]) throws {
        try cancelIfIncapable()
        let results = lines.filter { line in
            line.scene == scene && line.ok != nil && prefixes.contains { line.name?.hasPrefix($0) == true }
        }
        for line in results { #expect(line.ok == true, "\(line.name!): \(line.detail ?? "")") }
        for name in expected { #expect(results.contains { $0.name == name }, "\(name) was not even tried") }
    }

    /// Expects that the run ended successfully, and shows what prevented that.
    func expectSuccess() throws {
        try cancelIfIncapable()
        let failed = lines.filter { $0.ok == false }.map { "\($0.scene ?? ""): \($0.name ?? "")" }
        #expect(run.status == 0, "exit status \(run.status); \(failed)")
    }

    func count(_ scene: String) -> Int { lines.count { $0.scene == scene && $0.ok != nil } }

    /// Skips the test if the café has said, in one line, what this machine lacks.
    private func cancelIfIncapable() throws {
        if run.status == 77, isOptional || !Machine.isCI {
            try Test.cancel("\(run.output.split(separator: "\n").last ?? "something is missing")")
        }
    }

    /// The checks of every visit.
    static let always = [
        "join.states", "silent.authenticated", "silent.page", "silent.check", "question.asked", "question.answered",
        "question.page", "return.maintained", "return.page", "logoff.states", "logoff.atThePortal", "wispr.noPasswordOnScreen",
        "wispr.storedAccount", "wispr.secondPage", "daemon.ends", "secrets.nowhereInTheClear", "done",
    ]

    /// The checks of every visit to a portal of scripts.
    static let scripts =
        [
            "plain.asks", "plain.noBrowser", "asks", "fields", "whileAsked", "oneLoad", "words", "helper", "endsAfterTheLogin",
            "samePage", "sentOnce", "questions", "oneBrowser", "online", "explained", "return.online", "return.asksNothing",
            "return.sentOnce", "return.ends", "logoff", "logoff.noBrowser", "end.nothingLeft", "secrets",
        ].map { "scripts.\($0)" } + ["done"]
}

/// The café over cables, in namespaces of this machine: it needs no boot.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that serve in the café"))
struct CafeOverCablesTests {
    /// Everything above the radio, in seconds.
    @Test func overCables() async throws {
        let visit = try await CafeVisit.start(["--mode", "veth"])
        try visit.expect(
            "show",
            CafeVisit.always + [
                "helpers.known", "return.faster", "logoff.closed", "host.veth", "host.nftables",
                "host.userNamespaces", "host.pidNamespaces",
            ])
        try visit.expectSuccess()
    }

    /// Portals that hang, lie and flood, a helper that is missing and one that is killed: a true state and a reason each time.
    @Test func hostilePortals() async throws {
        let faults = ["hang", "garbage", "empty", "drip", "redirects", "gigabyte", "status511"]
        let pages = ["hang", "garbage", "empty", "drip", "redirects", "gigabyte", "selfSigned"].map { "\($0)InPages" }
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "hostile"])
        try visit.expect(
            "hostile",
            (faults + pages).flatMap { ["hostile.\($0).state", "hostile.\($0).inTime", "hostile.\($0).nextWorks"] } + [
                "hostile.hang.reason", "hostile.gigabyteInPages.asks", "hostile.selfSignedInPages.asks",
                "hostile.unknownInterface", "hostile.missingHelper", "hostile.inARow", "hostile.killed.reason",
                "hostile.killed.recovers", "hostile.memory", "done",
            ])
        try visit.expectSuccess()
    }

    /// Chromium logs in to a portal that is only script, on the link alone, and leaves nothing.
    @Test func browser() async throws {
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "browse"])
        try visit.expect(
            "browse",
            [
                "asks", "closed.203.0.113.10", "opens", "helper", "agent", "private", "stranger.sameUser", "stranger.root",
                "says",
                "online", "counts", "history", "nothingLeft", "onlineAlready", "maintain", "maintainedBy", "next.asks",
                "next.atOnce", "next.prompt", "interrupted", "interrupted.nothingLeft", "interrupted.asks",
            ].map { "browse.\($0)" } + ["daemon.ends", "done"])
        try visit.expectSuccess()
    }

    /// A login that scripts build is rendered in the daemon's sandbox, asked about in the terminal, and sent by Chromium.
    @Test(.enabled(if: Machine.runs(Machine.has("chromium")), "apt install chromium")) func scripts() async throws {
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "scripts"])
        try visit.expect(
            "scripts",
            CafeVisit.scripts
                + ["killed.browserEnds", "killed.online", "killed.openedAnew", "killed.sentOnce", "killed.ends"]
                .map { "scripts.\($0)" }
                + ["greedy.told", "greedy.limited", "greedy.ends", "greedy.nextWorks"].map { "scripts.\($0)" }
                + ["off.handedOver", "off.told", "off.noBrowser"].map { "scripts.\($0)" })
        try visit.expectSuccess()
    }

    /// A VPN is up in several ways: the login succeeds, or the rule that forbids it is named; the VPN is never touched.
    @Test func vpns() async throws {
        let open = ["none", "strictAlone", "openvpn", "wgQuick", "networkManager", "tailscale", "proton", "resolved", "loose"]
        let forbidden = ["strict", "strictDef1", "mullvad", "killSwitch", "names", "rejects", "lockdown"]
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "vpn"])
        try visit.expect(
            "vpn",
            (open + forbidden + ["dead"]).flatMap { ["vpn.\($0).online", "vpn.\($0).untouched", "vpn.\($0).said"] }
                + forbidden.map { "vpn.\($0).exception" } + ["daemon.ends", "done"])
        try visit.expectSuccess()
    }

    /// A guest's journeys at a portal over plain HTTP, with default settings and with short times: questions, requests, and
    /// the truth at the end.
    @Test func journeys() async throws {
        let journeys = [
            "firstVisit", "comeBack", "plainReturn", "changedTerms", "changedKey", "typo", "refused", "late5", "late12", "late40",
            "restart", "loginWhileOnline", "logOffAndIn", "endedByThePortal", "browser", "twoInterfaces", "switched", "never",
            "pin", "walkedAway", "forgotten",
        ]
        let short = [
            "firstVisit", "comeBack", "plainReturn", "changedTerms", "typo", "refused", "late5", "restart", "loginWhileOnline",
            "logOffAndIn", "endedByThePortal", "browser", "forgotten",
        ].map { "short.\($0)" }
        let visit = try await CafeVisit.start(["--mode", "veth", "--scene", "journeys"])
        try visit.expect(
            "journeys",
            (journeys + short).flatMap { ["journeys.\($0).state", "journeys.\($0).asked", "journeys.\($0).sent"] } + ["done"])
        try visit.expectSuccess()
    }
}

/// The virtual laptop with simulated radios. It boots once; each test reads the results of one scene.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that serve in the café"))
struct CafeTests {
    /// The tests themselves: those that need radios run in the virtual laptop as well.
    private static let bundle = Machine.checkout.appendingPathComponent(".build/debug/hotspotdPackageTests.xctest")
    private static let hasBundle = FileManager.default.fileExists(atPath: bundle.path)
    private static let hasBrowser = Machine.runs(Machine.has("chromium"))
    private static let laptop = Task.detached {
        try await CafeVisit.start(
            ["--mode", "radio", "--scene", "show", "--scene", "air", "--scene", "join", "--scene", "units"]
                + (hasBundle ? ["--test-bundle", bundle.path] : []))
    }

    /// Access points announce a login before anything is joined, one of them falsely.
    private static func announcements(_ prefix: String) -> [String] {
        ["elements", "answers", "shown", "printable", "nothingElsewhere"].map { "\(prefix).\($0)" }
    }

    /// The unit tests of the radio's code, once as root and once as an ordinary user.
    @Test func liveRadio() async throws {
        #expect(Self.hasBundle || !Machine.isCI, "the tests lie at \(Self.bundle.path)")
        try await Self.laptop.value.expect("radio", Self.hasBundle ? ["radio.liveTests", "radio.liveTestsAsAnyone"] : [])
    }

    /// The show of `make cafe`.
    @Test func overTheAir() async throws {
        try await Self.laptop.value.expect("fabric", ["done"])
        try await Self.laptop.value.expect(
            "show",
            CafeVisit.always + ["list.names", "list.security", "list.claims", "laptop.netem"] + Self.announcements("announced")
                + ["announced.lie", "announced.nothingSent", "announced.once"])
    }

    /// Helpers label the networks in sight, and are asked only while a client watches the list.
    @Test func labels() async throws {
        try await Self.laptop.value.expect(
            "air", prefixes: ["labels."],
            [
                "open", "twoOnOneNetwork", "ownNetwork", "notElsewhere", "passwordNeeded", "passwordMakesReady", "oneSwitchedOff",
                "oneNoLongerSeesIt", "networkSwitchedOff", "noHelperSeesItAnyMore", "switchedOnAgain", "networkSwitchedOnAgain",
                "newNetworkAppears", "nothingAdded", "orderIsTheSignals", "askedRepeatedly", "notAskedWithoutScanList",
                "ownNetworkOnly", "passwordNotInTheList", "notAskedWhenUnwatched", "done",
            ].map { "labels.\($0)" })
    }

    /// Events on one interface leave the other alone; one interface is renamed, vanishes and comes back.
    @Test func twoRadios() async throws {
        try await Self.laptop.value.expect(
            "air", prefixes: ["stations."],
            [
                "secondIsManaged", "firstOnline", "joinUnnoticed", "independent", "oneQuestion", "roamHasNoCarrier",
                "roamUnnoticed", "leaveUnnoticed", "secondOnline",
                "firstStaysOut", "firstMaintained", "returnUnnoticed", "bothOnline", "listMovesNothing.first",
                "listMovesNothing.second", "renamed", "oldNameGone", "renamedMaintained", "renamedOnline", "renameUnnoticed",
                "removed",
                "removedEndsInactive", "addedAgain", "addedAgainIsAnother", "addedAgainOpen", "addedAgainOnline",
                "removalUnnoticed",
                "logoffAtThePortal", "logoffUnnoticed", "secondStillOnline", "secondIsGone", "done",
            ].map { "stations.\($0)" })
    }

    /// A suspend to RAM in the middle of a session.
    @Test func asleep() async throws {
        try await Self.laptop.value.expect(
            "air", prefixes: ["suspend.", "laptop."],
            [
                "suspend.asleep", "suspend.daemonThere", "suspend.oneMaintain", "suspend.sessionKept", "suspend.page",
                "laptop.suspend",
                "suspend.done",
            ])
    }

    /// The helpers' own records of the whole scene, and the daemon's journal beside them.
    @Test func discretion() async throws {
        try await Self.laptop.value.expect(
            "air", prefixes: ["discretion.", "daemon.", "done"],
            [
                "allSixCommands", "ownNetworkOnly", "joinedNetworkOnly", "everyJoinedNetwork", "listOnlyOnRequest",
                "wholeListForOne",
                "listAlone", "journal.all-seeing", "journal.no-password", "journal.train-only", "journal.joined-only",
                "journal.scanList", "journal.nothingElse", "log", "noSecretAnywhere", "done",
            ].map { "discretion.\($0)" } + ["daemon.ends", "done"])
    }

    /// Networks are joined and left through NetworkManager, iwd and wpa_supplicant, and by the kernel alone.
    @Test func joiningAndLeaving() async throws {
        let all = [
            "passwordNeeded", "passwordTooShort", "wrongPassword", "password", "passwordNotLogged", "shown", "unknown", "open",
            "left", "onceIsForgotten", "passwordOfAHelper", "done",
        ]
        let managers = ["nm": ["known", "oneProfile"], "iwd": ["known"], "wpa": ["othersAsBefore"]]
        let alone = ["open", "shown", "needsAProgram", "left", "switchedOff", "switchedOn", "done", "daemonEnds"]
        try await Self.laptop.value.expect(
            "join",
            managers.flatMap { name, own in (all + own).map { "\(name).\($0)" } } + Self.announcements("nm.announced")
                + alone.map { "radio.\($0)" } + ["done"])
    }

    /// The daemon, a helper that is its child, and two that the service manager runs: the units as they are, under a systemd of their own.
    /// The daemon's confinement must leave it able to confine its helpers.
    @Test func daemonAndHelpersRunUnderTheUnits() async throws {
        try await Self.laptop.value.expect("units", ["ends"])
        let findings = try await Self.laptop.value.count("units") - 1
        #expect(findings == (Self.hasBrowser ? 49 : 46))
    }

    @Test func everySceneSucceeds() async throws { try await Self.laptop.value.expectSuccess() }
}

/// Two laptops over BlueZ and virtual adapters. The virtual laptop's kernel has Bluetooth, whatever this machine's has.
@Suite(.enabled(if: Machine.runs(Machine.hasRelease), "make build makes the release binaries that serve in the café"))
struct CompanionCafeTests {
    /// First two companions that are controlled by lines, with BlueZ restarted and a link lost; then BlueZ with another stack, whose role is named,
    /// at each MTU; then the programs that users have.
    @Test func aLoginIsHandedOver() async throws {
        let visit = try await CafeVisit.start(["--mode", "veth", "--laptop", "--scene", "companion"])
        try visit.expect(
            "companion",
            ["paired", "answered", "handedOver", "restarted", "resumed", "ends"].map { "pair.\($0)" }
                + [23, 185, 517].flatMap { ["stack.\($0).central", "stack.\($0).peripheral"] }
                + ["stack.ends", "paired.both", "shared.online", "shared.notLogged", "shared.forgotten", "done"])
        try visit.expectSuccess()
    }
}
