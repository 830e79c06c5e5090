import ForeignText
import HotspotCore

/// The portal's first page, with the cookies and the connection that were used to get it.
struct Landing: Sendable {
    /// Where a portal begins.
    enum Start: Sendable {
        /// An address.
        case url(WebURL)
        /// The probe's own answer is the page already.
        case page(HTTPResponse)

        var key: String {
            switch self {
            case .url(let url): url.text
            case .page(let response): response.url.text
            }
        }
    }

    /// How long opening may take, in milliseconds.
    static let limit = 15_000

    var client: HTTPClient
    var journey: Journey?
    var failure: TransferError?
    /// Where it began.
    var start: WebURL
    /// What was done, for the traces of all who use it.
    var steps: [String] = []

    static func open(_ start: Start, link: Link, policy: NetworkPolicy, cookies: CookieJar = CookieJar(), in scope: Scope)
        -> Landing
    {
        let client = HTTPClient(link: link, policy: policy, cookies: cookies)
        let own = Scope(cancellation: scope.cancellation, deadline: scope.deadline)
        var landing: Landing
        switch start {
        case .url(let url): landing = Landing(client: client, start: url)
        case .page(let response): landing = Landing(client: client, start: response.url)
        }
        do throws(TransferError) {
            let request = HTTPRequest(landing.start)
            let first: HTTPResponse
            switch start {
            case .page(let response): first = response
            case .url(let url):
                try RedirectPolicy(policy).check(url)
                first = try client.send(request, in: own)
            }
            landing.journey = try Journey.follow(first, to: request, client: client, in: own)
        } catch {
            landing.failure = error
        }
        landing.steps = own.trace.lines
        return landing
    }

    /// Where the portal's beginning is, as the probe tells it.
    static func start(of result: ProbeResult) -> Start? {
        if let page = result.page, page.location == nil { return .page(page) }
        return result.portalURL.map { .url($0) }
    }

    /// Who asks for the login.
    func portal(kind: String) -> Portal {
        guard let journey else { return Portal(origin: start.origin, kind: kind) }
        return Portal(
            origin: journey.final.url.origin, pin: journey.final.pin, kind: kind,
            title: journey.page.title.map { Printable.text($0, limit: 120) })
    }
}
