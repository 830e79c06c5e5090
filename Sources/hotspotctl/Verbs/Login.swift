import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore

struct LoginVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Log in, or check that the login is still valid.",
        discussion:
            "With --wait on a terminal, asks you the portal's questions here. Joins a login that is already running. Also ends the pause after a logoff or a dismissed question."
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "Use this helper.", completion: Complete.helpers)
    var helper: String?

    @Flag(
        help:
            "Start over, unless the network is open. The earlier session is kept until the new login works."
    )
    var fresh = false

    @Option(help: ArgumentHelp("Wait for the outcome, \(ArgumentOrder.defaultWait) s if no time is given.", valueName: "seconds"))
    var wait: Double?

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    func validate() throws {
        if let wait, !(wait >= 0 && wait <= 86400) { throw ValidationError("--wait takes 0 to 86400 seconds.") }
    }

    func run() throws {
        let client = try common.connect()
        let watch = try wait.map { _ throws(Failure) in
            try OutcomeWatch(path: common.socketPath, target: interface, prompt: nil)
        }
        let reply = try client.call(
            "Login", LoginParameters(interface: interface, helper: helper, fresh: fresh ? true : nil))
        let begun = try ControlClient.read(InterfaceReply.self, reply)
        let (name, isUnderWay) = (begun.interface, begun.underWay == true)
        let place = name.map { " on \(common.renderer.safe($0, limit: 32))" } ?? ""
        let joined = "A login is already running\(place)"
        guard let watch, let wait else {
            let wait = "hotspotctl login --wait" + (name.map { " \(common.renderer.argument($0))" } ?? "")
            let next = isUnderWay ? "to answer or wait: \(wait)" : "to see the result: hotspotctl"
            return Output.print(["\(isUnderWay ? joined : "Started\(place)"); \(next)"])
        }
        watch.loginBegins(on: name, joining: isUnderWay)
        Output.print([isUnderWay ? "\(joined); waiting until it ends or has a question." : "Waiting for the outcome\(place)."])
        switch try watch.outcome(within: wait, isShown: isatty(STDERR_FILENO) == 1, isSaid: true) {
        case .online(let status):
            let words = try common.renderer.online(status, after: watch.elapsed, among: watch.interfaces)
            if let helper, !fresh, status.helper != helper {
                let used = common.renderer.safe(helper, limit: 64)
                let owner = status.helper.map { "the session of \(common.renderer.safe($0, limit: 64)) is still valid" }
                return Output.print([words, "\(used) did not log in: \(owner ?? "the network asked for no login")."])
            }
            guard !status.wasOpened, sentNothing(client, on: status.interface) else {
                return Output.print([words] + common.renderer.said(by: status))
            }
            guard fresh else {
                let isFound = status.outcome == AttemptOutcome.found.rawValue
                let why =
                    status.helper != nil
                    ? "The earlier login is still valid; no new one was needed."
                    : isFound ? "hotspotd does not know how the network was opened." : "The network asked for no login."
                return Output.print([words, why])
            }
            let logoff = common.renderer.command("hotspotctl logoff", for: status, among: watch.interfaces)
            let rest = status.helper == nil ? "there is no login to repeat." : "to end the session first: \(logoff)"
            Output.print([words, "The network asked for no login; \(rest)"])
        case .asks(let prompt):
            let pending = try client.prompt(prompt).pending
            let dialogue = Dialogue(
                common: common, client: client, wait: max(wait, 1), isInteractive: Dialogue.canAsk(common))
            if let pending, !dialogue.isInteractive { throw dialogue.needed(pending, "The portal asks a question.") }
            try dialogue.run(prompt, pending?.readable(), on: name ?? interface)
        case .failed(let status): throw common.renderer.failure(status, among: watch.interfaces)
        case .timeout: throw Failure(.timeout, "No outcome within \(common.renderer.tenths(wait)).", hint: "hotspotctl monitor")
        }
    }
}

extension LoginVerb {
    /// Returns whether the daemon told no helper to log in during the last attempt.
    private func sentNothing(_ client: ControlClient, on interface: String) -> Bool {
        let story = try? client.call("Explain", ["interface": .string(interface)], as: ExplainReply.self)
        return story.map { !$0.steps.contains { $0.kind == "command" && $0.detail.hasPrefix("\(Command.authenticate)") } }
            ?? false
    }
}

