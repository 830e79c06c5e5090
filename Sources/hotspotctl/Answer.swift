import ArgumentParser
import ForeignText
import Glibc
import HotspotCore

/// Answers a question of a portal.
struct Answer: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer what a portal asks.",
        discussion: """
            On a terminal each field is asked, passwords and codes without echo. Otherwise, or with --stdin, lines name=value are \
            read from standard input; `hotspotctl prompts` shows the names. Nobody sees then who asks, so it has to be said whom the \
            answers are for: a prompt, or a helper. Answers are never taken from the arguments, which everybody on this computer can \
            read.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(inversion: .prefixedNo, help: "Keep the answers, sealed, for this network and portal. Codes and ticks are never kept.")
    var remember = true

    @Flag(help: "Read lines name=value from standard input, even if that is a terminal.")
    var stdin = false

    @Flag(help: "Do not answer: ask no more on this network, and leave it as it is.")
    var dismiss = false

    @Option(help: ArgumentHelp("Wait so long for the outcome; 0: not at all.", valueName: "seconds"))
    var wait: Double = 120

    @Option(help: "Answer this helper, and nobody else.", completion: Complete.helpers)
    var helper: String?

    @Argument(help: "The prompt, if several wait.", completion: Complete.prompts)
    var id: String?

    func validate() throws {
        guard wait >= 0, wait <= 86400 else { throw ValidationError("--wait takes 0 to 86400 seconds.") }
        if dismiss, stdin { throw ValidationError("--dismiss and --stdin exclude each other.") }
    }

    /// A portal may ask again and again; nobody should have to answer for ever.
    private static let rounds = 8

    func run() throws {
        let daemon = try common.connect()
        var prompt = try pick(daemon, id)
        if dismiss {
            _ = try daemon.call("Dismiss", .members(["id": prompt.id]))
            return Output.print(["Dismissed; to start over: hotspotctl login"])
        }
        let isInteractive = !stdin && isatty(STDIN_FILENO) == 1
        guard isInteractive || id != nil || helper != nil else {
            let helper = common.renderer.safe(prompt.helper, limit: 64)
            throw needed(prompt, "whom the answers are for is not said: name the prompt, or give --helper=\(helper).")
        }
        var answers = try read(prompt, isInteractive)
        for _ in 0..<Self.rounds {
            switch try send(answers, to: prompt, daemon) {
            case nil: return Output.print(["Answered."])
            case .online(let sentence):
                return Output.print([[sentence, remembered(answers, prompt)].compactMap { $0 }.joined(separator: " ")])
            case .asks(let next):
                prompt = try pick(daemon, next)
                guard isInteractive, !common.noAsk else { throw needed(prompt, "the portal asks again.") }
                answers = try read(prompt, isInteractive)
            }
        }
        throw Failure(.failed, "the portal goes on asking.", hint: "hotspotctl explain")
    }

    private enum Sent {
        case online(String)
        case asks(String)
    }

    /// Sends the answers and waits; `nil` if the outcome is not waited for.
    private func send(_ answers: [String: String], to prompt: PendingPrompt, _ daemon: Daemon) throws -> Sent? {
        let watch = wait > 0 ? try OutcomeWatch(path: common.socketPath, target: prompt.interface, prompt: prompt.id) : nil
        _ = try daemon.call(
            "Answer",
            ["id": .string(prompt.id), "answers": .object(answers.mapValues(JSONValue.string)), "remember": .bool(remember)])
        guard let watch else { return nil }
        switch try watch.outcome(within: wait) {
        case .online(let status): return .online(common.renderer.online(status, after: watch.elapsed))
        case .asks(let next): return .asks(next)
        case .failed(let status): throw common.renderer.failure(status)
        case .timeout:
            throw Failure(.timeout, "no outcome within \(common.renderer.tenths(wait)); it goes on.", hint: "hotspotctl monitor")
        }
    }

    private func read(_ prompt: PendingPrompt, _ isInteractive: Bool) throws(Failure) -> [String: String] {
        if isInteractive {
            guard !common.noAsk else { throw needed(prompt, "an answer is needed.") }
            return try Asker(renderer: common.renderer).ask(prompt)
        }
        // With --no-ask, what comes from a pipe is an answer given, not a question asked.
        let answers = try AnswerLines.read(fields: prompt.fields)
        let missing = prompt.fields.filter { $0.required && answers[$0.name, default: ""].isEmpty }
        guard missing.isEmpty else {
            throw needed(
                prompt, "no answer to \(missing.map { "«\(common.renderer.safe($0.name, limit: 64))»" }.joined(separator: ", "))."
            )
        }
        return answers
    }

    private func needed(_ prompt: PendingPrompt, _ message: String) -> Failure {
        Output.error(common.renderer.lines(prompt))
        return Failure(.answerNeeded, message, hint: "hotspotctl answer \(common.renderer.safe(prompt.id, limit: 64))")
    }

    private func pick(_ daemon: Daemon, _ id: String?) throws(Failure) -> PendingPrompt {
        if let id {
            guard let prompt = try daemon.prompt(id) else {
                throw Failure(
                    .notFound, "there is no prompt «\(Printable.text(id, limit: 64))»; it may have been answered.",
                    hint: "hotspotctl prompts")
            }
            guard helper == nil || helper == prompt.helper else {
                throw Failure(
                    .notFound, "another helper asks this: \(common.renderer.safe(prompt.helper, limit: 64)).",
                    hint: "hotspotctl prompts")
            }
            return try readable(prompt)
        }
        var reply = try daemon.call("Prompts", as: PromptsReply.self)
        if let helper { reply.prompts.removeAll { $0.helper != helper } }
        guard let first = reply.prompts.first else {
            let sentence = helper.map { "the helper «\(Printable.text($0, limit: 64))» asks nothing." } ?? "nobody asks anything."
            throw Failure(.notFound, sentence, hint: "hotspotctl status")
        }
        guard reply.prompts.count == 1, reply.omitted ?? 0 == 0 else {
            Output.error(common.renderer.lines(reply))
            throw Failure(.usage, "several prompts wait: name one.")
        }
        return try readable(first)
    }

    /// Who does not see what is asked cannot answer it.
    private func readable(_ prompt: PendingPrompt) throws(Failure) -> PendingPrompt {
        guard prompt.withheld == true else { return prompt }
        throw Failure(
            .failed, "what is asked is for those who may answer: \(Renderer.whoMayAnswer).",
            hint: "sudo hotspotctl answer, or join the group hotspotd")
    }

    /// What to promise: nothing if nothing that was answered is kept. Over plain HTTP what is kept is not sent by itself, and a code
    /// will be asked again, so that nobody may be told that it is the last question.
    private func remembered(_ answers: [String: String], _ prompt: PendingPrompt) -> String? {
        let given = prompt.fields.filter { !answers[$0.name, default: ""].isEmpty }
        guard remember, given.contains(where: { $0.kind != .code && $0.kind != .checkbox }) else { return nil }
        let isLast = prompt.portal?.hasPrefix("https://") == true && !given.contains { $0.kind == .code }
        return isLast ? "Remembered for this portal; next time nobody asks." : "Remembered for this portal."
    }
}
