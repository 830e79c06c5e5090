import ArgumentParser
import Glibc

/// How replies are shown.
enum JSONMode: String, ExpressibleByArgument, CaseIterable {
    case pretty, short, off
}

/// Options that every verb has.
struct CommonOptions: ParsableArguments {
    static let defaultSocket = "/run/hotspotd/org.hotspotd.Control"

    @Option(
        help: ArgumentHelp(
            "The daemon's socket.", discussion: "Default: HOTSPOTD_SOCKET, else \(defaultSocket).", valueName: "path"))
    var socket: String?

    @Option(help: "Replies as the interface org.hotspotd.Control has them: pretty, short (one object a line) or off.")
    var json: JSONMode = .off

    @Flag(name: .customShort("j"), help: "The same as --json=pretty on a terminal, else --json=short.")
    var j = false

    @Flag(name: .customLong("no-legend"), help: "Tables without their heading.")
    var noLegend = false

    @Flag(name: .customLong("no-pager"), help: "Accepted for familiarity: nothing is ever paged.")
    var noPager = false

    @Flag(name: .customLong("no-ask"), help: "Ask nothing; where an answer is needed, say which and exit with 4.")
    var noAsk = false

    /// The socket to talk to.
    var socketPath: String {
        if let socket { return socket }
        if let variable = getenv("HOTSPOTD_SOCKET"), variable[0] != 0 { return String(cString: variable) }
        return Self.defaultSocket
    }

    /// `nil`: for people.
    var jsonMode: JSONMode? {
        if j, json == .off { return Output.isTerminal ? .pretty : .short }
        return json == .off ? nil : json
    }

    /// The renderer for standard output.
    var renderer: Renderer { Renderer(style: .ofThisTerminal, legend: !noLegend, now: Renderer.wallClock) }

    /// Connects to the daemon.
    func connect() throws(Failure) -> Daemon { try Daemon(path: socketPath) }
}
