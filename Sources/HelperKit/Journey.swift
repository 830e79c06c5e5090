import HotspotCore

/// A way through a portal's redirects to a page, hop by hop through ``RedirectPolicy``: by header, by refresh, by a simple script, by
/// a form that sends itself.
struct Journey: Sendable {
    /// All answers on the way, the last one included.
    var hops: [HTTPResponse]
    /// The last answer, read.
    var page: HTMLPage
    /// The way led out to the Internet, to the address of the probe: the portal is done with us.
    var left = false

    /// The last answer.
    var final: HTTPResponse { hops[hops.count - 1] }

    /// Follows on from an answer.
    ///
    /// - Parameters:
    ///   - request: what the answer is to; a 307 or 308 repeats it, within its origin only.
    ///   - outside: hosts whose mention ends the way.
    ///   - afterSubmit: pages that say that it worked are not left any more.
    static func follow(
        _ response: HTTPResponse, to request: HTTPRequest, client: HTTPClient, outside: Set<String> = [],
        afterSubmit: Bool = false,
        in scope: Scope
    ) throws(TransferError) -> Journey {
        let redirects = RedirectPolicy(client.policy)
        var journey = Journey(hops: [response], page: HTMLReader.read(response))
        var request = request
        var pageHops = 0
        while true {
            let response = journey.final
            let next: HTTPRequest
            if let location = response.location {
                let repeats = (response.status == 307 || response.status == 308) && request.method == .post
                let target = try redirects.target(of: location, from: response.url, withSecrets: repeats)
                if outside.contains(target.host) {
                    journey.left = true
                    return journey
                }
                var following = repeats ? request : HTTPRequest(target)
                following.url = target
                next = following
            } else if pageHops < RedirectPolicy.pageLimit, !(afterSubmit && FormWords.soundsLikeSuccess(journey.page)),
                let following = Self.pageHop(journey.page, response, redirects)
            {
                if outside.contains(following.url.host) {
                    journey.left = true
                    return journey
                }
                pageHops += 1
                next = following
            } else {
                return journey
            }
            guard journey.hops.count <= RedirectPolicy.limit else { throw TransferError(.tooManyRedirects) }
            request = next
            let answer = try client.send(next, in: scope)
            journey.hops.append(answer)
            journey.page = HTMLReader.read(answer)
        }
    }

    /// Where a page sends a browser by itself.
    private static func pageHop(_ page: HTMLPage, _ response: HTTPResponse, _ redirects: RedirectPolicy) -> HTTPRequest? {
        func target(_ reference: String?) -> HTTPRequest? {
            guard let reference, let url = try? redirects.target(of: reference, from: page.base), url != response.url else {
                return nil
            }
            var request = HTTPRequest(url)
            request.referer = response.url
            return request
        }
        if let request = target(page.refresh) { return request }
        if page.forms.isEmpty, let request = target(page.scriptTarget) { return request }
        if page.submitsItself, let form = page.forms.first, form.inputs.isEmpty,
            let filled = try? FilledForm(form, on: page, at: response.url, answers: [:], consent: false, redirects: redirects),
            !filled.leavesForGateway
        {
            return filled.request
        }
        // 511 says that its page links to the login (RFC 6585, 6).
        if response.status == 511, page.forms.isEmpty, let link = page.links.first { return target(link.reference) }
        return nil
    }
}
