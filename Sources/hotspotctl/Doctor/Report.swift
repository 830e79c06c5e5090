import ArgumentParser
import ControlAPI
import EventLoop
import ForeignText
import Glibc
import HotspotCore

struct ReportVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a text file for a bug report, without private data.",
        discussion: """
            The file contains versions, the output of 'doctor', changed settings, helpers, problems, the last login and the \
            end of the log. Names of networks and people, addresses, hosts of portals and tokens are replaced; the same value \
            always gets the same replacement. Nothing is \
            sent: read the file, and send it yourself.
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp("The settings file, if it is not the one that the daemon reports.", valueName: "file"),
        completion: .file())
    var settings: String?

    @Argument(help: "The file to write, - for standard output; by default a new file in this folder.", completion: .file())
    var file: String?

    func run() throws {
        let text = ReportText(common: common, settings: settings).text
        if file == "-" { return Output.print(verbatim: [text]) }
        let path = file ?? Self.name(at: WallClock.now)
        let shown = Printable.text(path)
        guard FilePath.create(path, text + "\n", mode: 0o600) else {
            throw Failure(.failed, "\(shown): \(String(cString: strerror(errno))).", hint: "hotspotctl report FILE")
        }
        Output.print([
            "Wrote \(shown). Read it before you send it: hotspotctl replaced only the private data that it recognised."
        ])
    }

    private static func name(at moment: Int) -> String {
        var (time, parts) = (time_t(moment / 1000), tm())
        localtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%d-%H%M%S", &parts)
        return "hotspotd-report-\(String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)).txt"
    }
}

/// The text of a report.
struct ReportText {
    private static let logLines = 200
    /// Replaces the words of a helper or portal, which may contain a person's name.
    private static let others = "<words of the helper or portal>"
    private static let silent = "hotspotd does not answer"
    private static let portals = "/usr/lib/hotspotd/portals"

    let common: CommonOptions
    let settings: String?
    private let reader = FactsReader()
    private let renderer = Renderer(style: .plain, now: WallClock.now)

    init(common: CommonOptions, settings: String?) {
        self.common = common
        self.settings = settings
    }

    var text: String {
        let facts = reader.facts(of: common, interface: nil)
        let client = try? common.connect()
        let story = try? client?.call("Explain", as: ExplainReply.self)
        let sections = [
            ("Doctor", renderer.lines(Diagnosis(facts)).map(Self.own)),
            ("Changed settings", changedSettings(facts)),
            ("Interfaces and problems", interfaces(facts)), ("Helpers", helpers(facts)),
            ("The last attempt", story.map(lines) ?? ["The last attempt cannot be read."]),
            ("The end of the log of hotspotd.service", log),
        ]
        var redaction = redaction(facts, client)
        let body = sections.map { title, lines in
            "== \(title) ==\n" + redaction.apply((lines.isEmpty ? ["–"] : lines).joined(separator: "\n"))
        }
        let head = "A report by hotspotctl. Read it before you send it."
        return ([head, "== Versions ==\n" + versions(facts).joined(separator: "\n")] + body).joined(separator: "\n\n")
    }

    // MARK: Sections

    private func versions(_ facts: DoctorFacts) -> [String] {
        var system = utsname()
        uname(&system)
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return [
            "hotspotctl \(Hotspotctl.builtVersion)",
            "hotspotd \(facts.reply?.version.map { Printable.text($0, limit: 32) } ?? "does not answer")",
            "kernel \(text(system.release)) \(text(system.machine))",
        ] + ["getconf GNU_LIBC_VERSION", "systemctl --version", "bwrap --version"].flatMap { output($0, lines: 1) }
    }

    private func changedSettings(_ facts: DoctorFacts) -> [String] {
        let path = settings ?? facts.settings
        let changed = changedSettings(in: path)
        guard settings == nil, facts.reply == nil else { return changed }
        return ["\(Self.silent), so these settings are from \(path); the daemon may use another file:"]
            + (changed.isEmpty ? ["–"] : changed)
    }

    /// Returns the settings that the file sets; the shipped file sets none.
    private func changedSettings(in settings: String) -> [String] {
        let files = [settings] + reader.names("\(settings).d").filter { $0.hasSuffix(".conf") }.map { "\(settings).d/\($0)" }
        return files.flatMap { file in
            var errors: [Keyfile.Error] = []
            let entries = reader.text(file).map { Keyfile(Array($0.utf8), file: file, errors: &errors).entries } ?? []
            return entries.map { entry in
                // The values of this key are names of networks.
                let value = entry.key == "TrustedNetworks" && !entry.value.isEmpty ? "<names>" : Printable.text(entry.value)
                return "[\(Printable.text(entry.section, limit: 64))] \(Printable.text(entry.key, limit: 64))=\(value)"
            } + errors.map(\.description)
        }
    }

    private func interfaces(_ facts: DoctorFacts) -> [String] {
        let links = facts.interfaces.map { link in
            "\(link.name): \(link.kind), \(link.isUp ? "up" : "down"), \(link.addresses.joined(separator: " "))"
        }
        let check =
            facts.check.map { ["check: \(renderer.safe($0.verdict))"] + ($0.requests ?? []).map { "  \(renderer.safe($0))" } }
            ?? []
        return links + (facts.reply.map { renderer.lines($0) } ?? []).map(Self.own) + check
    }

    private func helpers(_ facts: DoctorFacts) -> [String] {
        guard facts.reply != nil else { return ["\(Self.silent), so its helpers are unknown."] }
        return facts.helpers.flatMap { helper in
            var words = [helper.name, helper.version ?? "", helper.enabled ? "on" : "off", helper.running ? "running" : ""]
            if helper.strikes > 0 { words.append("\(helper.strikes) missed deadlines or crashes in a row") }
            if helper.quarantined { words.append("quarantined") }
            if let browser = helper.browser { words.append("browser for scripts: \(browser.isEmpty ? "none" : browser)") }
            words += (helper.missing ?? []).map { "no sandbox: \($0)" }
            let problems = helper.problems.map { "  \($0.code.rawValue): \(QuotedProblem.split($0.message).sentence)" }
            return [words.filter { !$0.isEmpty }.map { renderer.safe($0, limit: 200) }.joined(separator: ", ")] + problems
        }
    }

    private func lines(_ story: ExplainReply) -> [String] {
        var story = story
        story.verdict = Self.cut(story.verdict)
        story.steps = story.steps.map { step in
            var step = step
            step.detail = Self.cut(step.detail)
            switch step.kind {
            case "prompt": step.detail = "\(Self.others) asks"
            case "answer":
                if let end = step.detail.firstRange(of: ": ") { step.detail = step.detail[..<end.upperBound] + Self.others }
            default: break
            }
            return step
        }
        return renderer.lines(story, verbose: true)
    }

    private var log: [String] {
        output("journalctl --unit=hotspotd --lines=\(Self.logLines) --no-pager --no-hostname --quiet", lines: Self.logLines)
    }

    // MARK: Private data

    /// Returns the sentence without the words of a helper or portal.
    private static func cut(_ text: String) -> String {
        let (sentence, words) = QuotedProblem.split(text)
        return words == nil ? text : QuotedProblem.join(sentence, others)
    }

    /// Keeps a line of hotspotd, and replaces the words of a helper or portal.
    private static func own(_ line: String) -> String {
        let words = line.drop { $0 == " " }
        return words.hasPrefix("│ ") ? "  │ \(others)" : line
    }

    private func redaction(_ facts: DoctorFacts, _ client: ControlClient?) -> Redaction {
        let products = reader.names(Self.portals).flatMap { name in
            (reader.text("\(Self.portals)/\(name)") ?? "").split(separator: "\n").filter { $0.hasPrefix("Host=") }
                .flatMap { $0.dropFirst(5).split(separator: ";").map(String.init) }
        }
        var redaction = Redaction(products: products)
        let interfaces = facts.reply?.interfaces ?? []
        let attempts = (try? client?.call("History", as: HistoryReply.self).attempts) ?? []
        let list =
            (try? client?.call("List", ListParameters(interface: nil, all: true)))
            .flatMap { try? ControlClient.read(ListReply.self, $0).networks } ?? []
        let helped = facts.helpers.flatMap {
            $0.disabledFor + $0.ssids.filter { !$0.contains("*") } + ($0.given ?? []).flatMap(\.networks)
        }
        let names =
            interfaces.compactMap(\.ssid) + attempts.map(\.ssid) + list.map(\.ssid) + (facts.reply?.off ?? []).compactMap(\.ssid)
        for name in names + helped { redaction.add(network: name) }
        for name in people { redaction.add(name, as: .name) }
        return redaction
    }

    /// The names of this user and this computer.
    private var people: [String] {
        var host = [UInt8](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let machine = String(decoding: host.prefix { $0 != 0 }, as: UTF8.self)
        var names = [machine, String(machine.prefix { $0 != "." })]
        for variable in ["USER", "LOGNAME", "SUDO_USER"] {
            if let name = getenv(variable) { names.append(String(cString: name)) }
        }
        for account in [getpwuid(getuid()), getenv("SUDO_USER").flatMap { getpwnam($0) }] {
            guard let account = account?.pointee else { continue }
            names.append(String(cString: account.pw_name))
            // The full name is the first of several fields; each of its words is also a name.
            let full = String(cString: account.pw_gecos).prefix { $0 != "," }
            names += [String(full)] + full.split(separator: " ").map(String.init)
        }
        return names.filter { $0.count > 1 && $0 != "root" && $0 != "localhost" }
    }

    /// Runs a command with the shell, and returns the first lines of its output.
    private func output(_ command: String, lines: Int) -> [String] {
        guard let stream = popen("\(command) 2>/dev/null", "re") else { return [] }
        defer { pclose(stream) }
        var all: [String] = []
        var line = [CChar](repeating: 0, count: 4096)
        while all.count < lines, fgets(&line, Int32(line.count), stream) != nil {
            let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            all.append(Printable.shown(text, limit: 4096))
        }
        return all
    }
}
