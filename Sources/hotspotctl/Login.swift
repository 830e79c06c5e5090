import ArgumentParser
import ControlAPI
import HotspotCore

/// Starts over: evaluate again, and log in.
struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the network again and log in.",
        discussion: "Also releases a network that is held after a log-off or a dismissed question.")

    @OptionGroup var common: CommonOptions

    @Option(help: "Let this helper do it.", completion: Complete.helpers)
    var helper: String?

    @Option(help: ArgumentHelp("Wait for the outcome, \(Arguments.defaultWait) s if no time is given.", valueName: "seconds"))
    var wait: Double?

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    func validate() throws {
        if let wait, !(wait >= 0 && wait <= 86400) { throw ValidationError("--wait takes 0 to 86400 seconds.") }
    }

    func run() throws {
        let daemon = try common.connect()
        let watch = try wait.map { _ throws(Failure) in try OutcomeWatch(path: common.socketPath, target: interface, prompt: nil)
        }
        _ = try daemon.call("Login", .members(["interface": interface, "helper": helper]))
        guard let watch, let wait else {
            return Output.print(["Started; hotspotctl monitor shows how it goes."])
        }
        switch try watch.outcome(within: wait) {
        case .online(let status): Output.print([common.renderer.online(status, after: watch.elapsed)])
        case .asks(let prompt):
            if let pending = try daemon.prompt(prompt) { Output.error(common.renderer.lines(pending)) }
            throw Failure(.answerNeeded, "the portal wants an answer.", hint: "hotspotctl answer")
        case .failed(let status): throw common.renderer.failure(status)
        case .timeout: throw Failure(.timeout, "no outcome within \(common.renderer.tenths(wait)).", hint: "hotspotctl monitor")
        }
    }
}

extension Renderer {
    func online(_ status: InterfaceStatus, after seconds: Double) -> String {
        status.captive == nil && status.helper == nil
            ? "Connected after \(tenths(seconds)), not verified." : "Online after \(tenths(seconds))."
    }

    /// Why it ended without being online, by the problems that the daemon shows.
    func failure(_ status: InterfaceStatus) -> Failure {
        guard let problem = status.problems.first else {
            return Failure(
                .failed, "it did not work: \(safe(status.interface, limit: 32)) is \(safe(status.state, limit: 32)).",
                hint: "hotspotctl explain")
        }
        return Failure(.failed, safe(problem.message), hint: problem.hint.map { safe($0) } ?? "hotspotctl explain")
    }
}
