import ArgumentParser
import ControlAPI
import HotspotCore

struct MonitorVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Show the state of each interface, then one line for each event.",
        discussion: "With --json, the first object is the reply of 'status'; the others are events.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.connect()
        // Subscribes before reading the states, so that no event between the two is missed.
        try client.subscribe("Monitor")
        try common.show(try common.connect().call("Status")) { (renderer, status: StatusReply) in
            status.interfaces.map(renderer.line)
        }
        var questions: [String: QuestionProgress] = [:]
        while let reply = try client.next() {
            try common.show(reply) { (renderer, event: MonitorReply) in
                var event = event
                event.step = questions[event.interface, default: QuestionProgress()].telling(event.step)
                return [renderer.line(event)]
            }
        }
    }
}

/// Follows the steps of a login that asks the user. The state is `presentingUI` from the question to the end of the login, although the login waits
/// for the user only until the answer.
struct QuestionProgress {
    /// The steps of the login since the user's answer, in words.
    private var words: String?

    /// Returns the step. In a transition out of `presentingUI` after an answer, ``words`` replace the name of that state.
    mutating func telling(_ step: Step) -> Step {
        var told = step
        switch step.kind {
        case "prompt": words = nil
        case "answered": words = "logging in"
        case "answer" where step.detail.hasPrefix(HelperResult.success.rawValue): words = "checking that you are online"
        default: break
        }
        if step.to != nil {
            if step.from == StateName.presentingUI.rawValue, let words { told.from = words }
            words = nil
        }
        return told
    }
}

extension Renderer {
    func line(_ event: MonitorReply) -> String {
        "\(clock(event.step.time ?? now, seconds: true))  \(safe(event.interface, limit: 32))  \(line(event.step))"
    }

    /// Returns the current state of an interface, as a line before its events.
    func line(_ status: InterfaceStatus) -> String {
        let (_, tone, words) = condition(status)
        let network = status.ssid.map { "  \($0.isEmpty ? "wired" : quoted($0))" } ?? ""
        return "\(clock(now, seconds: true))  \(safe(status.interface, limit: 32))  \(self.tone(words, tone))\(network)"
    }

    /// Returns a step without its time and interface. The cause of a transition, and a problem that belongs to no helper, are the daemon's own words;
    /// any other detail may contain words of helpers, portals and networks.
    func line(_ step: Step) -> String {
        var parts: [String] = []
        let isOwn = step.to != nil || (step.kind == "problem" && step.helper == nil)
        let (own, others): (String, String?) = isOwn ? QuotedProblem.split(step.detail) : ("", QuotedProblem.line(step.detail))
        if let from = step.from, let to = step.to {
            parts.append("\(words(from)) \(sign("→", "->")) \(tone(words(to), .strong))")
        } else {
            parts.append(safe(step.kind, limit: 32))
        }
        if let helper = step.helper { parts.append(safe(helper, limit: 64)) }
        if !own.isEmpty { parts.append(safe(own, limit: 1000)) }
        if let others, !others.isEmpty { parts.append("\(bar) \(safe(others, limit: 1000))") }
        return parts.joined(separator: "  ")
    }
}
