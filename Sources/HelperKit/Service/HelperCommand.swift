import HotspotCore

/// One command: its parameters, and the network access that the helper gets for it.
public struct HelperCommand: Sendable {
    /// The network.
    public var network: Network
    /// The link to the network.
    public var link: Link
    /// The portal to which the credential and the consent belong.
    public var portal: Portal?
    /// The stored answers that the daemon released for this portal. The helper may send them to the portal, even over plain HTTP: the daemon releases
    /// them only if the user's settings allow that.
    public var credential: [String: String]?
    /// The labels that the credential's fields had when the user answered, if the daemon knows them, as ``Field/folded(_:)`` writes them. If a field
    /// now has another label, the helper asks the user before it sends the answer.
    public var labels: [String: String] = [:]
    /// The names of the fields whose stored answers the user has to confirm.
    public var offered: [String] = []
    /// The user's answers to the last prompt; empty except in PresentUI.
    public var answers: [String: String]
    /// The names of the stored answers that the user confirmed without a change; the user typed the other answers.
    public var confirmed: Set<String> = []
    /// Whether the user accepted this portal's terms.
    public var consent: Bool
    /// The session that an earlier command returned.
    public var session: Session?
    /// The command's cancellation, deadline and trace.
    public let scope: Scope
    /// The results that this helper shares with the other helpers of this process.
    public let attempts: SharedProbe
    package let policy: NetworkPolicy

    package init(
        network: Network, link: Link, portal: Portal? = nil, credential: [String: String]? = nil, answers: [String: String] = [:],
        consent: Bool = false, session: Session? = nil, scope: Scope = Scope(), attempts: SharedProbe = .shared,
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

    /// Returns the result of this attempt's probe, shared by all helpers of the process. `nil` if the command was cancelled or
    /// its time is over.
    ///
    /// - Parameter fresh: whether to run the probe again, as after a login.
    public func probe(fresh: Bool = false) -> ProbeResult? { attempts.probe(link, fresh: fresh, policy: policy, in: scope) }

    /// Waits some seconds for the network to open, and returns whether it did; some portals show their login page again until then.
    package func opensLate() -> Bool { attempts.opensLate(link, policy: policy, in: scope) }

    /// Returns the document of the portal API that the network announced; `nil` if it is not usable.
    public func portalAPI() -> PortalAPIDocument? { attempts.apiDocument(link, policy: policy, in: scope) }

    /// Makes an HTTP client for this link, with these cookies. It reuses connections that servers left open in this attempt.
    public func client(cookies: CookieJar = CookieJar()) -> HTTPClient {
        HTTPClient(link: link, policy: policy, cookies: cookies, connections: attempts.connections(link))
    }

    /// Sends a login's request and checks at the same time whether the network is open, so that the proof need not wait for the answer (D25).
    package func logIn(_ request: HTTPRequest, by client: HTTPClient) throws(TransferError) -> HTTPResponse {
        var request = request
        request.onConnected = { [attempts, link, policy, scope] roundTrip in
            attempts.lookBesideLogin(link, policy, scope.trace, roundTrip: roundTrip)
        }
        return try client.send(request, in: scope)
    }

    /// Opens a TCP connection over this link, within the command's time. Throws ``TransferError`` like ``LinkTCPConnection``.
    public func connect(to host: String, port: Int) throws(TransferError) -> LinkTCPConnection {
        try LinkTCPConnection(host, port: port, link: link, policy: policy, in: scope)
    }

    /// Opens a UDP socket over this link for one peer, within the command's time. Throws ``TransferError`` like
    /// ``LinkUDPSocket``.
    public func datagrams(to host: String, port: Int) throws(TransferError) -> LinkUDPSocket {
        try LinkUDPSocket(host, port: port, link: link, policy: policy, in: scope)
    }

    /// The rules for addresses on the portal's pages.
    public var redirects: RedirectPolicy { RedirectPolicy(policy) }

    /// Makes a reply with the steps so far as its trace.
    public func reply(
        _ result: HelperResult, prompt: Prompt? = nil, portal: Portal? = nil, session: Session? = nil, reason: String? = nil
    ) -> Reply {
        Reply(result, prompt: prompt, portal: portal, session: session, reason: reason, trace: scope.trace.lines)
    }

    /// Makes the reply of a login that sent no answers, because the network is already open.
    package func replyOpenAlready() -> Reply {
        var reply = reply(.success, session: session, reason: "The network is already open.")
        reply.unsent = answered
        return reply
    }

    /// Returns whether the command's portal has the origin and the key of this portal.
    package func isAbout(_ portal: Portal) -> Bool {
        self.portal.map { $0.origin == portal.origin && $0.pin == portal.pin } ?? false
    }

    /// Returns whether the daemon released stored answers for this portal: the user has logged in to it before.
    package func hasAnswers(for portal: Portal) -> Bool { credential != nil && isAbout(portal) }

    /// The names of the answers that are neither empty nor "no".
    package var answered: [String] { answers.filter { !["", "no", "false"].contains($0.value) }.keys.sorted() }

    /// Makes the reply `temporaryFailure` for a transfer that failed.
    public func reply(_ error: TransferError, portal: Portal? = nil, session: Session? = nil) -> Reply {
        reply(.temporaryFailure, portal: portal, session: session, reason: error.description)
    }
}
