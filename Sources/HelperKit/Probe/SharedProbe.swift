import HotspotCore

/// The results that the helpers of one process share within an attempt: one probe, one request to the portal API, the portal's first page, and the
/// connections to the portal.
public final class SharedProbe: Sendable {
    /// The store of this process.
    public static let shared = SharedProbe(looks: [20, 100], patience: [1000, 1500, 2500, 3000])

    private struct AttemptResults {
        var probe: SharedWork<ProbeResult>?
        var api: SharedWork<PortalAPIDocument?>?
        /// The portals' first pages, by the address from which they come.
        var portalPages: [String: SharedWork<PortalPage>] = [:]
        var connections = ConnectionPool()
        var proof: EarlyProof?
        var used = Instant.now
        /// `interface/association`: a login may reuse results of the same association.
        var association = ""
        /// Whether a login was tried with these results, which makes them outdated.
        var isOutdated = false
    }

    /// Milliseconds for which the login after a captive verdict may reuse that verdict.
    private static let reuseLimit = 2_000

    /// The largest number of attempts that are kept.
    private static let limit = 16
    /// Milliseconds for which an unused attempt is kept.
    private static let lifetime = 600_000
    private let entries = Locked([String: AttemptResults]())

    /// Milliseconds from the arrival of a login's request at the portal to each check whether the network is already open.
    private let looks: [Int]
    /// Milliseconds between checks if a portal asks the same question again without an error: its gateway may open late.
    private let patience: [Int]

    /// Makes an empty store.
    public convenience init() { self.init(looks: []) }

    package init(looks: [Int], patience: [Int] = []) { (self.looks, self.patience) = (looks, patience) }

    /// Returns the result of this attempt's probe: runs the probe, waits for a running probe, or reuses its result. `nil` if the scope ended first.
    ///
    /// - Parameters:
    ///   - endpoints: the endpoints to ask; empty for the link's own endpoint or the usual endpoints.
    ///   - https: the HTTPS endpoint; empty for none. `nil` means none beside given endpoints, otherwise the link's own or, beside the usual
    ///     endpoints, the usual HTTPS endpoint.
    ///   - fresh: whether to run the probe again, and keep the attempt's result as it is.
    ///   - asksNames: whether a fresh probe resolves every name again.
    public func probe(
        _ link: Link, endpoints: [ProbeEndpoint] = [], https: String? = nil, fresh: Bool = false, asksNames: Bool = false,
        policy: NetworkPolicy = .strict, in scope: Scope
    ) -> ProbeResult? {
        let plan = ProbeRun.Plan(link: link, endpoints: endpoints, https: https)
        if fresh {
            if asksNames { plan.forgetNames(link) }
            let look = look(link, plan, policy)
            let result = entries.with { $0[Self.key(link)]?.proof }?.result(or: look, in: scope) ?? look(scope)
            if !result.verdict.isOpen { plan.forgetNames(link) }
            return scope.cancellation.isCancelled ? nil : result
        }
        let api = api(link, policy)
        let connections = connections(link)
        var isOwn = false
        let probe = shared(link, \.probe) {
            isOwn = true
            let run = ProbeRun(link: link, plan: plan, policy: policy, api: api) {
                connections.connectAhead(to: $0, link: link, policy: policy)
            }
            return SharedWork(deadline: .after(milliseconds: VerdictTable.patience)) {
                let result = run.result(in: $0)
                if result.verdict != .captive { connections.closeReady() }
                return result
            }
        }
        let result = probe.wait(in: scope)
        // If another command began the probe, the probe's requests are already in the prober's answer and need not be in each helper's trace.
        if isOwn, let result {
            for evidence in result.evidence {
                scope.trace.add("\(evidence.request) → \(evidence.outcome) in \(evidence.milliseconds) ms")
            }
        }
        return result
    }

    /// Begins to check whether the network is open, because a login's request is sent now. The next fresh probe uses the result of these checks. No
    /// check begins before the request has reached the portal, because the gateway would keep the check's connection away from the Internet.
    ///
    /// - Parameter roundTrip: the round trip to the portal in milliseconds; `nil` if it is not known.
    func lookBesideLogin(_ link: Link, _ policy: NetworkPolicy, _ trace: Trace, roundTrip: Int?) {
        guard !looks.isEmpty else { return }
        let plan = ProbeRun.Plan(link: link)
        let look = look(link, plan, policy)
        let asked = "asking \(plan.named.first.flatMap { WebURL($0.url)?.masked } ?? "")"
        entries.with { entries in
            var entry = Self.entry(link, &entries)
            if entry.proof?.isProven != true {
                let delays = Self.delays(of: looks, roundTrip: roundTrip)
                entry.proof = EarlyProof(delays: delays, asked: asked, trace: trace, look)
            }
            entries[Self.key(link)] = entry
        }
    }

    /// Returns the milliseconds from the sending of a login's request to each check: the request needs half a round trip.
    static func delays(of looks: [Int], roundTrip: Int?) -> [Int] { looks.map { $0 + (roundTrip ?? 0) / 2 } }

    /// Checks several times within some seconds whether the network is open; returns at the first check that finds it open.
    func opensLate(_ link: Link, policy: NetworkPolicy, in scope: Scope) -> Bool {
        for pause in patience {
            guard scope.pause(milliseconds: pause) else { return false }
            if probe(link, fresh: true, policy: policy, in: scope)?.verdict.isOpen == true { return true }
        }
        return false
    }

    /// Returns one line for each check that has no answer yet.
    func looksUnderWay(_ link: Link) -> [String] { entries.with { $0[Self.key(link)]?.proof?.underWay ?? [] } }

