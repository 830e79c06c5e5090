import EventLoop
import ForeignText
import HelperKit
import HotspotCore
import PageLogin
import PortalCatalogue

/// Logs in to the portal of a link and records the exchange, without private data: by the portal file that claims the network, or
/// by the forms on the portal's pages.
package struct LoginRecording {
    /// The reason why there is no fixture.
    package struct NotRecorded: Error, CustomStringConvertible {
        package let description: String
    }

    /// A recorded login.
    package struct Recorded {
        package var exchange: RecordedLogin
        /// The method of the login, in words.
        package var way: String
        /// Whether the user wants this recording: the login succeeded, or the portal refused it and the user chose to record the
        /// refusal.
        package var isWanted: Bool
        /// Other observations, such as the session's time.
        package var notes: [String] = []
        /// Whether the user typed answers, which were replaced.
        var isAnswered = false

        /// Returns a summary of the recording in a file, for people.
        package func summary(of file: String) -> String {
            let end = ([exchange.result.rawValue] + notes).map { Printable.text($0, limit: 400) }.joined(separator: "; ")
            return """
                \(Printable.text(file)) has \(exchange.count) requests, \(way), and ends with \(end)\(end.hasSuffix(".") ? "" : ".")
                \(isAnswered ? "Your answers, this" : "This") machine's addresses and tokens were replaced. Read the file before you share it.
                """
        }
    }

    /// The portal's page at the beginning of this login, and the portal file that claims the page.
    private struct Beginning {
        var chain: RedirectChain
        var start: PortalLogin.Start
        var claim: PortalClaim?

        /// The names that identify the portal before the login.
        var own: [String] {
            chain.hops.map(\.url.host) + (claim?.portal.demands ?? [])
        }
    }

    /// The largest number of prompts in one login.
    private static let rounds = 8

    private let link: Link
    private let portals: [PortalFile]
    private let isNamed: Bool
    private let machine: String
    private let time = WallClock.now / 1000
    private let turns = Locked([RecordedLogin.Turn]())
    /// The number of probes after a login and a logoff, a second apart, because some gateways open or close late.
    var patience = 5

    /// - Parameters:
    ///   - isNamed: whether the user named the portal file, so that it must match.
    ///   - machine: this machine's name, which is replaced.
    package init(link: Link, portals: [PortalFile], isNamed: Bool = false, machine: String) {
        (self.link, self.portals, self.isNamed, self.machine) = (link, portals, isNamed, machine)
    }

    /// Logs in; if a portal file was used, also logs off again. Throws ``NotRecorded``.
    ///
    /// - Parameter ask: asks the user; `isRefused` means that the portal refused the earlier answers. Returns `nil` if the user gives no answers;
    ///   after a refusal, the user thus chooses to record the refused login.
    package func run(asking ask: (Prompt, _ isRefused: Bool) -> [String: String]?) throws(NotRecorded) -> Recorded {
        var isWanted = false
        var (beginning, answers, secrets) = (try begin(), [String: String](), [String]())
        var reply = play(beginning, answers, after: nil)
        for _ in 0..<Self.rounds where reply.result == .uiRequired {
            guard let prompt = reply.prompt, !prompt.fields.isEmpty else { break }
            let isRefused = prompt.message != nil && prompt.fields.contains { answers[$0.name] != nil }
            // A portal can call itself anything, so the title also shows the portal's origin.
            var question = prompt
            if let origin = reply.portal?.origin { question.title += " (\(origin))" }
            guard let given = ask(question, isRefused) else {
                isWanted = isRefused
                break
            }
            let shown = prompt.fields.filter { $0.kind == .checkbox || $0.kind == .choice }.map(\.name)
            for (name, answer) in given where !shown.contains(name) {
                guard !Replacements.changes(beginning.own, for: answer) else {
                    throw NotRecorded(
                        description:
                            "The answer for \(name) is also one of the portal's own words (its host or [Match]), so it cannot be "
                            + "replaced. It was not sent. Record with another answer.")
                }
                secrets.append(answer)
            }
            answers.merge(given) { $1 }
            // If nothing was sent yet, the login begins at the probe again, as it does in helpers.
            if goesOn(reply.session, beginning) {
                // Removes the request for the terms, which was made only to show them in the prompt.
                turns.with { turns in turns.lastIndex { $0.url == prompt.termsURL }.map { turns.removeSubrange($0...) } }
            } else {
                beginning = try begin()
            }
            reply = play(beginning, answers, after: reply)
        }
        let isOpen = reply.result == .success && network(isOpen: true)
        var exchange = RecordedLogin(file: "the recording")
        exchange.typed = answers
        exchange.address = link.addresses.first { !$0.contains(":") } ?? exchange.address
        exchange.turns = turns.with { $0 }
        exchange.result = reply.result
        exchange.reason = reply.result == .success ? nil : reply.reason ?? reply.prompt?.message
        exchange.claims = beginning.claim?.confidence
        let addresses = link.addresses.map { String($0.prefix { $0 != "/" }) }
        exchange = exchange.anonymous(
            typed: secrets, addresses: addresses, name: machine, own: beginning.own, recordedAt: time)
        guard let portal = beginning.claim?.portal else {
            if reply.result == .success, !isOpen {
                (exchange.result, exchange.reason) = (.temporaryFailure, "The probe found that the network is not open.")
            }
            return Recorded(
                exchange: exchange, way: "by the forms on the portal's pages", isWanted: isOpen || isWanted,
                notes: exchange.reason.map { [$0] } ?? [], isAnswered: !secrets.isEmpty)
        }
        guard isOpen || isWanted else {
            let end =
                reply.result == .success
                ? "The portal file reports success, but the network is still closed"
                : "The login ended with \(reply.result.rawValue): \(exchange.reason ?? "some questions were not answered")"
            throw NotRecorded(description: "\(end); \(exchange.lastWords)\nNothing was written.")
        }
        let notes = isOpen ? tryRest(of: portal, after: reply) : []
        return Recorded(
            exchange: try Self.replayed(exchange, by: portal), way: "by \(portal.file)", isWanted: true, notes: notes,
            isAnswered: !secrets.isEmpty)
    }

    /// Probes until the network is open, or closed, as wanted; returns `false` if it does not change in time.
    private func network(isOpen wanted: Bool) -> Bool {
        for round in 0..<patience {
            let command = command()
            if round > 0, !command.scope.pause(milliseconds: 1000) { return false }
            if (command.probe(fresh: true)?.verdict.isOpen ?? false) == wanted { return true }
        }
        return false
    }

    /// Tries the parts of the portal file that apply after a login: the session's time, and how to log off.
    private func tryRest(of portal: PortalFile, after reply: Reply) -> [String] {
        var command = command()
        (command.portal, command.session) = (reply.portal, reply.session)
        let login = PortalLogin(command, portals: [portal])
        var notes: [String] = []
        if portal.readsTime {
            let seconds = login.maintain().session?.secondsRemaining ?? reply.session?.secondsRemaining
            notes.append(seconds.map { "\($0 / 60) min left" } ?? "Seconds= of [Session] is not a number")
        }
        guard portal.canLogOff else { return notes }
        let left = login.logoff()
        guard left.result == .success else { return notes + ["not logged off: \(left.reason ?? left.result.rawValue)"] }
        return notes + [network(isOpen: false) ? "logged off" : "[Logoff] was sent, but the network is still open"]
    }

    private func command() -> HelperCommand {
        HelperCommand(
            network: Network(ssid: SSID(hex: "")!, interface: link.interface, security: .open), link: link,
            attempts: SharedProbe())
    }

    /// Starts a new recording: probes, and fetches the portal's page.
    private func begin() throws(NotRecorded) -> Beginning {
        turns.with { $0 = [] }
        guard let text = link.probeURL, let probe = WebURL(text) else { throw NotRecorded(description: "There is no probe.") }
        let server = HTTPClient(link: link)
        let player = { @Sendable [turns] (request: HTTPRequest) in
            let outcome: Result<HTTPResponse, TransferError>
            do throws(TransferError) { outcome = .success(try server.send(request, in: Scope())) } catch {
                outcome = .failure(error)
            }
            turns.with { $0.append(RecordedLogin.Turn(request, outcome)) }
            return outcome
        }
        let client = HTTPClient(link: link, policy: .played(by: player))
        let (request, scope) = (HTTPRequest(probe), Scope())
        let chain: RedirectChain
        do throws(TransferError) {
            let answer = try client.send(request, in: scope)
            chain = try RedirectChain.follow(answer, to: request, client: client, trusted: probe.origin, in: scope)
        } catch {
            let remedy = Self.remedy(error, on: link).map { " \($0)" } ?? ""
            let asked = turns.with { $0.last.flatMap { WebURL($0.url)?.host } } ?? probe.host
            throw NotRecorded(description: "hotspotctl could not reach the portal's page at \(asked): \(error.advice)\(remedy)")
        }
        guard chain.hops[0].status != 204 else {
            throw NotRecorded(
                description: "The network is already open; log off first, on the portal's page or with: hotspotctl logoff")
        }
        let portal = Portal(origin: chain.final.url.origin, pin: chain.final.pin, kind: "form", title: chain.page.title)
        let start = PortalLogin.Start(hops: chain.hops, page: chain.page, portal: portal, client: client)
        let claim = Matcher.claims(portals, on: chain.hops, ssid: nil).first
        if isNamed, claim == nil {
            throw NotRecorded(description: portals.map { Matcher.mismatch($0, on: chain.hops) }.joined(separator: "\n"))
        }
        return Beginning(chain: chain, start: start, claim: claim)
    }

    /// Returns advice if a name does not resolve; `nil` for other errors. Often only the network's nameserver knows the portal's name, and this
    /// machine's other programs may use a different nameserver.
    package static func remedy(_ error: TransferError, on link: Link) -> String? {
        guard [.noNameserver, .dnsFailed, .dnsTimeout].contains(error.code) else { return nil }
        let asked = link.nameservers.isEmpty ? "none" : link.nameservers.joined(separator: ", ")
        return
            "The nameservers in /etc/resolv.conf do not know the name: \(asked). Often only the network's own nameservers know a "
            + "portal. Write those into the file, or stop the VPN or resolver that wrote the others, and try again."
    }

    /// Plays one command of a helper.
    private func play(_ beginning: Beginning, _ answers: [String: String], after last: Reply?) -> Reply {
        let start = beginning.start
        var command = command()
        (command.portal, command.answers, command.session) = (last.flatMap { _ in start.portal }, answers, last?.session)
        guard let portal = beginning.claim?.portal else {
            return FormLogin(kind: "form", command: command)
                .run(on: beginning.chain, client: start.client, isTypedNow: last != nil)
        }
        let saved = last.flatMap { PortalMemory($0.session).pause }
        var from = start
        if let saved, let url = WebURL(saved.url) {
            from.hops = [HTTPResponse(url: url, status: 200)]
            from.page = HTMLPage(saved: saved.form, at: url)
        }
        return PortalLogin(command, portals: portals).play(portal, from, reason: "", isTypedNow: last != nil, from: saved)
    }

    /// Returns whether the login continues at the place where it asked the user, instead of from the beginning.
    private func goesOn(_ session: Session?, _ beginning: Beginning) -> Bool {
        beginning.claim == nil ? SessionMemory(session).page != nil : PortalMemory(session).pause != nil
    }

    /// Returns the fixture with the requests that the helper sends for the made-up answers. All values that the helper computes from answers, time
    /// and chance then come from made-up values, and no digest of a real answer remains. Throws ``NotRecorded``.
    static func replayed(_ recorded: RecordedLogin, by portal: PortalFile) throws(NotRecorded) -> RecordedLogin {
        let first = Replay(portal, recorded)
        _ = first.run()
        var exchange = recorded
        for (index, request) in first.sent.enumerated() where index < exchange.turns.count {
            let turn = exchange.turns[index]
            let isSame = turn.method == request.method.rawValue && WebURL(turn.url)?.path == request.url.path
            if isSame { exchange.turns[index].describe(request) }
        }
        let mistakes = Replay(portal, exchange).run()
        guard mistakes.isEmpty else {
            throw NotRecorded(
                description: "The login fails when it is played with made-up answers, so nothing was written: "
                    + mistakes.map(\.message).joined(separator: "; "))
        }
        return exchange
    }
}

extension TransferError {
    /// The error, with advice for the author of a portal file.
    package var advice: String {
        guard code == .refusedAddress else { return description }
        return
            "\(self) If this computer is in several networks, it may have used another network's nameserver: leave the others and try again. For a portal on this computer, use --interface lo."
    }
}
