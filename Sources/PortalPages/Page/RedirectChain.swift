import BoundHTTP
import HotspotCore

/// The redirects of a portal up to a page: by header, refresh, simple script, or a form that a script submits. ``RedirectPolicy`` checks each step;
/// the caller's rules answer the ``Questions``.
package struct RedirectChain: Sendable {
    /// All answers, including the last one.
    package var hops: [HTTPResponse]
    /// The page of the last answer.
    package var page: HTMLPage
    /// Whether the chain left the portal: it led to the probe's address, or to a server on the Internet that does not answer yet.
    package var leftPortal = false
    /// The address at which the chain ended after a form, because it did not answer.
    package var lost: WebURL?

    /// The last answer.
    package var final: HTTPResponse { hops[hops.count - 1] }

    /// The longest refresh, in seconds, that a login waits for after a form.
    private static let longestWait = 10.0
    /// The time, in milliseconds, for an answer from a foreign host to which a portal leads after the login. The login does not depend on that
    /// answer.
    private static let foreignHostLimit = 10_000

    /// The decisions that the chain leaves to the rules.
    package struct Questions: Sendable {
        let hasLogin: @Sendable (TypedPage, WebURL) -> Bool
        let mayLeadInside: @Sendable (WebURL, WebURL) -> Bool

        /// - Parameters:
        ///   - hasLogin: returns whether the page at an address has a way to log in.
        ///   - mayLeadInside: returns whether the user agreed that a page may lead to an address in the link's own networks.
        package init(
            hasLogin: @escaping @Sendable (_ page: TypedPage, _ url: WebURL) -> Bool,
            mayLeadInside: @escaping @Sendable (_ page: WebURL, _ target: WebURL) -> Bool
        ) {
            (self.hasLogin, self.mayLeadInside) = (hasLogin, mayLeadInside)
        }
    }

    /// Follows the redirects of an answer. Throws ``TransferError``.
    ///
    /// - Parameters:
    ///   - request: the request that got the answer; a redirect with 307 or 308 repeats it, with answers only within its origin.
    ///   - questions: the rules that decide. If a page leads to another host in the link's own networks by its form or, after the login, by its
    ///     refresh, the user must have agreed. A gateway's own page may lead to another port of the gateway.
    ///   - outside: hosts that end the chain.
    ///   - page: the page whose form was submitted, if the request submits a form. Then a page that reports success ends the chain, and so does a
    ///     failure to reach a third origin.
    ///   - trusted: the origin whose pages need no agreement, because the network itself answers there.
    ///   - mayWait: called before a refresh that takes longer than a second. If it returns `false`, the chain ends at that page.
    package static func follow(
        _ response: HTTPResponse, to request: HTTPRequest, client: HTTPClient, asking questions: Questions,
        outside: Set<String> = [], submittedFrom page: WebURL? = nil, trusted: String? = nil, in scope: Scope,
        mayWait: () -> Bool = { true }
    ) throws(TransferError) -> RedirectChain {
        func follow(_ response: HTTPResponse, _ request: HTTPRequest) throws(TransferError) -> RedirectChain {
            try followHops(
                response, to: request, client: client, asking: questions, outside: outside, submittedFrom: page, trusted: trusted,
                in: scope, mayWait: mayWait)
        }
        var chain = try follow(response, request)
        // If the login is in a frame, the login continues at the frame's page.
        var frames = questions.findOwnPart(of: chain.page, at: chain.final.url) ? [] : chain.page.frames
        for _ in 0..<HTMLReader.frameLimit {
            guard !chain.leftPortal, !frames.isEmpty else { break }
            var request = HTTPRequest(frames.removeFirst())
            request.referer = chain.final.url
            guard let answer = try? client.send(request, in: scope), let inner = try? follow(answer, request),
                !inner.leftPortal, inner.final.url.origin == chain.final.url.origin
            else { continue }
            if questions.findOwnPart(of: inner.page, at: inner.final.url) {
                chain.hops += inner.hops
                chain.page = inner.page.framed(in: chain.page)
                break
            }
            frames += inner.page.frames
        }
        return chain
    }

    private static func followHops(
        _ response: HTTPResponse, to request: HTTPRequest, client: HTTPClient, asking questions: Questions,
        outside: Set<String>, submittedFrom page: WebURL?, trusted: String?, in scope: Scope, mayWait: () -> Bool
    ) throws(TransferError) -> RedirectChain {
        let redirects = RedirectPolicy(client.policy)
        var chain = RedirectChain(hops: [response], page: HTMLReader.read(response))
        let portalOrigins: Set<String>? = page.map { [$0.origin, request.url.origin] }
        var request = request
        var pageHops = 0
        while true {
            let response = chain.final
            func needsAgreement(to target: WebURL) -> Bool {
                target.host != response.url.host && response.url.origin != trusted
                    && !questions.mayLeadInside(response.url, target)
                    && client.link.leadsInside(target, in: scope)
            }
            let next: HTTPRequest
            if let following = try Self.headerHop(response, to: request, redirects) {
                if following.method == .post, needsAgreement(to: following.url) {
                    throw TransferError(.refusedURL, "leads a form into the network")
                }
                next = following
            } else if pageHops < RedirectPolicy.pageLimit,
                let (following, isForm) = Self.pageHop(chain.page, response, redirects),
                isForm || page == nil || !TypedPage(chain.page).soundsLikeSuccess
            {
                let target = following.url
                if page == nil, !isForm, Self.leadsOut(chain.page, at: response.url, to: target, on: client.link) { return chain }
                if isForm || page != nil, needsAgreement(to: target) {
                    if !isForm { chain.page.forms = [HTMLForm(leadingTo: target)] }
                    return chain
                }
                guard Self.waits(for: chain.page, isBehindLogin: page != nil, in: scope, mayWait) else { return chain }
                pageHops += 1
                next = following
            } else {
                return chain
            }
            if outside.contains(next.url.host) {
                chain.leftPortal = true
                return chain
            }
            guard chain.hops.count <= RedirectPolicy.limit else { throw TransferError(.tooManyRedirects) }
            request = next
            let isForeign = portalOrigins.map { !$0.contains(next.url.origin) } ?? false
            let answer: HTTPResponse
            do throws(TransferError) {
                answer = try client.send(next, in: isForeign ? scope.limited(milliseconds: Self.foreignHostLimit) : scope)
            } catch  where isForeign && error.isFailureToReach {
                // The portal answered the form. Many portals then lead to the Internet before the gateway has opened, so this failure is not their
                // fault; the probe decides whether the login worked.
                scope.trace.add("redirected to \(next.url.origin), which failed: \(error.code.rawValue)")
                chain.leftPortal = true
                chain.lost = next.url
                return chain
            }
            chain.hops.append(answer)
            chain.page = HTMLReader.read(answer)
        }
    }

    /// Returns the request to the target of a redirect by header.
    private static func headerHop(
        _ response: HTTPResponse, to request: HTTPRequest, _ redirects: RedirectPolicy
    ) throws(TransferError) -> HTTPRequest? {
        guard let location = response.location else { return nil }
        let repeats = (response.status == 307 || response.status == 308) && request.method == .post
        let target = try redirects.target(of: location, from: response.url, withSecrets: repeats && request.carriesAnswers)
        var following = repeats ? request : HTTPRequest(target)
        // The page that redirected is the referrer.
        (following.url, following.referer) = (target.redirected(from: response.url), request.referer)
        return following
    }

    /// Returns whether to follow the refresh of a page. After a login, waits for the refresh first.
    private static func waits(
        for page: HTMLPage, isBehindLogin: Bool, in scope: Scope, _ mayWait: () -> Bool
    ) -> Bool {
        guard page.refresh != nil, page.refreshDelay > 1 else { return true }
        guard mayWait() else { return false }
        // After a login, the wait gives the gateway time to open. If the wait is too long, ends the chain: the probe shows more reliably whether the
        // gateway has opened.
        let isShort = page.refreshDelay <= longestWait
        return !isBehindLogin || (isShort && scope.pause(milliseconds: Int(page.refreshDelay * 1000)))
    }

    /// Returns the request that a browser would make on this page without the user, unless the request leads out of the portal. The judge of saved
    /// pages (`Tests/Pages`) uses this.
    package static func ownRequest(of page: HTMLPage, at url: WebURL, on link: Link) -> HTTPRequest? {
        pageHop(page, HTTPResponse(url: url, status: 200), RedirectPolicy()).flatMap {
            !$0.1 && leadsOut(page, at: url, to: $0.0.url, on: link) ? nil : $0.0
        }
    }

    /// Returns whether a page leads out of the portal without the user.
    package static func leadsOut(_ page: HTMLPage, at url: WebURL, on link: Link) -> Bool {
        pageHop(page, HTTPResponse(url: url, status: 200), RedirectPolicy()).map {
            !$0.1 && leadsOut(page, at: url, to: $0.0.url, on: link)
        } ?? false
    }

    /// Returns whether a page's target is outside the portal: the page reports success and leads to another origin, or it leads from the portal to a
    /// host that a probe asks.
    private static func leadsOut(_ page: HTMLPage, at url: WebURL, to target: WebURL, on link: Link) -> Bool {
        if target.origin != url.origin, TypedPage(page).soundsLikeSuccess { return true }
        let outside = outsideHosts(of: link)
        return outside.contains(target.host) && !outside.contains(url.host)
    }

    /// Returns the hosts that a probe of this link asks.
    package static func outsideHosts(of link: Link) -> Set<String> {
        Set(([link.probeURL] + ProbeEndpoint.usual.map(\.url)).compactMap { $0.flatMap(WebURL.init)?.host })
    }

    /// Returns the request that a browser would make on this page without the user, and whether the request submits a form.
    private static func pageHop(_ page: HTMLPage, _ response: HTTPResponse, _ redirects: RedirectPolicy) -> (HTTPRequest, Bool)? {
        func target(_ reference: String?) -> (HTTPRequest, Bool)? {
            guard let reference, let url = try? redirects.target(of: reference, from: page.base), url != response.url else {
                return nil
            }
            var request = HTTPRequest(url)
            request.referer = response.url
            return (request, false)
        }
        if let request = target(page.refresh) { return request }
        if page.forms.isEmpty, !page.hasLooseField, let request = target(page.scriptTarget) { return request }
        if page.submitsItself, var form = page.forms.first, form.inputs.isEmpty {
            // A script's submit() sends no button, and ignores the button's action.
            form.controls.removeAll { $0.kind == .submit || $0.kind == .image }
            if let filled = try? FilledForm(TypedForm(form), on: page, at: response.url, redirects: redirects) {
                return (filled.request, true)
            }
        }
        // A page with status 511 links to the login (RFC 6585, section 6).
        if response.status == 511, page.forms.isEmpty, let link = page.links.first { return target(link.reference) }
        return nil
    }
}

