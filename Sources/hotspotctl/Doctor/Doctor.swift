import ArgumentParser
import ControlAPI
import HotspotCore
import Varlink

struct DoctorVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check each layer from the radio to the Internet, and suggest the next command.",
        discussion: """
            Checks all layers in the order in which a packet needs them, and names the first broken one. Changes nothing, and \
            works without the daemon. The exit status is 0 only if nothing needs attention.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface; by default the one that is in a network.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let diagnosis = Diagnosis(FactsReader().facts(of: common, interface: interface))
        if let mode = common.jsonMode {
            Output.print(Coding.value(diagnosis), mode)
        } else {
            Output.print(common.renderer.lines(diagnosis))
        }
        if diagnosis.needsAttention { throw Failure(.failed, "") }
    }
}

extension Renderer {
    func lines(_ diagnosis: Diagnosis) -> [String] {
        let width = LayerName.allCases.map(\.rawValue.count).max() ?? 0
        let layers = diagnosis.layers.flatMap { layer in
            let (own, others) = sentence(layer.sentence)
            let name = layer.name.rawValue + String(repeating: " ", count: width - layer.name.rawValue.count)
            let (sign, tone) = mark(layer.state)
            let command = layer.command.map { ["    try: \(safe($0))"] } ?? []
            return ["\(self.tone(sign, tone)) \(name)  \(own)"] + others + command
        }
        let (verdict, _) = sentence(diagnosis.verdict)
        return layers + [""] + [tone(verdict, .strong)] + (diagnosis.command.map { ["  try: \(safe($0))"] } ?? [])
    }

    private func mark(_ state: Layer.State) -> (sign: String, tone: Tone) {
        switch state {
        case .ok: (sign("●", "*"), .good)
        case .attention: ("!", .busy)
        case .broken: (sign("×", "x"), .bad)
        case .unknown: (sign("○", "o"), .faint)
        }
    }
}
