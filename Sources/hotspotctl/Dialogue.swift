import ControlAPI
import Glibc
import HotspotCore

/// One login's questions: asks the user, sends the answers, waits for the outcome, and asks again as long as the portal does.
struct Dialogue {
    let common: CommonOptions
    let client: ControlClient
    /// Keep the answers; `nil`: as the daemon's settings say.
    var remember: Bool?
    /// Without a terminal: send the stored answers for the fields without a line.
    var stored = false
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
            if isInteractive, !common.noAsk, prompt.locked == true { prompt = try unlocked(prompt) }
            if round > 0, !isInteractive || common.noAsk { throw needed(prompt, "The portal asks again.") }
            let answers = try read(prompt, isWarned: warned.contains(prompt.portal))
            warned.insert(prompt.portal)
            switch try send(answers, to: prompt) {
            case nil: return Output.print(["Answered."])
            case .online(let sentence):
                return Output.print([sentence])
            case .asks(let next):
                guard let pending = try client.prompt(next).pending else {
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
    private func send(_ answers: TypedAnswers, to prompt: PendingPrompt) throws -> Sent? {
        let (remember, confirmed) = try wish(answers, prompt)
        let watch = wait > 0 ? try OutcomeWatch(path: common.socketPath, target: prompt.interface, prompt: prompt.id) : nil
        do throws(Failure) {
            _ = try client.call(
                "Answer",
                AnswerParameters(
                    id: prompt.id, answers: answers.values, remember: remember, stored: answers.stored, confirmed: confirmed))
        } catch {
            throw error.keepingNothing
        }
        guard let watch else { return nil }
        switch try watch.outcome(within: wait) {
        case .online(let status):
            let renderer = common.renderer
            let kept = [status.answers.map { renderer.safe($0) }, self.remember == false ? renderer.stays(prompt) : nil]
            return .online(([renderer.online(status, after: watch.elapsed)] + kept.compactMap(\.self)).joined(separator: " "))
        case .asks(let next): return .asks(next)
        case .failed(let status):
            let failure = common.renderer.failure(status)
            throw status.answers.map { failure.adding(common.renderer.safe($0)) } ?? failure
        case .timeout:
            throw Failure(
                .timeout, "No outcome within \(common.renderer.tenths(wait)); the login continues.", hint: "hotspotctl monitor")
        }
    }

    /// Returns whether to keep the answers, and whether the user was asked about this portal's.
    private func wish(
        _ answers: TypedAnswers, _ prompt: PendingPrompt
    ) throws(Failure) -> (remember: Bool, confirmed: Bool) {
        let isNew = prompt.fields.contains { field in
            field.kind != .code && field.kind != .checkbox && !answers.values[field.name, default: ""].isEmpty
        }
        if remember == false { return (false, false) }
        guard isInteractive, isNew, prompt.remember == "ask", remember == nil || prompt.warning != nil else {
            return (true, remember == true)
        }
        let agreed = try Asker(renderer: common.renderer).agreesToRemember()
        return (agreed, agreed)
    }

    /// Asks for the PIN that guards the stored answers, and returns the prompt with them.
    private func unlocked(_ prompt: PendingPrompt) throws(Failure) -> PendingPrompt {
        while true {
            let pin = try TerminalLine.read("PIN of the stored answers (Enter: type the answers): ", true)
            if pin.isEmpty { return prompt }
            do throws(Failure) {
                _ = try client.call("Unlock", ["pin": .string(pin)])
                return try client.prompt(prompt.id).pending ?? prompt
            } catch {
                guard case .wrongPIN(left: 1...) = error.refusal else { throw error }
                error.report()
            }
        }
    }

    private func read(_ prompt: PendingPrompt, isWarned: Bool) throws(Failure) -> TypedAnswers {
        if isInteractive {
            guard !common.noAsk else { throw needed(prompt, "An answer is needed.") }
            return try Asker(renderer: common.renderer).ask(prompt, isWarned: isWarned)
        }
        let answers = try AnswerLines.read(fields: prompt.fields)
        let stored = self.stored ? (prompt.stored ?? []).filter { answers[$0, default: ""].isEmpty } : []
        let missing = prompt.fields.filter {
            $0.required && answers[$0.name, default: ""].isEmpty && !stored.contains($0.name)
        }
        guard missing.isEmpty else {
            throw needed(prompt, Hearsay.join("No answer to:", missing.map { Renderer.safe($0.name) }.joined(separator: ", ")))
        }
        return TypedAnswers(values: answers.filter { !stored.contains($0.key) }, stored: stored)
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

extension Renderer {
    /// What --no-remember leaves as it is: answers that were stored for this portal before. `nil` if there are none.
    fileprivate func stays(_ prompt: PendingPrompt) -> String? {
        guard prompt.stored?.isEmpty == false || prompt.locked == true else { return nil }
        return "Earlier answers stay stored; to remove them: hotspotctl credentials remove \(argument(prompt.ssid))"
    }
}
