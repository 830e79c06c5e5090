import HelperKit
import HotspotCore
import PageLogin

/// Leaves the login to a browser, for portals at which no other helper can log in. The prompt has no fields, and ends when the network opens.
struct BrowserHelper: Helper {
    let name = "browser"
    let displayName = "Browser"

    func evaluate(_ command: HelperCommand) throws -> Evaluation {
        guard let result = command.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        return Evaluation(.low, portal: portal(result, command))
    }

    func authenticate(_ command: HelperCommand) throws -> Reply {
        answer(command, command.probe(), waiting: "This login needs a browser.")
    }

    func presentUI(_ command: HelperCommand) throws -> Reply {
        answer(command, command.probe(fresh: true), waiting: "The portal has not let you in yet.")
    }

    func maintain(_ command: HelperCommand) throws -> Reply { Maintenance.run(command) { portal($0, command) } }

    func logoff(_ command: HelperCommand) throws -> Reply { PortalLogoff.run(command) }

    private func answer(_ command: HelperCommand, _ result: ProbeResult?, waiting reason: String) -> Reply {
        guard let result else { return command.reply(TransferError(.cancelled)) }
        switch result.verdict {
        case .online, .partial:
            return command.reply(.success, session: Session(secondsRemaining: result.secondsRemaining))
        case .captive:
            let inspection = inspect(result, command)
            let portal = inspection?.portal
            let prompt = Prompt(
                title: portal.flatMap { WebURL($0.origin)?.host } ?? "Portal",
                message: "\(reason) You can also log in with your own browser; hotspotd will notice.")
            var reply = command.reply(.uiRequired, prompt: prompt, portal: portal)
            reply.imitates = inspection?.imitates
            return reply
        case .limited:
            return command.reply(.temporaryFailure, reason: "No portal answers now (\(result.problem ?? "noAnswer")).")
        }
    }

    private func portal(_ result: ProbeResult, _ command: HelperCommand) -> Portal? { inspect(result, command)?.portal }

    private func inspect(_ result: ProbeResult, _ command: HelperCommand) -> FormLogin.Inspection? {
        FormLogin(kind: "browser", command: command).inspect(from: result)
    }
}
