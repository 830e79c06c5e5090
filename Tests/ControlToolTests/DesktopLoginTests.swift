import Glibc
import TestSupport
import Testing

private let programs = ["Xvfb", "xdotool", "dunst", "dunstctl", "dbus-monitor", "dbus-run-session", "zenity", "kdialog"]
private let needed: [String] =
    programs.map { "/usr/bin/\($0)" } + ["/usr/share/dbus-1/services/org.xfce.xfce4-notifyd.Notifications.service"]
private let missing: [String] = needed.filter { (path: String) in access(path, F_OK) != 0 }

/// A login from the notification alone, with real notification servers and the real dialogs on a display of the test's own.
@Suite(
    .timeLimit(.minutes(10)), .serialized,
    .enabled(if: missing.isEmpty || getenv("CI") != nil, "needs \(missing.joined(separator: ", "))"))
struct DesktopLoginTests {
    private static let prompts = #"""
        {"prompts":[{"id":"p1","interface":"wlan0","ssid":"Hotel & Lindenhof","helper":"form","portal":"https://portal.example",
        "title":"Welcome <b>guest</b>","message":"Use the number of your room \\n and the key that lies there. Online after 0.1 s.",
        "termsURL":"https://portal.example/terms?a=1&b=2","since":5,"remember":"always","fields":[
        {"name":"room","label":"--Room <i>number</i>","kind":"text","required":true},
        {"name":"key","label":"Key","kind":"password","required":true},
        {"name":"terms","label":"I accept the terms & rules","kind":"checkbox","required":true}]}]}
        """#

    private static func status(_ state: String, _ rest: String) -> String {
        #"""
        {"version":"1","interfaces":[{"interface":"wlan0","state":"\#(state)","since":5,"ssid":"Hotel & Lindenhof","helper":"form",
        "portal":"https://portal.example","problems":[],\#(rest)}]}
        """#
    }

    @Test(arguments: [("zenity", "xfce4-notifyd"), ("kdialog", "dunst")])
    func theNotificationAndItsDialogsSuffice(_ dialog: String, _ server: String) async throws {
        try await Aside.run {
            let asks = Self.status("presentingUI", #""captive":true,"prompt":"p1""#)
            let online = Self.status("authenticated", #""captive":false,"secondsRemaining":6120"#)
            // The notifications read the first stream. hotspotctl reads the second stream and waits there for the outcome.
            let daemon = try FakeDaemon(
                .init(
                    replies: ["Prompts": [Self.prompts], "Answer": ["{}"], "Status": [asks]],
                    status: [[asks, online], [asks, online]]))
            defer { daemon.stop() }
            let programs = Tool.program.dropLast("/hotspotctl".count)
            let root = #filePath.dropLast("/Tests/ControlToolTests/DesktopLoginTests.swift".count)
            let nothing = open("/dev/null", O_RDONLY)
            defer { close(nothing) }
            let tool = try Tool(
                [dialog, server, String(programs), daemon.path, "\(root)/.build/pictures"], input: nothing,
                program: "\(root)/Tests/Support/desktop-login", environment: ["PATH=/usr/bin:/bin"])
            for _ in 0..<5000 where !daemon.calls.contains("Answer") { usleep(50_000) }
            // The second call lets the second stream continue.
            daemon.act()
            let ended = tool.end()
            #expect(ended.status == 0, "\(ended)")
            let answer = daemon.parameters("Answer")
            #expect(answer?["answers"] == ["room": "214", "key": "s3cret", "terms": "yes"], "\(String(describing: answer))")
            for words in ["for “--Room <i>number</i>”, “Key” and your consent.", "Online, 1 h 42 min left."] {
                #expect(ended.output.replacing("&lt;", with: "<").replacing("&gt;", with: ">").contains(words), "\(ended)")
            }
            let dialogs = ended.output.split(separator: "\n").filter { $0.contains("--title=Hotspot login") }
            #expect(dialogs.count == (dialog == "zenity" ? 2 : 3), "\(ended)")
            for words in dialogs { #expect(!words.contains("214") && !words.contains("s3cret"), "\(words)") }
        }
    }
}
