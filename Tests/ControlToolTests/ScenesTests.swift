import Foundation
import Glibc
import TestSupport
import Testing

/// The whole screen of a command at 80 columns, for each state in which people meet it: `Scenes/*.scene`, so that sentences are
/// read side by side, and changes show.
///
///     A login waits for the user
///     < Status {"version": "1", "interfaces": [{"interface": "wlan0", "since": @-60000, …}]}
///     $ hotspotctl status
///     = 0
///     ● wlan0 …
///
/// `<` is a reply of the daemon; several replies of one method follow each other. `<<` is a reply of a stream. `> QUESTION |
/// ANSWER` is an answer that the person at the terminal types once the question is on the screen. A number behind `@` is added to
/// the present in milliseconds. Times of day are written as `hh:mm`. With HOTSPOTD_WRITE_SCENES=1 the test writes the screens.
@Suite struct ScenesTests {
    struct Scene {
        let url: URL
        var script = FakeDaemon.Script()
        var arguments: [String] = []
        /// The answers that the person types, each after its question.
        var typed: [(question: String, answer: String)] = []
        /// The lines up to the command.
        var head: [String] = []
        /// The exit status and the screen.
        var expected = ""

        init(_ url: URL, now: Int) throws {
            self.url = url
            var lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)[...]
            while let line = lines.popFirst() {
                head.append(String(line))
                let text = Self.dated(line, now)
                if text.hasPrefix("<< ") {
                    let (method, reply) = Self.parted(text.dropFirst(3))
                    if method == "Status" {
                        script.status = [(script.status.first ?? []) + [reply]]
                    } else {
                        script.streams[method, default: []].append(reply)
                    }
                } else if text.hasPrefix("< ") {
                    let (method, reply) = Self.parted(text.dropFirst(2))
                    script.replies[method, default: []].append(reply)
                } else if text.hasPrefix("> ") {
                    let parts = text.dropFirst(2).split(separator: " |", maxSplits: 1)
                    typed.append((String(parts[0]), String(parts.dropFirst().first?.dropFirst() ?? "")))
                } else if text.hasPrefix("$ hotspotctl") {
                    arguments = text.dropFirst(2).split(separator: " ").dropFirst().map(String.init)
                    expected = lines.joined(separator: "\n")
                    return
                }
            }
            Issue.record("\(url.lastPathComponent) has no line that begins with $ hotspotctl")
        }

        private static func parted(_ text: Substring) -> (String, String) {
            let space = text.firstIndex(of: " ") ?? text.endIndex
            return (String(text[..<space]), String(text[space...].drop { $0 == " " }))
        }

        /// Returns the line with each number behind `@` replaced by a time.
        private static func dated(_ line: Substring, _ now: Int) -> String {
            String(line.replacing(#/@(-?[0-9]+)/#) { "\(now + (Int($0.1) ?? 0))" })
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scenes")

    private static var names: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".scene") }.sorted()
    }

    @Test func thereAreAsManyAsTheDocumentsSay() { #expect(Self.names.count >= 60) }

    /// `make picture` draws the picture from a run of the café; its numbers, and a portal's own words without a field, may differ.
    @Test func eachLineOfThePictureIsALineOfAScene() throws {
        let picture = try String(
            contentsOf: Self.folder.appending(path: "../../../docs/first-login.svg").standardized, encoding: .utf8)
        func plain(_ line: some StringProtocol) -> String {
            String(line).replacing(#/[0-9]{2}:[0-9]{2}/#, with: "hh:mm").replacing(#/[0-9]+/#, with: "0")
        }
        let scenes = try Self.names.map { try String(contentsOf: Self.folder.appending(path: $0), encoding: .utf8) }
        let lines = Set(scenes.flatMap { $0.split(separator: "\n").map { plain($0) } })
        let drawn = picture.matches(of: #/<text [^>]*?(?:class="(?<kind>[a-z]+)")?>(?<line>[^<]*)<\/text>/#)
        #expect(drawn.count > 5)
        for text in drawn where text.output.kind != "remark" {
            let line = plain(text.output.line.replacing("&amp;", with: "&").replacing("&lt;", with: "<"))
            #expect(lines.contains(line) || (line.hasPrefix("  │ ") && !line.contains(": ")), "\(line)")
        }
    }

    @Test(arguments: names) func screen(_ name: String) throws {
        // The times count from this test's start: other tests may take minutes before it.
        let scene = try Scene(Self.folder.appending(path: name), now: Int(Date.now.timeIntervalSince1970 * 1000))
        let daemon = try FakeDaemon(scene.script)
        defer { daemon.stop() }
        let terminal = try Terminal(columns: 80)
        let tool = try Tool(
            scene.arguments + ["--socket", daemon.path], input: terminal.slave, output: terminal.slave, errors: terminal.slave,
            environment: [
                "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1", "TERM=xterm", "PATH=/nonexistent",
                "HOTSPOTD_COMPANION_SOCKET=\(daemon.path)",
            ])
        var screen = ""
        for (question, answer) in scene.typed {
            screen += terminal.read(until: question)
            terminal.type(answer + "\n")
        }
        let ended = tool.end()
        screen = (screen + terminal.shown).replacing("\r\n", with: "\n").replacing(daemon.path, with: "SOCKET")
        screen = screen.replacing(#/\b[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?\b/#) { $0.1 == nil ? "hh:mm" : "hh:mm:ss" }
        let seen = "= \(ended.status)\n\(screen)"
        if ProcessInfo.processInfo.environment["HOTSPOTD_WRITE_SCENES"] != nil {
            try (scene.head + [seen]).joined(separator: "\n").write(to: scene.url, atomically: true, encoding: .utf8)
        } else {
            #expect(seen == scene.expected, "\(scene.url.lastPathComponent)")
        }
    }
}
