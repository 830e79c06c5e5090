import ForeignText
import HelperHost
import HotspotCore
import HotspotMachine

/// A command that runs.
struct SentCommand {
    let call: HelperCall
    let command: Command
    let helper: String

    /// Why it is withdrawn: its helper missed the deadline, or its answer is not needed any more. The machine's turn tells.
    func ending(among turn: [Action]) -> CommandEnding { turn.contains(.strike(helper: helper, .silence)) ? .missed : .withdrawn }
}

/// How a command ended that was not answered.
enum CommandEnding {
    case missed
    case withdrawn
}

extension InterfaceController {
    /// The journal's word for a command that was not answered.
    func record(_ ending: CommandEnding, to sent: SentCommand) {
        switch ending {
        case .missed:
            record("deadline", "\(sent.command): no answer in time", helper: sent.helper)
            if sent.command != .evaluate { attempt?.lastWord = "nothing in time" }
        case .withdrawn: record("withdrawn", "\(sent.command): the answer is not needed any more", helper: sent.helper)
        }
    }
}

/// What a command tells its helper, in words that tell nobody else.
enum Disclosure {
    /// The command and what goes with it. Of credentials and answers only the names of the fields are said.
    static func words(for command: Command, _ parameters: [String: JSONValue]) -> String {
        var words: [String] = []
        if parameters["network"]?["justJoined"] == true { words.append("just joined") }
        if let portal = parameters["portal"], let origin = portal["origin"]?.string {
            words.append("for \(Printable.text(origin, limit: 300))")
        }
        for (key, name) in [("credential", "credential"), ("answers", "answers")] {
            guard let fields = parameters[key]?.object, !fields.isEmpty else { continue }
            let names = fields.keys.sorted().prefix(16).map { Printable.text($0, limit: 64) }
            words.append("\(name) \(names.joined(separator: ", ")) (masked)")
        }
        if parameters["consent"] == true { words.append("with consent") }
        if parameters["session"] != nil { words.append("with the session's memory") }
        return command.description + (words.isEmpty ? "" : ": " + words.joined(separator: "; "))
    }
}
