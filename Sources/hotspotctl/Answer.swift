import ArgumentParser
import ControlAPI
import ForeignText
import Glibc
import HotspotCore

struct AnswerVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Answer what a portal asks.",
        discussion: """
            On a terminal you are asked for each field, for passwords and codes without echo. Otherwise, or with --stdin, lines \
            name=value are read from standard input; `hotspotctl prompts` shows the names. With a pipe, name the prompt or the \
            helper, because you do not see the question. Answers are never read from the arguments, which every user of this \
            computer can see.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        inversion: .prefixedNo, help: "Keep the answers, encrypted, for this network and portal. Codes and ticks are never kept.")
    var remember = true

    @Flag(help: "Read lines name=value from standard input, even if that is a terminal.")
    var stdin = false

    @Flag(help: "Do not answer; no more questions until you leave this network.")
    var dismiss = false

    @Option(help: ArgumentHelp("How long to wait for the outcome; 0 does not wait.", valueName: "seconds"))
    var wait: Double = 120

    @Option(help: "Answer only this helper.", completion: Complete.helpers)
    var helper: String?

    @Argument(help: "The prompt, if several wait.", completion: Complete.prompts)
    var id: String?

    func validate() throws {
        guard wait >= 0, wait <= 86400 else { throw ValidationError("--wait takes 0 to 86400 seconds.") }
        if dismiss, stdin { throw ValidationError("--dismiss and --stdin exclude each other.") }
    }

    /// A limit for portals that ask again and again.
    private static let rounds = 8

    func run() throws {
        let client = try common.connect()
        var prompt = try pick(client, id)
        if dismiss {
            _ = try client.call("Dismiss", .members(["id": prompt.id]))
            return Output.print(["Dismissed; to start over: hotspotctl login"])
        }
        let isInteractive = !stdin && isatty(STDIN_FILENO) == 1
        guard isInteractive || id != nil || helper != nil else {
            let helper = common.renderer.safe(prompt.helper, limit: 64)
            throw needed(prompt, "with a pipe, name the prompt, or give --helper=\(helper).")
        }
        var answers = try read(prompt, isInteractive)
        for _ in 0..<Self.rounds {
            switch try send(answers, to: prompt, client) {
            case nil: return Output.print(["Answered."])
            case .online(let sentence):
                return Output.print([[sentence, remembered(answers, prompt)].compactMap { $0 }.joined(separator: " ")])
            case .asks(let next):
                prompt = try pick(client, next)
                guard isInteractive, !common.noAsk else { throw needed(prompt, "the portal asks again.") }
                answers = try read(prompt, isInteractive)
            }
        }
        throw Failure(.failed, "the portal keeps asking.", hint: "hotspotctl explain")
    }

    private enum Sent {
        case online(String)
        case asks(String)
    }

    /// Sends the answers and waits; `nil` if the outcome is not waited for.
    private func send(_ answers: [String: String], to prompt: PendingPrompt, _ client: ControlClient) throws -> Sent? {
        let watch = wait > 0 ? try OutcomeWatch(path: common.socketPath, target: prompt.interface, prompt: prompt.id) : nil
        _ = try client.call(
            "Answer",
            ["id": .string(prompt.id), "answers": .object(answers.mapValues(JSONValue.string)), "remember": .bool(remember)])
        guard let watch else { return nil }
        switch try watch.outcome(within: wait) {
        case .online(let status): return .online(common.renderer.online(status, after: watch.elapsed))
        case .asks(let next): return .asks(next)
        case .failed(let status): throw common.renderer.failure(status)
        case .timeout:
            throw Failure(
                .timeout, "no outcome within \(common.renderer.tenths(wait)); the login continues.", hint: "hotspotctl monitor")
        }
    }

    private func read(_ prompt: PendingPrompt, _ isInteractive: Bool) throws(Failure) -> [String: String] {
        if isInteractive {
            guard !common.noAsk else { throw needed(prompt, "an answer is needed.") }
            return try Asker(renderer: common.renderer).ask(prompt)
        }
        let answers = try AnswerLines.read(fields: prompt.fields)
        let missing = prompt.fields.filter { $0.required && answers[$0.name, default: ""].isEmpty }
        guard missing.isEmpty else {
            let names = missing.map { "'\(common.renderer.safe($0.name, limit: 64))'" }.joined(separator: ", ")
            throw needed(prompt, "no answer to \(names).")
        }
        return answers
    }

    private func needed(_ prompt: PendingPrompt, _ message: String) -> Failure {
        Output.error(common.renderer.lines(prompt))
        return Failure(.answerNeeded, message, hint: "hotspotctl answer \(common.renderer.safe(prompt.id, limit: 64))")
    }

    private func pick(_ client: ControlClient, _ id: String?) throws(Failure) -> PendingPrompt {
        if let id {
            guard let prompt = try client.prompt(id) else {
                throw Failure(
                    .notFound, "there is no prompt '\(Printable.text(id, limit: 64))'; it may have been answered.",
                    hint: "hotspotctl prompts")
            }
            guard helper == nil || helper == prompt.helper else {
                throw Failure(
                    .notFound, "this is a question of another helper: \(common.renderer.safe(prompt.helper, limit: 64)).",
                    hint: "hotspotctl prompts")
            }
            return try readable(prompt)
        }
        var reply = try client.call("Prompts", as: PromptsReply.self)
        if let helper { reply.prompts.removeAll { $0.helper != helper } }
        guard let first = reply.prompts.first else {
            let sentence =
                helper.map { "the helper '\(Printable.text($0, limit: 64))' has no question." } ?? "there is no question."
            throw Failure(.notFound, sentence, hint: "hotspotctl status")
        }
        guard reply.prompts.count == 1, reply.omitted ?? 0 == 0 else {
            Output.error(common.renderer.lines(reply))
            throw Failure(.usage, "several prompts wait: name one.")
        }
        return try readable(first)
    }

    /// Throws if this user may not see the question.
    private func readable(_ prompt: PendingPrompt) throws(Failure) -> PendingPrompt {
        guard prompt.withheld == true else { return prompt }
        throw Failure(
            .failed, "only these may see the question and answer it: \(Renderer.permittedToAnswer).",
            hint: "sudo hotspotctl answer, or join the group hotspotd")
    }

    /// The sentence about stored answers; `nil` if none is stored. The user will be asked again if there was a code, and over plain HTTP,
    /// where stored answers are not sent without being asked for.
    private func remembered(_ answers: [String: String], _ prompt: PendingPrompt) -> String? {
        let answered = prompt.fields.filter { !answers[$0.name, default: ""].isEmpty }
        guard remember, answered.contains(where: { $0.kind != .code && $0.kind != .checkbox }) else { return nil }
        let isLast = prompt.portal?.hasPrefix("https://") == true && !answered.contains { $0.kind == .code }
        return isLast ? "Remembered for this portal; next time you will not be asked." : "Remembered for this portal."
    }
}
