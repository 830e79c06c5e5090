import Foundation
import HotspotCore
import TestSupport
import Testing

/// `hotspotctl browse` with the real `hotspot-helpers --browse`, and a browser that is a script.
@Suite struct BrowseVerbTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = TemporaryFolder()
        mkdir(folder.path + "/profiles", 0o700)
    }

    private let network =
        #"{"interface":"lo","start":"http://probe.example/?a=1","addresses":["127.0.0.1/8"],"gateways":[],"nameservers":[]}"#

    private func status(_ state: String, captive: Bool) -> String {
        #"{"version":"1","interfaces":[{"interface":"lo","state":"\#(state)","since":1,"captive":\#(captive),"problems":[]}]}"#
    }

    private func daemon(_ states: [String], check verdict: String = "captive") throws -> FakeDaemon {
        try FakeDaemon(
            .init(replies: ["Browse": [network], "Check": [#"{"verdict":"\#(verdict)"}"#]], status: [states]))
    }

    /// Writes a browser that notes its arguments and its process ID, and then runs the line.
    private func browser(_ line: String) throws -> String {
        folder.write(
            "chromium", "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(folder.path)/words\necho $$ > \(folder.path)/pid\n\(line)\n",
            mode: 0o755)
    }

    private func start(_ daemon: FakeDaemon, _ browser: String, _ options: [String] = [], input: Int32? = nil) throws -> Tool {
        let nothing = open("/dev/null", O_RDONLY)
        defer { close(nothing) }
        return try Tool(
            ["--socket", daemon.path, "browse", "--browser", browser] + options, input: input ?? nothing,
            environment: ["LANG=C.UTF-8", "PATH=/usr/bin:/bin", "TMPDIR=\(folder.path)/profiles"])
    }

    /// Waits for the browser's note and returns it.
    private func note(_ name: String) -> String {
        for _ in 0..<3000 {
            let text = (try? String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)) ?? ""
            if text.hasSuffix("\n") { return text }
            usleep(10_000)
        }
        Issue.record("the browser did not start")
        return ""
    }

    private var profiles: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/profiles")) ?? [] }

    /// Whether the browser and its profile are gone.
    private func nothingIsLeft() -> Bool {
        let pid = pid_t(note("pid").dropLast()) ?? 0
        return pid > 0 && kill(pid, 0) != 0 && profiles.isEmpty
    }

    @Test func theBrowserEndsWhenTheLoginIsProven() throws {
        let daemon = try daemon([status("presentingUI", captive: true), status("authenticated", captive: false)])
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600")).end()
        #expect(ended.status == 0 && ended.errors == "")
        #expect(
            ended.output.hasPrefix("Opening a browser that uses only lo. It closes by itself when you are online.\nOnline"))
        #expect(Array(daemon.calls.prefix(3)) == ["Browse", "Status", "Check"])
        let words = note("words")
        #expect(words.contains("--proxy-server=socks5://127.0.0.1:") && words.hasSuffix("/start.html\n"))
        #expect(!words.contains("probe.example"), "the process list has no address of the portal")
        #expect(nothingIsLeft())
    }

    @Test func aBrowserThatIsClosedEarlyLeavesTheQuestion() throws {
        let daemon = try daemon([status("presentingUI", captive: true)])
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exit 0")).end()
        #expect(ended.status == 4 && ended.errors.contains("the portal still asks for a login"), "\(ended)")
        #expect(daemon.calls.last == "Login", "the helpers have the network again")
        #expect(nothingIsLeft())
    }

    @Test func aLoginOfTheLastMomentCounts() throws {
        let daemon = try daemon(
            [status("presentingUI", captive: true), status("authenticated", captive: false)], check: "online")
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exit 0")).end()
        #expect(ended.status == 0 && ended.output.contains("Online"), "\(ended)")
    }

    @Test func anInterruptEndsEverything() throws {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let daemon = try daemon([status("presentingUI", captive: true)])
            defer { daemon.stop() }
            try? FileManager.default.removeItem(atPath: folder.path + "/pid")
            let tool = try start(daemon, browser("sleep 600 & sleep 600"))
            _ = note("pid")
            #expect(profiles.count == 1)
            kill(tool.pid, number)
            let ended = tool.end()
            #expect(ended.status == 128 + number, "\(ended)")
            #expect(nothingIsLeft())
        }
    }

    @Test func theBrowserEndsWithATerminalThatIsKilled() throws {
        let daemon = try daemon([status("presentingUI", captive: true)])
        defer { daemon.stop() }
        let tool = try start(daemon, browser("exec sleep 600"))
        _ = note("pid")
        kill(tool.pid, SIGKILL)
        // The tool's outputs are also its child's, so they end only with the child.
        #expect(tool.end().signal == SIGKILL)
        #expect(nothingIsLeft())
    }

    // MARK: A portal with a warning

    private static let warnings = [
        "This portal asks for your Microsoft account, but it does not belong to Microsoft.",
        "This portal's key differs from the one for which your answers were stored. This may be an impostor.",
    ]

    /// A daemon that requires consent before the login begins.
    private func warned(_ warning: String) throws -> FakeDaemon {
        try FakeDaemon(
            .init(
                replies: [
                    "Browse": [#"!SuspiciousPortal {"warning":"\#(warning)"}"#, network], "Check": [#"{"verdict":"captive"}"#],
                ],
                status: [[status("presentingUI", captive: true), status("authenticated", captive: false)]]))
    }

    @Test(arguments: warnings) func aYesOpensThePortal(_ warning: String) throws {
        let daemon = try warned(warning)
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try start(daemon, browser("exec sleep 600"), input: terminal.slave)
        tool.waitForErrors("! \(warning) Open it anyway? [y/N] ")
        #expect(daemon.calls == ["Browse"] && profiles.isEmpty)
        terminal.type("y\n")
        let ended = tool.end()
        #expect(ended.status == 0 && ended.output.contains("Online"), "\(ended)")
        #expect(daemon.allParameters("Browse").map { $0["anyway"] } == [nil, true])
        #expect(nothingIsLeft())
    }

    @Test(arguments: ["n\n", "\n"]) func aNoLeavesThePortal(_ word: String) throws {
        let daemon = try warned(Self.warnings[0])
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try start(daemon, browser("exec sleep 600"), ["wlan0"], input: terminal.slave)
        tool.waitForErrors("[y/N] ")
        terminal.type(word)
        let ended = tool.end()
        let words = "hotspotctl: No browser was opened.\n  try: hotspotctl status wlan0\n"
        #expect(ended.status == 4 && ended.errors.hasSuffix(words), "\(ended)")
        #expect(daemon.calls == ["Browse"] && profiles.isEmpty)
    }

    @Test(arguments: warnings) func withoutATerminalItIsRefused(_ warning: String) throws {
        let daemon = try warned(warning)
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600")).end()
        let words =
            "\(warning) hotspotctl did not open a browser, because it cannot ask you here.\n  try: hotspotctl browse --anyway\n"
        #expect(ended.status == 4 && ended.errors == "hotspotctl: " + words, "\(ended)")
        #expect(daemon.calls == ["Browse"] && profiles.isEmpty)
    }

    @Test func anywayAsksNothing() throws {
        let daemon = try daemon([warnedStatus, status("authenticated", captive: false)])
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600"), ["--anyway"]).end()
        #expect(ended.status == 0 && ended.errors == "" && daemon.parameters("Browse")?["anyway"] == true, "\(ended)")
        #expect(nothingIsLeft())
    }

    private var warnedStatus: String {
        status("presentingUI", captive: true).replacing(#""problems""#, with: #""warning":"\#(Self.warnings[1])","problems""#)
    }

    /// The helper may be the first program that sees the portal's key.
    @Test func aWarningThatComesWithTheLoginIsAskedAbout() throws {
        let daemon = try daemon([warnedStatus])
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600")).end()
        #expect(ended.status == 4 && ended.errors.contains(Self.warnings[1]) && ended.output == "", "\(ended)")
        #expect(daemon.calls == ["Browse", "Status", "Login"] && profiles.isEmpty)
    }

    @Test func withoutABrowserItSaysSo() throws {
        let daemon = try daemon([status("presentingUI", captive: true)])
        defer { daemon.stop() }
        let ended = try start(daemon, "\(folder.path)/nonesuch").end()
        #expect(ended.status == 1, "\(ended)")
        #expect(ended.errors == "hotspotctl: \(folder.path)/nonesuch is not a program that can be started.\n", "\(ended)")
        #expect(profiles.isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0)) func rootIsRefused() throws {
        let daemon = try daemon([])
        defer { daemon.stop() }
        let ended = try Tool.run(["--socket", daemon.path, "browse"], environment: ["DISPLAY=:0"])
        #expect(ended.status == 1 && ended.errors.contains("without sudo") && daemon.calls.isEmpty, "\(ended)")
    }

    @Test func withoutADisplayNothingIsStarted() throws {
        let daemon = try daemon([])
        defer { daemon.stop() }
        let ended = try Tool.run(["--socket", daemon.path, "browse"])
        #expect(ended.status == 1 && ended.errors.contains("no display") && daemon.calls.isEmpty, "\(ended)")
    }

    /// The browser never starts as root, so sudo does not help.
    @Test func anotherUserIsSentToTheGroup() throws {
        let daemon = try FakeDaemon(.init(replies: ["Browse": [#"!NotPermitted {"message":"This needs the group."}"#]]))
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600")).end()
        #expect(ended.status == 1 && ended.errors.hasSuffix("  try: sudo usermod -aG hotspotd $USER, then log in again\n"))
    }

    @Test func whereItIsOnlineAlreadyItSaysSo() throws {
        let daemon = try FakeDaemon(
            .init(replies: ["Browse": [#"!Failed {"code":"alreadyOnline","message":"lo is online already."}"#]]))
        defer { daemon.stop() }
        let ended = try start(daemon, browser("exec sleep 600")).end()
        #expect(ended.status == 1 && ended.errors.contains("lo is online already."), "\(ended)")
        #expect(profiles.isEmpty)
    }
}
