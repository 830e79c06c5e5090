import ForeignText
import HotspotCore

/// What a probe asks: the type `Endpoint` of org.hotspotd.Probe.
public struct ProbeEndpoint: Codable, Hashable, Sendable {
    /// Where.
    public var url: String
    /// A status such as `204`, the exact body, or `→URL` for a redirect to exactly this address.
    public var expect: String

    /// An endpoint.
    public init(url: String, expect: String) {
        self.url = url
        self.expect = expect
    }

    /// Named endpoints of several operators, in the order of asking. The addresses and answers are those that the operators' own
    /// clients use (Android and ChromeOS, Firefox, NetworkManager at GNOME and Debian).
    public static let usual = [
        ProbeEndpoint(url: "http://connectivitycheck.gstatic.com/generate_204", expect: "204"),
        ProbeEndpoint(url: "http://detectportal.firefox.com/success.txt", expect: "success"),
        ProbeEndpoint(url: "http://nmcheck.gnome.org/check_network_status.txt", expect: "NetworkManager is online"),
    ]
    /// An endpoint that needs no name: Cloudflare's resolver sends everybody to its own page by https.
    static let usualAddress = ProbeEndpoint(url: "http://1.1.1.1/", expect: "→https://1.1.1.1/")
    /// The HTTPS endpoint beside the usual ones.
    static let usualHTTPS = "https://www.gstatic.com/generate_204"
}

/// One thing that was asked, and what came: the type `Evidence` of org.hotspotd.Probe.
public struct ProbeEvidence: Codable, Hashable, Sendable {
    /// Method and URL, without its query.
    public var request: String
    /// Status of the answer.
    public var status: Int?
    /// The headers that mattered.
    public var headers: [String: String]
    /// The body's first octets, printable.
    public var body: String?
    /// Why there was no answer.
    public var error: String?
    /// How long it took.
    public var milliseconds: Int

    private static let telling = ["location", "content-type", "server", "via", "retry-after", "refresh"]

    /// What the portal API said; a document that is not what it should be is as none.
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

    init(_ url: WebURL, _ answer: ProbeAnswer, milliseconds: Int) {
        request = "GET \(url.masked)"
        self.milliseconds = milliseconds
        headers = [:]
        switch answer {
        case .failure(let failure): error = "\(failure.code.rawValue): \(failure)"
        case .response(let response):
            status = response.status
            for name in Self.telling {
                guard let value = response[name] else { continue }
                // A redirect's query is the portal's token for this machine: it says nothing to a reader.
                let isURL = name == "location"
                headers[name] = Printable.text(isURL ? String(value.prefix { $0 != "?" }) : value, limit: 200)
            }
            if !response.body.isEmpty, !response.isEncoded {
                body = Printable.text(of: response.body.prefix(96).map { $0 < 0x20 ? 0x20 : $0 })
            }
        }
    }
}

/// The answer of one request of a probe.
enum ProbeAnswer: Sendable {
    case response(HTTPResponse)
    case failure(TransferError)
}

/// What a probe found: the answer of org.hotspotd.Probe.Probe, and for helpers in the same process the portal's own words.
public struct ProbeResult: Sendable {
    /// The verdict.
    public var verdict: Verdict
    /// Where the portal's page is.
    public var portalURL: WebURL?
    /// Stable word, such as `httpsBlocked` or `dnsFailed`.
    public var problem: String?
    /// From the portal API.
    public var secondsRemaining: Int?
    /// When it is worth asking again, in seconds.
    public var retryAfter: Double?
    /// What was asked and answered.
    public var evidence: [ProbeEvidence] = []
    /// The answer that showed the portal: its body may hold a WISPr document, or be the page itself.
    public var page: HTTPResponse?

    init(
        _ verdict: Verdict, portalURL: WebURL? = nil, problem: String? = nil, retryAfter: Double? = nil, page: HTTPResponse? = nil
    ) {
        self.verdict = verdict
        self.portalURL = portalURL
        self.problem = problem
        self.retryAfter = retryAfter
        self.page = page
    }

    /// As the interface has it.
    struct Wire: Codable {
        var verdict: Verdict
        var portalURL: String?
        var problem: String?
        var secondsRemaining: Int?
        var retryAfter: Double?
        var evidence: [ProbeEvidence]
    }

    var wire: Wire {
        Wire(
            verdict: verdict, portalURL: portalURL?.text, problem: problem, secondsRemaining: secondsRemaining,
            retryAfter: retryAfter, evidence: evidence)
    }
}
