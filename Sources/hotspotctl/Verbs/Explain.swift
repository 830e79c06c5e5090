import ArgumentParser
import ControlAPI
import HotspotCore

struct ExplainVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show what happened at the last login, and why.")

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Show each step: commands, answers, requests.")
    var verbose = false

    @Option(help: "Show the attempt with this ID from 'history'.")
    var attempt: String?

    @Argument(help: "An interface or a network; by default the joined network.", completion: Complete.networks)
    var subject: String?

    func run() throws {
        let client = try common.connect()
        var parameters = try client.place(subject)
        parameters["attempt"] = attempt
        let reply: JSONValue
        do throws(Failure) {
            reply = try client.call("Explain", .members(parameters))
        } catch {
            guard attempt == nil, case .failed(code: .noAttempt, _) = error.refusal else { throw error }
            // The hint is not `history`, because the history is empty as well.
            throw Failure(error.status, error.message, hint: "hotspotctl status")
        }
        try common.show(reply) { (renderer: Renderer, story: ExplainReply) in
            let place =
                (attempt.map { " --attempt \(renderer.argument($0))" } ?? "")
                + (subject.map { " \(renderer.argument($0))" } ?? "")
            return renderer.lines(story, verbose: verbose, of: place)
        }
    }
}

extension ControlClient {
    /// Returns the parameters for the interface or network that the user names.
    func place(_ subject: String?) throws(Failure) -> [String: String?] {
        guard let subject else { return [:] }
        let interfaces = try call("Status", as: StatusReply.self).interfaces
        return [interfaces.contains { $0.interface == subject } ? "interface" : "ssid": subject]
    }
}

extension Renderer {
    /// The largest number of lines without `verbose`.
    private static let shortStory = 6
    /// The steps that are always shown, by their kind and the beginning of their text: why nothing was sent, and that a browser rendered a page.
    private static let reasons = [
        ("credential", "kept back: "), ("warning", ""), ("answer", needsUser), ("trace", "rendered by "),
    ]
    private static let needsUser = "\(HelperResult.uiRequired.rawValue): "

    /// Returns the story as lines.
    ///
    /// - Parameter place: the arguments that name the same attempt, for the commands in hints.
    func lines(_ story: ExplainReply, verbose: Bool, of place: String = "") -> [String] {
        let (own, others) = sentence(story.verdict, limit: 8192)
        let verdict = (own.isEmpty ? [] : [own]) + others
        guard let first = story.steps.first else { return verdict.isEmpty ? ["No attempts are recorded."] : verdict }
        var question = QuestionProgress()
        // The verdict already reports the outcome.
        var steps = story.steps.map { question.telling($0) }.filter { $0.kind != "outcome" }
        if !verbose {
            // Leaves out a problem that is the cause of a transition, because the transition shows the same text. The verdict contains the
            // portal's words.
            let causes = Set(steps.filter { $0.to != nil }.map(\.detail))
            // Keeps the last step of each of these kinds, even if other steps are left out, unless the verdict already contains its text.
            let reasons = Self.reasons.compactMap { kind, words in
                steps.lastIndex {
                    $0.kind == kind && $0.detail.hasPrefix(words) && !story.verdict.contains($0.detail.dropFirst(words.count))
                }
            }
            var kept = steps.indices.filter { index in
                let step = steps[index]
                return step.to != nil || reasons.contains(index)
                    || (["problem", "deadline", "prompt", "answered"].contains(step.kind) && !causes.contains(step.detail))
            }
            while kept.count > Self.shortStory - 1 - verdict.count {
                kept.remove(at: kept.firstIndex { !reasons.contains($0) } ?? 0)
            }
            steps = kept.map { index in
                var step = steps[index]
                if step.to != nil { step.detail = QuotedProblem.split(step.detail).sentence }
                // Only --verbose shows the name of the helper's result.
                if step.kind == "answer" { step.detail = step.detail.drop(prefix: Self.needsUser) }
                return step
            }
        }
        let offsets = steps.map { offset($0.at) }
        let width = offsets.map(\.count).max() ?? 0
        let time = first.time.map { "began at \(clock($0, seconds: true)), \(ago($0))" } ?? "the last attempt"
        let link = story.attempt.map { attempt in
            (attempt.ssid.isEmpty ? "" : "\(quoted(attempt.ssid)) on ") + safe(attempt.interface, limit: 32) + ": "
        }
        let began = link.map { $0 + time } ?? time.prefix(1).uppercased() + time.dropFirst()
        let all = "details: hotspotctl explain --verbose\(place)"
        return [tone(verbose ? "\(began)." : "\(began); \(all)", .faint)]
            + zip(steps, offsets).map { step, offset in
                "  \(String(repeating: " ", count: width - offset.count))\(offset) s  \(line(step))"
            } + verdict
    }
}

extension String {
    fileprivate func drop(prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
