import HotspotCore

/// Asks the endpoints of one probe, each on its own thread, and lets ``VerdictTable`` decide.
struct ProbeRun: Sendable {
    /// The endpoints to ask.
    struct Plan: Sendable {
        var named: [ProbeEndpoint]
        var address: ProbeEndpoint?
        var https: String?

        /// Plans the probe with these endpoints. Without endpoints, uses the link's own endpoint, otherwise the usual endpoints with an address
        /// endpoint and HTTPS.
        ///
        /// - Parameter https: the HTTPS endpoint; an empty text means none.
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

        /// Forgets the endpoints' addresses, because the gateway may have given false addresses for the endpoints' names before the login.
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
    /// Whether an answer from the Internet outweighs the portal API: after a login, the API's document may be out of date.
    var outvotesAPI = false
    var limit = VerdictTable.limit
    var patience = VerdictTable.patience
    /// Called with the target of a redirect to another host as soon as the redirect's headers arrived. If the verdict is captive, that host is the
    /// portal.
    var onRedirect: (@Sendable (WebURL) -> Void)?

    /// A request that has no answer yet.
    private struct OpenRequest {
        let url: WebURL
        let began: Instant
        /// Whether the server's address is known.
        var hasAddress = false
        let enter: @Sendable (inout VerdictTable, EndpointAnswer, Int) -> Void
    }

    private struct Board {
        var table: VerdictTable
        var evidence: [ProbeEvidence] = []
        /// The answer from the remembered address.
        var early: (answer: EndpointAnswer, evidence: ProbeEvidence, address: InternetAddress)?
        /// The address of the first named endpoint, once it answered.
        var probeAddress: String?
        /// The open requests by their numbers, in the order of asking.
        var open: [(number: Int, request: OpenRequest)] = []
        var lastNumber = 0
        /// The number of answers so far, of any kind.
        var changes = 0

        mutating func begin(_ request: OpenRequest) -> Int {
            lastNumber += 1
            open.append((lastNumber, request))
            return lastNumber
        }

        mutating func gotAddress(_ number: Int) {
            for index in open.indices where open[index].number == number { open[index].request.hasAddress = true }
        }

        /// Enters an answer, unless the request was already closed for lack of time.
        mutating func answered(_ number: Int, _ answer: EndpointAnswer, at now: Int) {
            guard let index = open.firstIndex(where: { $0.number == number }) else { return }
            let request = open.remove(at: index).request
            request.enter(&table, answer, now)
            let evidence = ProbeEvidence(request.url, answer, milliseconds: request.began.millisecondsAgo)
            self.evidence.removeAll { $0.isUnanswered && $0.request == evidence.request }
            self.evidence.append(evidence)
            changes += 1
        }

        /// Returns the verdict with its evidence, including the requests without an answer.
        func complete(_ result: ProbeResult) -> ProbeResult {
            var result = result
            result.evidence = evidence
            let isAnswered = evidence.contains { $0.request == early?.evidence.request && $0.status != nil }
            if let early, early.evidence.status != nil, !isAnswered {
                // Says in the evidence that the address was remembered, not resolved.
                var evidence = early.evidence
                evidence.request += " at \(early.address)"
                result.evidence.append(evidence)
            }
            for (_, request) in open {
                let line = ProbeEvidence(unneeded: request.url, milliseconds: request.began.millisecondsAgo)
                if !evidence.contains(where: { $0.request == line.request }) { result.evidence.append(line) }
            }
            if result.verdict.isOpen, case .asExpected? = table.named.first { result.probeAddress = probeAddress }
            return result
        }
    }

    /// Runs the probe and returns its result. A cancellation gives `limited` at once.
    func result(in outer: Scope) -> ProbeResult {
        let began = Instant.now
        // A separate cancellation ends the requests that are still under way once the verdict is known.
        let cancellation = Cancellation()
        let handler = outer.cancellation.onCancel { cancellation.cancel() }
        defer {
            outer.cancellation.removeHandler(handler)
            cancellation.cancel()
        }
        let scope = Scope(cancellation: cancellation, deadline: began.advanced(milliseconds: patience), trace: outer.trace)
        var table = VerdictTable(
            redirects: RedirectPolicy(policy), named: plan.named.count, address: plan.address != nil, https: plan.https != nil,
            api: api != nil, outvotesAPI: outvotesAPI)
        (table.limit, table.patience) = (limit, patience)
        let board = Locked(Board(table: table))
        // Cancelling wakes this thread, which waits for a change of the board.
        let waker = cancellation.onCancel { board.with { _ in } }
        defer { cancellation.removeHandler(waker) }
        askNamed(0, board, scope, began)
        if let address = plan.address {
            ask(address.url, board, scope, began) { $0.answeredAddress($1, expect: address.expect, at: $2) }
        }
        if let https = plan.https {
            ask(https, board, scope, began, checked: { $0.checkedHTTPS(at: $1) }, { $0.answeredHTTPS($1, at: $2) })
        }
        askAPI(board, began)
        var asked = 1
        while true {
            if cancellation.isCancelled { return ProbeResult(.limited, problem: "cancelled") }
            let (step, end, changes) = board.with { board in
                let now = began.millisecondsAgo
                if now >= board.table.end() { Self.closeAll(&board, at: now) }
                return (board.table.nextStep(at: now), board.table.end(), board.changes)
            }
            let until: Int
            switch step {
            case .done(var result):
                // If a portal's answer cannot be read, the endpoint's own address stands for the portal's page.
                if result.verdict == .captive, result.problem != nil { result.portalURL = WebURL(plan.named[0].url) }
                return board.with { $0.complete(result) }
            case .askNext where board.with({ $0.table.named.count }) == asked:
                askNamed(asked, board, scope, began)
                asked += 1
                continue
            case .askNext: until = end
            case .wait(let instant): until = instant
            }
            _ = board.wait(until: began.advanced(milliseconds: until)) { board -> Bool? in
                board.changes != changes || cancellation.isCancelled ? true : nil
            }
        }
    }

