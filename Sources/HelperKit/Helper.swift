import HotspotCore

/// A helper, as its author writes it: one function for each command, blocking, on a thread of its own. What is not implemented is
/// answered with MethodNotImplemented, which the daemon counts as «not mine».
public protocol Helper: Sendable {
    /// The name of its `.helper` file.
    var name: String { get }
    /// What people read, at most 15 characters.
    var displayName: String { get }

    /// Which of the networks in sight it would take. No network access here.
    func filterScanList(_ networks: [Network]) throws -> [Annotation]
    /// Is this network captive, and its own?
    func evaluate(_ visit: Visit) throws -> Evaluation
    /// Free the network.
    func authenticate(_ visit: Visit) throws -> Reply
    /// The user answered.
    func presentUI(_ visit: Visit) throws -> Reply
    /// Is the session still good?
    func maintain(_ visit: Visit) throws -> Reply
    /// End the session at the portal.
    func logoff(_ visit: Visit) throws -> Reply
}

/// A helper does not know a command.
public struct NotImplemented: Error {
    /// The only one there is.
    public init() {}
}

extension Helper {
    /// Claims nothing.
    public func filterScanList(_ networks: [Network]) throws -> [Annotation] { [] }
    /// Not implemented.
    public func evaluate(_ visit: Visit) throws -> Evaluation { throw NotImplemented() }
    /// Not implemented.
    public func authenticate(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func presentUI(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func maintain(_ visit: Visit) throws -> Reply { throw NotImplemented() }
    /// Not implemented.
    public func logoff(_ visit: Visit) throws -> Reply { throw NotImplemented() }
}

/// One command: what the daemon said, and what the helper may use to carry it out.
public struct Visit: Sendable {
    /// The network.
    public var network: Network
    /// The way to it.
    public var link: Link
    /// The portal for which credential and consent were given.
    public var portal: Portal?
    /// What the vault released for this portal.
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
    public func client(cookies: CookieJar = CookieJar()) -> HTTPClient { HTTPClient(link: link, policy: policy, cookies: cookies) }

    /// What may be followed.
    public var redirects: RedirectPolicy { RedirectPolicy(policy) }

    /// A reply with the steps so far.
    public func reply(
        _ result: Result, prompt: Prompt? = nil, portal: Portal? = nil, session: Session? = nil, reason: String? = nil
    ) -> Reply {
        Reply(result, prompt: prompt, portal: portal, session: session, reason: reason, trace: scope.trace.lines)
    }

    /// A reply for a transfer that failed.
    public func reply(_ error: TransferError, portal: Portal? = nil, session: Session? = nil) -> Reply {
        reply(.temporaryFailure, portal: portal, session: session, reason: error.description)
    }
}

/// What our helpers keep in a session's memory: where the portal is, how to leave it, and the cookies that belong to it.
struct Memory: Codable, Sendable {
    /// Of the portal.
    var origin: String?
    /// Of its key.
    var pin: String?
    /// How to log off.
    var logoff: SavedRequest?
    /// Of the login, in libcurl's format.
    var cookies: [String]?
    /// The page that asked something, if it cannot be reached again from the portal's beginning.
    var page: SavedPage?
    /// The portal API told of the portal.
    var usesAPI: Bool?

    /// A request to be made later.
    struct SavedRequest: Codable, Sendable {
        var url: String
        var body: String?
    }

    /// As much of a page as sending its form needs.
    struct SavedPage: Codable, Sendable {
        var url: String
        var base: String
        var title: String?
        var form: HTMLForm
    }

    /// Octets of cookies that are kept.
    static let cookieLimit = 6 * 1024

    init() {}

    init(_ session: Session?) {
        guard let value = session?.memory, let memory = try? value.decoded(Memory.self) else { return }
        self = memory
    }

    /// As the daemon keeps it; without the page if that is too long.
    var value: JSONValue? {
        let value = JSONValue.encoding(self)
        if let value, value.octets <= Session.memoryLimit { return value }
        var small = self
        small.page = nil
        small.cookies = nil
        return JSONValue.encoding(small)
    }
}
