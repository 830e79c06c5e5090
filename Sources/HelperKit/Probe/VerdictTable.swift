import CCurl
import HotspotCore

/// Decides the verdict of a probe, as a value: answers go in, the next step comes out. It reads no clock and makes no request.
///
/// An expected answer of a named endpoint means online, or partial if HTTPS is broken. A redirect or another page means captive, and so
/// does a portal API (RFC 8908) that says so. Without either, working HTTPS means online, and anything else limited.
struct VerdictTable: Sendable {
    /// The meaning of one endpoint's answer.
    enum Meaning: Sendable {
        /// The expected answer.
        case asExpected
        /// A portal's answer: the address of its page, and the answer.
        case captive(WebURL, HTTPResponse)
        /// An answer without a page, such as an empty 200 where 204 was expected.
        case inconclusive
        /// A status that says nothing about a portal.
        case unhelpful(Int)
        /// The server asks to come back later (503 with Retry-After).
        case later(Double)
        /// No answer.
        case failed(TransferError)

        /// There was no address to ask.
        var isNameless: Bool {
            if case .failed(let error) = self { [.noNameserver, .dnsFailed, .dnsTimeout].contains(error.code) } else { false }
        }
    }

    /// The next step of a probe.
    enum NextStep {
        /// The verdict stands.
        case done(ProbeResult)
        /// Ask the next named endpoint.
        case askNext
        /// Wait for another answer, at most until this many milliseconds after the beginning.
        case wait(until: Int)
    }

    /// The longest that a probe may take, in milliseconds.
    static let limit = 3000
    /// Milliseconds before the end of a probe at which its requests end, so that each still says how.
    static func closing(_ limit: Int) -> Int { min(100, limit / 10) }
    /// Milliseconds after the beginning until which an expected HTTP answer waits for HTTPS and the portal API.
    static let silence = 1000
    /// Milliseconds that the named endpoint has to contradict a redirect of the address endpoint.
    static let contradiction = 500

    let redirects: RedirectPolicy
    /// The number of named endpoints that may be asked.
    let namedCount: Int
    let hasAddress: Bool
    let hasHTTPS: Bool
    let hasAPI: Bool
    var limit = VerdictTable.limit

    /// The answers of the named endpoints, in the order of asking.
    private(set) var named: [Meaning] = []
    private(set) var address: (meaning: Meaning, at: Int)?
    /// The answer at an address that the first named endpoint had before, while its name is still asked for.
    private(set) var remembered: Meaning?
    /// That address is asked.
    var asksRemembered = false
    private(set) var https: Meaning?
    /// The HTTPS endpoint's certificate was checked: nothing on the way breaks HTTPS, whatever the answer will be.
    private(set) var isHTTPSChecked = false
    private(set) var api: PortalAPIDocument?
    private var apiAnswered = false

    init(
        redirects: RedirectPolicy = RedirectPolicy(), named: Int, address: Bool, https: Bool, api: Bool,
        limit: Int = VerdictTable.limit
    ) {
        self.redirects = redirects
        namedCount = named
        hasAddress = address
        hasHTTPS = https
        hasAPI = api
        self.limit = limit
    }

    mutating func answeredNamed(_ answer: EndpointAnswer, expect: String) { named.append(meaning(of: answer, expect: expect)) }
    mutating func answeredAddress(_ answer: EndpointAnswer, expect: String, at: Int) {
        address = (meaning(of: answer, expect: expect), at)
    }
    mutating func answeredRemembered(_ answer: EndpointAnswer, expect: String) {
        remembered = meaning(of: answer, expect: expect)
    }
    mutating func answeredHTTPS(_ answer: EndpointAnswer) {
        switch answer {
        case .failure(let failure): https = .failed(failure)
        case .success(let response): https = response.status < 400 ? .asExpected : .unhelpful(response.status)
        }
    }
    mutating func checkedHTTPS() { isHTTPSChecked = true }
    mutating func answeredAPI(_ document: PortalAPIDocument?) {
        api = document
        apiAnswered = true
    }

    /// Returns the next step, `now` milliseconds after the beginning.
    func nextStep(at now: Int) -> NextStep {
        for case .captive(let url, let page) in named { return .done(captive(url, page)) }
        if let api, api.captive { return .done(ProbeResult(.captive, portalURL: api.portalURL)) }
        if named.contains(where: { if case .asExpected = $0 { true } else { false } }) { return afterGoodHTTP(now) }
        if let (meaning, at) = address, case .captive(let url, let page) = meaning {
            // A network that leads two operators' servers to one host does so with all of them. A remembered address alone decides
            // nothing: another server may have it by now.
            if case .captive(let other, let page)? = remembered, other.host == url.host { return .done(captive(other, page)) }
            let end = at + Self.contradiction
            if now >= end || isNamedExhausted || now >= limit { return .done(captive(url, page)) }
            return .wait(until: end)
        }
        if now >= limit { return .done(afterBadHTTP()) }
        if !named.isEmpty, !isNamedExhausted, now < limit - Self.closing(limit) { return .askNext }
        if isNamedExhausted {
            // The named endpoints decided nothing; HTTPS, the address or the API still may.
            if case .asExpected? = https { return .done(afterBadHTTP()) }
            // Where names have no answer, the remembered address tells whether a portal is there.
            let isWaiting =
                (hasHTTPS && https == nil) || (hasAddress && address == nil) || (hasAPI && !apiAnswered)
                || (asksRemembered && remembered == nil && named.allSatisfy(\.isNameless))
            if !isWaiting { return .done(afterBadHTTP()) }
        }
        return .wait(until: limit)
    }

