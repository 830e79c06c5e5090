import ControlAPI
import Glibc
import HotspotCore

/// The questions of one login: asks the user, sends the answers, waits for the outcome, and repeats this as long as the portal asks.
struct Dialogue {
    let common: CommonOptions
    let client: ControlClient
    /// Whether to keep the answers; `nil` leaves that to the daemon's settings.
    var remember: Bool?
    /// Whether the stored answers are used for fields that the input has no line for. Only for input that is not a terminal.
    var stored = false
    /// Seconds to wait for each outcome; 0 does not wait.
    let wait: Double
    /// Whether to ask a person; otherwise answers come from standard input.
    let isInteractive: Bool
    /// The program for dialogs, if they replace the terminal.
    var dialogs: DialogProgram?

    /// The largest number of questions in one login.
    private static let rounds = 8

    /// Returns whether a person can be asked.
    static func canAsk(_ common: CommonOptions) -> Bool { isatty(STDIN_FILENO) == 1 && !common.noAsk }

    func run(_ first: PendingPrompt) throws { try run(first.id, first, on: first.interface) }

    /// - Parameter first: the prompt with the ID `name`; `nil` if it has already ended.
    func run(_ name: String, _ first: PendingPrompt?, on interface: String?) throws {
        var (id, prompt) = (name, first)
        var earlier = EarlierQuestions()
        for round in 0..<Self.rounds {
            if let prompt, round > 0, !isInteractive || common.noAsk { throw needed(prompt, "The portal asks another question.") }
            let watch = try OutcomeWatch(path: common.socketPath, target: interface, prompt: id)
            let sent: Sent?
            if let prompt, let filled = try fill(prompt, watch, after: earlier) {
                let nothing = earlier.nothing
                earlier.add(filled.prompt, filled.answers)
                if asksToRemember(filled.answers, filled.prompt) { earlier.wishes[filled.prompt.portal] = filled.remember }
                sent = try send(filled, watch, hasCode: earlier.hasCode, nothing)
            } else {
                sent = try fate(of: id, watch)
            }
            switch sent {
            case nil: return Output.print(["Answered."])
            case .online(let lines): return Output.print(lines)
            case .asks(let next):
                (id, prompt) = (next, try client.prompt(next).pending?.readable())
            }
        }
        throw Failure(.failed, "The portal keeps asking the same question.", hint: "hotspotctl explain")
    }

    func needed(_ prompt: PendingPrompt, _ message: String) -> Failure {
        Output.error(common.renderer.lines(prompt))
        if prompt.handsOver {
            let warning = prompt.warning.map { Renderer.safe($0, limit: 600) }
            return Failure(.answerNeeded, warning ?? "This login needs a browser.", hint: common.renderer.browse(prompt))
        }
        return Failure(.answerNeeded, message, hint: "hotspotctl answer \(common.renderer.safe(prompt.id, limit: 64))")
    }

    private enum Sent {
        /// The computer is online; the lines report that.
        case online([String])
        case asks(String)
    }

    /// A question with its answers.
    private struct Filled {
        /// The prompt as it was last shown: after the PIN, it offers the stored answers.
        var prompt: PendingPrompt
        var answers: TypedAnswers
        var remember: Bool
        var confirmed: Bool
    }

    /// Reads the answers; returns `nil` if the prompt ends before they are complete.
    private func fill(
        _ prompt: PendingPrompt, _ watch: OutcomeWatch, after earlier: EarlierQuestions
    ) throws(Failure) -> Filled? {
        do throws(Failure) {
            let asker: any Questioner =
                if let dialogs {
                    DialogAsker(renderer: common.renderer, program: dialogs, end: watch.endOfPrompt)
                } else {
                    Asker(renderer: common.renderer, interface: prompt.interface, end: watch.endOfPrompt)
                }
            var prompt = prompt
            if isInteractive, !common.noAsk, prompt.locked == true {
                guard let open = try unlocked(prompt, asker, watch) else { return nil }
                prompt = open
            }
            let answers = try read(prompt, asker, after: earlier)
            let (remember, confirmed) = try consentToKeep(answers, prompt, asker, after: earlier)
            return Filled(prompt: prompt, answers: answers, remember: remember, confirmed: confirmed)
        } catch {
            guard !watch.isPromptGone else { return nil }
            guard isInteractive, !common.noAsk, error.refusal == nil, !prompt.handsOver else { throw error }
            throw error.adding("\(earlier.nothing) was sent.")
        }
    }

