import HotspotCore

/// What the helpers of one process share for an attempt: one probe, one look at the portal's API, one visit of its first page.
public final class AttemptStore: Sendable {
    /// The store of this process.
    public static let shared = AttemptStore()

    private struct Entry {
        var probe: Shared<ProbeResult>?
        var api: Shared<PortalAPIDocument?>?
        var landings: [String: Shared<Landing>] = [:]
        var used = Deadline.now
        /// `interface/association`: whose knowledge a login may take over.
        var place = ""
        /// A login was tried with this knowledge, which says nothing about the network any more.
        var isSpent = false
    }

    /// For so long after its end, in milliseconds, a captive verdict also serves the login that follows from it.
    private static let recent = 2_000

    /// Attempts that are remembered.
    private static let limit = 16
    private static let lifetime = 600_000
    private let entries = Monitor([String: Entry]())

    /// An empty store.
    public init() {}

    /// The probe of this attempt: run now, waited for, or remembered. `nil` if the scope ended first.
    ///
    /// - Parameters:
    ///   - https: empty: no HTTPS probe; `nil`: the usual one beside the usual endpoints, else none.
    ///   - fresh: do not reuse this attempt's verdict, and leave it in place.
    public func probe(
        _ link: Link, endpoints: [ProbeEndpoint] = [], https: String? = nil, fresh: Bool = false, policy: NetworkPolicy = .strict,
        in scope: Scope
    ) -> ProbeResult? {
        let plan = Prober.Plan(link: link, endpoints: endpoints, https: https)
        if fresh {
            let prober = Prober(link: link, plan: plan, policy: policy, api: Self.askAPI(link, policy))
            let result = prober.run(in: scope)
            if !result.verdict.isOpen { prober.forgetNames() }
            return scope.cancellation.isCancelled ? nil : result
        }
        let api = api(link, policy)
        let probe = shared(link, \.probe) {
            let prober = Prober(link: link, plan: plan, policy: policy, api: api)
            return Shared(deadline: .after(milliseconds: Self.patience)) { Self.patient(prober, in: $0) }
        }
        // The requests belong to everybody who waited, so that everybody's trace shows them.
        let result = probe.wait(in: scope)
        for evidence in result?.evidence ?? [] {
            let outcome = evidence.status.map(String.init) ?? evidence.error?.split(separator: ":").first.map(String.init) ?? "?"
            scope.trace.add("\(evidence.request) → \(outcome) in \(evidence.milliseconds) ms")
        }
        return result
    }

    /// Probes of an attempt's first look, and the time for them all, in milliseconds.
    ///
    /// A gateway that meets a station for the first time can need longer than one probe waits: openNDS 9.10 on an emulated
    /// processor took 2.7 to 3.5 s for its first redirect, and 0.8 s for the next.
    private static let tries = 3
    private static let patience = tries * Trial.limit + 1000

    /// Asks again as long as there is no answer at all; whatever else came is the verdict.
    private static func patient(_ prober: Prober, in scope: Scope) -> ProbeResult {
        var result = prober.run(in: scope)
        var evidence = result.evidence
        for _ in 1..<tries where result.verdict == .limited && result.problem == "timeout" && !scope.cancellation.isCancelled {
            result = prober.run(in: scope)
            evidence += result.evidence
            result.evidence = evidence
        }
        return result
    }

    /// The document of the link's portal API, if there is a usable one. Waits at most the scope's time.
    public func apiDocument(_ link: Link, policy: NetworkPolicy = .strict, in scope: Scope) -> PortalAPIDocument? {
        api(link, policy)?.wait(in: scope) ?? nil
    }

    /// The portal's first page as the probe's answer or an API's address leads there.
    func landing(_ link: Link, start: Landing.Start, policy: NetworkPolicy, in scope: Scope) -> Landing? {
        let key = start.key
        let landing: Shared<Landing> = entries.with { entries in
            var entry = Self.entry(link, &entries)
            if let known = entry.landings[key], !known.isAbandoned { return known }
            let made = Shared<Landing>(deadline: .after(milliseconds: Landing.limit)) {
                Landing.open(start, link: link, policy: policy, in: $0)
            }
            entry.landings[key] = made
            entries[Self.key(link)] = entry
            return made
        }
        let result = landing.wait(in: scope)
        for line in result?.steps ?? [] { scope.trace.add(line) }
        return result
    }

    /// What was fetched has been used up: tokens in forms serve once.
    func forgetLandings(_ link: Link) { entries.with { $0[Self.key(link)]?.landings = [:] } }

    /// A login begins. Where it follows from a Maintain that found a portal a moment ago, it has an attempt of its own but need not look
    /// again: probe and first page are taken over. Whatever this association knew is no news for any later attempt.
    func beginLogin(_ link: Link) {
        entries.with { entries in
            let place = Self.place(of: link)
            if entries[Self.key(link)] == nil {
                let known = entries.values.filter { entry in
                    guard entry.place == place, !entry.isSpent, entry.probe?.value?.verdict == .captive else { return false }
                    return entry.probe?.age ?? .max < Self.recent
                }
                var entry = Self.entry(link, &entries)
                if let last = known.max(by: { $0.used < $1.used }) {
                    entry.probe = last.probe
                    entry.api = last.api
                    entry.landings = last.landings.filter { !$0.value.isAbandoned }
                }
                entries[Self.key(link)] = entry
            }
            for key in entries.keys where entries[key]?.place == place { entries[key]?.isSpent = true }
        }
    }

    private func api(_ link: Link, _ policy: NetworkPolicy) -> Shared<PortalAPIDocument?>? {
        guard PortalAPIDocument.address(link.portalAPI, policy: RedirectPolicy(policy)) != nil else { return nil }
        return shared(link, \.api) { Self.askAPI(link, policy)! }
    }

    /// Redirects of the API are not followed: the servers of the field send none, and a failure only means «no API».
    private static func askAPI(_ link: Link, _ policy: NetworkPolicy) -> Shared<PortalAPIDocument?>? {
        let redirects = RedirectPolicy(policy)
        guard let url = PortalAPIDocument.address(link.portalAPI, policy: redirects) else { return nil }
        return Shared(deadline: .after(milliseconds: Trial.limit)) { scope in
            var request = HTTPRequest(url)
            request.accept = PortalAPIDocument.mediaType
            request.bodyLimit = PortalAPIDocument.limit
            request.refusesLongBody = true
            request.needsFreshConnection = true
            guard let response = try? HTTPClient(link: link, policy: policy).send(request, in: scope) else { return nil }
            return PortalAPIDocument(response, policy: redirects)
        }
    }

    private func shared<T>(_ link: Link, _ part: WritableKeyPath<Entry, Shared<T>?>, _ make: () -> Shared<T>) -> Shared<T> {
        entries.with { entries in
            var entry = Self.entry(link, &entries)
            if let known = entry[keyPath: part], !known.isAbandoned { return known }
            let made = make()
            entry[keyPath: part] = made
            entries[Self.key(link)] = entry
            return made
        }
    }

    private static func entry(_ link: Link, _ entries: inout [String: Entry]) -> Entry {
        let key = key(link)
        entries = entries.filter { $0.value.used.millisecondsAgo < lifetime }
        if entries[key] == nil, entries.count >= limit, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
            entries[oldest.key] = nil
        }
        var entry = entries[key] ?? Entry(place: place(of: link))
        entry.used = .now
        entries[key] = entry
        return entry
    }

    private static func place(of link: Link) -> String { "\(link.interface)/\(link.association)" }

    private static func key(_ link: Link) -> String { "\(link.interface)/\(link.attempt)" }
}
