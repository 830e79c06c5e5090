import HotspotCore

/// A way through a portal's redirects to a page, hop by hop through ``RedirectPolicy``: by header, by refresh, by a simple script, by
/// a form that sends itself.
struct Journey: Sendable {
    /// All answers on the way, the last one included.
    var hops: [HTTPResponse]
    /// The last answer, read.
    var page: HTMLPage
    /// The way led out to the Internet, to the address of the probe or to where nobody answers yet: the portal is done with us.
    var left = false

    /// The last answer.
    var final: HTTPResponse { hops[hops.count - 1] }

    /// How long a host that a portal leads to after the login may take, in milliseconds: the login does not depend on it.
    private static let patienceAbroad = 10_000

    /// Follows on from an answer.
    ///
    /// - Parameters:
    ///   - request: what the answer is to; a 307 or 308 repeats it, within its origin only.
    ///   - outside: hosts whose mention ends the way.
    ///   - page: the page whose form the request is, if it is one. Pages that say that it worked are not left any more then,
    ///     and what goes wrong at a third origin ends the way.
    static func follow(
        _ response: HTTPResponse, to request: HTTPRequest, client: HTTPClient, outside: Set<String> = [],
        submittedFrom page: WebURL? = nil,
        in scope: Scope
    ) throws(TransferError) -> Journey {
        let redirects = RedirectPolicy(client.policy)
        var journey = Journey(hops: [response], page: HTMLReader.read(response))
        let atHome: Set<String>? = page.map { [$0.origin, request.url.origin] }
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
            } else if pageHops < RedirectPolicy.pageLimit, !(page != nil && FormWords.soundsLikeSuccess(journey.page)),
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
            let isAbroad = atHome.map { !$0.contains(next.url.origin) } ?? false
            let answer: HTTPResponse
            do throws(TransferError) {
                answer = try client.send(next, in: isAbroad ? scope.limited(milliseconds: Self.patienceAbroad) : scope)
            } catch  where isAbroad && error.isFailureToReach {
                // The form was answered. Many portals lead out to the Internet then, and the gateway opens only a moment later:
                // what goes wrong out there is not theirs, and the probe tells what the answer was worth.
                scope.trace.add("led on to \(next.url.origin), where it ended: \(error.code.rawValue)")
                journey.left = true
                return journey
            }
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
