import ArgumentParser
import CCommit
import ForeignText
import Glibc
import HotspotCore

/// The command: its verbs and its exit status.
@main struct Hotspotctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hotspotctl",
        abstract: "Show and control how this computer logs in to hotspots.",
        discussion: """
            Exit status: 0 done, 1 failed or not proven, 2 wrong usage, 3 time-out, 4 an answer is needed, 8 the daemon is not running, \
            10 no such network, interface, helper or prompt.
            """,
        version: "hotspotctl \(builtVersion)",
        subcommands: [
            StatusVerb.self, ListVerb.self, HelpersVerb.self, PortalsVerb.self, PromptsVerb.self, AnswerVerb.self, LoginVerb.self,
            BrowseVerb.self,
            LogoffVerb.self, JoinVerb.self, LeaveVerb.self,
            MonitorVerb.self, ExplainVerb.self,
            HistoryVerb.self, CheckVerb.self, DoctorVerb.self, ReportVerb.self, EnableVerb.self, DisableVerb.self,
            ForgetVerb.self, CredentialsVerb.self, CompanionVerb.self, DesktopVerb.self,
        ],
        defaultSubcommand: StatusVerb.self)

    /// The version, with the commit if `make` knew it.
    static var builtVersion: String {
        let commit = String(cString: hotspotd_commit())
        return hotspotdVersion + (commit.isEmpty ? "" : " (\(commit))")
    }

    static func main() {
        // Ignored, because `Output` checks whether a reader such as `head` has ended.
        signal(SIGPIPE, SIG_IGN)
        // Swift's runtime reads the arguments from /proc/self/maps, and reports none if it cannot open that file.
        guard !CommandLine.arguments.isEmpty else {
            Output.error(["hotspotctl: The arguments cannot be read."])
            Glibc.exit(ExitStatus.failed.rawValue)
        }
        let arguments = ArgumentOrder.arrange(Array(CommandLine.arguments.dropFirst()), verbs: Set(configuration.verbs))
        do {
            try checkVerb(arguments)
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let failure as Failure {
            failure.report()
            Glibc.exit(failure.status.rawValue)
        } catch {
            guard exitCode(for: error).isSuccess else {
                let words = message(for: error)
                let verb = arguments.first { configuration.verbs.contains($0) }.map { " \($0)" } ?? ""
                Failure(
                    .usage, words + (words.hasSuffix(".") || words.hasSuffix("?") ? "" : "."), hint: "hotspotctl help\(verb)"
                ).report()
                Glibc.exit(ExitStatus.usage.rawValue)
            }
            Output.print(verbatim: [fullMessage(for: error)])
        }
    }
}

extension Hotspotctl {
    /// Rejects an unknown verb. Without this check, the default verb `status` would report an unexpected argument.
    private static func checkVerb(_ arguments: [String]) throws(Failure) {
        try check(arguments.first, of: configuration, after: "hotspotctl")
        for (name, group) in [
            ("helpers", HelpersVerb.configuration), ("credentials", CredentialsVerb.configuration),
            ("portals", PortalsVerb.configuration), ("companion", CompanionVerb.configuration),
            ("desktop", DesktopVerb.configuration),
        ]
        where arguments.first == name {
            try check(arguments.dropFirst().first, of: group, after: "hotspotctl \(name)")
        }
    }

    private static func check(
        _ word: String?, of configuration: CommandConfiguration, after command: String
    ) throws(Failure) {
        guard let word, !word.hasPrefix("-"), word != "help", !configuration.verbs.contains(word) else { return }
        let shown = Printable.text(word, limit: 64)
        let verbs = configuration.shownVerbs
        guard let meant = Nearest.word(to: word, in: verbs) else {
            throw Failure(.usage, "There is no command '\(command) \(shown)'; the commands are \(verbs.joined(separator: ", ")).")
        }
        throw Failure(.usage, "There is no command '\(command) \(shown)'.", hint: "\(command) \(meant)")
    }
}

extension CommandConfiguration {
    /// The names of the subcommands.
    fileprivate var verbs: [String] { subcommands.map { $0._commandName } }

    /// The names of the subcommands that the help lists.
    fileprivate var shownVerbs: [String] { subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName } }
}
