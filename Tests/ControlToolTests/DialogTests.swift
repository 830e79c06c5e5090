import ControlAPI
import Glibc
import HotspotCore
import TestSupport
import Testing

@testable import hotspotctl

/// The command lines of dialogs, and the values read from their output.
@Suite struct DialogTests {
    private static let zenity = DialogProgram(kind: .zenity, path: "/usr/bin/zenity")
    private static let kdialog = DialogProgram(kind: .kdialog, path: "/usr/bin/kdialog")

    private static let entries = [
        DialogProgram.Entry(label: "│ --Room <b>"), DialogProgram.Entry(label: "│ Key", isHidden: true),
        DialogProgram.Entry(label: "│ Tariff", choices: ["–", "Free | 1 h", "--Day"]),
    ]

    @Test(arguments: [
        ("GNOME", ["zenity", "kdialog"], "zenity"), ("KDE", ["zenity", "kdialog"], "kdialog"), ("KDE", ["zenity"], "zenity"),
        ("ubuntu:GNOME", ["kdialog"], "kdialog"), ("", ["zenity", "kdialog"], "zenity"),
    ])
    func theDesktopsOwnProgramComesFirst(_ desktop: String, _ installed: [String], _ expected: String) {
        let found = DialogProgram.find(desktop: desktop) { installed.contains($0) ? "/usr/bin/\($0)" : nil }
        #expect(found?.kind.rawValue == expected)
        #expect(DialogProgram.find(desktop: desktop) { _ in nil } == nil)
    }

    @Test func zenityHasOneForm() {
        let forms = Self.zenity.forms("A & <b>\\n\n│ two", Self.entries)
        #expect(
            forms == [
                [
                    "/usr/bin/zenity", "--title=Hotspot login", "--width=540", "--forms",
                    "--text=A &amp; &lt;b&gt;&#92;n\n│ two", "--separator=\u{1F}", "--add-entry=│ --Room <b>",
                    "--add-password=│ Key", "--add-combo=│ Tariff", "--combo-values=–|Free ¦ 1 h|--Day",
                ]
            ])
    }

    @Test func kdialogHasADialogForEachField() {
        func text(_ ampersand: String, _ label: String) -> String {
            "<qt><p style=\"white-space:pre\">A \(ampersand) &lt;b&gt;<br><br>│ \(label):</p></qt>"
        }
        #expect(
            Self.kdialog.forms("A & <b>", Self.entries) == [
                ["/usr/bin/kdialog", "--title=Hotspot login", "--inputbox=\(text("&amp;&amp;", "--Room &lt;b&gt;"))"],
                ["/usr/bin/kdialog", "--title=Hotspot login", "--password=\(text("&amp;", "Key"))"],
                [
                    "/usr/bin/kdialog", "--title=Hotspot login", "--combobox=\(text("&amp;", "Tariff"))", "--", "–",
                    "Free ¦ 1 h", "--Day",
                ],
            ])
    }

    @Test func aLineOfAPortalGoesOnBehindItsBar() throws {
        let text = "  │ " + String(repeating: "word ", count: 30)
        for program in [Self.zenity, Self.kdialog] {
            let shown = try #require(program.question(text, mayDecline: false).first { $0.contains("word") })
            for line in shown.replacing("<br>", with: "\n").split(separator: "\n") {
                #expect(line.contains("│ word") && line.count < 120, "\(line)")
            }
        }
    }

    @Test func answersComeBack() {
        #expect(Self.zenity.values(["214\u{1F}s|e\u{1F}Free ¦ 1 h\n"], Self.entries) == ["214", "s|e", "Free | 1 h"])
        #expect(Self.zenity.values(["\u{1F}\u{1F}\n"], Self.entries) == ["", "", ""])
        #expect(Self.zenity.values(["214\u{1F}x\n"], Self.entries) == nil)
        #expect(Self.kdialog.values(["214\n", "\n", "--Day\n"], Self.entries) == ["214", "", "--Day"])
        // Choices that look alike are numbered.
        let alike = [DialogProgram.Entry(label: "T", choices: ["a|b", "a¦b"])]
        #expect(Self.zenity.forms("", alike)[0].last == "--combo-values=1. a¦b|2. a¦b")
        #expect(Self.zenity.values(["2. a¦b\n"], alike) == ["a¦b"])
    }

    @Test func aQuestionThatIsClosedIsNoAnswer() {
        #expect(Self.zenity.reply(status: 0, output: "", mayDecline: true) == .yes)
        #expect(Self.zenity.reply(status: 1, output: "No\n", mayDecline: true) == .no)
        #expect(Self.zenity.reply(status: 1, output: "", mayDecline: true) == .cancelled)
        #expect(Self.zenity.reply(status: 1, output: "", mayDecline: false) == .cancelled)
        #expect(Self.kdialog.reply(status: 1, output: "", mayDecline: true) == .no)
        #expect(Self.kdialog.reply(status: 2, output: "", mayDecline: true) == .cancelled)
        #expect(Self.kdialog.reply(status: 1, output: "", mayDecline: false) == .cancelled)
        #expect(Self.kdialog.reply(status: -1, output: "", mayDecline: false) == .cancelled)
    }

    // MARK: Fields

    private static let renderer = Renderer(style: .plain, now: 0)

    private func question(
        _ kind: Field.Kind = .text, required: Bool = true, assumed: Bool? = nil, choices: [String]? = nil, value: String? = nil,
        isStored: Bool = false, isLeftEmpty: Bool = false
    ) -> FieldQuestion {
        let field = Field(
            name: "f", label: "Label", kind: kind, required: required, assumed: assumed, choices: choices, value: value)
        return FieldQuestion(field, "Label", isStored: isStored, isLeftEmpty: isLeftEmpty)
    }

    @Test func noStoredAnswerIsInTheProcessList() {
        for kind in Field.Kind.allCases {
            let entry = question(kind, choices: kind == .choice ? ["one", "two"] : nil, value: "s3cret", isStored: true)
                .entry(Self.renderer)
            #expect(!"\(entry)".contains("s3cret") && entry.label.contains("keeps the stored answer"), "\(entry)")
        }
        // A password that the page contains is not shown either.
        #expect(!"\(question(.password, value: "s3cret").entry(Self.renderer))".contains("s3cret"))
    }

    @Test func theLabelSaysWhatAnEmptyFieldMeans() {
        #expect(question().entry(Self.renderer).label == "│ Label")
        #expect(question(required: false).entry(Self.renderer).label == "│ Label (optional)")
        #expect(question(required: false, value: "x").entry(Self.renderer).label == "│ Label (empty means x; - clears it)")
        #expect(
            question(required: false, isStored: true).entry(Self.renderer).label
                == "│ Label (empty keeps the stored answer; - clears it)")
        #expect(question(.choice, choices: ["a"]).entry(Self.renderer).choices == ["–", "a"])
        #expect(question(.password).entry(Self.renderer).isHidden && !question(.code).entry(Self.renderer).isHidden)
    }

    @Test func emptyFieldsAreDecided() {
        #expect(question().decide("x") == .answer("x"))
        #expect(question().decide("") == .missing)
        #expect(question(isLeftEmpty: true).decide("") == .missing)
        #expect(question(required: false).decide("") == .omitted)
        #expect(question(assumed: true).decide("") == .missing)
        #expect(question(assumed: true, isLeftEmpty: true).decide("") == .answer(""))
        #expect(question(value: "x").decide("") == .answer("x"))
        #expect(question(isStored: true).decide("") == .stored)
        #expect(question(isStored: true).decide("-") == .answer("-"))
        #expect(question(required: false, isStored: true).decide("-") == .answer(""))
        #expect(question(.choice, choices: ["a\u{1B}", "b"]).decide("a\\x1b") == .answer("a\u{1B}"))
        #expect(question(.choice, choices: ["a", "b"]).decide("–") == .missing)
        #expect(question(.choice, choices: ["a", "b"], isStored: true).decide("–") == .stored)
    }
}

