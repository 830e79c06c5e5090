import ForeignText
import HotspotCore

/// An endpoint that a probe asks: the type `Endpoint` of org.hotspotd.Probe.
public struct ProbeEndpoint: Codable, Hashable, Sendable {
    /// The address.
    public var url: String
    /// The answer without a portal: a status such as `204`, the exact body, or `→URL` for a redirect to this address.
    public var expect: String

    /// Makes an endpoint.
    public init(url: String, expect: String) {
        self.url = url
        self.expect = expect
    }

    /// The endpoints of several operators, in the order of asking, with the answers that their own clients expect (Android and ChromeOS,
    /// Firefox, NetworkManager of GNOME and Debian).
    public static let usual = [
        ProbeEndpoint(url: Link.usualProbe.url, expect: Link.usualProbe.expect),
        ProbeEndpoint(url: "http://detectportal.firefox.com/success.txt", expect: "success"),
        ProbeEndpoint(url: "http://nmcheck.gnome.org/check_network_status.txt", expect: "NetworkManager is online"),
    ]
    /// An endpoint without a name: Cloudflare's resolver redirects every request to its own page over https.
    static let usualAddress = ProbeEndpoint(url: "http://1.1.1.1/", expect: "→https://1.1.1.1/")
    /// The HTTPS endpoint that goes with the usual ones.
    static let usualHTTPS = "https://www.gstatic.com/generate_204"
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
    /// Why there was no answer: the code of the ``TransferError`` and its sentence.
    public var error: String?
    /// The duration, in milliseconds.
    public var milliseconds: Int

    private static let shownHeaders = ["location", "content-type", "server", "via", "retry-after", "refresh", "date"]

    /// Makes the evidence of the portal API; `document` is `nil` for an invalid answer.
    init(api url: WebURL, _ document: PortalAPIDocument?, milliseconds: Int) {
        request = "GET \(url.masked)"
        self.milliseconds = milliseconds
        headers = [:]
        if let document {
            status = 200
            body = document.captive ? "captive" : "not captive"
        } else {
            error = "unusable: The portal API gave no usable answer."
        }
    }

    /// Makes the evidence of a server whose certificate is checked, and whose answer was not waited for.
    init(checked url: WebURL, milliseconds: Int) {
        request = "GET \(url.masked)"
        self.milliseconds = milliseconds
        headers = [:]
    }

    /// Makes the evidence of a request whose answer the verdict did not need.
    init(unneeded url: WebURL, milliseconds: Int) {
        request = "GET \(url.masked)"
        self.milliseconds = milliseconds
        headers = [:]
        error = "notNeeded: The other answers were enough."
    }

    var isUnanswered: Bool { status == nil && error == nil }

    init(_ url: WebURL, _ answer: EndpointAnswer, milliseconds: Int) {
        request = "GET \(url.masked)"
        self.milliseconds = milliseconds
        headers = [:]
        switch answer {
        case .failure(let failure): error = "\(failure.code.rawValue): \(failure)"
        case .success(let response):
            status = response.status
            for name in Self.shownHeaders {
                guard let value = response[name] else { continue }
                // The query of a redirect holds the portal's token for this machine and is left out.
                let isURL = name == "location"
                headers[name] = Printable.text(isURL ? String(value.prefix { $0 != "?" }) : value, limit: 200)
            }
            if !response.body.isEmpty {
                body = Printable.text(of: response.body.prefix(96).map { $0 < 0x20 ? 0x20 : $0 })
            }
        }
    }
}

/// The answer of one endpoint.
typealias EndpointAnswer = Result<HTTPResponse, TransferError>

/// The result of a probe: the answer of org.hotspotd.Probe.Probe, and for helpers of the same process the portal's answer.
public struct ProbeResult: Sendable {
    /// The verdict.
    public var verdict: Verdict
    /// The address of the portal's page.
    public var portalURL: WebURL?
    /// The problem as a stable word, such as `httpsBlocked` or `dnsFailed`.
    public var problem: String?
    /// The rest of the session in seconds, from the portal API.
    public var secondsRemaining: Int?
    /// The seconds after which the server wants to be asked again (RFC 9110, 10.2.3).
    public var retryAfter: Double?
    /// The address at which the first named endpoint answered as expected.
    var probeAddress: String?
    /// The requests and their answers.
    public var evidence: [ProbeEvidence] = []
    /// The answer that revealed the portal; its body may hold a WISPr document, or be the portal's page.
    public var page: HTTPResponse?

    init(_ verdict: Verdict, portalURL: WebURL? = nil, problem: String? = nil, page: HTTPResponse? = nil) {
        self.verdict = verdict
        self.portalURL = portalURL
        self.problem = problem
        self.page = page
    }

    /// The answer in the form of the interface.
    struct Wire: Codable {
        var verdict: Verdict
        var portalURL: String?
        var problem: String?
        var secondsRemaining: Int?
        var retryAfter: Double?
        var probeAddress: String?
        var evidence: [ProbeEvidence]
    }

    var wire: Wire {
        Wire(
            verdict: verdict, portalURL: portalURL?.text, problem: problem, secondsRemaining: secondsRemaining,
            retryAfter: retryAfter, probeAddress: probeAddress, evidence: evidence)
    }
}
