import ForeignText
import HotspotCore

extension ProbeEvidence {
    private static let shownHeaders = ["location", "content-type", "server", "via", "retry-after", "refresh", "date"]

    /// Makes the evidence of the portal API; `document` is `nil` if the answer was invalid.
    init(api url: WebURL, _ document: PortalAPIDocument?, milliseconds: Int) {
        self.init(request: "GET \(url.masked)", milliseconds: milliseconds)
        if let document {
            status = 200
            body = document.captive ? "captive" : "not captive"
        } else {
            error = "unusable: The portal API gave no usable answer."
        }
    }

    /// Makes the evidence of a server whose certificate was checked, and whose answer has not come.
    init(checked url: WebURL, milliseconds: Int) {
        self.init(request: "GET \(url.masked)", milliseconds: milliseconds)
    }

    /// Makes the evidence of a request whose answer the verdict did not need.
    init(unneeded url: WebURL, milliseconds: Int) {
        self.init(request: "GET \(url.masked)", milliseconds: milliseconds)
        error = "notNeeded: The other answers were enough."
    }

    var isUnanswered: Bool { status == nil && error == nil }

    init(_ url: WebURL, _ answer: EndpointAnswer, milliseconds: Int) {
        self.init(request: "GET \(url.masked)", milliseconds: milliseconds)
        switch answer {
        case .failure(let failure): error = "\(failure.code.rawValue): \(failure)"
        case .success(let response):
            status = response.status
            for name in Self.shownHeaders {
                guard let value = response[name] else { continue }
                // A redirect's query, or its fragment, contains the portal's token for this machine and is left out.
                let isURL = name == "location"
                headers[name] = Printable.text(isURL ? String(value.prefix { $0 != "?" && $0 != "#" }) : value, limit: 200)
            }
            if !response.body.isEmpty {
                body = Printable.text(of: response.body.prefix(96).map { $0 < 0x20 ? 0x20 : $0 })
            }
        }
    }
}

/// The answer of one endpoint.
typealias EndpointAnswer = Result<HTTPResponse, TransferError>

/// The result of a probe: the answer of org.hotspotd.Probe.Probe, and the portal's own answer for helpers of the same process.
public struct ProbeResult: Sendable {
    /// The verdict.
    public var verdict: Verdict
    /// The address of the portal's page.
    public var portalURL: WebURL?
    /// The problem as a stable word, such as `httpsBlocked` or `dnsFailed`.
    public var problem: String?
    /// The remaining time of the session in seconds, from the portal API.
    public var secondsRemaining: Int?
    /// The seconds after which the server wants the next request (RFC 9110, 10.2.3).
    public var retryAfter: Double?
    /// The address at which the first named endpoint answered as expected.
    var probeAddress: String?
    /// The requests and their answers.
    public var evidence: [ProbeEvidence] = []
    /// The answer that revealed the portal; its body may contain a WISPr document, or be the portal's page.
    public var page: HTTPResponse?

    init(_ verdict: Verdict, portalURL: WebURL? = nil, problem: String? = nil, page: HTTPResponse? = nil) {
        self.verdict = verdict
        self.portalURL = portalURL
        self.problem = problem
        self.page = page
    }

    /// The answer as the interface defines it.
    var answer: ProbeAnswer {
        ProbeAnswer(
            verdict: verdict, portalURL: portalURL?.href, problem: problem, secondsRemaining: secondsRemaining,
            retryAfter: retryAfter, probeAddress: probeAddress, evidence: evidence)
    }
}
