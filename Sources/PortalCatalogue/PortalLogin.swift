import EventLoop
import ForeignText
import HelperKit
import HotspotCore
import PageLogin

/// A login with a portal file: finds the file, and keeps the requests for later commands. ``PortalRun`` makes the steps.
package struct PortalLogin: Sendable {
    /// The portal's page on which a login begins.
    package struct Start: Sendable {
        /// All answers on the way to the page, beginning with the probe's answer.
        package var hops: [HTTPResponse]
        package var page: HTMLPage
        package var portal: Portal
        package var client: HTTPClient

        package init(hops: [HTTPResponse], page: HTMLPage, portal: Portal, client: HTTPClient) {
            (self.hops, self.page, self.portal, self.client) = (hops, page, portal, client)
        }

        /// Returns the portal; its kind is the file's name.
        func portal(_ file: PortalFile) -> Portal {
            var portal = portal
            portal.kind = file.id
            return portal
        }
    }

    let command: HelperCommand
    let portals: any PortalSource
    /// Returns the Unix time in milliseconds.
    package var clock: @Sendable () -> Int = { WallClock.now }
    /// Returns this number of random letters and digits.
    package var letters: @Sendable (Int) -> String = { count in
        let all = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in all[Int.random(in: all.indices)] })
    }
    /// Checks whether the network is open.
    package var isOpen: @Sendable () -> Bool
    /// Waits this number of seconds; `false` if the command's time is over.
    package var pause: @Sendable (Int) -> Bool

    package init(_ command: HelperCommand, portals: any PortalSource) {
        (self.command, self.portals) = (command, portals)
        (isOpen, pause) = (command.isOpen, command.pause)
    }

    // MARK: - Commands

    /// Answers Evaluate.
    package func evaluate() -> Evaluation {
        guard let result = command.probe() else { return Evaluation(.none, reason: "cancelled") }
        guard result.verdict == .captive else {
            return Evaluation(.none, reason: "The network is not captive (\(result.verdict.rawValue)).")
        }
        guard let start = open(result) else { return Evaluation(.none, reason: "The portal's page could not be fetched.") }
        guard let claim = claim(start) else { return Evaluation(.none, reason: "No portal file describes this portal.") }
        var run = PortalRun(
            claim.portal, at: start.portal, engine: FormEngine(for: command.redirects), values: values(start.hops, start.page),
            isStranger: false)
        run.begin()
        // Leaves out boxes, because ticks are never among the stored answers.
        let needs = run.fields.filter { $0.kind != .checkbox }.map(\.name)
        return Evaluation(claim.confidence, portal: start.portal(claim.portal), needs: needs, reason: claim.reason)
    }

    /// Answers Authenticate and PresentUI.
    ///
    /// - Parameter isTypedNow: whether the user has just typed the command's answers, as in PresentUI.
    package func run(isTypedNow: Bool) -> Reply {
        let memory = PortalMemory(command.session)
        if isTypedNow, let saved = memory.pause, let url = WebURL(saved.url),
            let portal = memory.catalogue.flatMap(portals.portal), let live = command.portal
        {
            let start = Start(
                hops: [HTTPResponse(url: url, status: 200)], page: HTMLPage(saved: saved.form, at: url), portal: live,
                client: SessionMemory(command.session).client(command))
            return play(portal, start, reason: "", isTypedNow: true, from: saved)
        }
        guard let result = command.probe() else { return command.reply(TransferError(.cancelled)) }
        if result.verdict.isOpen { return command.replyOpenAlready() }
        guard result.verdict == .captive else {
            return command.reply(.temporaryFailure, reason: "No portal answers now (\(result.problem ?? "noAnswer")).")
        }
        guard let start = open(result) else { return command.reply(TransferError(.emptyAnswer)) }
        // No other command may reuse the page, because the tokens in its forms are valid only once.
        command.attempts.forgetPortalPages(command.link)
        return run(on: start, isTypedNow: isTypedNow)
    }

    /// Logs in on a page with the file that matches it best.
    package func run(on start: Start, isTypedNow: Bool) -> Reply {
        guard let claim = claim(start) else {
            return command.reply(.unsupportedNetwork, reason: "No portal file describes this portal.")
        }
        let asksPassword = claim.portal.fields.contains { $0.kind == .password }
        if !command.hasAnswers(for: start.portal(claim.portal)), let url = start.hops.last?.url,
            let company = ImitatedBrand.imitated(by: start.page, at: url, asksPassword: asksPassword)
        {
            return command.leave(start.portal(claim.portal), imitating: company)
        }
        return play(claim.portal, start, reason: claim.reason, isTypedNow: isTypedNow, from: nil)
    }

    /// Answers Maintain: the probe decides. If the file names the portal's status page, that page shows the remaining time and volume.
    package func maintain() -> Reply {
        let reply = Maintenance.run(command) { result in
            open(result).map { start in claim(start).map { start.portal($0.portal) } ?? start.portal }
        }
        let (memory, own) = (SessionMemory(command.session), PortalMemory(command.session))
        guard reply.result == .success, let request = try? memory.request(own.status, command.redirects),
            let portal = own.catalogue.flatMap(portals.portal),
            let answer = try? memory.client(command).send(request, in: command.scope.limited(milliseconds: 10_000))
        else { return reply }
        var session: Session? = reply.session ?? Session()
        let page = HTMLPage.read(answer.body, at: answer.url)
        amounts(portal, values([answer], page), &session)
        return command.reply(.success, session: session)
    }

    /// Answers Logoff: sends the request that the login composed.
    package func logoff() -> Reply { PortalLogoff.forNextLogin(endSession(), command) }

    private func endSession() -> Reply {
        let (memory, own) = (SessionMemory(command.session), PortalMemory(command.session))
        guard let request = try? memory.request(own.logoff, command.redirects) else {
            let isKnown = own.catalogue.flatMap(portals.portal).map { $0.logoff == nil } ?? false
            return command.reply(
                .failure,
                reason: isKnown
                    ? "This portal's file describes no way to log off." : "hotspotd does not know how to log off here.")
        }
        do throws(TransferError) {
            let answer = try memory.client(command).send(request, in: command.scope.limited(milliseconds: 10_000))
            guard answer.status < 400 || answer.status == 511 else {
                return command.reply(.failure, reason: "The portal answered the logoff with status \(answer.status).")
            }
            return command.reply(.success)
        } catch {
            return command.reply(error)
        }
    }

    // MARK: - The page and its file

    private func open(_ result: ProbeResult) -> Start? {
        guard let source = PortalPage.source(result), let page = command.portalPage(source), let chain = page.chain else {
            return nil
        }
        // The redirect that the probe received is also evidence.
        let first = result.page.flatMap { $0.url == chain.hops.first?.url ? nil : $0 }
        return Start(
            hops: (first.map { [$0] } ?? []) + chain.hops, page: chain.page, portal: page.portal(kind: "catalogue"),
            client: page.client)
    }

    /// Returns the claim of the file that matches the page best. A page whose fields differ from the file's fields is an operator's own. It is left
    /// to the form helper, unless the file is for this operator's host.
    package func claim(_ start: Start) -> PortalClaim? {
        portals.claims(on: start.hops, ssid: SSID(hex: command.network.ssidHex)).first { claim in
            claim.evidence.contains(.host) || claim.portal.isFor(start.page)
        }
    }

    private func values(_ hops: [HTTPResponse], _ page: HTMLPage) -> PortalValues {
        PortalValues(hops: hops, page: page, link: command.link, clock: clock, letters: letters)
    }

    // MARK: - The login

    package func play(
        _ portal: PortalFile, _ start: Start, reason: String, isTypedNow: Bool, from saved: PortalMemory.Pause?
    ) -> Reply {
        let live = start.portal(portal)
        var run = PortalRun(
            portal, at: live,
            engine: FormAttempt(command, at: live, after: SessionMemory(command.session), isTypedNow: isTypedNow).engine,
            values: values(start.hops, start.page),
            isStranger: isTypedNow && !command.isAbout(live) && command.portal != nil)
        if let saved { run.resume(at: saved.step, kept: saved.values) }
        let first = saved == nil ? run.endAtFirstSight() : nil
        let carrier = HTTPCarrier(
            command, start.client, at: (start.hops.dropFirst() + start.hops.suffix(1)).map(\.url.host))
        var driver = LoginDriver(command, run, by: carrier, isTypedNow: isTypedNow)
        (driver.isOpen, driver.pause) = (isOpen, pause)
        return driver.run(from: first) { run, _, reply, memory in
            var own = PortalMemory(command.session)
            (own.catalogue, own.pause) = (portal.id, nil)
            if reply.result == .success {
                (own.status, own.logoff) = (run.request(for: portal.session.open), run.request(for: portal.logoff))
                amounts(portal, run.values, &reply.session)
                reply.reason = reason.isEmpty ? nil : reason
                let hasSent = run.hasActed || !run.sent.isEmpty
                if isTypedNow, !hasSent, !command.answered.isEmpty { reply.unsent = command.answered }
            } else {
                own.pause = run.pausedState
            }
            reply.session?.memory = own.value(beside: memory)
        }
    }

    /// Reads the remaining time and volume of the session.
    private func amounts(_ portal: PortalFile, _ values: PortalValues, _ session: inout Session?) {
        // Portals without a limit report 0.
        func amount(_ template: Template?) -> Int? { template.flatMap { Int(values.text(of: $0)) }.flatMap { $0 > 0 ? $0 : nil } }
        let seconds = amount(portal.session.seconds).map {
            max(0, $0.subtractingReportingOverflow(amount(portal.session.used) ?? 0).partialValue)
        }
        if let seconds = Session.remaining(seconds, upTo: Session.secondsLimit) { session?.secondsRemaining = seconds }
        let bytes = Session.remaining(amount(portal.session.bytes), upTo: Session.bytesLimit)
        if let bytes { session?.bytesRemaining = bytes }
    }
}

extension PortalRun: LoginSteps {
    var hasSent: Bool { hasActed }
    var shownTerms: ShownTerms? { terms.map { ShownTerms($0, of: values.page, at: values.last.url) } }

    /// The step at which to continue after a question; `nil` if the login can begin again at the portal's page.
    var pausedState: PortalMemory.Pause? {
        guard hasActed, index > 0 else { return nil }
        return PortalMemory.Pause(
            step: index, url: values.last.url.text, form: engine.choose(values.page, at: values.last.url), kept: values.kept)
    }

    /// Composes a request for a later command; `nil` if it cannot be composed.
    func request(for message: PortalFile.Message?) -> SessionMemory.SavedRequest? {
        guard let message, let page = WebURL(live.origin + "/"),
            let (request, taint) = try? PortalRequest.compose(message, values, from: page, engine.redirects), taint < .digest
        else { return nil }
        return SessionMemory.SavedRequest(request)
    }
}
