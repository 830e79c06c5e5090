import ArgumentParser

/// Switches handling off.
struct Disable: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Switch a helper off, or leave a network alone.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    func run() throws { try switches.set(false, common) }
}