    /// All endpoints have answered, the last one asked to come back later, or the last two had no page.
    private var isNamedExhausted: Bool {
        if named.count >= namedCount { return true }
        if case .later? = named.last { return true }
        let tail = named.suffix(2)
        return tail.count == 2 && tail.allSatisfy { if case .inconclusive = $0 { true } else { false } }
    }

    private func captive(_ url: WebURL, _ page: HTTPResponse) -> ProbeResult { ProbeResult(.captive, portalURL: url, page: page) }

    private func afterGoodHTTP(_ now: Int) -> NextStep {
        if (hasHTTPS && https == nil && !isHTTPSChecked) || (hasAPI && !apiAnswered), now < min(Self.silence, limit) {
            return .wait(until: min(Self.silence, limit))
        }
        if case .failed(let failure)? = https, failure.isInterference {
            var result = ProbeResult(.partial, problem: failure.code == .clockWrong ? "clockWrong" : "httpsBlocked")
            result.secondsRemaining = api?.secondsRemaining
            return .done(result)
        }
        var result = ProbeResult(.online)
        result.secondsRemaining = api?.secondsRemaining
        return .done(result)
    }

    private func afterBadHTTP() -> ProbeResult {
        var result = ProbeResult(.limited, problem: "noAnswer")
        let mustWait = named.contains { if case .later = $0 { true } else { false } }
        if case .asExpected? = https, !mustWait { return ProbeResult(.online, problem: "httpBlocked") }
        switch named.first {
        case .failed(let failure): result.problem = failure.code.rawValue
        case .inconclusive: result.problem = "emptyAnswer"
        case .unhelpful(let status): result.problem = "status\(status)"
        case .later(let seconds):
            result.problem = "askedToWait"
            result.retryAfter = seconds
        case .asExpected, .captive, nil: if !named.isEmpty || hasHTTPS { result.problem = "timeout" }
        }
        return result
    }

    /// Returns the meaning of one answer: a row of the table.
    func meaning(of answer: EndpointAnswer, expect: String) -> Meaning {
        let response: HTTPResponse
        switch answer {
        case .failure(let failure): return .failed(failure)
        case .success(let value): response = value
        }
        if expect.hasPrefix("→") {
            if let location = response.location, location == expect.dropFirst() { return .asExpected }
        } else if let status = Int(expect), (100...599).contains(status) {
            // The body of a 204 is ignored, as libcurl ignores it.
            if response.status == status, status != 200 || !response.body.isEmpty { return .asExpected }
        } else if response.status == 200, isBody(response.body, expect) {
            return .asExpected
        }
        switch response.status {
        case 301, 302, 303, 307, 308:
            let target = response.location.flatMap { try? redirects.target(of: $0, from: response.url) }
            return .captive(target ?? response.url, response)
        case 200: return response.body.count <= 4 ? .inconclusive : .captive(response.url, response)
        case 204: return .inconclusive
        case 511: return .captive(response.url, response)
        case 401, 403, 404, 500...599:
            // Sophos firewalls refuse the address to a guest who is not logged in, and name their proxy.
            let isSophos = response.status == 403 && response["via"]?.contains("forward.http.proxy") == true
            if isSophos || HTMLReader.read(response).hasPortalMarks || WISPrDocument.find(in: response.body) != nil {
                return .captive(response.url, response)
            }
            if response.status == 503, let seconds = retryAfter(response) { return .later(seconds) }
            return .unhelpful(response.status)
        default: return .unhelpful(response.status)
        }
    }

    /// Compares a body but for a line end at its end, which the settings cannot write.
    private func isBody(_ body: [UInt8], _ expect: String) -> Bool {
        var body = body[...]
        if body.last == 10 { body = body.dropLast() }
        if body.last == 13 { body = body.dropLast() }
        return body.elementsEqual(expect.utf8)
    }

    /// Returns the seconds of Retry-After, at most 60. A date counts from the answer's own, because this machine's clock may be wrong.
    private func retryAfter(_ response: HTTPResponse) -> Double? {
        guard let text = response["retry-after"] else { return nil }
        if let seconds = Int(text) { return seconds >= 0 ? Double(min(seconds, 60)) : nil }
        let (at, now) = (curl_getdate(text, nil), curl_getdate(response["date"] ?? "", nil))
        return at > 0 && now > 0 && at >= now ? Double(min(at - now, 60)) : nil
    }
}
