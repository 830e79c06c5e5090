import HotspotCore

/// Asks the endpoints of one probe, all at once, each on a thread of its own, and lets ``Trial`` decide.
struct Prober: Sendable {
    /// What to ask.
    struct Plan: Sendable {
        var named: [ProbeEndpoint]
        var address: ProbeEndpoint?
        var https: String?

        /// Given endpoints stand alone; the usual ones come with an address endpoint and HTTPS.
        ///
        /// - Parameter https: empty: none.
        init(link: Link, endpoints: [ProbeEndpoint] = [], https: String? = nil) {
            if !endpoints.isEmpty {
                named = Array(endpoints.prefix(5))
                self.https = https
            } else if let url = link.probeURL {
                named = [ProbeEndpoint(url: url, expect: link.probeExpect ?? "204")]
                self.https = https
            } else {
                named = ProbeEndpoint.usual
                address = ProbeEndpoint.usualAddress
                self.https = https ?? ProbeEndpoint.usualHTTPS
            }
            if self.https?.isEmpty == true { self.https = nil }
        }
    }

    let link: Link
    let plan: Plan
    let policy: NetworkPolicy
    /// The portal API of the link, asked once for an attempt.
    let api: Shared<PortalAPIDocument?>?
    var limit = Trial.limit

    private struct Board {
        var trial: Trial
        var evidence: [ProbeEvidence] = []
    }

    /// Runs the probe. Cancelling gives `limited` at once.
    func run(in outer: Scope) -> ProbeResult {
        let began = Deadline.now
        // What is still under way when the verdict stands is of no use: a cancellation of its own ends it.
        let cancellation = Cancellation()
        let handler = outer.cancellation.onCancel { cancellation.cancel() }
        defer {
            outer.cancellation.removeHandler(handler)
            cancellation.cancel()
        }
        let scope = Scope(cancellation: cancellation, deadline: .after(milliseconds: limit), trace: outer.trace)
        let board = Monitor(
            Board(
                trial: Trial(
                    redirects: RedirectPolicy(policy), named: plan.named.count, address: plan.address != nil,
                    https: plan.https != nil, api: api != nil, limit: limit)))
        // Cancelling must wake this thread, which sleeps on the board.
        let waker = cancellation.onCancel { board.with { _ in } }
        defer { cancellation.removeHandler(waker) }
        askNamed(0, board, scope)
        if let address = plan.address {
            ask(address.url, board, scope) { $0.answeredAddress($1, expect: address.expect, at: began.millisecondsAgo) }
        }
        if let https = plan.https { ask(https, board, scope) { $0.answeredHTTPS($1) } }
        if let api {
            let (link, policy) = (link, policy)
            Worker.start {
                let document = api.wait(in: scope) ?? nil
                let evidence = PortalAPIDocument.address(link.portalAPI, policy: RedirectPolicy(policy)).map {
                    ProbeEvidence(api: $0, document, milliseconds: began.millisecondsAgo)
                }
                board.with { board in
                    board.trial.answeredAPI(document)
                    if let evidence { board.evidence.append(evidence) }
                }
            }
        }
        var asked = 1
        var patience = began.advanced(milliseconds: limit)
        while true {
            if cancellation.isCancelled { return ProbeResult(.limited, problem: "cancelled") }
            let decision = board.wait(until: patience) { board -> Trial.Decision? in
                if cancellation.isCancelled { return .wait(until: 0) }
                let decision = board.trial.decision(at: began.millisecondsAgo)
                switch decision {
                case .done: return decision
                case .next: return board.trial.named.count == asked ? decision : nil
                case .wait(let until):
                    // Another, nearer deadline than the one that is being waited for: come back and wait for that.
                    let until = began.advanced(milliseconds: until)
                    return until < patience ? decision : nil
                }
            }
            switch decision {
            case .done(var result):
                result.evidence = board.with { $0.evidence }
                return result
            case .next:
                askNamed(asked, board, scope)
                asked += 1
            case .wait(let until): patience = began.advanced(milliseconds: until)
            case nil:
                // The time that was waited for is over; the table decides what that means.
                patience = began.advanced(milliseconds: max(limit, began.millisecondsAgo + 1))
                if case .done(var result) = board.with({ $0.trial.decision(at: began.millisecondsAgo) }) {
                    result.evidence = board.with { $0.evidence }
                    return result
                }
            }
        }
    }

    private func askNamed(_ index: Int, _ board: Monitor<Board>, _ scope: Scope) {
        let endpoint = plan.named[index]
        ask(endpoint.url, board, scope) { $0.answeredNamed($1, expect: endpoint.expect) }
    }

    private func ask(
        _ text: String, _ board: Monitor<Board>, _ scope: Scope, _ enter: @escaping @Sendable (inout Trial, ProbeAnswer) -> Void
    ) {
        guard let url = WebURL(text), url.scheme == "http" || url.scheme == "https", !url.hasUserInformation else {
            board.with { enter(&$0.trial, .failure(TransferError(.refusedURL, "the probe's own address"))) }
            return
        }
        let (link, policy) = (link, policy)
        Worker.start {
            var request = HTTPRequest(Self.bustingCaches(url))
            request.noCache = true
            request.accept = "*/*"
            // A gateway ties a connection to its own answer: one that was made before the login never gets through.
            request.needsFreshConnection = true
            let began = Deadline.now
            let answer: ProbeAnswer
            do throws(TransferError) {
                answer = .response(try HTTPClient(link: link, policy: policy).send(request, in: scope))
            } catch {
                answer = .failure(error)
            }
            if case .failure(let error) = answer, error.code == .cancelled { return }
            board.with { board in
                enter(&board.trial, answer)
                board.evidence.append(ProbeEvidence(url, answer, milliseconds: began.millisecondsAgo))
            }
        }
    }

    /// A query that no cache has seen.
    private static func bustingCaches(_ url: WebURL) -> WebURL {
        let number = String(UInt32.random(in: .min ... .max), radix: 36)
        guard url.query == nil else { return url }
        return url.replacingQuery("r=\(number)") ?? url
    }

    /// Names that gateways lie about before a login are asked anew after it.
    func forgetNames() {
        for endpoint in plan.named { forget(endpoint.url) }
        if let https = plan.https { forget(https) }
    }

    private func forget(_ text: String) {
        if let url = WebURL(text) { NamePins.shared.forget(url.host, link: link) }
    }
}
