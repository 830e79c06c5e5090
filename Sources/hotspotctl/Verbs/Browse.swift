import ArgumentParser
import ControlAPI
import Glibc
import HotspotCore

struct BrowseVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Log in with a browser that can use only this network.",
        discussion: """
            For portals that no helper can log in to. The browser has a fresh profile, which is deleted afterwards. It can use only this network, even if a VPN is up. \
            It closes as soon as you are online. hotspotctl finds Chromium, Chrome, Brave, Edge and Firefox.

            Asks you first if the portal imitates a company, or if its address or key differs from the stored one. \
            Without a terminal it opens such a portal only with '--anyway'.
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Use this browser.", valueName: "path"), completion: .file())
    var browser: String?

    @Flag(help: "Open a suspicious portal without asking.")
    var anyway = false

    @Argument(help: "The interface, if there are several.", completion: Complete.interfaces)
    var interface: String?

    /// Seconds between two checks of the browser, and between two probes.
    private static let step = 0.2
    private static let probeInterval = 3.0
    /// Seconds that the login may take to end after the browser was closed in an open network.
    private static let patience = 45.0
    /// Seconds for which the browser waits for the helper to reach the portal.
    private static let meeting = 5.0

    func run() throws {
        // A browser that the user names may work without a display.
        guard DesktopPrograms.hasDisplay || browser != nil else {
            throw Failure(
                .failed, "There is no display for a browser: start it in the desktop's session, or name a browser.",
                hint: "hotspotctl browse --browser PATH")
        }
        guard geteuid() != 0 || browser != nil else {
            throw Failure(
                .failed,
                "hotspotctl chooses no browser as root: run it without sudo as the user at the screen, or name a browser with --browser.",
                hint: "hotspotctl browse --browser PATH")
        }
        if let browser, access(browser, X_OK) != 0 {
            throw Failure(.failed, "\(common.renderer.safe(browser, limit: 256)) is not a program that can be started.")
        }
        let signals = InterruptSignals()
        let client = try common.connect()
        var isAgreed = anyway
        let reply = try begin(client, &isAgreed, signals)
        let network = try ControlClient.read(BrowseReply.self, reply)
        let name = network.interface
        // The login has begun, so every outcome from here on belongs to it.
        let states = try common.connect()
        try states.subscribe("Status")
        var last: InterfaceStatus?
        if !isAgreed {
            let (end, warning) = try meet(states, name, &last, signals)
            if let end { return Output.print([try words(end, since: ContinuousClock.now)]) }
            do throws(Failure) {
                if let warning { try confirm(warning, signals) }
            } catch {
                startOver(client, name)
                if let signal = signals.arrived { Glibc.exit(128 + signal) }
                throw error
            }
            isAgreed = warning != nil
            if let signal = signals.arrived {
                startOver(client, name)
                Glibc.exit(128 + signal)
            }
        }
        Output.print([
            "Opening a browser that uses only \(common.renderer.safe(name, limit: 32)). It closes by itself when you are online."
        ])
        let window: BrowserWindow
        do { window = try BrowserWindow(on: reply, browser: browser) } catch {
            startOver(client, name)
            throw error
        }
        defer { window.close() }
        let began = ContinuousClock.now
        var lastProbe = began
        while signals.arrived == nil {
            if let end = try next(of: states, name, &last) {
                window.close()
                return Output.print([try words(end, since: began)])
            }
            if !isAgreed, let warning = last?.warning {
                window.close()
                startOver(client, name)
                throw refusal(warning, "The browser was closed.")
            }
            if let status = window.ended() { return try finish(status, client, states, network, since: began) }
            if (ContinuousClock.now - lastProbe).inSeconds >= Self.probeInterval {
                _ = try? client.call("Check", .members(["interface": name]))
                lastProbe = ContinuousClock.now
            }
        }
        window.close()
        startOver(client, name)
        Glibc.exit(128 + (signals.arrived ?? SIGINT))
    }

    /// Begins the login, and returns what the browser needs. If the daemon has a warning about the portal, asks the user first.
    private func begin(_ client: ControlClient, _ isAgreed: inout Bool, _ signals: InterruptSignals) throws -> JSONValue {
        do throws(Failure) {
            return try client.call("Browse", BrowseParameters(interface: interface, anyway: isAgreed ? true : nil))
        } catch {
            guard !isAgreed, case .suspiciousPortal(let warning) = error.refusal else { throw error }
            do throws(Failure) { try confirm(warning, signals) } catch {
                if let signal = signals.arrived { Glibc.exit(128 + signal) }
                throw error
            }
            isAgreed = true
            return try client.call("Browse", BrowseParameters(interface: interface, anyway: true))
        }
    }

    /// Waits up to ``meeting`` seconds for the helper to reach the portal, because only then is the portal's key known. Returns how the login ended,
    /// or the warning, or neither.
    private func meet(
        _ states: ControlClient, _ name: String, _ last: inout InterfaceStatus?, _ signals: InterruptSignals
    ) throws -> (end: End?, warning: String?) {
        let began = ContinuousClock.now
        while signals.arrived == nil, (ContinuousClock.now - began).inSeconds < Self.meeting {
            if let end = try next(of: states, name, &last) { return (end, nil) }
            if let warning = last?.warning { return (nil, warning) }
            if last?.state == StateName.presentingUI.rawValue { break }
        }
        return (nil, nil)
    }

    /// Asks the user whether to open the portal anyway; throws if the user declines, or if hotspotctl cannot ask.
    private func confirm(_ warning: String, _ signals: InterruptSignals) throws(Failure) {
        guard Dialogue.canAsk(common) else {
            throw refusal(warning, "hotspotctl did not open a browser, because it cannot ask you here.")
        }
        let asker = Asker(renderer: common.renderer, interface: interface ?? "") {
            signals.arrived.map { _ in Failure(.failed, "") }
        }
        guard try asker.opensAnyway(common.renderer.safe(warning, limit: 600)) else {
            throw Failure(.answerNeeded, "No browser was opened.", hint: command("hotspotctl status"))
        }
    }

    private func refusal(_ warning: String, _ outcome: String) -> Failure {
        Failure(
            .answerNeeded, "\(common.renderer.safe(warning, limit: 600)) \(outcome)", hint: command("hotspotctl browse --anyway"))
    }

    private func command(_ words: String) -> String {
        words + (interface.map { " \(common.renderer.argument($0))" } ?? "")
    }

    /// Lets the helpers try again, because the browser did not log in.
    private func startOver(_ client: ControlClient, _ name: String) {
        _ = try? client.call("Login", LoginParameters(interface: name, helper: nil, fresh: true))
    }

    private typealias End = (status: InterfaceStatus, all: [InterfaceStatus])

    private func words(_ end: End, since began: ContinuousClock.Instant) throws(Failure) -> String {
        try common.renderer.online(end.status, after: (ContinuousClock.now - began).inSeconds, among: end.all)
    }

    /// Waits a moment for a new status. Returns it if the login has succeeded, otherwise `nil`; throws if the login has failed.
    ///
    /// - Parameter last: gets the newest status.
    private func next(of states: ControlClient, _ name: String, _ last: inout InterfaceStatus?) throws -> End? {
        guard let reply = try states.next(within: Self.step) else { return nil }
        let interfaces = try ControlClient.read(StatusReply.self, reply).interfaces
        guard let status = interfaces.first(where: { $0.interface == name }) else {
            throw Failure(.failed, "The interface \(common.renderer.safe(name, limit: 32)) is gone.", hint: "hotspotctl")
        }
        last = status
        switch StateName(rawValue: status.state) {
        case .authenticated: return (status, interfaces)
        case .failure, .inactive: throw common.renderer.failure(status, among: interfaces)
        case .evaluating, .authenticating, .presentingUI, .maintaining, .loggingOff, nil: return nil
        }
    }

    /// Reports the outcome of the login after the browser was closed. The login may have succeeded just before.
    private func finish(
        _ exit: Int32, _ client: ControlClient, _ states: ControlClient, _ network: BrowseReply,
        since began: ContinuousClock.Instant
    ) throws {
        let name = network.interface
        // hotspot-helpers has already printed the reason.
        guard exit == 0 else {
            startOver(client, name)
            guard exit == BrowserWindow.noBrowser else { throw Failure(.failed, "") }
            let address = common.renderer.safe(network.start, limit: 600)
            throw Failure(.failed, "No browser was opened. The portal's page, for any other browser: \(address)")
        }
        let check = try client.call("Check", .members(["interface": name]), as: CheckReply.self)
        let closed = ContinuousClock.now
        var last: InterfaceStatus?
        while check.verdict == "online" || check.verdict == "limited", (ContinuousClock.now - closed).inSeconds < Self.patience {
            if let end = try next(of: states, name, &last) {
                return Output.print([try words(end, since: began)])
            }
        }
        startOver(client, name)
        let rest =
            check.verdict == "captive"
            ? "the portal still asks for a login" : "the network is not open (\(common.renderer.safe(check.verdict, limit: 32)))"
        throw Failure(
            .answerNeeded, "The browser was closed, but \(rest).",
            hint: "hotspotctl login --wait \(common.renderer.argument(name))")
    }
}
