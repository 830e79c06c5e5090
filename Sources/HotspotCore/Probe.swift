/// An endpoint of a probe: the type `Endpoint` of org.hotspotd.Probe.
public struct ProbeEndpoint: Codable, Hashable, Sendable {
    public var url: String
    /// The answer of the Internet: a status such as `204`, the exact body, or `→URL` for a redirect to this address.
    public var expect: String

    public init(url: String, expect: String) {
        self.url = url
        self.expect = expect
    }

    /// The endpoints of several operators, in the order of asking, with the answers that these operators' clients expect (Android and
    /// ChromeOS, Firefox, NetworkManager of GNOME and Debian).
    public static let usual = [
        ProbeEndpoint(url: Link.usualProbe.url, expect: Link.usualProbe.expect),
        ProbeEndpoint(url: "http://detectportal.firefox.com/success.txt", expect: "success"),
        ProbeEndpoint(url: "http://nmcheck.gnome.org/check_network_status.txt", expect: "NetworkManager is online"),
    ]
    /// An endpoint without a host name: Cloudflare's resolver redirects every request to its own page over https.
    public static let usualAddress = ProbeEndpoint(url: "http://1.1.1.1/", expect: "→https://1.1.1.1/")
    /// The HTTPS endpoint that is used together with the ``usual`` endpoints.
    public static let usualHTTPS = "https://www.gstatic.com/generate_204"
}

/// One request of a probe and its answer: the type `Evidence` of org.hotspotd.Probe.
public struct ProbeEvidence: Codable, Hashable, Sendable {
    /// The method and the URL without its query.
    public var request: String
    /// The status of the answer.
    public var status: Int?
    /// The headers that say something about a portal.
    public var headers: [String: String]
    /// The body's first 96 octets, printable.
    public var body: String?
    /// The reason for the missing answer: the code of HelperKit's `TransferError`, and its sentence.
    public var error: String?
    /// The duration, in milliseconds.
    public var milliseconds: Int

    public init(
        request: String, status: Int? = nil, headers: [String: String] = [:], body: String? = nil, error: String? = nil,
        milliseconds: Int
    ) {
        (self.request, self.status, self.headers, self.body) = (request, status, headers, body)
        (self.error, self.milliseconds) = (error, milliseconds)
    }

    /// The result of the request, in words.
    public var outcome: String { status.map(String.init) ?? error ?? "certificate checked" }
}

/// The parameters of org.hotspotd.Probe.Probe.
public struct ProbeRequest: Codable, Sendable {
    public var link: Link
    /// The endpoints; the daemon sends an empty list, because ``link`` contains the endpoint.
    public var endpoints: [ProbeEndpoint] = []
    public var httpsURL: String?
    /// Whether to run a new probe instead of reusing the verdict of this attempt.
    public var fresh: Bool
    /// Whether a fresh probe resolves every name again.
    public var asksNames: Bool?

    public init(link: Link, fresh: Bool, asksNames: Bool? = nil) {
        (self.link, self.fresh, self.asksNames) = (link, fresh, asksNames)
    }
}

/// The answer of org.hotspotd.Probe.Probe.
public struct ProbeAnswer: Codable, Sendable {
    public var verdict: Verdict
    /// The address of the portal's page.
    public var portalURL: String?
    /// The code of the problem, such as `httpsBlocked` or `dnsFailed`.
    public var problem: String?
    /// The remaining time of the session in seconds, from the portal API.
    public var secondsRemaining: Int?
    /// The seconds after which the server wants the next request (RFC 9110, 10.2.3).
    public var retryAfter: Double?
    /// The address at which the first endpoint answered as expected.
    public var probeAddress: String?
    /// The requests and their answers.
    public var evidence: [ProbeEvidence]

    public init(
        verdict: Verdict, portalURL: String? = nil, problem: String? = nil, secondsRemaining: Int? = nil,
        retryAfter: Double? = nil, probeAddress: String? = nil, evidence: [ProbeEvidence]
    ) {
        (self.verdict, self.portalURL, self.problem, self.secondsRemaining) = (verdict, portalURL, problem, secondsRemaining)
        (self.retryAfter, self.probeAddress, self.evidence) = (retryAfter, probeAddress, evidence)
    }
}