    /// Sends the answers, and waits for the outcome. Returns `nil` if ``wait`` is 0.
    ///
    /// - Parameter nothing: the beginning of "Nothing was sent".
    private func send(_ filled: Filled, _ watch: OutcomeWatch, hasCode: Bool, _ nothing: String) throws -> Sent? {
        watch.loginBegins(on: nil)
        do throws(Failure) {
            let isNeeded = filled.prompt.handsOver ? try mustBeConfirmed(filled.prompt) : true
            if isNeeded {
                _ = try client.call(
                    "Answer",
                    AnswerParameters(
                        id: filled.prompt.id, answers: filled.answers.values, remember: filled.remember,
                        stored: filled.answers.stored, confirmed: filled.confirmed))
            }
        } catch {
            guard let refusal = error.refusal else { throw error }
            // The question ended before the answer arrived, so the login's outcome is reported.
            if wait > 0, case .noSuchPrompt(_, let reason) = refusal {
                return try fate(of: filled.prompt.id, watch, late: "\(reason ?? Self.gone) \(nothing) was sent.")
            }
            var failure = error.adding("\(nothing) was sent or kept.")
            if case .invalidAnswer = refusal {
                // Without a terminal, the command must name the prompt.
                failure.hint = common.renderer.answer(isInteractive ? filled.prompt.interface : filled.prompt.id)
            }
            throw failure
        }
        guard wait > 0 else { return nil }
        switch try watch.outcome(within: wait, isShown: isInteractive) {
        case .online(let status):
            let renderer = common.renderer
            let kept = [
                status.answers.map { renderer.safe($0) }, hasCode ? "Codes are not kept." : nil,
            ].compactMap(\.self)
            do throws(Failure) {
                let words = try renderer.online(status, after: watch.elapsed, among: watch.interfaces)
                return .online([([words] + kept).joined(separator: " ")] + renderer.said(by: status))
            } catch {
                throw kept.reduce(error) { $0.adding($1) }
            }
        case .asks(let next): return .asks(next)
        case .failed(let status):
            let failure = common.renderer.failure(status, among: watch.interfaces)
            throw status.answers.map { failure.adding(common.renderer.safe($0)) } ?? failure
        case .timeout: throw noOutcome
        }
    }

    /// Probes after a login in a browser; an open network confirms the login. Returns whether the user's answer must confirm the login, because the
    /// network was already open before a fresh login, or there is no prober. Throws if the network is not open.
    private func mustBeConfirmed(_ prompt: PendingPrompt) throws(Failure) -> Bool {
        let check = try client.call("Check", .members(["interface": prompt.interface]), as: CheckReply.self)
        guard try client.prompt(prompt.id).pending != nil else { return false }
        guard ["online", "unknown"].contains(check.verdict) else { throw common.renderer.stays(prompt, check.verdict) }
        return true
    }

    private static let gone = "The portal no longer asks this question."

    /// Reports how a prompt ended without an answer from this command, and returns how the login continued.
    ///
    /// - Parameter late: why an answer that was sent came too late.
    private func fate(of id: String, _ watch: OutcomeWatch, late: String? = nil) throws -> Sent {
        var outcome = try watch.outcome(within: 0)
        if case .online = outcome, late == nil {
            // Prints nothing here: the outcome explains the end of the prompt.
        } else {
            Output.error([common.renderer.safe(try late ?? client.prompt(id).gone ?? Self.gone)])
            if outcome == .timeout || watch.hasLeft { outcome = try watch.outcome(within: wait) }
        }
        switch outcome {
        case .online(let status):
            let words = try common.renderer.online(status, after: watch.elapsed, among: watch.interfaces)
            let fate = status.answers.map { " " + common.renderer.safe($0) } ?? ""
            return .online([words + fate] + common.renderer.said(by: status))
        case .asks(let next): return .asks(next)
        case .failed(let status): throw common.renderer.failure(status, among: watch.interfaces)
        case .timeout: throw noOutcome
        }
    }

    private var noOutcome: Failure {
        Failure(.timeout, "No outcome within \(common.renderer.tenths(wait)); the login continues.", hint: "hotspotctl monitor")
    }

