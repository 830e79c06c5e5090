import ControlAPI
import Glibc
import HotspotCore

/// One login's questions: asks the user, sends the answers, waits for the outcome, and asks again as long as the portal does.
struct Dialogue {
    let common: CommonOptions
    let client: ControlClient
    /// Keep the answers.
    var remember = true
    /// Seconds until each outcome; 0 does not wait.
    let wait: Double
    /// Ask on the terminal; otherwise answers are read from standard input.
    let isInteractive: Bool

    /// A limit for portals that ask again and again.
    private static let rounds = 8

    /// Whether a person can be asked.
    static func canAsk(_ common: CommonOptions) -> Bool { isatty(STDIN_FILENO) == 1 && !common.noAsk }

    func run(_ first: PendingPrompt) throws {
        var prompt = first
        var warned: Set<String?> = []
        for round in 0..<Self.rounds {
            if round > 0, !isInteractive || common.noAsk { throw needed(prompt, "The portal asks again.") }
            let answers = try read(prompt, isWarned: warned.contains(prompt.portal))
            warned.insert(prompt.portal)
            switch try send(answers, to: prompt) {
            case nil: return Output.print(["Answered."])
            case .online(let sentence):
                return Output.print([[sentence, remembered(answers, prompt)].compactMap { $0 }.joined(separator: " ")])
            case .asks(let next):
                guard let pending = try client.prompt(next) else {
                    throw Failure(.notFound, "The next question is gone already.", hint: "hotspotctl status")
                }
                prompt = try pending.readable()
            }
        }
        throw Failure(.failed, "The portal keeps asking.", hint: "hotspotctl explain")
    }

    func needed(_ prompt: PendingPrompt, _ message: String) -> Failure {
        Output.error(common.renderer.lines(prompt))
        return Failure(.answerNeeded, message, hint: "hotspotctl answer \(common.renderer.safe(prompt.id, limit: 64))")
    }

    private enum Sent {
        case online(String)
        case asks(String)
    }

    /// Sends the answers and waits; `nil` if the outcome is not waited for.
    private func send(_ answers: [String: String], to prompt: PendingPrompt) throws -> Sent? {
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
                .timeout, "No outcome within \(common.renderer.tenths(wait)); the login continues.", hint: "hotspotctl monitor")
        }
    }

    private func read(_ prompt: PendingPrompt, isWarned: Bool) throws(Failure) -> [String: String] {
        if isInteractive {
            guard !common.noAsk else { throw needed(prompt, "An answer is needed.") }
            return try Asker(renderer: common.renderer).ask(prompt, isWarned: isWarned)
        }
        let answers = try AnswerLines.read(fields: prompt.fields)
        let missing = prompt.fields.filter { $0.required && answers[$0.name, default: ""].isEmpty }
        guard missing.isEmpty else {
            throw needed(prompt, Hearsay.join("No answer to:", missing.map { Renderer.safe($0.name) }.joined(separator: ", ")))
        }
        return answers
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

extension PendingPrompt {
    /// Throws if this user may not see the question.
    func readable() throws(Failure) -> PendingPrompt {
        guard withheld == true else { return self }
        throw Failure(
            .failed, "Only these may see the question and answer it: \(Renderer.permitted).",
            hint: "sudo hotspotctl answer, or join the group hotspotd")
    }
}