    /// Ends the requests that have no answer. Each counts as a time-out: of DNS if the server's address is not known, otherwise of the server.
    private static func closeAll(_ board: inout Board, at now: Int) {
        for (number, request) in board.open {
            board.answered(number, .failure(TransferError(request.hasAddress ? .timeout : .dnsTimeout)), at: now)
        }
    }

    private func askAPI(_ board: Locked<Board>, _ began: Instant) {
        guard let api, let url = PortalAPIDocument.address(link.portalAPI, policy: RedirectPolicy(policy)) else { return }
        let deadline = began.advanced(milliseconds: patience)
        Worker.start {
            let document = api.wait(in: Scope(deadline: deadline)) ?? nil
            let now = began.millisecondsAgo
            board.with { board in
                board.table.answeredAPI(document, at: now)
                board.evidence.append(ProbeEvidence(api: url, document, milliseconds: now))
                board.changes += 1
            }
        }
    }

    private func askNamed(_ index: Int, _ board: Locked<Board>, _ scope: Scope, _ began: Instant) {
        let endpoint = plan.named[index]
        let early = index == 0 ? askEarly(endpoint, board, scope) : nil
        ask(endpoint.url, board, scope, began, early: early) { $0.answeredNamed($1, expect: endpoint.expect, at: $2) }
    }

    /// Asks the first named endpoint at its remembered address while its name is resolved. Returns the remembered address, or `nil` if there is none.
    ///
    /// The answer counts as the endpoint's own answer if the endpoint's name also resolves to this address on this link.
    private func askEarly(_ endpoint: ProbeEndpoint, _ board: Locked<Board>, _ scope: Scope) -> InternetAddress? {
        guard let address = link.probeAddress.flatMap(InternetAddress.init), let url = WebURL(endpoint.url),
            url.scheme == "http", InternetAddress(url.host) == nil, !NamePins.shared.knows(url.host, link: link)
        else { return nil }
        board.with { $0.table.asksRemembered = true }
        let (link, policy) = (link, policy)
        let request = request(to: url, at: address)
        Worker.start {
            let began = Instant.now
            let answer = EndpointAnswer { () throws(TransferError) in
                try HTTPClient(link: link, policy: policy).send(request, in: scope)
            }
            board.with { board in
                board.table.answeredRemembered(answer, expect: endpoint.expect)
                board.early = (answer, ProbeEvidence(url, answer, milliseconds: began.millisecondsAgo), address)
                board.changes += 1
            }
        }
        return address
    }

    /// Asks one endpoint; `start` is the probe's beginning.
    private func ask(
        _ text: String, _ board: Locked<Board>, _ scope: Scope, _ start: Instant, early: InternetAddress? = nil,
        checked: (@Sendable (inout VerdictTable, Int) -> Void)? = nil,
        _ enter: @escaping @Sendable (inout VerdictTable, EndpointAnswer, Int) -> Void
    ) {
        guard let url = WebURL(text), url.scheme == "http" || url.scheme == "https", !url.hasUserInformation else {
            board.with { board in
                enter(&board.table, .failure(TransferError(.refusedURL, "an endpoint of the probe")), start.millisecondsAgo)
                board.changes += 1
            }
            return
        }
        let (link, policy, request) = (link, policy, request(to: url))
        let isFirst = text == plan.named.first?.url
        let began = Instant.now
        let number = board.with { $0.begin(OpenRequest(url: url, began: began, enter: enter)) }
        Worker.start {
            var request = request
            if let checked, url.isSecure {
                request.onConnected = { _ in
                    board.with { board in
                        checked(&board.table, start.millisecondsAgo)
                        board.evidence.append(ProbeEvidence(checked: url, milliseconds: began.millisecondsAgo))
                        board.changes += 1
                    }
                }
            }
            let answer = EndpointAnswer { () throws(TransferError) in
                let client = HTTPClient(link: link, policy: policy)
                let addresses = try client.addresses(of: url, in: scope)
                board.with { $0.gotAddress(number) }
                if let early, addresses.contains(early), let answer = Self.earlyAnswer(board, scope) { return try answer.get() }
                return try client.send(request, in: scope)
            }
            if case .failure(let error) = answer, error.code == .cancelled { return }
            board.with { board in
                if isFirst, case .success(let response) = answer { board.probeAddress = response.address }
                board.answered(number, answer, at: start.millisecondsAgo)
            }
        }
    }

    /// Waits for the answer from the remembered address, to which the name also resolves on this link. Returns `nil` if the endpoint must be asked
    /// again.
    private static func earlyAnswer(_ board: Locked<Board>, _ scope: Scope) -> EndpointAnswer? {
        let handler = scope.cancellation.onCancel { board.with { _ in } }
        defer { scope.cancellation.removeHandler(handler) }
        let answer: EndpointAnswer =
            board.wait(until: scope.deadline) { board in
                board.early?.answer ?? (scope.cancellation.isCancelled ? .failure(TransferError(.cancelled)) : nil)
            } ?? .failure(TransferError(.timeout))
        // After a time-out, no time is left for another try.
        guard case .failure(let error) = answer, error.code != .cancelled, error.code != .timeout else { return answer }
        return nil
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
        // Needs a new connection: a connection from before the login stays at the gateway and never reaches the Internet.
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
