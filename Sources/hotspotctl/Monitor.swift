import ArgumentParser
import ControlAPI
import HotspotCore

struct MonitorVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Show each event as it happens, one line each.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.connect()
        try client.subscribe("Monitor")
        while let reply = try client.next() {
            try common.show(reply) { (renderer, event: MonitorReply) in [renderer.line(event)] }
        }
    }
}

extension Renderer {
    func line(_ event: MonitorReply) -> String {
        "\(clock(event.step.time ?? now, seconds: true))  \(safe(event.interface, limit: 32))  \(line(event.step))"
    }

    /// A step without its time and interface, in words for people or in the stable ones. The cause of a transition and a problem that is no
    /// helper's are the daemon's own; any other detail may hold words of helpers, portals and networks.
    func line(_ step: Step, inWords: Bool = false) -> String {
        var parts: [String] = []
        let isOwn = step.to != nil || (step.kind == "problem" && step.helper == nil)
        let (own, others): (String, String?) = isOwn ? Hearsay.split(step.detail) : ("", Hearsay.line(step.detail))
        if let from = step.from, let to = step.to {
            let (from, to) = inWords ? (words(from), words(to)) : (safe(from, limit: 32), safe(to, limit: 32))
            parts.append("\(from) \(sign("→", "->")) \(tone(to, .strong))")
        } else {
            parts.append(safe(step.kind, limit: 32))
        }
        if let helper = step.helper { parts.append(safe(helper, limit: 64)) }
        if !own.isEmpty { parts.append(safe(own, limit: 1000)) }
        if let others, !others.isEmpty { parts.append("\(bar) \(safe(others, limit: 1000))") }
        return parts.joined(separator: "  ")
    }
}
