import ArgumentParser
import ControlAPI
import HotspotCore

struct CheckVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Probe now, and print the state of the Internet connection in one word.",
        discussion: "The word is online, captive, limited, none or unknown. The exit status is 0 only for online.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface; without it the best one.", completion: Complete.interfaces)
    var interface: String?

    func run() throws {
        let reply = try common.connect().call("Check", .members(["interface": interface]))
        let check = try ControlClient.read(CheckReply.self, reply)
        if let mode = common.jsonMode {
            Output.print(reply, mode)
        } else {
            Output.print([common.renderer.safe(check.verdict, limit: 32)])
        }
        guard check.verdict == "online" else { throw Failure(.failed, "") }
    }
}
