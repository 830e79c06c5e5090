import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import Notifications

/// `hotspotctl companion` against a scripted service and a scripted daemon; one `FakeDaemon` plays both.
@Suite struct CompanionVerbTests {
    private static let ida = #"{"name":"Ida","id":"\#(String(repeating: "0a", count: 32))"}"#
    private static let ben = #"{"name":"Ben's \u001b[31m box","id":"\#(String(repeating: "0b", count: 32))"}"#

    private static func status(
        peers: String = "", questions: String = "", offers: String = "", made: String = "", notices: String = "",
        message: String? = nil
    ) -> String {
        let radio = message.map { #""state":"adapterOff","message":"\#($0)""# } ?? #""state":"ready""#
        return #"{\#(radio),"name":"Box","daemon":true,"pairing":false,"peers":[\#(peers)],"questions":[\#(questions)],"#
            + #""offers":[\#(offers)],"made":[\#(made)],"notices":[\#(notices)]}"#
    }

    private static func offer(fits: Bool) -> String {
        #"{"id":"o1","peer":\#(ida),"ssid":"Cafe Aroma","portal":"https://portal.aroma.example","fields":["name","room"],"#
            + #""fits":\#(fits),"secondsRemaining":3500}"#
    }
    private static let question =
        #"{"id":"p1","peer":\#(ida),"ssid":"Cafe Aroma","portal":"https://portal.aroma.example","title":"Aroma","#
        + #""fields":[{"name":"room","label":"Room","kind":"text","required":true}]}"#
    private static let made = #"{"id":"o2","peer":\#(ida),"ssid":"Hotel","portal":"https://p.example"}"#

    private func run(
        _ arguments: [String], replies: [String: [String]] = [:], status: [[String]] = [], streams: [String: [String]] = [:],
        input: String = "", fileLimit: Int? = nil, check: (FakeDaemon) -> Void = { _ in }
    ) throws -> Tool.Exit {
        let daemon = try FakeDaemon(.init(replies: replies, status: status, streams: streams))
        defer { daemon.stop() }
        var words = ["companion"] + arguments + ["--companion-socket", daemon.path]
        if arguments.first == "share" { words += ["--socket", daemon.path] }
        // The shell's file size limit stands for a full disk.
        let limited = fileLimit.map { ["-c", "trap '' XFSZ; ulimit -f \($0); exec \"$0\" \"$@\"", Tool.program] }
        let ended =
            try limited.map { try Tool.run($0 + words, input: input, program: "/bin/sh") } ?? Tool.run(words, input: input)
        check(daemon)
        return ended
    }

    // MARK: Status, list, forget

    @Test func statusShowsEverythingThatWaits() throws {
        let full = Self.status(
            peers: "\(Self.ida),\(Self.ben)", questions: Self.question, offers: Self.offer(fits: true), made: Self.made)
        #expect(
            try run([], replies: ["Status": [full]]).output == """
                Bluetooth is ready. Other laptops see this one as "Box".
                Paired with "Ida", "Ben's \\x1b[31m box".
                "Ida" offers a login for "Cafe Aroma"; to use it: hotspotctl companion accept
                "Ida" asks at "Cafe Aroma"; to answer: hotspotctl companion answer
                Your offer of a login for "Hotel" waits for "Ida".

                """)
        let off = Self.status(message: "Bluetooth is switched off. Switch it on: bluetoothctl power on")
        #expect(
            try run(["status"], replies: ["Status": [off]]).output == """
                ! Bluetooth is switched off. Switch it on: bluetoothctl power on. Other laptops see this one as "Box".
                No laptop is paired. To pair one: hotspotctl companion pair

                """)
        let json = try run(["status", "--json=short"], replies: ["Status": [Self.status()]])
        #expect(json.output.hasPrefix(#"{"daemon":true,"made":[],"name":"Box","#) && json.status == 0)
    }

    @Test func listShowsTheBeginningOfIdentifiers() throws {
        #expect(
            try run(["list"], replies: ["Status": [Self.status(peers: Self.ida)]]).output == """
                NAME  ID
                Ida   0a0a0a0a0a0a0a0a

                """)
        let json = try run(["list", "--json=short"], replies: ["Status": [Self.status(peers: Self.ida)]])
        #expect(json.output == "{\"peers\":[{\"id\":\"\(String(repeating: "0a", count: 32))\",\"name\":\"Ida\"}]}\n")
    }

    @Test func forgetNamesTheLaptop() throws {
        let forgotten = try run(["forget", "Ida"], replies: ["Forget": [#"{"peer":\#(Self.ida)}"#]]) {
            #expect($0.parameters("Forget") == ["peer": "Ida"])
        }
        #expect(forgotten.output == "\"Ida\" is forgotten. To share again, pair again on both laptops.\n")
        let error = #"!org.hotspotd.Companion.NoSuchPeer {"peer":"Eve"}"#
        let unknown = try run(["forget", "Eve"], replies: ["Forget": [error]])
        #expect(unknown.status == 10)
        #expect(
            unknown.errors == "hotspotctl: No laptop \"Eve\" is paired.\n  try: hotspotctl companion list\n")
    }

    // MARK: On and off

    @Test func onAndOffAskTheServiceManager() throws {
        let folder = TemporaryFolder()
        folder.write("systemctl", "#!/bin/sh\necho \"$@\" >>\(folder.path)/calls\nexit ${FAIL:-0}\n", mode: 0o755)
        let path = ["LANG=C.UTF-8", "PATH=\(folder.path):/usr/bin:/bin"]
        let on = try Tool.run(["companion", "on"], environment: path)
        #expect(
            on.output == """
                The companion service is switched on.
                  to pair with a laptop: hotspotctl companion pair

                """)
        let off = try Tool.run(["companion", "off"], environment: path)
        #expect(off.status == 0 && off.output.hasPrefix("The companion service is switched off."))
        #expect(
            try folder.read("calls") == """
                --quiet --no-ask-password enable --now hotspot-companion.service
                --quiet --no-ask-password disable --now hotspot-companion.service

                """)
        let failed = try Tool.run(["companion", "on"], environment: path + ["FAIL=1"])
        let hint = geteuid() == 0 ? "systemctl status hotspot-companion.service" : "sudo hotspotctl companion on"
        #expect(failed.status == 1 && failed.errors.hasSuffix("  try: \(hint)\n"), "\(failed.errors)")
        let missing = try Tool.run(["companion", "status", "--companion-socket", "/nonexistent/socket"])
        #expect(missing.status == 8)
        #expect(
            missing.errors == "hotspotctl: The companion service is not running.\n  try: sudo hotspotctl companion on\n")
    }

    // MARK: Pair

    @Test func aCodeIsShownInTwoParts() throws {
        let shown = try run(
            ["pair"],
            streams: ["Pair": [#"{"code":"12345678","seconds":120}"#]])
        #expect(
            shown.output == """
                Code: 1234 5678, valid for 120 seconds.
                  on the other laptop, type it after: hotspotctl companion pair -

                """)
        let paired = try run(["pair", "1234 5678"], streams: ["Pair": [#"{"peer":\#(Self.ida)}"#]]) {
            #expect($0.parameters("Pair") == ["code": "12345678"])
        }
        #expect(paired.output == "Looking for the laptop that shows this code…\nPaired with \"Ida\".\n" && paired.status == 0)
        let piped = try run(["pair", "-"], streams: ["Pair": [#"{"peer":\#(Self.ida)}"#]], input: "1234-5678\n") {
            #expect($0.parameters("Pair") == ["code": "12345678"])
        }
        #expect(piped.status == 0)
        let spent = "The code is no longer valid after three wrong tries. Pair again."
        let failed = try run(
            ["pair", "12345678"], streams: ["Pair": [#"!org.hotspotd.Companion.Failed {"message":"\#(spent)"}"#]])
        #expect(failed.status == 1 && failed.errors == "hotspotctl: \(spent)\n")
        #expect(try run(["pair", "123"]).status == 2)
    }

    // MARK: Share

    private static let credentials =
        #"{"pin":"none","credentials":[{"ssid":"Hotel","security":"open","helper":"form","portal":"https://p.example","fields":["room"],"release":"automatic"}]}"#
    private static let shared =
        #"{"network":"wifi:486f74656c:open","helper":"form","portal":"https://p.example","portalKey":"cGlu","answers":{"room":"canary"}}"#

    @Test func shareHandsStoredAnswersOverAndWaitsForTheDecision() throws {
        let replies = ["Credentials": [Self.credentials], "SharedAnswers": [Self.shared]]
        let taken = #"{"offers":[\#(Self.made)],"notice":"\"Ida\" has the login now.","taken":true}"#
        let offered = #"{"offers":[\#(Self.made)]}"#
        let ended = try run(["share", "Hotel", "Ida"], replies: replies, streams: ["Share": [offered, taken]]) {
            #expect(
                $0.parameters("Share") == [
                    "network": "wifi:486f74656c:open", "portal": "https://p.example", "portalKey": "cGlu",
                    "answers": ["room": "canary"], "peer": "Ida", "seconds": 300,
                ])
            #expect($0.parameters("SharedAnswers") == ["ssid": "Hotel"])
        }
        #expect(ended.status == 0)
        #expect(
            ended.output == """
                Offered the answers for "Hotel" to "Ida".
                  │ portal: https://p.example
                  │ fields: room
                On the other laptop: hotspotctl companion accept. The offer ends when this command ends.
                "Ida" has the login now.

                """)
        let json = try run(["share", "Hotel", "--json=short"], replies: replies, streams: ["Share": [offered, taken]])
        #expect(json.output.split(separator: "\n").count == 2 && json.output.contains(#""taken":true"#))
        let refused = #"{"offers":[\#(Self.made)],"notice":"The user of \"Ida\" declined the login."}"#
        #expect(try run(["share", "Hotel"], replies: replies, streams: ["Share": [offered, refused]]).status == 1)
    }

    @Test func shareNeedsStoredAnswersAndThePIN() throws {
        let none = try run(["share", "Hotel"], replies: ["Credentials": [#"{"pin":"none","credentials":[]}"#]])
        #expect(none.status == 10 && none.errors.contains("No answers are stored for \"Hotel\""))
        let locked = try run(["share", "Hotel"], replies: ["Credentials": [Self.credentials.replacing("none", with: "locked")]]) {
            #expect(!$0.calls.contains("Share") && !$0.calls.contains("SharedAnswers"))
        }
        #expect(locked.status == 4 && locked.errors.hasSuffix("  try: hotspotctl credentials unlock\n"))
    }

    // MARK: Accept and answer

    @Test func acceptUsesAnOfferAfterAYes() throws {
        let streams = [[Self.status(peers: Self.ida, offers: Self.offer(fits: true))]]
        let asks = try run(["accept"], status: streams) { #expect(!$0.calls.contains("Decide")) }
        #expect(asks.status == 4 && asks.errors.hasSuffix("  try: hotspotctl companion accept --yes\n"))
        let lines = """
            "Ida" offers a login for "Cafe Aroma":
              │ portal: https://portal.aroma.example
              │ fields: name, room

            """
        #expect(asks.output == lines)
        let accepted = try run(
            ["accept", "--yes"], replies: ["Decide": [#"{"answered":true,"interface":"wlan0"}"#]], status: streams
        ) {
            #expect($0.parameters("Status") == ["awaitsOffers": true])
            #expect(
                $0.parameters("Decide") == ["id": "o1", "peer": .string(String(repeating: "0a", count: 32)), "accept": true])
        }
        #expect(
            accepted.output == lines
                + "hotspotd answered the portal's question with the offer.\n  to see the outcome: hotspotctl login --wait\n")
        let stored = try run(["accept", "--yes"], replies: ["Decide": [#"{"answered":false}"#]], status: streams)
        #expect(stored.output.hasSuffix("  to log in: hotspotctl login --wait\n") && stored.status == 0)
    }

    @Test func aPortalFileIsSavedOnceAndUnderItsName() throws {
        let file = Self.offer(fits: true).replacing(#""fits":true"#, with: #""fits":true,"portalFile":true"#)
        let streams = [[Self.status(peers: Self.ida, offers: file)]]
        let folder = TemporaryFolder()
        let path = folder.path + "/aroma.portal"
        let decided = ["Decide": [#"{"answered":true,"portalFile":"[Portal]\nName=Aroma\n"}"#]]
        let saved = try run(["accept", "--yes", "--portal-file", path], replies: decided, status: streams)
        #expect(saved.status == 0 && saved.output.contains("  hotspotctl portals check \(path)\n"), "\(saved)")
        #expect(saved.output.contains("  with a portal file, which --portal-file PATH saves\n"))
        #expect(try folder.read("aroma.portal") == "[Portal]\nName=Aroma\n")
        let long = #"{"answered":true,"portalFile":"\#(String(repeating: "# Aroma\\n", count: 1000))"}"#
        let lost = try run(
            ["accept", "--yes", "--portal-file", path + "2"], replies: ["Decide": [long]], status: streams, fileLimit: 1)
        let cause = "hotspotctl: The portal file was not saved: \(path)2: File too large.\n"
        #expect(lost.status == 1 && lost.errors == cause && access(path + "2", F_OK) != 0, "\(lost)")
        let again = try run(["accept", "--yes", "--portal-file", path], replies: decided, status: streams) {
            #expect(!$0.calls.contains("Decide"))
        }
        #expect(again.status == 2 && again.errors == "hotspotctl: \(path) exists already; name another file.\n")
    }

    @Test func aPortalFileIsSharedWithoutStoredAnswersToo() throws {
        let folder = TemporaryFolder()
        folder.write("aroma.portal", "[Portal]\n")
        let here =
            #"{"interfaces":[{"interface":"wlan0","state":"authenticated","since":1,"ssid":"Hotel","network":"wifi:486f74656c:open","portal":"https://p.example","portalKey":"cGlu","problems":[]}],"version":"1"}"#
        let taken = #"{"offers":[\#(Self.made)],"notice":"\"Ida\" has the login now.","taken":true}"#
        let replies = ["Credentials": [#"{"pin":"none","credentials":[]}"#], "Status": [here]]
        let ended = try run(
            ["share", "Hotel", "--portal-file", folder.path + "/aroma.portal"], replies: replies,
            streams: ["Share": [#"{"offers":[\#(Self.made)]}"#, taken]]
        ) {
            #expect($0.parameters("Share")?["portalFile"] == "[Portal]\n" && $0.parameters("Share")?["answers"] == [:])
            #expect($0.parameters("Share")?["portalKey"] == "cGlu")
        }
        #expect(ended.status == 0, "\(ended)")
        let none = try run(["share", "Hotel", "--portal-file", "/nonexistent.portal"], replies: replies)
        #expect(none.status == 1 && none.errors == "hotspotctl: /nonexistent.portal cannot be read.\n")
    }

    @Test func anOfferForAnotherPlaceIsNotAccepted() throws {
        let streams = [[Self.status(peers: Self.ida, offers: Self.offer(fits: false))]]
        let ended = try run(["accept", "--yes", "--wait", "0.3"], status: streams) { #expect(!$0.calls.contains("Decide")) }
        #expect(ended.status == 3 && ended.errors.contains("This offer is for another network or portal."), "\(ended)")
        let alone = try run(["accept"], status: [[Self.status()]])
        #expect(alone.errors == "hotspotctl: No laptop is paired.\n  try: hotspotctl companion pair\n")
    }

    @Test func answersComeFromStandardInput() throws {
        let streams = [[Self.status(peers: Self.ida, questions: Self.question)]]
        let sent = try run(["answer"], replies: ["Answer": ["{}"]], status: streams, input: "room=214\n") {
            #expect($0.parameters("Status") == ["awaitsQuestions": true])
            #expect($0.parameters("Answer")?["answers"] == ["room": "214"] && $0.parameters("Answer")?["id"] == "p1")
        }
        #expect(sent.status == 0 && sent.output == "The answers were sent to \"Ida\".\n", "\(sent)")
        #expect(try run(["answer"], status: streams, input: "other=1\n").status == 2)
        let other = try run(["answer", "Eve", "--wait", "0.3"], status: streams)
        #expect(other.status == 3 && other.errors.contains("No question came"))
    }

    // MARK: From a notification

    /// Runs the tool without a terminal, with the desktop's programs in a folder of their own.
    private func runOnDesktop(_ words: [String], _ daemon: FakeDaemon, in folder: TemporaryFolder) throws -> Tool.Exit {
        try Tool.run(
            ["companion"] + words + ["--companion-socket", daemon.path],
            environment: desktop(daemon, in: folder))
    }

    private func desktop(_ daemon: FakeDaemon, in folder: TemporaryFolder) -> [String] {
        [
            "LANG=C.UTF-8", "PATH=\(folder.path)", "DISPLAY=:97", "XDG_CURRENT_DESKTOP=GNOME",
            "HOTSPOTD_SOCKET=\(daemon.path)",
        ]
    }

    private static let click = ["accept", "--dialog", "--offer=o1"]

    @Test func onlyTheNamedOfferIsAccepted() throws {
        let other = Self.offer(fits: true).replacing("\"o1\"", with: "\"o7\"")
        let both = [[Self.status(peers: Self.ida, offers: "\(other),\(Self.offer(fits: true))")]]
        let decided = ["Decide": [#"{"answered":true}"#]]
        let accepted = try run(["accept", "--yes", "--offer", "o1"], replies: decided, status: both) {
            #expect($0.parameters("Decide")?["id"] == "o1")
        }
        #expect(accepted.status == 0)
        let gone = try run(
            ["accept", "--yes", "--offer", "o1"], replies: decided, status: [[Self.status(peers: Self.ida, offers: other)]]
        ) {
            #expect(!$0.calls.contains("Decide"))
        }
        #expect(
            gone.status == 10
                && gone.errors == "hotspotctl: This offer has ended.\n  try: hotspotctl companion status\n", "\(gone)")
    }

    /// A zenity that says yes unless the file "refuses" exists, and types a PIN unless the file "closed" exists.
    private func addDialogs(_ folder: TemporaryFolder) {
        folder.write(
            "zenity",
            """
            #!/bin/sh
            printf '%s\\n' "$@" >>\(folder.path)/asked
            case "$*" in
            *--question*) test -e \(folder.path)/refuses && { echo No; exit 1; }; exit 0 ;;
            esac
            test -e \(folder.path)/closed && exit 1
            test -e \(folder.path)/empty && { echo; exit 0; }
            echo 2468
            """, mode: 0o755)
    }

    private static let offered = [[status(peers: ida, offers: offer(fits: true))]]

    private static func locked(_ prompts: String = "") -> FakeDaemon.Script {
        FakeDaemon.Script(
            replies: [
                "Credentials": [#"{"pin":"locked","credentials":[]}"#], "Prompts": [#"{"prompts":[\#(prompts)]}"#],
                "Unlock": ["{}"], "Decide": [#"{"answered":false}"#],
            ], status: offered)
    }

    /// A click asks the same question as the terminal: a notification cannot show everything to which a yes agrees.
    @Test func aClickShowsTheFieldsBeforeTheYes() throws {
        let folder = TemporaryFolder()
        addDialogs(folder)
        let daemon = try FakeDaemon(.init(replies: ["Decide": [#"{"answered":true}"#]], status: Self.offered))
        defer { daemon.stop() }
        #expect(try runOnDesktop(Self.click, daemon, in: folder).status == 0)
        #expect(daemon.parameters("Decide")?["accept"] == true)
        let asked = try folder.read("asked")
        #expect(asked.contains("│ fields: name, room\n\nUse it for this portal, now and for later logins?"), "\(asked)")
        folder.write("refuses", "")
        let second = try FakeDaemon(.init(replies: ["Decide": ["{}"]], status: Self.offered))
        defer { second.stop() }
        let declined = try runOnDesktop(Self.click, second, in: folder)
        #expect(declined.status == 0 && second.parameters("Decide")?["accept"] == false, "\(declined)")
    }

    /// The PIN is only for storing the offer. `resume` is false, so that the user's own stored answers are not sent.
    @Test func aClickStillAsksForThePIN() throws {
        let folder = TemporaryFolder()
        addDialogs(folder)
        let daemon = try FakeDaemon(Self.locked())
        defer { daemon.stop() }
        let accepted = try runOnDesktop(Self.click, daemon, in: folder)
        #expect(accepted.status == 0 && daemon.parameters("Unlock") == ["pin": "2468", "resume": false], "\(accepted)")
        #expect(daemon.calls.filter { ["Unlock", "Decide"].contains($0) } == ["Unlock", "Decide"])
        let asked = try folder.read("asked")
        #expect(asked.contains("--text=PIN of the stored answers\n") && !asked.contains("2468"), "\(asked)")
        // If the user closes the dialog or gives no PIN, the offer still waits.
        for file in ["empty", "closed"] {
            folder.write(file, "")
            let second = try FakeDaemon(Self.locked())
            defer { second.stop() }
            let ended = try runOnDesktop(Self.click, second, in: folder)
            #expect(ended.status == 4 && !second.calls.contains("Decide") && !second.calls.contains("Unlock"), "\(ended)")
        }
    }

    /// If nobody can type the PIN, the offer is not accepted, so it is not lost either.
    @Test func withoutThePINAnOfferIsNotLost() throws {
        let daemon = try FakeDaemon(Self.locked())
        defer { daemon.stop() }
        let ended = try Tool.run(["companion", "accept", "--yes", "--companion-socket", daemon.path, "--socket", daemon.path])
        #expect(ended.status == 4 && !daemon.calls.contains("Decide"), "\(ended)")
        #expect(ended.errors.hasSuffix("  try: hotspotctl credentials unlock\n"))
    }

    /// If the offer answers this portal's waiting question, hotspotd needs no PIN.
    @Test(arguments: [
        ("https://portal.aroma.example", #"{"name":"room","label":"","kind":"text","required":true}"#, false),
        ("https://other.example", #"{"name":"room","label":"","kind":"text","required":true}"#, true),
        ("https://portal.aroma.example", #"{"name":"code","label":"","kind":"code","required":true}"#, true),
        (
            "https://portal.aroma.example",
            #"{"name":"room","label":"","kind":"text","required":true},{"name":"t","label":"","kind":"checkbox","required":true}"#,
            true
        ),
        ("https://portal.aroma.example", "", true),
    ])
    func aQuestionThatTheOfferAnswersNeedsNoPIN(_ portal: String, _ fields: String, _ needsPIN: Bool) throws {
        let folder = TemporaryFolder()
        addDialogs(folder)
        let prompt =
            #"{"id":"p1","interface":"wlan0","ssid":"Cafe Aroma","helper":"form","portal":"\#(portal)","title":"","since":5,"fields":[\#(fields)]}"#
        let daemon = try FakeDaemon(Self.locked(prompt))
        defer { daemon.stop() }
        let ended = try runOnDesktop(Self.click, daemon, in: folder)
        #expect(ended.status == 0 && daemon.calls.contains("Unlock") == needsPIN, "\(ended)")
    }

    /// The notification shows this failure. A dialog that the user closes is not a failure.
    @Test(arguments: [click, ["answer", "--dialog", "--question=p1"]])
    func whereNobodyCanBeAskedTheCommandFails(_ words: [String]) throws {
        let daemon = try FakeDaemon(
            .init(status: [[Self.status(peers: Self.ida, questions: Self.question, offers: Self.offer(fits: true))]]))
        defer { daemon.stop() }
        let ended = try runOnDesktop(words, daemon, in: TemporaryFolder())
        #expect(ended.status == 1, "\(ended)")
        #expect(Companion.problem(in: ended.errors) == "There is no program for dialogs or terminals.")
    }

    /// The dialog closes once the offer or the question is gone.
    @Test(arguments: [("accept", false), ("accept", true), ("answer", false)])
    func aDialogEndsWithItsOfferOrQuestion(_ verb: String, _ isPIN: Bool) throws {
        let folder = TemporaryFolder()
        let agrees = isPIN ? "case \"$*\" in *--question*) exit 0 ;; esac\n" : ""
        folder.write("zenity", "#!/bin/sh\n\(agrees)>\(folder.path)/open\nexec /bin/sleep 600\n", mode: 0o755)
        var script = Self.locked()
        let waiting = Self.status(peers: Self.ida, questions: Self.question, offers: Self.offer(fits: true))
        script.status = [[waiting, Self.status(peers: Self.ida)]]
        let daemon = try FakeDaemon(script)
        defer { daemon.stop() }
        let nothing = open("/dev/null", O_RDONLY)
        defer { close(nothing) }
        let words = verb == "accept" ? Self.click : ["answer", "--dialog", "--question=p1"]
        let tool = try Tool(
            ["companion"] + words + ["--companion-socket", daemon.path], input: nothing,
            environment: desktop(daemon, in: folder))
        while access(folder.path + "/open", F_OK) != 0, kill(tool.pid, 0) == 0 { usleep(2000) }
        daemon.act()
        let ended = tool.end()
        #expect(ended.status == 10 && ended.errors.contains("has ended.\n"), "\(ended)")
        #expect(!daemon.calls.contains("Decide") && !daemon.calls.contains("Answer"))
    }

    @Test func withoutDialogsATerminalOpens() throws {
        let folder = TemporaryFolder()
        folder.write("x-terminal-emulator", "#!/bin/sh\nshift\nshift\necho \"$@\"\n", mode: 0o755)
        let daemon = try FakeDaemon(
            .init(
                replies: ["Credentials": [#"{"pin":"locked","credentials":[]}"#]],
                status: [
                    [Self.status(peers: Self.ida, questions: Self.question, offers: Self.offer(fits: true))],
                    [
                        Self.status(peers: Self.ida, questions: Self.question)
                    ],
                ]))
        defer { daemon.stop() }
        let accept = try runOnDesktop(Self.click, daemon, in: folder)
        #expect(accept.output.hasSuffix("companion accept --stay --offer=o1\n"), "\(accept)")
        let answer = try runOnDesktop(["answer", "--dialog", "--question", "p1"], daemon, in: folder)
        #expect(
            answer.output == "companion answer --stay --question=p1 \(String(repeating: "0a", count: 32))\n", "\(answer)")
    }

    /// The dialog names the asking laptop above its question.
    @Test func aQuestionIsAnsweredInADialog() throws {
        let folder = TemporaryFolder()
        folder.write("zenity", "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\(folder.path)/asked\necho 214\n", mode: 0o755)
        let streams = [[Self.status(peers: Self.ida, questions: Self.question)]]
        let daemon = try FakeDaemon(.init(replies: ["Answer": ["{}"]], status: streams))
        defer { daemon.stop() }
        let id = String(repeating: "0a", count: 32)
        let sent = try runOnDesktop(["answer", "--dialog", "--question", "p1", id], daemon, in: folder)
        #expect(sent.status == 0 && daemon.parameters("Answer")?["answers"] == ["room": "214"], "\(sent)")
        let asked = try folder.read("asked")
        #expect(asked.contains("--text=On the laptop &quot;Ida&quot;:\n"), "\(asked)")
        #expect(asked.contains("--add-entry=│ Room"), "\(asked)")
        let gone = try run(["answer", "--question", "p2"], status: streams) { #expect(!$0.calls.contains("Answer")) }
        #expect(gone.status == 10 && gone.errors.hasPrefix("hotspotctl: This question has ended.\n"))
    }
}
