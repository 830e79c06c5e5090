import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore
import Varlink

struct CompanionVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "companion", abstract: "Share logins with paired laptops nearby, and answer for each other.",
        discussion: """
            Two laptops pair once, with a code. Then each can share a login with the other and answer the other's portal \
            questions, without a common network. The service is off until 'on'.
            """,
        subcommands: [
            CompanionStatusVerb.self, CompanionOn.self, CompanionOff.self, CompanionPair.self, CompanionList.self,
            CompanionForget.self, CompanionShare.self, CompanionAccept.self, CompanionAnswer.self,
        ], defaultSubcommand: CompanionStatusVerb.self)
}

/// The options of the verbs that speak to the companion service.
struct CompanionOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("companion-socket"),
        help: ArgumentHelp(
            "The companion service's socket.",
            discussion: "Default: HOTSPOTD_COMPANION_SOCKET, else \(CompanionContract.socket).", valueName: "path"))
    var socket: String?

    static var usualSocket: String {
        if let variable = getenv("HOTSPOTD_COMPANION_SOCKET"), variable[0] != 0 { return String(cString: variable) }
        return CompanionContract.socket
    }

    func connect() throws(Failure) -> ControlClient {
        do throws(Failure) {
            return try ControlClient(path: socket ?? Self.usualSocket, interface: CompanionContract.name)
        } catch {
            guard error.status == .notRunning else { throw error }
            throw Failure(.notRunning, "The companion service is not running.", hint: "sudo hotspotctl companion on")
        }
    }

    /// - Parameter wait: in seconds.
    static func validate(wait: Double) throws {
        guard wait > 0, wait <= 86400 else { throw ValidationError("--wait takes up to 86400 seconds.") }
    }

    /// Prints a reply as JSON if the options request JSON. Returns whether they do.
    func printed(_ reply: JSONValue) -> Bool {
        guard let mode = common.jsonMode else { return false }
        Output.print(reply, mode)
        return true
    }
}

struct CompanionStatusVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the radio, the paired laptops, and waiting offers and questions.")

    @OptionGroup var options: CompanionOptions

    func run() throws {
        try options.common.show(try options.connect().call("Status")) { (renderer, status: CompanionStatus) in
            renderer.lines(status)
        }
    }
}

struct CompanionOn: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on", abstract: "Switch the companion service on, now and at each start of this computer.")

    func run() throws {
        try CompanionUnit.change("enable")
        Output.print(["The companion service is switched on.", "  to pair with a laptop: hotspotctl companion pair"])
    }
}

struct CompanionOff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Switch the companion service off; paired laptops stay paired.")

    func run() throws {
        try CompanionUnit.change("disable")
        Output.print(["The companion service is switched off. Nothing is sent or received over Bluetooth."])
    }
}

/// The service's unit, as systemctl changes it.
enum CompanionUnit {
    static let name = "hotspot-companion.service"

    static func change(_ verb: String) throws(Failure) {
        guard system("systemctl --quiet --no-ask-password \(verb) --now \(name)") != 0 else { return }
        throw Failure(
            .failed, "systemctl could not \(verb) \(name).",
            hint: geteuid() == 0 ? "systemctl status \(name)" : "sudo hotspotctl companion \(verb == "enable" ? "on" : "off")")
    }
}

struct CompanionList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the paired laptops.")

    @OptionGroup var options: CompanionOptions

    func run() throws {
        let reply = try options.connect().call("Status")
        if let peers = reply["peers"], options.printed(["peers": peers]) { return }
        let status = try ControlClient.read(CompanionStatus.self, reply)
        Output.print(options.common.renderer.table(of: status.peers))
    }
}

struct CompanionForget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forget a paired laptop; it can no longer send questions or logins.")

    @OptionGroup var options: CompanionOptions

    @Argument(help: "The laptop's name, or its ID as 'list' shows it.", completion: Complete.laptops)
    var name: String

    func run() throws {
        let reply = try options.connect().call("Forget", ["peer": .string(name)])
        if options.printed(reply) { return }
        let peer = try ControlClient.read(ForgottenReply.self, reply).peer
        Output.print(["\(options.common.renderer.quoted(peer)) is forgotten. To share again, pair again on both laptops."])
    }
}

