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

    /// A step without its time and interface.
    func line(_ step: Step) -> String {
        var parts: [String] = []
        if let from = step.from, let to = step.to {
            parts.append("\(safe(from, limit: 32)) \(sign("→", "->")) \(tone(safe(to, limit: 32), mark(to).tone))")
        } else {
            parts.append(safe(step.kind, limit: 32))
        }
        if let helper = step.helper { parts.append(safe(helper, limit: 64)) }
        if !step.detail.isEmpty { parts.append(safe(step.detail, limit: 1000)) }
        return parts.joined(separator: "  ")
    }
}
