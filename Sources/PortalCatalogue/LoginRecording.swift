import FoundationEssentials
import HelperKit
import HotspotCore

/// Logs in to the portal of a link and writes down the exchange, without what is private: by the portal file that claims the network, or
/// by the forms on the portal's pages.
package struct LoginRecording {
    /// Why there is no fixture.
    package struct NotRecorded: Error, CustomStringConvertible {
        package let description: String
    }

    /// The portal's page as this login found it, and the file that claims it.
    private struct Beginning {
        var chain: RedirectChain
        var start: PortalLogin.Start
        var claim: PortalClaim?
    }

    /// The most prompts of one login.
    private static let rounds = 8

    private let link: Link
    private let portals: [PortalFile]
    private let machine: String
    private let time = Int(Date().timeIntervalSince1970)
    private let turns = Locked([RecordedLogin.Turn]())

    /// - Parameter machine: this machine's name, which is replaced.
    package init(link: Link, portals: [PortalFile], machine: String) {
        (self.link, self.portals, self.machine) = (link, portals, machine)
    }

    /// Logs in. Returns the fixture and how it was logged in. Throws ``NotRecorded``.
    ///
    /// - Parameter ask: asks the user; `nil` if there are no answers.
    package func run(asking ask: (Prompt) -> [String: String]?) throws(NotRecorded) -> (exchange: RecordedLogin, way: String) {
        var (beginning, answers, secrets) = (try begin(), [String: String](), [String]())
        var reply = play(beginning, answers, after: nil)
        for _ in 0..<Self.rounds where reply.result == .uiRequired {
            guard let prompt = reply.prompt, !prompt.fields.isEmpty, let given = ask(prompt) else { break }
            let shown = prompt.fields.filter { $0.kind == .checkbox || $0.kind == .choice }.map(\.name)
            secrets += given.filter { !shown.contains($0.key) }.map(\.value)
            answers.merge(given) { $1 }
            // Where nothing was sent yet, the login begins at the probe again, as the helpers do.
            if goesOn(reply.session, beginning) {
                // The terms were only fetched for the prompt.
                turns.with { turns in turns.lastIndex { $0.url == prompt.termsURL }.map { turns.removeSubrange($0...) } }
            } else {
                beginning = try begin()
            }
            reply = play(beginning, answers, after: reply)
        }
        var exchange = RecordedLogin(file: "the recording")
        exchange.typed = answers
        exchange.address = link.addresses.first { !$0.contains(":") } ?? exchange.address
        exchange.turns = turns.with { $0 }
        exchange.result = reply.result
        exchange.reason = reply.result == .success ? nil : reply.reason ?? reply.prompt?.message
        exchange.claims = beginning.claim?.confidence
        let addresses = link.addresses.map { String($0.prefix { $0 != "/" }) }
        exchange = exchange.anonymous(typed: secrets, addresses: addresses, name: machine, recordedAt: time)
        guard let portal = beginning.claim?.portal else { return (exchange, "by the forms on the portal's pages") }
        return (try Self.replayed(exchange, by: portal), "by \(portal.file)")
    }

    /// Fetches the portal's page from the probe on, as a new recording.
    private func begin() throws(NotRecorded) -> Beginning {
        turns.with { $0 = [] }
        guard let text = link.probeURL, let probe = WebURL(text) else { throw NotRecorded(description: "There is no probe.") }
        let server = HTTPClient(link: link)
        let client = HTTPClient(link: link, policy: .strict) { [turns] request in
            let outcome: Result<HTTPResponse, TransferError>
            do throws(TransferError) { outcome = .success(try server.send(request, in: Scope())) } catch {
                outcome = .failure(error)
            }
            turns.with { $0.append(RecordedLogin.Turn(request, outcome)) }
            return outcome
        }
        let (request, scope) = (HTTPRequest(probe), Scope())
        let chain: RedirectChain
        do throws(TransferError) {
            let answer = try client.send(request, in: scope)
            chain = try RedirectChain.follow(answer, to: request, client: client, trusted: probe.origin, in: scope)
        } catch {
            let remedy = Self.remedy(error, on: link).map { " \($0)" } ?? ""
            throw NotRecorded(description: "The portal's page was not reached: \(error)\(remedy)")
        }
        guard chain.hops[0].status != 204 else {
            throw NotRecorded(description: "The network is open already; first: hotspotctl logoff")
        }
        let portal = Portal(origin: chain.final.url.origin, pin: chain.final.pin, kind: "form", title: chain.page.title)
        let start = PortalLogin.Start(hops: chain.hops, page: chain.page, portal: portal, client: client)
        return Beginning(chain: chain, start: start, claim: Matcher.claims(portals, on: chain.hops, ssid: nil).first)
    }

    /// Returns what helps where a name does not resolve: a portal's own name is often known to the network's nameserver alone, and what
    /// other programs ask may be another one. `nil` for other errors.
    package static func remedy(_ error: TransferError, on link: Link) -> String? {
        guard [.noNameserver, .dnsFailed, .dnsTimeout].contains(error.code) else { return nil }
        let asked = link.nameservers.isEmpty ? "none" : link.nameservers.joined(separator: ", ")
        return
            "The nameservers of /etc/resolv.conf were asked: \(asked). Only the network's own one may know the portal: name that one "
            + "there, or end the VPN or resolver that wrote another one, and try again."
    }

    /// Plays one command of a helper.
    private func play(_ beginning: Beginning, _ answers: [String: String], after last: Reply?) -> Reply {
        let start = beginning.start
        let command = HelperCommand(
            network: Network(ssid: SSID(hex: "")!, interface: link.interface, security: .open), link: link,
            portal: last.flatMap { _ in start.portal }, answers: answers, session: last?.session, attempts: AttemptStore())
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

    /// Returns whether the login goes on where it asked.
    private func goesOn(_ session: Session?, _ beginning: Beginning) -> Bool {
        beginning.claim == nil ? SessionMemory(session).page != nil : PortalMemory(session).pause != nil
    }

    /// Returns the fixture with the requests that the helper sends for the made-up answers: what it computes from answers, time and chance
    /// is then theirs, and no digest of a real answer is left. Throws ``NotRecorded``.
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
                description: "The login does not play again with made-up answers, so it was not written: "
                    + mistakes.map(\.message).joined(separator: "; "))
        }
        return exchange
    }
}