struct CompanionPair: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Show a code for another laptop, or enter the code that it shows.",
        discussion: """
            Without an argument, this laptop shows eight digits, valid for two minutes. On the other laptop, 'pair -' asks for the digits, or reads them from standard input. After three wrong tries, the \
            code is no longer valid. A code in the command line can be read by other users of this computer.
            """)

    @OptionGroup var options: CompanionOptions

    @Argument(help: "The eight digits that the other laptop shows, or - to type them.")
    var code: [String] = []

    func validate() throws {
        guard code.isEmpty || code == ["-"] || Self.digits(code.joined()) != nil else {
            throw ValidationError("A code has eight digits.")
        }
    }

    private static func digits(_ text: String) -> String? {
        let digits = text.filter { !" -".contains($0) }
        return digits.utf8.count == 8 && digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ? digits : nil
    }

    func run() throws {
        let typed = code == ["-"] ? try SecretLines.read(["Code: "], options.common)[0] : code.joined()
        let digits = code.isEmpty ? nil : Self.digits(typed)
        guard code.isEmpty || digits != nil else { throw Failure(.usage, "A code has eight digits.") }
        let client = try options.connect()
        try client.subscribe("Pair", JSONValue.members(["code": digits]))
        if digits != nil, options.common.jsonMode == nil { Output.print(["Looking for the laptop that shows this code…"]) }
        let renderer = options.common.renderer
        while let reply = try client.next() {
            if options.printed(reply) {
                if reply["peer"] != nil { return }
                continue
            }
            let pair = try ControlClient.read(PairReply.self, reply)
            if let notice = pair.notice { Output.error(["hotspotctl: \(renderer.safe(notice))"]) }
            if let code = pair.code { Output.print(renderer.invitation(code, seconds: pair.seconds ?? 120)) }
            if let peer = pair.peer { return Output.print(["Paired with \(renderer.quoted(peer))."]) }
        }
    }
}

extension Complete {
    static let laptops = CompletionKind.custom { _, _, _ in
        let client = try? ControlClient(path: CompanionOptions.usualSocket, interface: CompanionContract.name)
        let peers = (try? client?.call("Status", as: CompanionStatus.self))?.peers ?? []
        return Set(peers.map(\.name)).filter(isPlain).sorted()
    }
}

extension Renderer {
    /// Returns the lines about an offer: its portal, and the names of its fields.
    func lines(portal: String, fields: [String]) -> [String] {
        let names = fields.prefix(16).map { safe($0, limit: 32) }.joined(separator: ", ")
        return ["  \(bar) portal: \(origin(portal))", "  \(bar) fields: \(names.isEmpty ? "none" : names)"]
    }

    func quoted(_ peer: PeerStatus) -> String { "\"\(safe(peer.name, limit: 64).replacing("\"", with: "\\x22"))\"" }

    func lines(_ status: CompanionStatus) -> [String] {
        let radio = status.message.map { "\(tone("!", .bad)) \(safe($0))." } ?? "Bluetooth is ready."
        var lines = [radio + " Other laptops see this one as \"\(safe(status.name, limit: 64))\"."]
        if !status.daemon { lines.append("\(tone("!", .bad)) hotspotd does not answer.") }
        if status.pairing { lines.append("Pairing is under way.") }
        lines.append(
            status.peers.isEmpty
                ? "No laptop is paired. To pair one: hotspotctl companion pair"
                : "Paired with \(status.peers.map(quoted).joined(separator: ", ")).")
        lines += status.offers.map { offer in
            "\(quoted(offer.peer)) offers a login for \(quoted(offer.ssid)); to use it: hotspotctl companion accept"
        }
        lines += status.questions.map { question in
            "\(quoted(question.peer)) asks\(question.ssid.map { " at \(quoted($0))" } ?? ""); to answer: hotspotctl companion answer"
        }
        lines += status.made.map { "Your offer of a login for \(quoted($0.ssid)) waits for \(quoted($0.peer))." }
        if let last = status.notices.last { lines.append("Last: \(safe(last.message)) (\(ago(last.at)))") }
        return lines
    }

    func table(of peers: [PeerStatus]) -> [String] {
        guard !peers.isEmpty else { return ["No laptop is paired. To pair one: hotspotctl companion pair"] }
        return table(
            [Column(heading: "NAME"), Column(heading: "ID")], peers.map { [safe($0.name, limit: 64), String($0.id.prefix(16))] })
    }

    /// Returns the lines that show a code.
    func invitation(_ code: String, seconds: Int) -> [String] {
        [
            "Code: \(tone("\(code.prefix(4)) \(code.dropFirst(4))", .strong)), valid for \(seconds) seconds.",
            "  on the other laptop, type it after: hotspotctl companion pair -",
        ]
    }
}
