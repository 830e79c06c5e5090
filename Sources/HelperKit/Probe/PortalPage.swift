import ForeignText
import HotspotCore

/// The portal's first page, with the cookies and the connection of its request.
package struct PortalPage: Sendable {
    /// The source of a portal's first page.
    package enum PageSource: Sendable {
        /// The page has to be fetched from an address, with these cookies.
        case url(WebURL, cookies: CookieJar = CookieJar())
        /// The probe's answer is the page.
        case response(HTTPResponse)

        var url: WebURL {
            switch self {
            case .url(let url, _): url
            case .response(let response): response.url
            }
        }

        /// The cookies that the login begins with.
        var cookies: CookieJar {
            switch self {
            case .url(_, let cookies): cookies
            case .response(let response): response.cookies
            }
        }
    }

    /// Milliseconds of a command's time that opening a page must leave, so that the helper can report an error.
    static let reserve = 1000

    package var client: HTTPClient
    package var chain: RedirectChain?
    package var failure: TransferError?
    /// The address from which the page was opened.
    package var start: WebURL
    /// The steps, for the traces of all commands that use the page.
    var steps: [String] = []

    static func open(
        _ source: PageSource, client: HTTPClient, asking questions: RedirectChain.Questions, in scope: Scope
    ) -> PortalPage {
        let own = Scope(cancellation: scope.cancellation, deadline: scope.deadline)
        var page = PortalPage(client: client, start: source.url)
        do throws(TransferError) {
            let request = HTTPRequest(page.start)
            let first: HTTPResponse
            var trusted: String?
            switch source {
            case .response(let response):
                first = response
                trusted = response.url.origin
            case .url(let url, _):
                try RedirectPolicy(client.policy).check(url)
                first = try fetch(request, client, own)
            }
            page.chain = try RedirectChain.follow(
                first, to: request, client: client, asking: questions, trusted: trusted, in: own)
        } catch {
            page.failure = error
        }
        page.steps = own.trace.lines
        return page
    }

    /// Fetches a page. If the answer breaks off, perhaps because of the link, repeats the request once.
    private static func fetch(_ request: HTTPRequest, _ client: HTTPClient, _ scope: Scope) throws(TransferError) -> HTTPResponse
    {
        do throws(TransferError) { return try client.send(request, in: scope) } catch  where error.code == .shortAnswer {
            return try client.send(request, in: scope)
        }
    }

    /// Returns where the portal's page is, according to the probe's result; `nil` if the result names no portal. The answer to the probe, a page or a
    /// redirect, hands its cookies to the login.
    package static func source(_ result: ProbeResult) -> PageSource? {
        if let page = result.page, page.location == nil { return .response(page) }
        return result.portalURL.map { .url($0, cookies: result.page?.cookies ?? CookieJar()) }
    }

    /// Returns the portal that the page belongs to.
    package func portal(kind: String) -> Portal {
        guard let chain else { return Portal(origin: start.origin, kind: kind) }
        return Portal(
            origin: chain.final.url.origin, pin: chain.final.pin, kind: kind,
            title: chain.page.title.map { Printable.text($0, limit: 120) })
    }
}