extension RedirectChain {
    /// Makes a chain of one answer, without following its redirects.
    package init(_ answer: HTTPResponse) { self.init(hops: [answer], page: HTMLReader.read(answer)) }
}

extension RedirectChain.Questions {
    /// Returns whether the page itself asks the user for something, or shows that the login is over.
    fileprivate func findOwnPart(of page: HTMLPage, at url: WebURL) -> Bool {
        if page.hasLooseField || page.offersLogoff { return true }
        let typed = TypedPage(page)
        return typed.soundsLikeSuccess || hasLogin(typed, url)
    }
}

extension HTMLPage {
    /// Returns a frame's page together with the words of the page around it, because both may contain text and terms for the user.
    fileprivate func framed(in outer: HTMLPage) -> HTMLPage {
        var page = self
        page.title = outer.title ?? title
        page.text = outer.text + " " + text
        page.terms = [outer.terms, terms].filter { !$0.isEmpty }.joined(separator: " ")
        page.passages = outer.passages + passages
        page.errors = outer.errors + errors
        page.sentences = outer.sentences + sentences
        page.pieces = outer.pieces + pieces
        page.headings = outer.headings + headings
        page.links += outer.links.compactMap { link in
            WebURL(link.reference, relativeTo: outer.base).map {
                Hyperlink(text: link.text, reference: $0.text, isInert: link.isInert)
            }
        }
        page.isTruncated = isTruncated || outer.isTruncated
        return page
    }
}
