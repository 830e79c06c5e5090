import EventLoop
import ForeignText
import HelperKit
import HotspotCore
import PageLogin
import PortalCatalogue

/// Plays a fixture against a portal file, without a network, and reports where the helper's requests differ from the recorded
/// requests.
package struct Replay {
    private let portal: PortalFile
    private let exchange: RecordedLogin
    private let progress = Locked((next: 0, mistakes: [Keyfile.Error](), sent: [HTTPRequest]()))

    package init(_ portal: PortalFile, _ exchange: RecordedLogin) { (self.portal, self.exchange) = (portal, exchange) }

    /// Reads a portal file and plays its fixtures. Returns the mistakes, or a summary if no mistake was found. Throws
    /// ``Keyfile/Error``.
    package static func check(_ path: String) throws(Keyfile.Error) -> (mistakes: [Keyfile.Error], summary: String) {
        guard let portal = try PortalCatalogue.read(path) else {
            return ([], "is empty, so it masks the file with the same name in another folder.")
        }
        var (mistakes, results): ([Keyfile.Error], [HelperResult]) = ([], [])
        for fixture in fixtures(of: path) {
            let octets = PortalCatalogue.octets(of: fixture, limit: RecordedLogin.limit) ?? []
            let exchange = try RecordedLogin(octets, file: fixture)
            results.append(exchange.result)
            mistakes += Replay(portal, exchange).run()
        }
        let warning = results.isEmpty || results.contains(.success) ? "." : ", but no recorded login succeeds."
        return (mistakes, "contains no mistakes; \(results.count) recorded logins were played" + warning)
    }

    /// Returns the portal file to which a fixture belongs (``fixtures(of:)``); `nil` if it belongs to no portal file.
    package static func portal(of fixture: String) -> String? {
        let parts = fixture.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, parts[parts.count - 2] == "tests" else { return nil }
        let folder = parts.count > 2 ? parts.dropLast(2).joined(separator: "/") : "."
        return owner(of: parts[parts.count - 1], among: portals(in: folder)).map { "\(folder)/\($0).portal" }
    }

    /// Returns the fixtures of a portal file: `tests/NAME.exchange` and `tests/NAME-WORD.exchange` in its folder. If there is also a portal file
    /// `NAME-WORD`, the second fixture belongs to that file.
    package static func fixtures(of path: String) -> [String] {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let name = String(path.split(separator: "/").last?.dropLast(".portal".count) ?? "")
        let names = portals(in: folder) + [name]
        return FilePath.names(in: folder + "/tests").filter { owner(of: $0, among: names) == name }
            .sorted().map { "\(folder)/tests/\($0)" }
    }

    private static func portals(in folder: String) -> [String] {
        FilePath.names(in: folder).filter { $0.hasSuffix(".portal") }.map { String($0.dropLast(".portal".count)) }
    }

    private static func owner(of fixture: String, among names: [String]) -> String? {
        guard fixture.hasSuffix(".exchange") else { return nil }
        let stem = fixture.dropLast(".exchange".count)
        return names.filter { stem == $0 || stem.hasPrefix($0 + "-") }.max { $0.count < $1.count }
    }

    /// The requests that were sent.
    var sent: [HTTPRequest] { progress.with { $0.sent } }

    /// Returns the differences between the login and the recording; empty if they agree.
    package func run() -> [Keyfile.Error] {
        guard let first = exchange.turns.first, let probe = WebURL(first.url) else {
            return [mistake(0, "begins with no request")]
        }
        let link = Link(
            attempt: "replay", association: "replay", interface: "lo", index: 1, addresses: [exchange.address],
            probeURL: first.url, probeExpect: "204")
        let client = HTTPClient(link: link, policy: .played(by: answer))
        var command = HelperCommand(
            network: Network(ssid: SSID(hex: "61")!, interface: "lo", security: .open), link: link, consent: exchange.consents,
            attempts: SharedProbe())
        do throws(TransferError) {
            let request = HTTPRequest(probe)
            let answer = try client.send(request, in: command.scope)
            let chain = try RedirectChain.follow(answer, to: request, client: client, trusted: probe.origin, in: command.scope)
            let page = chain.final
            var live = Portal(origin: page.url.origin, pin: page.pin, kind: portal.id, title: chain.page.title)
            live.kind = portal.id
            command.portal = live
            command.credential = exchange.stored.isEmpty ? nil : exchange.stored
            command.answers = exchange.typed
            var memory = SessionMemory(nil)
            memory.agreed = exchange.agreed.isEmpty ? nil : exchange.agreed
            command.session = Session(memory: memory.value)
            var login = PortalLogin(command, portals: [portal])
            login.clock = { [time = exchange.time] in time * 1000 }
            login.letters = { String(repeating: "r", count: $0) }
            login.pause = { _ in true }
            login.isOpen = { progress.with { $0.next >= exchange.turns.count } }
            let start = PortalLogin.Start(hops: chain.hops, page: chain.page, portal: live, client: client)
            guard let claim = login.claim(start) else {
                return [mistake(first.line, "no [Match] section matches the portal's page")]
            }
            if let claims = exchange.claims, claims != claim.confidence {
                let advice = claim.confidence < claims ? " Add a second kind of evidence." : ""
                note(first.line, "claims \(claim.confidence.rawValue) (recorded: \(claims.rawValue)): \(claim.reason)\(advice)")
            }
            compare(login.play(portal, start, reason: "", isTypedNow: !exchange.typed.isEmpty, from: nil))
        } catch {
            note(first.line, "the portal's page was not reached: \(error)")
        }
        return progress.with { $0.mistakes }
    }

    private func mistake(_ line: Int, _ text: String) -> Keyfile.Error {
        Keyfile.Error(file: exchange.file, line: line, message: text)
    }

    private func note(_ line: Int, _ text: String) { progress.with { $0.mistakes.append(mistake(line, text)) } }

    /// Answers a request with the next turn, and compares the request with that turn.
    private func answer(_ request: HTTPRequest) -> Result<HTTPResponse, TransferError> {
        let index = progress.with { state in
            defer { state.next += 1 }
            state.sent.append(request)
            return state.next
        }
        let shown = "\(request.method.rawValue) \(request.url)"
        guard index < exchange.turns.count else {
            note(exchange.turns.last?.line ?? 0, "sends one more request: \(shown) \(request.body ?? "")")
            return .failure(TransferError(.connectFailed))
        }
        let turn = exchange.turns[index]
        if turn.method != request.method.rawValue || WebURL(turn.url) != request.url {
            note(turn.line, "sends \(shown), not \(turn.method) \(turn.url)")
        }
        if (request.body ?? "") != turn.body { note(turn.line, "sends the body \(request.body ?? ""), not \(turn.body)") }
        for header in turn.headers {
            let sent = self.header(header.name, of: request)
            if sent != header.value { note(turn.line, "sends \(header.name): \(sent ?? "nothing"), not \(header.value)") }
        }
        if turn.isLost { return .failure(TransferError(.emptyAnswer)) }
        return .success(
            HTTPResponse(
                url: request.url, status: turn.status, phrase: turn.phrase, headers: turn.answerHeaders,
                body: Array(turn.answer.utf8), pin: request.url.isSecure ? "replay" : nil))
    }

    private func header(_ name: String, of request: HTTPRequest) -> String? {
        switch name {
        case "accept": request.accept
        case "content-type": request.body == nil ? nil : request.contentType
        case "referer": request.referrer
        case "origin": request.method == .post ? request.originHeader : nil
        default: request.headers.first { $0.name.lowercased() == name }?.value
        }
    }

    private func compare(_ reply: Reply) {
        let line = exchange.turns.last?.line ?? 0
        if reply.result != exchange.result {
            note(
                line, "ends with \(reply.result.rawValue), not \(exchange.result.rawValue)\(reply.reason.map { ": \($0)" } ?? "")"
            )
        }
        let words = reply.reason ?? reply.prompt?.message
        if let reason = exchange.reason, reason != words { note(line, "says \(words ?? "nothing"), not \(reason)") }
        if let asks = exchange.asks {
            let asked = reply.prompt?.fields.map(\.name) ?? []
            if asked != asks { note(line, "asks \(asked.joined(separator: " ")), not \(asks.joined(separator: " "))") }
        }
        let played = progress.with { $0.next }
        if played < exchange.turns.count {
            let turn = exchange.turns[played]
            note(turn.line, "does not send \(turn.method) \(turn.url)")
        }
    }
}
