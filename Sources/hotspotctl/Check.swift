import ArgumentParser
import ControlAPI
import HotspotCore

/// One word for scripts.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Probe now and say in one word how the Internet is.",
        discussion: "online, captive, limited, none or unknown; the exit status is 0 for online alone.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface; without it the best one.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let reply = try common.connect().call("Check", .members(["interface": interface]))
        let check = try Daemon.read(CheckReply.self, reply)
        if let mode = common.jsonMode {
            Output.print(reply, mode)
        } else {
            Output.print([common.renderer.safe(check.verdict, limit: 32)])
        }
        // The word has said it.
        guard check.verdict == "online" else { throw Failure(.failed, "") }
    }
}
