import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore

struct JoinVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a Wi-Fi network in sight.",
        discussion: """
            The program that manages the interface joins the network: NetworkManager, iwd or wpa_supplicant. Without such a \
            program, hotspotd itself joins open networks, and another program must ask for an address. Settings that the \
            managing program has for the network are used. If a password is needed, hotspotctl asks for it on the terminal \
            without echo, or reads it from standard input with --password. It is never read from the arguments, which every \
            user of this computer can see. The login starts automatically.
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The interface; by default the one with the best signal.", completion: Complete.interfaces)
    var interface: String?

    @Flag(help: "Forget the new connection and its password when you leave the network.")
    var once = false

    @Flag(help: "Ask for the password on the terminal, or read a line of standard input, even if a password is stored.")
    var password = false

    @Argument(help: "The network as 'list' shows it.", completion: Complete.networks)
    var ssid: String

    func run() throws {
        let client = try common.connect()
        let given = password ? try SecretLines.read(["Password: "], common)[0] : nil
        let reply: JSONValue
        do throws(Failure) {
            reply = try join(client, given)
        } catch {
            guard case .failed(.passwordNeeded, _) = error.refusal, given == nil else { throw error }
            guard !common.noAsk, isatty(STDIN_FILENO) == 1 else {
                throw Failure(
                    .answerNeeded, error.message, hint: "hotspotctl join --password \(common.renderer.argument(ssid))")
            }
            reply = try join(client, try SecretLines.read(["Password for \(common.renderer.quoted(ssid)): "], common)[0])
        }
        try common.show(reply) { (renderer, reply: AssociationReply) in
            [
                "Joined \(renderer.quoted(ssid))\(renderer.place(reply)); to see the login: hotspotctl"
                    + (reply.interface.map { " login --wait \(renderer.argument($0))" } ?? "")
            ]
        }
    }

    private func join(_ client: ControlClient, _ password: String?) throws(Failure) -> JSONValue {
        try client.call("Join", JoinParameters(ssid: ssid, interface: interface, password: password, once: once))
    }
}

struct LeaveVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Leave the network. The computer joins no network until you choose one.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let reply = try common.connect().call("Leave", .members(["interface": interface]))
        try common.show(reply) { (renderer, reply: AssociationReply) in
            ["Left the network\(renderer.place(reply)); to join one: hotspotctl join SSID"]
        }
    }
}

extension Renderer {
    /// Returns where a network was joined or left, and by which program.
    fileprivate func place(_ reply: AssociationReply) -> String {
        (reply.interface.map { " on \(safe($0, limit: 32))" } ?? "")
            + (reply.manager.map { " through \(safe($0, limit: 32))" } ?? "")
    }
}
