import HotspotCore

/// Asks the endpoints of one probe, each on a thread of its own, and lets ``VerdictTable`` decide.
struct ProbeRun: Sendable {
    /// The endpoints to ask.
    struct Plan: Sendable {
        var named: [ProbeEndpoint]
        var address: ProbeEndpoint?
        var https: String?

        /// Makes a plan of these endpoints, else of the link's own, else of the usual ones with an address endpoint and HTTPS.
        ///
        /// - Parameter https: the HTTPS endpoint; empty: none.
        init(link: Link, endpoints: [ProbeEndpoint] = [], https: String? = nil) {
            if !endpoints.isEmpty {
                named = Array(endpoints.prefix(5))
                self.https = https
            } else if let own = link.probeURL.map({ ProbeEndpoint(url: $0, expect: link.probeExpect ?? "204") }),
                own != ProbeEndpoint.usual[0]
            {
                named = [own]
                self.https = https ?? link.probeHTTPSURL
            } else {
                named = ProbeEndpoint.usual
                address = ProbeEndpoint.usualAddress
                self.https = https ?? link.probeHTTPSURL ?? ProbeEndpoint.usualHTTPS
            }
            if self.https?.isEmpty == true { self.https = nil }
        }

        /// Forgets the endpoints' addresses: before a login, gateways answer falsely for their names.
        func forgetNames(_ link: Link) {
            for url in (named.map(\.url) + [https].compactMap(\.self)).compactMap(WebURL.init) {
                NamePins.shared.forget(url.host, link: link)
            }
        }
    }

    let link: Link
    let plan: Plan
    let policy: NetworkPolicy
    /// The request to the link's portal API, made once for an attempt.
    let api: SharedWork<PortalAPIDocument?>?
    var limit = VerdictTable.limit
    /// Called with the target of a redirect to another host, as soon as its head is read: the portal, if the verdict is captive.
    var onRedirect: (@Sendable (WebURL) -> Void)?

    private struct Board {
        var table: VerdictTable
        var evidence: [ProbeEvidence] = []
        /// The answer at the remembered address.
        var early: (answer: EndpointAnswer, evidence: ProbeEvidence, address: InternetAddress)?
        /// The address of the first named endpoint, once it answered.
        var probeAddress: String?

        /// Returns the verdict with what it rests on.
        func complete(_ result: ProbeResult) -> ProbeResult {
            var result = result
            result.evidence = evidence
            let isAnswered = evidence.contains { $0.request == early?.evidence.request && $0.status != nil }
            if let early, early.evidence.status != nil, !isAnswered {
                // No nameserver gave this address.
                var evidence = early.evidence
                evidence.request += " at \(early.address)"
                result.evidence.append(evidence)
            }
            if result.verdict.isOpen, case .asExpected? = table.named.first { result.probeAddress = probeAddress }
            return result
        }
    }

    /// Runs the probe and returns its result. A cancellation gives `limited` at once.
    func result(in outer: Scope) -> ProbeResult {
        let began = Instant.now
        // A cancellation of its own ends the requests that are still under way when the verdict stands.
        let cancellation = Cancellation()
        let handler = outer.cancellation.onCancel { cancellation.cancel() }
        defer {
            outer.cancellation.removeHandler(handler)
            cancellation.cancel()
        }
        let scope = Scope(
            cancellation: cancellation, deadline: .after(milliseconds: limit - VerdictTable.closing(limit)), trace: outer.trace)
        let board = Locked(
            Board(
                table: VerdictTable(
                    redirects: RedirectPolicy(policy), named: plan.named.count, address: plan.address != nil,
                    https: plan.https != nil, api: api != nil, limit: limit)))
        // Cancelling wakes this thread, which waits for a change of the board.
        let waker = cancellation.onCancel { board.with { _ in } }
        defer { cancellation.removeHandler(waker) }
        askNamed(0, board, scope)
        if let address = plan.address {
            ask(address.url, board, scope) { $0.answeredAddress($1, expect: address.expect, at: began.millisecondsAgo) }
        }
        if let https = plan.https { ask(https, board, scope, checked: { $0.checkedHTTPS() }, { $0.answeredHTTPS($1) }) }
        if let api {
            let (link, policy) = (link, policy)
            Worker.start {
                let document = api.wait(in: scope) ?? nil
                let evidence = PortalAPIDocument.address(link.portalAPI, policy: RedirectPolicy(policy)).map {
                    ProbeEvidence(api: $0, document, milliseconds: began.millisecondsAgo)
                }
                board.with { board in
                    board.table.answeredAPI(document)
                    if let evidence { board.evidence.append(evidence) }
                }
            }
        }
        var asked = 1
        var waitsUntil = began.advanced(milliseconds: limit)
        while true {
            if cancellation.isCancelled { return ProbeResult(.limited, problem: "cancelled") }
            let step = board.wait(until: waitsUntil) { board -> VerdictTable.NextStep? in
                if cancellation.isCancelled { return .wait(until: 0) }
                let step = board.table.nextStep(at: began.millisecondsAgo)
                switch step {
                case .done: return step
                case .askNext: return board.table.named.count == asked ? step : nil
                case .wait(let until):
                    // A nearer deadline than the current one ends this wait.
                    return began.advanced(milliseconds: until) < waitsUntil ? step : nil
                }
            }
            switch step {
            case .done(let result): return board.with { $0.complete(result) }
            case .askNext:
                askNamed(asked, board, scope)
                asked += 1
            case .wait(let until): waitsUntil = began.advanced(milliseconds: until)
            case nil:
                // The wait is over without a new answer; the table decides by the time alone.
                waitsUntil = began.advanced(milliseconds: max(limit, began.millisecondsAgo + 1))
                if case .done(let result) = board.with({ $0.table.nextStep(at: began.millisecondsAgo) }) {
                    return board.with { $0.complete(result) }
                }
            }
        }
    }

