import ArgumentParser

struct PortalsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "portals", abstract: "Show, check and try the files that describe portals; record a login.",
        discussion: "Needs no daemon. portals.md in the documentation describes the format.",
        subcommands: [PortalsList.self, PortalsCheck.self, PortalsTry.self, PortalsRecord.self],
        defaultSubcommand: PortalsList.self)
}

struct PortalsList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the portal files, and their mistakes.")

    @Flag(name: .shortAndLong, help: "Also show how hotspotd recognises each portal, and the path of its file.")
    var verbose = false

    @Option(help: "Print the list as JSON: pretty, short (one line) or off.")
    var json: JSONMode = .off

    func run() throws {
        let options = (verbose ? ["--verbose"] : []) + (json == .off ? [] : ["--json=\(json.rawValue)"])
        try TestProgram.run(["portals", "list"] + options)
    }
}

struct PortalsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read portal files as the helper does, and replay the logins recorded beside them.")

    @Argument(help: "One or more .portal files.", completion: .file(extensions: ["portal"]))
    var files: [String]

    func run() throws { try TestProgram.run(["portals", "check"] + files.map { $0.hasPrefix("-") ? "./" + $0 : $0 }) }
}

struct PortalsTry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Open a page, and show which portal file would claim it.",
        discussion: "Only opens pages; fills in and sends nothing.")

    @Option(help: ArgumentHelp("The interface; by default that of the default route.", valueName: "name"))
    var interface: String?

    @Argument(help: "An address that the portal answers, such as http://neverssl.com/.")
    var url: String

    func run() throws {
        try TestProgram.run(["portals", "try"] + (interface.map { ["--interface=\($0)"] } ?? []) + [url])
    }
}

struct PortalsRecord: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Log in and record the exchange with the portal, without private data.",
        discussion: """
            Logs in as the helpers do, asks you the portal's questions, and logs off again as [Logoff] of the portal file \
            describes. Your answers, this machine's addresses and name, tokens and cookies are replaced by made-up values. \
            Read the file before you hand it in: a portal may know your name from elsewhere. With a pipe, each line is the \
            answer to the next question, without name=; passwords are read from the terminal if there is one.
            """)

    @Option(help: ArgumentHelp("The interface; by default that of the default route.", valueName: "name"))
    var interface: String?

    @Argument(help: "The file to write, such as aroma.exchange; it must not exist yet.", completion: .file())
    var file: String

    func run() throws {
        try TestProgram.run(
            ["portals", "record"] + (interface.map { ["--interface=\($0)"] } ?? []) + [file.hasPrefix("-") ? "./" + file : file])
    }
}
