import ArgumentParser
import ControlAPI
import ForeignText
import Glibc
import HotspotCore

struct AnswerVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Answer a portal's question.",
        discussion: """
            On a terminal, hotspotctl asks for each field; passwords are typed without echo. Otherwise, or with --stdin, it \
            reads name=value lines from standard input; `hotspotctl prompts` shows the names. With a pipe, name the prompt or the helper, because you \
            do not see the question. Answers are never read from the arguments, which every user of this computer can see.

            With --dialog, zenity or kdialog asks you. If neither is installed, hotspotctl opens a terminal; if there is no terminal, a browser.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        inversion: .prefixedNo,
        help:
            "Whether to keep the answers, encrypted, for this network and portal; the default is Remember= of the settings. One-time codes and vouchers are never kept. Whether accepted terms are kept depends on AcceptTerms=; with Remember=never, accepted terms are not kept."
    )
    var remember: Bool?

    @Flag(help: "With piped input, use the stored answer for each field without a line.")
    var stored = false

    @Flag(help: "Read name=value lines from standard input, even if it is a terminal.")
    var stdin = false

    @Flag(help: "Ask in a dialog of the desktop, as the notification does.")
    var dialog = false

    /// Whether to wait for Enter at the end, if the terminal closes with this command.
    @Flag(help: .hidden)
    var stay = false

    @Flag(help: "Decline the question; hotspotd asks no questions on this network for 12 hours, or until 'hotspotctl login'.")
    var dismiss = false

    @Option(help: ArgumentHelp("How long to wait for the outcome; 0 does not wait.", valueName: "seconds"))
    var wait: Double = 120

    @Option(help: "Answer only a question of this helper.", completion: Complete.helpers)
    var helper: String?

    @Argument(
        help: "The prompt's ID, if several wait; on a terminal, you can name the interface instead.", completion: Complete.prompts
    )
    var id: String?

    func validate() throws {
        guard wait >= 0, wait <= 86400 else { throw ValidationError("--wait takes 0 to 86400 seconds.") }
        if dismiss, stdin { throw ValidationError("--dismiss and --stdin exclude each other.") }
        if dialog, stdin || dismiss || common.noAsk {
            throw ValidationError("--dialog excludes --dismiss, --stdin and --no-ask.")
        }
    }

    func run() throws { try DesktopPrograms.run(staying: stay, answer) }

    private func answer() throws {
        let client = try common.connect()
        let prompt = try pick(client)
        if dismiss {
            _ = try client.call("Dismiss", .members(["id": prompt.id]))
            // After a fresh login on an open network is dismissed, the earlier session continues, so only --fresh starts over.
            let here = (try? client.call("Status", as: StatusReply.self))?.interfaces.first { $0.interface == prompt.interface }
            let isOpen = here?.captive == false && here?.state == StateName.authenticated.rawValue
            let login = "hotspotctl login\(isOpen ? " --fresh" : "") \(common.renderer.argument(prompt.interface))"
            return Output.print(["Dismissed; your answers were not kept. To start over: \(login)"])
        }
        let isTerminal = !stdin && isatty(STDIN_FILENO) == 1
        let dialogs = dialog ? DesktopPrograms.dialog : nil
        // Programs that replace this process, such as a terminal, need the socket's path.
        if dialog { setenv("HOTSPOTD_SOCKET", common.socketPath, 1) }
        if dialog, dialogs == nil, !isTerminal { throw openTerminal(for: prompt) }
        let isInteractive = isTerminal || dialogs != nil
        let dialogue = Dialogue(
            common: common, client: client, remember: remember, stored: stored, wait: wait, isInteractive: isInteractive,
            dialogs: dialogs)
        // With piped input, a prompt with a warning must be named by its own ID.
        guard isInteractive || id == prompt.id || (helper != nil && prompt.warning == nil) else {
            let helper = common.renderer.safe(prompt.helper, limit: 64)
            let others = prompt.warning == nil ? ", or use --helper=\(helper)." : "."
            throw dialogue.needed(prompt, "With piped input, name the prompt by its ID\(others)")
        }
        try dialogue.run(prompt)
    }

    /// Continues in a terminal; without a terminal, in a browser.
    private func openTerminal(for prompt: PendingPrompt) -> Failure {
        guard DesktopPrograms.hasDisplay else {
            return Failure(.failed, "There is no display for a dialog.", hint: common.renderer.answer(prompt.interface))
        }
        let socket = common.socket.map { ["--socket", $0] } ?? []
        let answer = DesktopPrograms.own(["answer", "--stay"] + socket + [prompt.interface])
        return DesktopPrograms.become(DesktopPrograms.terminal(answer) ?? DesktopPrograms.own(["browse", prompt.interface]))
    }

    /// Returns the question on an interface; `nil` if there is no such interface.
    private func prompt(on interface: String, _ client: ControlClient) throws(Failure) -> PendingPrompt? {
        let all = (try? client.call("Status", as: StatusReply.self))?.interfaces ?? []
        guard let status = all.first(where: { $0.interface == interface }) else { return nil }
        if let id = status.prompt, let prompt = try client.prompt(id).pending { return prompt }
        throw Failure(
            .notFound, "No question waits on \(common.renderer.safe(interface, limit: 32)).", hint: "hotspotctl status"
        )
    }

    private func pick(_ client: ControlClient) throws(Failure) -> PendingPrompt {
        if let id {
            var (pending, gone) = try client.prompt(id)
            if pending == nil, gone == nil { pending = try prompt(on: id, client) }
            guard let prompt = pending else { throw Failure.noSuchPrompt(id, gone) }
            guard helper == nil || helper == prompt.helper else {
                throw Failure(
                    .notFound, "This question comes from another helper: \(common.renderer.safe(prompt.helper, limit: 64)).",
                    hint: "hotspotctl prompts")
            }
            return try prompt.readable()
        }
        var reply = try client.call("Prompts", as: PromptsReply.self)
        if let helper { reply.prompts.removeAll { $0.helper != helper } }
        guard let first = reply.prompts.first else {
            let sentence =
                helper.map { "The helper '\(Printable.text($0, limit: 64))' has no question." }
                ?? "No question waits for an answer."
            throw Failure(.notFound, sentence, hint: "hotspotctl status")
        }
        guard reply.prompts.count == 1, reply.omitted ?? 0 == 0 else {
            Output.error(common.renderer.lines(reply))
            throw Failure(.usage, "Several prompts wait: name one.")
        }
        return try first.readable()
    }
}