    private func askNamed(_ index: Int, _ board: Locked<Board>, _ scope: Scope) {
        let endpoint = plan.named[index]
        let early = index == 0 ? askEarly(endpoint, board, scope) : nil
        ask(endpoint.url, board, scope, early: early) { $0.answeredNamed($1, expect: endpoint.expect) }
    }

    /// Asks the first named endpoint at the address that it had before, while its name is asked for. Returns that address, if it does so.
    ///
    /// The answer counts as the endpoint's own once the name has this address here as well.
    private func askEarly(_ endpoint: ProbeEndpoint, _ board: Locked<Board>, _ scope: Scope) -> InternetAddress? {
        guard let address = link.probeAddress.flatMap(InternetAddress.init), let url = WebURL(endpoint.url),
            url.scheme == "http", InternetAddress(url.host) == nil, !NamePins.shared.knows(url.host, link: link)
        else { return nil }
        board.with { $0.table.asksRemembered = true }
        let (link, policy) = (link, policy)
        let request = request(to: url, at: address)
        Worker.start {
            let began = Instant.now
            let answer = Self.send(request, HTTPClient(link: link, policy: policy), scope)
            board.with { board in
                board.table.answeredRemembered(answer, expect: endpoint.expect)
                board.early = (answer, ProbeEvidence(url, answer, milliseconds: began.millisecondsAgo), address)
            }
        }
        return address
    }

    private func ask(
        _ text: String, _ board: Locked<Board>, _ scope: Scope, early: InternetAddress? = nil,
        checked: (@Sendable (inout VerdictTable) -> Void)? = nil,
        _ enter: @escaping @Sendable (inout VerdictTable, EndpointAnswer) -> Void
    ) {
        guard let url = WebURL(text), url.scheme == "http" || url.scheme == "https", !url.hasUserInformation else {
            board.with { enter(&$0.table, .failure(TransferError(.refusedURL, "an endpoint of the probe"))) }
            return
        }
        let (link, policy, request) = (link, policy, request(to: url))
        let isFirst = text == plan.named.first?.url
        Worker.start {
            var request = request
            let began = Instant.now
            if let checked, url.isSecure {
                request.onConnected = {
                    board.with { board in
                        checked(&board.table)
                        board.evidence.append(ProbeEvidence(checked: url, milliseconds: began.millisecondsAgo))
                    }
                }
            }
            let answer =
                early.flatMap { Self.confirmed($0, url.host, link, board, scope) }
                ?? Self.send(request, HTTPClient(link: link, policy: policy), scope)
            if case .failure(let error) = answer, error.code == .cancelled { return }
            board.with { board in
                if isFirst, case .success(let response) = answer { board.probeAddress = response.address }
                enter(&board.table, answer)
                let evidence = ProbeEvidence(url, answer, milliseconds: began.millisecondsAgo)
                board.evidence.removeAll { $0.isUnanswered && $0.request == evidence.request }
                board.evidence.append(evidence)
            }
        }
    }

    /// Waits for the answer that came from a remembered address, if the name has that address here as well. `nil` without one: ask again.
    private static func confirmed(
        _ address: InternetAddress, _ host: String, _ link: Link, _ board: Locked<Board>, _ scope: Scope
    ) -> EndpointAnswer? {
        do throws(TransferError) {
            guard try NamePins.shared.addresses(of: host, link: link, in: scope).contains(address) else { return nil }
        } catch {
            return .failure(error)
        }
        let handler = scope.cancellation.onCancel { board.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let answer: EndpointAnswer =
            board.wait(until: scope.deadline) { board in
                board.early?.answer ?? (scope.cancellation.isCancelled ? .failure(TransferError(.cancelled)) : nil)
            } ?? .failure(TransferError(.timeout))
        // After its whole time there is none left to ask again, not even for a name that another probe has made this process forget.
        guard case .failure(let error) = answer, error.code != .cancelled, error.code != .timeout else { return answer }
        return nil
    }

    private static func send(_ request: HTTPRequest, _ client: HTTPClient, _ scope: Scope) -> EndpointAnswer {
        EndpointAnswer { () throws(TransferError) in try client.send(request, in: scope) }
    }

    private func request(to url: WebURL, at address: InternetAddress? = nil) -> HTTPRequest {
        let expected = (plan.named + [plan.address].compactMap(\.self)).map(\.expect)
        var request = HTTPRequest(Self.bustingCaches(url))
        request.address = address
        if let onRedirect, !url.isSecure {
            request.onRedirect = { reference in
                guard !expected.contains("→" + reference), let target = WebURL(reference, relativeTo: url),
                    target.host != url.host
                else { return }
                onRedirect(target)
            }
        }
        request.noCache = true
        request.accept = "*/*"
        // A connection that was made before the login stays with the gateway and never reaches the Internet.
        request.needsFreshConnection = true
        return request
    }

    /// Adds a random query, so that no cache can answer.
    private static func bustingCaches(_ url: WebURL) -> WebURL {
        let number = String(UInt32.random(in: .min ... .max), radix: 36)
        guard url.query == nil else { return url }
        return url.replacingQuery("r=\(number)") ?? url
    }
}
