import ArgumentParser

/// Switches handling on.
struct Enable: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Switch a helper or a network on again.", discussion: "Also releases a network that is held after a failure.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var switches: SwitchArguments

    func run() throws { try switches.set(true, common) }
}