struct LogoffVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logoff", abstract: "Log off from the portal.",
        discussion: "hotspotd then leaves the network alone for 12 hours, or until 'login', 'enable' or 'forget'.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    /// The seconds that a portal may take to answer, and between two checks.
    private static let patience = 20.0
    private static let step = 0.1

    func run() throws {
        let client = try common.connect()
        let reply = try client.call("Logoff", .members(["interface": interface]), as: InterfaceReply.self)
        let place = reply.interface.map { " on \(common.renderer.safe($0, limit: 32))" } ?? ""
        let login = "hotspotctl login" + (reply.interface.map { " \(common.renderer.argument($0))" } ?? "")
        guard let name = reply.interface, let (status, all) = try end(on: name, client) else {
            return Output.print(["Logging off\(place); to see the result: hotspotctl"])
        }
        let story = try? client.call("Explain", ["interface": .string(name)], as: ExplainReply.self)
        let isLeftOpen = story?.attempt?.outcome == "leftOpen"
        if isLeftOpen || status.problems.contains(where: { $0.code == .logoffUnconfirmed }) {
            let failure = common.renderer.failure(status, among: all)
            throw story.map { Failure(.failed, $0.verdict, hint: failure.hint) } ?? failure
        }
        Output.print(["Logged off\(place); to log in again: \(login)"])
    }

    /// Waits for the end of the logoff; `nil` if it takes too long.
    private func end(
        on name: String, _ client: ControlClient
    ) throws(Failure) -> (status: InterfaceStatus, all: [InterfaceStatus])? {
        let began = ContinuousClock.now
        while (ContinuousClock.now - began).inSeconds < Self.patience {
            let all = try client.call("Status", as: StatusReply.self).interfaces
            guard let status = all.first(where: { $0.interface == name }) else { return nil }
            switch StateName(rawValue: status.state) {
            case .loggingOff, .maintaining, .authenticated: usleep(UInt32(Self.step * 1_000_000))
            case .inactive, .evaluating, .authenticating, .presentingUI, .failure, nil: return (status, all)
            }
        }
        return nil
    }
}

extension Renderer {
    /// Returns how the login ended. Throws if the probe has not shown that the Internet answers, so that no script takes this for online.
    ///
    /// - Parameter all: all interfaces; if there are several, a hint names this one.
    func online(
        _ status: InterfaceStatus, after seconds: Double, among all: [InterfaceStatus]
    ) throws(Failure) -> String {
        guard status.captive == false else {
            let hint = status.problems.first?.hint.map { safe($0) } ?? "hotspotctl check"
            let name = safe(status.interface, limit: 32)
            let words =
                status.captive == true ? "\(name) is behind a portal." : "hotspotd could not verify that \(name) is online."
            let failure = Failure(.failed, words, hint: command(hint, for: status, among: all))
            throw status.problems.first.map { failure.adding($0.message) } ?? failure
        }
        let isLimited = status.problems.contains { $0.code == .httpsBlocked }
        if isLimited { return "Connected\(after(seconds)), but HTTPS does not work." }
        return "Online\(after(seconds))\(status.wasOpened ? "; no helper logged in" : "")."
    }

    /// Returns the words of the portal's answer to a login, behind the bar.
    func said(by status: InterfaceStatus) -> [String] { status.said.map { ["  \(bar) \(safe($0, limit: 400))"] } ?? [] }

    /// Returns why the login ended without being online, according to the problems that the daemon reports.
    ///
    /// - Parameter all: all interfaces; if there are several, the hint names this one.
    func failure(_ status: InterfaceStatus, among all: [InterfaceStatus]) -> Failure {
        let hint = command(status.problems.first?.hint.map { safe($0) } ?? "hotspotctl explain", for: status, among: all)
        guard let problem = status.problems.first else {
            let name = safe(status.interface, limit: 32)
            if status.ssid == nil {
                return Failure(.failed, "\(name) left its network.", hint: hint)
            }
            return Failure(.failed, "The login failed: \(name) is \(condition(status).words).", hint: hint)
        }
        var failure = Failure(.failed, problem.message, hint: hint)
        if let warning = status.warning { failure = failure.adding(safe(warning, limit: 600)) }
        return status.nextLogin.map { failure.adding("hotspotd \(tries(at: $0)).") } ?? failure
    }
}
