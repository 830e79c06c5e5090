import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import ControlAPI
@testable import Notifications

/// From status to notifications.
@Suite struct NoticesTests {
    private static func status(
        _ state: StateName, ssid: String? = "Cafe <b>", _ change: (inout InterfaceStatus) -> Void = { _ in }
    )
        -> StatusReply
    {
        var interface = InterfaceStatus(interface: "wlan0", state: state, since: 0)
        interface.ssid = ssid
        interface.helper = "form"
        interface.captive = true
        change(&interface)
        return StatusReply(interfaces: [interface])
    }

    private static func asking(_ prompt: String) -> StatusReply { status(.presentingUI) { $0.prompt = prompt } }

    private static func online(_ seconds: Int? = nil) -> StatusReply {
        status(.authenticated) { ($0.captive, $0.secondsRemaining) = (false, seconds) }
    }

    private static let gone = status(.inactive, ssid: nil)

    /// The kinds of the shown notifications; `nil` for an order that closes one.
    private static func kinds(_ orders: [Notices.Order]) -> [Notice.Kind?] {
        orders.map { if case .show(let notice, .interface("wlan0")) = $0 { notice.kind } else { nil } }
    }

    @Test func aVisitHasOneNotificationBesidesItsQuestions() {
        var notices = Notices()
        #expect(notices.orders(for: Self.status(.evaluating), at: 0).isEmpty)
        #expect(Self.kinds(notices.orders(for: Self.asking("p1"), at: 0)) == [.question])
        #expect(notices.orders(for: Self.asking("p1"), at: 0).isEmpty)
        #expect(Self.kinds(notices.orders(for: Self.asking("p2"), at: 0)) == [.question])
        #expect(
            notices.orders(for: Self.online(6120), at: 0) == [
                .show(Notice(kind: .online, title: "Cafe <b>", body: "Online, 1 h 42 min left."), of: .interface("wlan0"))
            ])
        #expect(notices.orders(for: Self.online(6000), at: 0).isEmpty)
        #expect(notices.orders(for: Self.gone, at: 0).isEmpty)
        #expect(Self.kinds(notices.orders(for: Self.online(), at: 0)) == [.online])
    }

    @Test func aQuestionThatIsOverIsClosed() {
        for next in [Self.status(.evaluating), Self.gone] {
            var notices = Notices()
            _ = notices.orders(for: Self.asking("p1"), at: 0)
            #expect(notices.orders(for: next, at: 0) == [.close(.interface("wlan0"))])
        }
    }

    /// The body of the first notification.
    private static func body(_ orders: [Notices.Order]) -> String? {
        guard case .show(let notice, _)? = orders.first else { return nil }
        return notice.body
    }

    private static let fields = [
        Field(name: "room", label: "Room number", kind: .text, required: true),
        Field(name: "surname", label: "Sur\u{1B}name\"", kind: .text, required: true),
        Field(name: "pw", label: "", kind: .password, required: true),
        Field(name: "mail", label: "Mail", kind: .email, required: false),
        Field(name: "terms", label: "I agree", kind: .checkbox, required: true),
    ]

    @Test(arguments: [
        (1, "asks for “Room number”."), (2, #"asks for “Room number” and “Sur\x1bname”."#),
        (5, #"asks for “Room number”, “Sur\x1bname”, “pw”, 1 more and your consent."#), (0, "asks something."),
    ])
    func theQuestionSaysWhatIsAsked(_ count: Int, _ words: String) {
        let prompt = PendingPrompt(
            id: "p1", interface: "wlan0", ssid: "Cafe <b>", helper: "form", portal: nil,
            prompt: Prompt(title: "", message: nil, fields: Array(Self.fields.prefix(count))), since: 0)
        var notices = Notices { $0 == "p1" ? prompt : nil }
        #expect(Self.body(notices.orders(for: Self.asking("p1"), at: 0)) == "The portal " + words)
    }

    @Test func thePortalsReasonStandsBehindABar() {
        var notices = Notices()
        let asking = Self.status(.presentingUI) { ($0.prompt, $0.reason) = ("p1", "No guest    of that name") }
        #expect(Self.body(notices.orders(for: asking, at: 0)) == "The portal asks something.\n│ No guest of that name")
    }

    @Test func aFailedLoginIsShownWithItsReasonOnce() throws {
        var notices = Notices()
        let failed = Self.status(.failure) {
            $0.problems = [Problem(.stillCaptive, "The portal refused the answers.\nNo guest <b>")]
        }
        let notice = Notice(
            kind: .failed, title: "Cafe <b>", body: "The portal refused the answers.\n│ No guest <b>",
            command: "hotspotctl login --wait", actions: [.retry, .browse])
        #expect(notices.orders(for: failed, at: 0) == [.show(notice, of: .interface("wlan0"))])
        #expect(notices.orders(for: Self.status(.evaluating), at: 0).isEmpty)
        #expect(notices.orders(for: failed, at: 0).isEmpty, "the same reason in the same visit")
        _ = notices.orders(for: Self.asking("p1"), at: 0)
        #expect(Self.kinds(notices.orders(for: failed, at: 0)) == [.failed], "the user has answered since")
        // A network that never asked and has no portal needs no login.
        var others = Notices()
        #expect(others.orders(for: Self.status(.failure) { $0.captive = nil }, at: 0).isEmpty)
    }

    // MARK: A program that a click started

    @Test func nothingIsAskedOverABrowserThatIsOpen() {
        var notices = Notices()
        let browser = { (id: String) in Self.status(.presentingUI) { ($0.prompt, $0.handsOver) = (id, true) } }
        #expect(Self.kinds(notices.orders(for: browser("p1"), at: 0)) == [.question])
        notices.opened(on: "wlan0")
        #expect(notices.orders(for: Self.status(.evaluating), at: 0) == [.close(.interface("wlan0"))])
        #expect(notices.orders(for: browser("p2"), at: 0).isEmpty)
        // The browser was closed, and the portal still asks for a login.
        let shown = notices.closed(on: "wlan0", hasAnswered: false, problem: "The browser has ended.", at: 0)
        #expect(Self.body(shown) == "The browser has ended.\nThe portal needs a browser.")
    }

    @Test func aDialogThatIsClosedLeavesTheQuestion() {
        var notices = Notices()
        _ = notices.orders(for: Self.asking("p1"), at: 0)
        notices.opened(on: "wlan0")
        #expect(Self.kinds(notices.closed(on: "wlan0", hasAnswered: false, problem: nil, at: 0)) == [.question])
        // The program that starts a terminal may end at once, while the terminal still asks the question.
        notices.opened(on: "wlan0")
        #expect(notices.closed(on: "wlan0", hasAnswered: true, problem: nil, at: 0).isEmpty)
        #expect(Self.kinds(notices.orders(for: Self.asking("p2"), at: 0)) == [.question])
    }

    @Test func aProgramThatFailsIsTold() {
        var notices = Notices()
        _ = notices.orders(for: Self.asking("p1"), at: 0)
        notices.opened(on: "wlan0")
        _ = notices.orders(for: Self.status(.evaluating), at: 0)
        let shown = notices.closed(on: "wlan0", hasAnswered: false, problem: "No browser was opened.", at: 0)
        #expect(Self.kinds(shown) == [.failed] && Self.body(shown) == "No browser was opened.")
        // The daemon's reason is shown already.
        notices.opened(on: "wlan0")
        _ = notices.orders(for: Self.status(.failure), at: 0)
        #expect(notices.closed(on: "wlan0", hasAnswered: false, problem: "The login failed.", at: 0).isEmpty)
    }

    @Test func theLastFailureOfAProgramIsShownWithoutCommands() {
        let text = "Waiting for the portal's answer.\nhotspotctl: First.\nhotspotctl: Second.\n  │ <b>\n  try: sudo reboot\n"
        #expect(Companion.problem(in: text) == "Second.\n│ <b>")
        #expect(Companion.problem(in: "Gtk-WARNING\n") == nil)
    }

    @Test func theEndIsMentionedOnceAndAgainAfterARenewal() {
        var notices = Notices()
        _ = notices.orders(for: Self.gone, at: 0)
        _ = notices.orders(for: Self.online(3600), at: 0)
        #expect(notices.next == 3_300_000)
        #expect(notices.orders(at: 3_299_999).isEmpty)
        #expect(Self.kinds(notices.orders(at: 3_300_000)) == [.ending])
        #expect(notices.orders(at: 3_400_000).isEmpty && notices.next == nil)
        #expect(notices.orders(for: Self.online(7200), at: 3_500_000).isEmpty)
        #expect(notices.next == 3_500_000 + 7_200_000 - Notices.notice)
    }

    @Test func whatNeedsNoUserIsNotMentioned() {
        var notices = Notices()
        // The network was online when the notifier began.
        #expect(notices.orders(for: Self.online(), at: 0).isEmpty)
        #expect(notices.orders(for: Self.online(), at: 0).isEmpty)
        // A network without a login.
        let open = Self.status(.authenticated, ssid: "Home") { ($0.captive, $0.helper) = (false, nil) }
        #expect(notices.orders(for: open, at: 0).isEmpty)
    }

    @Test(arguments: [true, nil]) func aWarningIsShownInPlaceOfABrowser(_ handsOver: Bool?) {
        var notices = Notices()
        let warning = "This portal asks for your Revolut account, but it does not belong to Revolut."
        let asking = Self.status(.presentingUI) { ($0.prompt, $0.handsOver, $0.warning) = ("p1", handsOver, warning) }
        let notice = Notice(
            kind: .question, title: "Cafe <b>", body: warning, command: "hotspotctl answer", actions: [.answer])
        #expect(notices.orders(for: asking, at: 0) == [.show(notice, of: .interface("wlan0"))])
    }

    @Test func aPortalForABrowserIsOpenedInOne() throws {
        var notices = Notices()
        // Any helper may hand over, whatever it is called.
        for handsOver in [true, nil] {
            let asking = Self.status(.presentingUI) {
                ($0.prompt, $0.handsOver) = ("p\(String(describing: handsOver))", handsOver)
            }
            guard case .show(let notice, _)? = notices.orders(for: asking, at: 0).first else {
                throw Missing("nothing is shown")
            }
            #expect(notice.actions == (handsOver == true ? [.browse] : [.answer, .browse]))
            #expect(notice.command == (handsOver == true ? "hotspotctl browse" : "hotspotctl answer"))
        }
    }
}

private let hasServer =
    access("/usr/bin/dbus-daemon", X_OK) == 0 && access("/usr/lib/python3/dist-packages/dbus/__init__.py", F_OK) == 0
    && access("/usr/lib/python3/dist-packages/gi/__init__.py", F_OK) == 0

/// The program with a bus and a notification server of the test's own.
@Suite(.timeLimit(.minutes(10)), .enabled(if: hasServer || getenv("CI") != nil, "needs dbus-daemon, python3-dbus and python3-gi"))
struct NotifyProcessTests {
    /// Writes down each notification, and clicks on the first one's first button.
    private static let server = """
        import json, sys
        import dbus, dbus.bus, dbus.service
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib
        DBusGMainLoop(set_as_default=True)
        bus = dbus.bus.BusConnection(sys.argv[1])
        NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
        class Server(dbus.service.Object):
            count = 0
            @dbus.service.method(NAME, in_signature="", out_signature="as")
            def GetCapabilities(self): return sys.argv[2].split(",")
            @dbus.service.method(NAME, in_signature="", out_signature="ssss")
            def GetServerInformation(self): return sys.argv[3], "", "", "1.2"
            @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
            def Notify(self, app, replaces, icon, title, body, actions, hints, patience):
                self.count += 1
                print(json.dumps([int(replaces), title, body, actions, int(hints["urgency"])]), flush=True)
                if actions: GLib.idle_add(lambda: self.ActionInvoked(replaces or self.count, actions[0]) and False)
                return dbus.UInt32(replaces or self.count)
            @dbus.service.method(NAME, in_signature="u", out_signature="")
            def CloseNotification(self, number): print(json.dumps(["close", int(number)]), flush=True)
            @dbus.service.signal(NAME, signature="us")
            def ActionInvoked(self, number, key): pass
        server = Server(bus, PATH)
        name = dbus.service.BusName(NAME, bus)
        print("ready", flush=True)
        GLib.MainLoop().run()
        """

    private static let asks = #"""
        {"version":"1","interfaces":[{"interface":"wlan0","state":"presentingUI","since":5,"ssid":"Cafe & Co","helper":"form",
        "prompt":"p1","portal":"https://portal.aroma.example","captive":true,"problems":[]}]}
        """#
    private static let prompts = #"""
        {"prompts":[{"id":"p1","interface":"wlan0","ssid":"Cafe & Co","helper":"form","title":"","since":5,
        "fields":[{"name":"room","label":"Room","kind":"text","required":true}]}]}
        """#
    private static let online = #"""
        {"version":"1","interfaces":[{"interface":"wlan0","state":"authenticated","since":5,"ssid":"Cafe & Co","helper":"form",
        "captive":false,"secondsRemaining":6120,"problems":[]}]}
        """#

    private func start(_ program: String, _ words: [String], environment: [String], to file: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in argv + envp { free(word) } }
        var child = pid_t()
        try #require(posix_spawn(&child, program, &actions, nil, &argv, &envp) == 0)
        return child
    }

    private func wait(for text: String, in file: String, of folder: TemporaryFolder) throws -> [String] {
        for _ in 0..<3000 {
            if let found = try? folder.read(file), found.contains(text) { return found.split(separator: "\n").map(String.init) }
            usleep(20_000)
        }
        throw Missing("\(text) never came: \((try? folder.read(file)) ?? "nothing")")
    }

    private static func nearby(_ offers: String) -> String {
        #"{"state":"ready","name":"Box","daemon":true,"pairing":false,"peers":[],"questions":[],"offers":[\#(offers)],"#
            + #""made":[],"notices":[]}"#
    }
    private static let offer =
        #"{"id":"o1","peer":{"name":"Ida","id":"\#(String(repeating: "0a", count: 32))"},"ssid":"Cafe & Co","portal":"https://portal.aroma.example","fields":["room"],"#
        + #""fits":true,"secondsRemaining":60}"#

    /// A click on the button accepts the offer that was shown. Without buttons, the notification is withdrawn once the offer is gone.
    @Test(arguments: ["actions", "body"]) func anOfferOfAPairedLaptopIsShown(_ capabilities: String) async throws {
        try await Aside.run {
            try withAgent(
                capabilities, "dunst", daemon: .init(status: [[Self.online]]),
                nearby: .init(status: [[Self.nearby(Self.offer), Self.nearby("")]])
            ) { folder, _, nearby in
                let lines = try wait(for: "offers a login", in: "out", of: folder)
                let body =
                    "\u{5C}u201cIda\u{5C}u201d offers a login for this network and the portal https://portal.aroma.example."
                #expect(lines.contains { $0.contains(body) }, "\(lines)")
                #expect(nearby.parameters("Status") == [:])
                if capabilities == "actions" {
                    #expect(lines.contains { $0.hasSuffix(#"["accept", "Use this login"], 1]"#) }, "\(lines)")
                    let clicked = try wait(for: "hotspotctl companion", in: "out", of: folder)
                    #expect(clicked.contains("hotspotctl companion accept --dialog --offer=o1"), "\(clicked)")
                } else {
                    #expect(lines.contains { $0.contains("In a terminal: hotspotctl companion accept") }, "\(lines)")
                    nearby.act()
                    _ = try wait(for: "close", in: "out", of: folder)
                }
            }
        }
    }

    /// The companion service is switched on while the daemon reports no change.
    @Test func aServiceThatComesLaterIsFollowed() async throws {
        try await Aside.run {
            try withAgent(
                "body", "dunst", daemon: .init(status: [[Self.asks]]), nearby: .init(status: [[Self.nearby(Self.offer)]]),
                isLater: true
            ) { folder, _, nearby in
                _ = try wait(for: "asks", in: "out", of: folder)
                #expect(mkdir(folder.path + "/later", 0o700) == 0)
                #expect(symlink(nearby.path, folder.path + "/later/socket") == 0)
                _ = try wait(for: "offers a login", in: "out", of: folder)
            }
        }
    }

    /// Starts the program beside a bus, a notification server, a daemon and a companion service.
    private func withAgent(
        _ capabilities: String, _ name: String, daemon script: FakeDaemon.Script, nearby other: FakeDaemon.Script? = nil,
        isLater: Bool = false, _ body: (TemporaryFolder, _ daemon: FakeDaemon, _ nearby: FakeDaemon) throws -> Void
    ) throws {
        let folder = TemporaryFolder()
        let address = "unix:path=\(folder.path)/bus"
        let out = folder.path + "/out"
        folder.write("server.py", Self.server)
        folder.write("hotspotctl", "#!/bin/sh\necho \"hotspotctl $*\" >> \(out)\n", mode: 0o755)
        let environment = ["PATH=\(folder.path):/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=\(address)"]
        let bus = try start(
            "/usr/bin/dbus-daemon", ["--session", "--nofork", "--nopidfile", "--print-address=1", "--address=\(address)"],
            environment: environment, to: folder.path + "/bus.out")
        defer { for child in [bus] { kill(child, SIGKILL); waitpid(child, nil, 0) } }
        _ = try wait(for: "unix:", in: "bus.out", of: folder)
        let server = try start(
            "/usr/bin/python3", [folder.path + "/server.py", address, capabilities, name], environment: environment, to: out)
        defer { kill(server, SIGKILL); waitpid(server, nil, 0) }
        _ = try wait(for: "ready", in: "out", of: folder)
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        let nearby = try FakeDaemon(other ?? .init())
        defer { nearby.stop() }
        let program = String(Tool.program.dropLast("hotspotctl".count)) + "hotspotd"
        let place = other == nil ? "/nowhere" : isLater ? folder.path + "/later/socket" : nearby.path
        let sockets = ["HOTSPOTD_SOCKET=\(daemon.path)", "HOTSPOTD_COMPANION_SOCKET=\(place)"]
        let agent = try start(program, ["--notify"], environment: environment + sockets, to: folder.path + "/agent.out")
        defer { kill(agent, SIGKILL); waitpid(agent, nil, 0) }
        try body(folder, daemon, nearby)
    }

    @Test(arguments: [("actions,body-markup", "dunst"), ("actions,body-markup", "Xfce Notify Daemon"), ("body", "dunst")])
    func aQuestionAndItsEndAreShown(_ capabilities: String, _ name: String) async throws {
        try await Aside.run {
            try withAgent(
                capabilities, name, daemon: .init(replies: ["Prompts": [Self.prompts]], status: [[Self.asks, Self.online]])
            ) { folder, daemon, _ in
                try check(capabilities, name, folder, daemon)
            }
        }
    }

    private func check(_ capabilities: String, _ name: String, _ folder: TemporaryFolder, _ daemon: FakeDaemon) throws {
        if capabilities.hasPrefix("actions") {
            _ = try wait(for: "close", in: "out", of: folder)
            let lines = try wait(for: "hotspotctl", in: "out", of: folder)
            // `default` is a click on the notification; it does the same as the first button. Xfce would show `default` as a button of its own.
            let click = name.hasPrefix("Xfce") ? "" : #""default", "", "#
            let actions = #"[\#(click)"answer", "Answer", "browse", "Open browser"], 2]"#
            #expect(lines.contains { $0.hasSuffix(actions) && $0.contains("for \\u201cRoom\\u201d.") }, "\(lines)")
            #expect(lines.contains("hotspotctl answer --dialog wlan0"), "\(lines)")
        } else {
            let lines = try wait(for: "asks", in: "out", of: folder)
            #expect(
                lines.last?.contains("In a terminal: hotspotctl answer") == true && lines.last?.contains("[], 2]") == true,
                "\(lines)")
        }
        daemon.act()
        let lines = try wait(for: "Online, 1 h 42 min left.", in: "out", of: folder)
        // Replaces the question's notification, unless a click has closed it.
        let replaced = capabilities.hasPrefix("actions") ? 0 : 1
        #expect(lines.last?.hasPrefix("[\(replaced), \"Cafe & Co\"") == true, "\(lines)")
    }
}

private struct Missing: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