/// `answer --dialog` without a dialog program; it then opens a terminal.
@Suite struct WithoutADialogTests {
    private static let prompts = #"""
        {"prompts":[{"id":"p1","interface":"wlan0","ssid":"Hotel","helper":"form","portal":"https://p.example","title":"","since":5,
        "fields":[{"name":"room","label":"Room","kind":"text","required":true}]}]}
        """#

    private func run(_ programs: [String], _ environment: [String], input: Int32) throws -> (Tool.Exit, calls: [String]) {
        let folder = TemporaryFolder()
        for name in programs { folder.write(name, "#!/bin/sh\necho \"\(name) ${*#*hotspotctl}\"\n", mode: 0o755) }
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [Self.prompts]]))
        defer { daemon.stop() }
        let tool = try Tool(
            ["answer", "--dialog", "--socket", daemon.path, "p1"], input: input,
            environment: ["LANG=C.UTF-8", "PATH=\(folder.path)"] + environment)
        return (tool.end(), daemon.calls)
    }

    @Test(arguments: [
        (["xdg-terminal-exec", "x-terminal-emulator"], "xdg-terminal-exec  answer --stay --socket "),
        (["x-terminal-emulator"], "x-terminal-emulator  answer --stay --socket "),
    ]) func aTerminalIsOpened(_ programs: [String], _ words: String) throws {
        let nothing = open("/dev/null", O_RDONLY)
        defer { close(nothing) }
        let (ended, _) = try run(programs, ["DISPLAY=:99"], input: nothing)
        #expect(ended.status == 0 && ended.output.hasPrefix(words) && ended.output.hasSuffix(" wlan0\n"), "\(ended)")
    }

    @Test func withoutATerminalABrowserIsOpened() throws {
        let nothing = open("/dev/null", O_RDONLY)
        defer { close(nothing) }
        let (ended, calls) = try run([], ["DISPLAY=:99"], input: nothing)
        // As root, the tool refuses to start a browser; as another user, it reaches the daemon.
        #expect(ended.errors.contains("without sudo") || calls.contains("Browse"), "\(ended)")
        let (bare, _) = try run(["xdg-terminal-exec"], [], input: nothing)
        #expect(bare.status == 1 && bare.errors.contains("There is no display for a dialog."), "\(bare)")
    }

    @Test func anOpenedTerminalStaysAfterAFailure() throws {
        let daemon = try FakeDaemon(.init(replies: ["Prompts": [#"{"prompts":[]}"#]]))
        defer { daemon.stop() }
        let terminal = try Terminal()
        let tool = try Tool(["answer", "--stay", "--socket", daemon.path], input: terminal.slave)
        tool.waitForErrors("No question waits for an answer.\n  try: hotspotctl status\nPress Enter to close this window. ")
        #expect(kill(tool.pid, 0) == 0)
        terminal.type("\n")
        #expect(tool.end().status == 10)
    }
}
