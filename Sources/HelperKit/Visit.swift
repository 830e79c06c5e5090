import HotspotCore

/// One command: what the daemon said, and what the helper may use to carry it out.
public struct Visit: Sendable {
    /// The network.
    public var network: Network
    /// The way to it.
    public var link: Link
    /// The portal for which credential and consent were given.
    public var portal: Portal?
    /// What the vault released for this portal. That it is here is the permission to send it there: over plain HTTP it is only released
    /// where the user's settings allow that.
    public var credential: [String: String]?
    /// What the user just typed.
    public var answers: [String: String]
    /// The user accepted this portal's terms.
    public var consent: Bool
    /// What an earlier command kept.
    public var session: Session?
    /// Who may stop the work, until when it may take, its steps.
    public let scope: Scope
    /// What is shared with the other helpers of this process.
    public let attempts: AttemptStore
    let policy: NetworkPolicy

    init(
        network: Network, link: Link, portal: Portal? = nil, credential: [String: String]? = nil, answers: [String: String] = [:],
        consent: Bool = false, session: Session? = nil, scope: Scope = Scope(), attempts: AttemptStore = .shared,
        policy: NetworkPolicy = .strict
    ) {
        self.network = network
        self.link = link
        self.portal = portal
        self.credential = credential
        self.answers = answers
        self.consent = consent
        self.session = session
        self.scope = scope
        self.attempts = attempts
        self.policy = policy
    }

    /// The probe of this attempt, shared by all helpers of the process. `nil` if the command was cancelled.
    public func probe(fresh: Bool = false) -> ProbeResult? { attempts.probe(link, fresh: fresh, policy: policy, in: scope) }

    /// The document of the portal API that the link announced.
    public func portalAPI() -> PortalAPIDocument? { attempts.apiDocument(link, policy: policy, in: scope) }

    /// A client for this link with an empty jar, or with cookies that were kept.
    public func client(cookies: CookieJar = CookieJar()) -> HTTPClient {
        HTTPClient(link: link, policy: policy, cookies: cookies)
    }

    /// A TCP connection over this link, within the command's time.
    public func connect(to host: String, port: Int) throws(TransferError) -> LinkTCPConnection {
        try LinkTCPConnection(host, port: port, link: link, policy: policy, in: scope)
    }

    /// A UDP socket over this link for one peer, within the command's time.
    public func datagrams(to host: String, port: Int) throws(TransferError) -> LinkUDPSocket {
        try LinkUDPSocket(host, port: port, link: link, policy: policy, in: scope)
    }

    /// What may be followed.
    public var redirects: RedirectPolicy { RedirectPolicy(policy) }

    /// A reply with the steps so far.
    public func reply(
        _ result: HelperResult, prompt: Prompt? = nil, portal: Portal? = nil, session: Session? = nil, reason: String? = nil
    ) -> Reply {
        Reply(result, prompt: prompt, portal: portal, session: session, reason: reason, trace: scope.trace.lines)
    }

    /// A reply for a transfer that failed.
    public func reply(_ error: TransferError, portal: Portal? = nil, session: Session? = nil) -> Reply {
        reply(.temporaryFailure, portal: portal, session: session, reason: error.description)
    }
}