    /// Returns whether to ask the user about keeping these answers.
    private func asksToRemember(_ answers: TypedAnswers, _ prompt: PendingPrompt) -> Bool {
        let isNew = prompt.fields.contains { field in
            field.kind != .code && field.kind != .checkbox && !answers.values[field.name, default: ""].isEmpty
        }
        return isInteractive && isNew && prompt.remember == "ask"
            && (remember == nil || (remember == true && prompt.warning != nil))
    }

    /// Returns whether to keep the answers, and whether the user agreed to that for this portal. Asks only once for each portal.
    private func consentToKeep(
        _ answers: TypedAnswers, _ prompt: PendingPrompt, _ asker: any Questioner, after earlier: EarlierQuestions
    ) throws(Failure) -> (remember: Bool, confirmed: Bool) {
        if remember == false { return (false, false) }
        guard asksToRemember(answers, prompt) else { return (true, remember == true) }
        let agreed = if let wish = earlier.wishes[prompt.portal] { wish } else { try asker.agreesToRemember() }
        return (agreed, agreed)
    }

    /// Asks for the PIN that guards the stored answers, and returns the prompt, which then offers these answers; `nil` if the daemon has already
    /// sent them.
    private func unlocked(
        _ prompt: PendingPrompt, _ asker: any Questioner, _ watch: OutcomeWatch
    ) throws(Failure) -> PendingPrompt? {
        let skips = dialogs == nil ? "press Enter" : "leave this empty"
        let question = "PIN of the stored answers (\(skips) to type the answers instead)"
        // Restarts the watch before each try: the daemon may send the stored answers at once.
        let isUnlocked = try client.unlock(asker, question, isDialog: dialogs != nil) { watch.loginBegins(on: nil) }
        return isUnlocked ? try client.prompt(prompt.id).pending : prompt
    }

    private func read(
        _ prompt: PendingPrompt, _ asker: any Questioner, after earlier: EarlierQuestions
    ) throws(Failure) -> TypedAnswers {
        if isInteractive {
            guard !common.noAsk else { throw needed(prompt, "An answer is needed.") }
            return try asker.ask(prompt, after: earlier)
        }
        var answers = try AnswerLines.read(fields: prompt.fields)
        let stored = self.stored ? (prompt.stored ?? []).filter { answers[$0, default: ""].isEmpty } : []
        // The defaults that the prompt shows also count as answers.
        if self.stored {
            for field in prompt.fields where !stored.contains(field.name) && field.kind != .checkbox && !field.kind.isSecret {
                if answers[field.name, default: ""].isEmpty, let value = field.value { answers[field.name] = value }
            }
        }
        let missing = prompt.fields.filter {
            $0.required && answers[$0.name, default: ""].isEmpty && !stored.contains($0.name)
                && !($0.mayBeEmpty && answers[$0.name] != nil)
        }
        guard missing.isEmpty else {
            throw needed(
                prompt, QuotedProblem.join("Not answered:", missing.map { Renderer.safe($0.name) }.joined(separator: ", ")))
        }
        return TypedAnswers(values: answers.filter { !stored.contains($0.key) }, stored: stored)
    }
}

extension PendingPrompt {
    /// Throws if this user may not see the question.
    func readable() throws(Failure) -> PendingPrompt {
        guard withheld == true else { return self }
        throw Failure(
            .failed, "Only these users may see and answer the question: \(Renderer.permitted).",
            hint: "sudo hotspotctl answer; or \(Failure.joinGroup)")
    }
}

extension Renderer {
    func login(_ prompt: PendingPrompt) -> String { "hotspotctl login --wait \(argument(prompt.interface))" }

    func browse(_ prompt: PendingPrompt) -> String { "hotspotctl browse \(argument(prompt.interface))" }

    /// - Parameter options: further options, after a space.
    func answer(_ interface: String, _ options: String = "") -> String { "hotspotctl answer\(options) \(argument(interface))" }

    /// Returns the failure for a login in a browser that the probe did not confirm, or without a verdict, that the user did not confirm.
    func stays(_ prompt: PendingPrompt, _ verdict: String? = nil) -> Failure {
        let words =
            switch verdict {
            case nil: "The login needs a browser"
            case "captive"?: "The portal is still there"
            case let word?: "The network is not open yet (\(safe(word, limit: 32)))"
            }
        return Failure(
            .answerNeeded, "\(words); hotspotd keeps the question.",
            hint: "\(browse(prompt)); to read the page again: \(login(prompt)); or \(answer(prompt.interface, " --dismiss"))")
    }
}
