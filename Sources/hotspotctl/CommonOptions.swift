import ArgumentParser
import EventLoop
import Glibc
import HotspotCore

/// How replies are shown.
enum JSONMode: String, ExpressibleByArgument, CaseIterable {
    case pretty, short, off
}

/// The options of every verb.
struct CommonOptions: ParsableArguments {
    static let defaultSocket = "/run/hotspotd/org.hotspotd.Control"

    @Option(
        help: ArgumentHelp(
            "The daemon's socket.", discussion: "Default: HOTSPOTD_SOCKET, else \(defaultSocket).", valueName: "path"))
    var socket: String?

    @Option(help: "Print replies as JSON: pretty, short (one object per line) or off.")
    var json: JSONMode = .off

    @Flag(name: .customShort("j"), help: "The same as --json=pretty on a terminal, else --json=short.")
    var j = false

    @Flag(name: .customLong("no-legend"), help: "Print tables without a heading.")
    var noLegend = false

    @Flag(name: .customLong("no-pager"), help: "Accepted for scripts; hotspotctl never starts a pager.")
    var noPager = false

    @Flag(name: .customLong("no-ask"), help: "Never prompt; if an answer is needed, print the question and exit with status 4.")
    var noAsk = false

    /// The settings file to name if the daemon does not report one.
    static let defaultSettings = "/etc/hotspotd/hotspotd.conf"

    var socketPath: String {
        if let socket { return socket }
        if let variable = getenv("HOTSPOTD_SOCKET"), variable[0] != 0 { return String(cString: variable) }
        return Self.defaultSocket
    }

    /// The form of JSON output; `nil` prints lines for people.
    var jsonMode: JSONMode? {
        if j, json == .off { return Output.isTerminal ? .pretty : .short }
        return json == .off ? nil : json
    }

    var renderer: Renderer {
        Renderer(style: .ofThisTerminal, legend: !noLegend, columns: Output.columns, now: WallClock.now, portals: .usual)
    }

    func connect() throws(Failure) -> ControlClient { try ControlClient(path: socketPath) }

    /// Prints a reply as JSON, or as lines for people.
    func show<Reply: Decodable>(_ reply: JSONValue, _ lines: (Renderer, Reply) -> [String]) throws {
        if let mode = jsonMode { return Output.print(reply, mode) }
        Output.print(lines(renderer, try ControlClient.read(Reply.self, reply)))
    }
}
