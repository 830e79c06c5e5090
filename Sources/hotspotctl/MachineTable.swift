import ArgumentParser
import HotspotMachine

/// Prints the machine's table from the machine itself, without a daemon.
struct MachineTable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machine", abstract: "Show the state machine: every state, every event, and what follows.",
        discussion: "The table is made from the same machine that the daemon runs.",
        // For `make table`, and not for users.
        shouldDisplay: false)

    @Option(help: "table, markdown, mermaid or dot.")
    var format = TransitionTable.Format.table

    @Option(help: "default or strict, as Rules= in the settings.")
    var rules = Policy.Rules.default

    func run() { Output.print(verbatim: TransitionTable(policy: Policy(rules: rules)).lines(format)) }
}

extension TransitionTable.Format: ExpressibleByArgument {}
extension Policy.Rules: ExpressibleByArgument {}
