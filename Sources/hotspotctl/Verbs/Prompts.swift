import ArgumentParser
import ControlAPI
import HotspotCore

struct PromptsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompts", abstract: "Show the questions of portals that wait for an answer.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Show the questions again after each change.")
    var watch = false

    func run() throws {
        let client = try common.connect()
        let lines = { (renderer: Renderer, prompts: PromptsReply) in renderer.lines(prompts) }
        guard watch else { return try common.show(try client.call("Prompts"), lines) }
        try client.subscribe("Prompts")
        while let reply = try client.next() { try common.show(reply, lines) }
    }
}

extension Renderer {
    func lines(_ reply: PromptsReply) -> [String] {
        guard !reply.prompts.isEmpty else { return ["No question waits for an answer."] }
        let lines = Array(reply.prompts.map { self.lines($0) }.joined(separator: [""]))
        guard let omitted = reply.omitted, omitted > 0 else { return lines }
        return lines + ["", "\(omitted) more questions; their IDs for hotspotctl answer: hotspotctl status --json=pretty"]
    }

    /// Returns the question and its fields.
    func lines(_ prompt: PendingPrompt) -> [String] {
        var lines = heading(prompt)
        guard prompt.withheld != true else {
            return lines + ["  Only these users may see and answer the question: \(Self.permitted)."]
        }
        lines += terms(of: prompt)
        for (index, field) in prompt.fields.enumerated() {
            var text = "  \(bar) \(label(field, at: index + 1)) (\(safe(field.name, limit: 64)): \(field.kind.rawValue)"
            if let choices = field.choices, !choices.isEmpty {
                let shown = choices.prefix(20).map { "\"\(safe($0, limit: 64))\"" }.joined(separator: ", ")
                text += ", one of " + shown + (choices.count > 20 ? " and \(choices.count - 20) more" : "")
            }
            if !field.required { text += ", optional" }
            if prompt.stored?.contains(field.name) == true {
                text += ", stored"
            } else if let value = field.value, !value.isEmpty {
                text += ", by default \(safe(value, limit: 64))"
            }
            lines.append(text + ")")
        }
        let answer = "hotspotctl answer \(safe(prompt.id, limit: 64))"
        if prompt.handsOver {
            if prompt.warning != nil { lines.append("  to leave it alone: \(self.answer(prompt.interface, " --dismiss"))") }
            lines.append(
                "  \(entry(prompt.warning)): \(browse(prompt)); when you are done: \(answer); "
                    + "to read the page again: \(login(prompt))")
        } else {
            lines.append("  to answer: \(answer)")
        }
        return lines
    }

    /// Returns the words before the command that opens the portal in a browser.
    func entry(_ warning: String?) -> String { warning == nil ? "to log in" : "to open it anyway" }

    /// Returns the terms that were on the portal's page, and the address of the page with the terms, if the prompt has them.
    func terms(of prompt: PendingPrompt) -> [String] {
        [safe(prompt.terms ?? "", limit: 2000), safe(prompt.termsURL ?? "", limit: 400)].filter { !$0.isEmpty }
            .map { "  \(bar) Terms: \($0)" }
    }

    static let permitted = "root, the group hotspotd, and the user in front of the machine"

    /// Returns the network and the portal, then warnings, then the portal's texts, so that those texts cannot pass for hotspotd's.
    ///
    /// - Parameter isWarned: whether the user has already read the warning.
    func heading(_ prompt: PendingPrompt, isWarned: Bool = false) -> [String] {
        let network = prompt.ssid.isEmpty ? safe(prompt.interface, limit: 32) : quoted(prompt.ssid)
        var lines = ["\(tone(network, .strong)) asks\(prompt.portal.map { " (\(origin($0)))" } ?? ""):"]
        if let warning = warning(prompt, isShort: isWarned) { lines.append("  \(tone("!", .bad)) \(warning)") }
        if let warning = prompt.warning { lines.append("  \(tone("!", .bad)) \(safe(warning, limit: 600))") }
        if let note = prompt.note { lines.append("  \(safe(note, limit: 600))") }
        if prompt.locked == true {
            lines.append(
                "  The answers stored for this portal are locked by the PIN; to unlock them: hotspotctl credentials unlock")
        }
        let title = safe(prompt.title, limit: 200)
        if !title.isEmpty, title != name(prompt.ssid) { lines.append("  \(bar) \(title)") }
        let message = safe(prompt.message ?? "", limit: 1000)
        if !message.isEmpty { lines.append("  \(bar) \(message)") }
        return lines
    }

    /// Returns why the user should think twice before answering.
    private func warning(_ prompt: PendingPrompt, isShort: Bool) -> String? {
        guard let portal = prompt.portal else {
            return isShort || prompt.fields.isEmpty
                ? nil : "Only this helper knows where the answers go: \(safe(prompt.helper, limit: 64))."
        }
        guard portal.hasPrefix("http://"), !prompt.handsOver else { return nil }
        return isShort ? "Not encrypted." : "This page is not encrypted: people nearby can read or change your answers."
    }
}