    /// Ends the checks, because the login did not succeed.
    func endLooks(_ link: Link) { entries.with { $0[Self.key(link)]?.proof = nil } }

    private func look(_ link: Link, _ plan: ProbeRun.Plan, _ policy: NetworkPolicy) -> @Sendable (Scope) -> ProbeResult {
        { ProbeRun(link: link, plan: plan, policy: policy, api: Self.askAPI(link, policy), outvotesAPI: true).result(in: $0) }
    }

    /// Returns the document of the link's portal API; `nil` if it is not usable. Waits for it, at most until the scope ends.
    public func apiDocument(_ link: Link, policy: NetworkPolicy = .strict, in scope: Scope) -> PortalAPIDocument? {
        api(link, policy)?.wait(in: scope) ?? nil
    }

    /// Returns the portal's first page from this source; fetches it only once. `nil` if the scope ended first.
    ///
    /// - Parameter questions: answers the questions about the redirects to the page.
    package func portalPage(
        _ link: Link, source: PortalPage.PageSource, asking questions: RedirectChain.Questions, policy: NetworkPolicy,
        in scope: Scope
    ) -> PortalPage? {
        let client = HTTPClient(link: link, policy: policy, cookies: source.cookies, connections: connections(link))
        let page = shared(link, \.portalPages[source.url.text]) {
            SharedWork(deadline: scope.deadline.advanced(milliseconds: -PortalPage.reserve)) {
                PortalPage.open(source, client: client, asking: questions, in: $0)
            }
        }
        // Another command, of this attempt or the Maintain before it, may have fetched the page.
        let before = page.value == nil ? "" : ", fetched before"
        let result = page.wait(in: scope)
        for line in result?.steps ?? [] { scope.trace.add(line + before) }
        return result
    }

    /// Returns the connections of this attempt.
    package func connections(_ link: Link) -> ConnectionPool { entries.with { Self.entry(link, &$0).connections } }

    /// Forgets the fetched pages, because the tokens in their forms are valid only once.
    package func forgetPortalPages(_ link: Link) { entries.with { $0[Self.key(link)]?.portalPages = [:] } }

    /// Prepares the store for a login. If a Maintain has just found a portal, the login begins a new attempt with that Maintain's probe and first
    /// page. Marks all results of this association as outdated for later attempts.
    func beginLogin(_ link: Link) {
        entries.with { entries in
            let association = Self.association(of: link)
            if entries[Self.key(link)] == nil {
                let known = entries.values.filter { entry in
                    guard entry.association == association, !entry.isOutdated, entry.probe?.value?.verdict == .captive else {
                        return false
                    }
                    return entry.probe?.age ?? .max < Self.reuseLimit
                }
                var entry = Self.entry(link, &entries)
                if let last = known.max(by: { $0.used < $1.used }) {
                    entry.probe = last.probe
                    entry.api = last.api
                    entry.connections = last.connections
                    entry.portalPages = last.portalPages.filter { !$0.value.isAbandoned }
                }
                entries[Self.key(link)] = entry
            }
            // A page that could not be fetched is requested again.
            if let pages = entries[Self.key(link)]?.portalPages {
                entries[Self.key(link)]?.portalPages = pages.filter { $0.value.value?.failure == nil }
            }
            for key in entries.keys where entries[key]?.association == association { entries[key]?.isOutdated = true }
        }
    }

    private func api(_ link: Link, _ policy: NetworkPolicy) -> SharedWork<PortalAPIDocument?>? {
        guard PortalAPIDocument.address(link.portalAPI, policy: RedirectPolicy(policy)) != nil else { return nil }
        return shared(link, \.api) { Self.askAPI(link, policy)! }
    }

    /// Asks the portal API. Does not follow redirects: known servers send none, and a failure only means that there is no usable API.
    private static func askAPI(_ link: Link, _ policy: NetworkPolicy) -> SharedWork<PortalAPIDocument?>? {
        let redirects = RedirectPolicy(policy)
        guard let url = PortalAPIDocument.address(link.portalAPI, policy: redirects) else { return nil }
        return SharedWork(deadline: .after(milliseconds: VerdictTable.patience)) { scope in
            var request = HTTPRequest(url)
            request.accept = PortalAPIDocument.mediaType
            request.bodyLimit = PortalAPIDocument.limit
            request.refusesLongBody = true
            request.needsFreshConnection = true
            guard let response = try? HTTPClient(link: link, policy: policy).send(request, in: scope) else { return nil }
            return PortalAPIDocument(response, policy: redirects)
        }
    }

    private func shared<T>(_ link: Link, _ part: WritableKeyPath<AttemptResults, SharedWork<T>?>, _ make: () -> SharedWork<T>)
        -> SharedWork<T>
    {
        entries.with { entries in
            var entry = Self.entry(link, &entries)
            if let known = entry[keyPath: part], !known.isAbandoned { return known }
            let made = make()
            entry[keyPath: part] = made
            entries[Self.key(link)] = entry
            return made
        }
    }

    private static func entry(_ link: Link, _ entries: inout [String: AttemptResults]) -> AttemptResults {
        let key = key(link)
        entries = entries.filter { $0.value.used.millisecondsAgo < lifetime }
        if entries[key] == nil, entries.count >= limit, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
            entries[oldest.key] = nil
        }
        var entry = entries[key] ?? AttemptResults(association: association(of: link))
        entry.used = .now
        entries[key] = entry
        return entry
    }

    private static func association(of link: Link) -> String { "\(link.interface)/\(link.association)" }

    private static func key(_ link: Link) -> String { "\(link.interface)/\(link.attempt)" }
}
