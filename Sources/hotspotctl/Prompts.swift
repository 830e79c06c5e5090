import ArgumentParser
import ControlAPI
import HotspotCore

/// What portals want to know.
struct Prompts: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the questions that wait for an answer.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Go on showing them at each change.")
    var watch = false

    func run() throws {
        let daemon = try common.connect()
        guard watch else { return try show(try daemon.call("Prompts")) }
        try daemon.subscribe("Prompts")
        while let reply = try daemon.next() { try show(reply) }
    }

    private func show(_ reply: JSONValue) throws {
        if let mode = common.jsonMode { return Output.print(reply, mode) }
        Output.print(common.renderer.lines(try Daemon.read(PromptsReply.self, reply)))
    }
}

extension Renderer {
    func lines(_ reply: PromptsReply) -> [String] {
        guard !reply.prompts.isEmpty else { return ["Nobody asks anything."] }
        let lines = Array(reply.prompts.map { self.lines($0) }.joined(separator: [""]))
        guard let omitted = reply.omitted, omitted > 0 else { return lines }
        return lines + ["", "\(omitted) more: hotspotctl status --json=pretty has their names for hotspotctl answer."]
    }

    /// What a prompt asks, without a place to answer.
    func lines(_ prompt: PendingPrompt) -> [String] {
        var lines = heading(prompt)
        guard prompt.withheld != true else {
            return lines + ["  What it asks is for those who may answer: \(Self.whoMayAnswer)."]
        }
        for (index, field) in prompt.fields.enumerated() {
            var text = "  \(bar) \(label(field, at: index + 1)) (\(safe(field.name, limit: 64)): \(field.kind.rawValue)"
            if let choices = field.choices, !choices.isEmpty {
                text += ", one of " + choices.prefix(20).map { safe($0, limit: 64) }.joined(separator: ", ")
            }
            lines.append(text + (field.required ? ", required)" : ")"))
        }
        if let terms = prompt.termsURL { lines.append("  terms: \(safe(terms, limit: 400))") }
        lines.append("  to answer: hotspotctl answer \(safe(prompt.id, limit: 64))")
        return lines
    }

    static let whoMayAnswer = "root, the group hotspotd, and the user in front of the machine"

    /// What is not ours to say stands behind it, the names of fields included.
    var bar: String { sign("│", "|") }

    /// Who asks, where, and why; what others say of it below all that is ours.
    func heading(_ prompt: PendingPrompt) -> [String] {
        let who = prompt.ssid.isEmpty ? safe(prompt.interface, limit: 32) : name(prompt.ssid)
        var lines = ["\(tone(who, .strong)) asks\(prompt.portal.map { " (\(safe($0, limit: 200)))" } ?? ""):"]
        if prompt.portal == nil, !prompt.fields.isEmpty {
            lines.append("  \(tone("!", .bad)) Where the answers go only the helper knows: \(safe(prompt.helper, limit: 64)).")
        } else if prompt.portal?.hasPrefix("http://") == true {
            lines.append("  \(tone("!", .bad)) This portal is not encrypted: everybody near can read the answers.")
        }
        let title = safe(prompt.title, limit: 200)
        if !title.isEmpty, title != who { lines.append("  \(bar) \(title)") }
        let message = safe(prompt.message ?? "", limit: 1000)
        if !message.isEmpty { lines.append("  \(bar) \(message)") }
        return lines
    }
}
