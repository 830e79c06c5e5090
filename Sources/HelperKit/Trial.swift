import CCurl
import HotspotCore

/// The verdict table of the specification, as a value: answers go in, a decision comes out. It reads no clock and asks nobody.
struct Trial: Sendable {
    /// What one answer of an endpoint means.
    enum Meaning: Sendable {
        /// Exactly what was expected.
        case asExpected
        /// A portal answered; its page.
        case captive(WebURL, HTTPResponse)
        /// Nothing to log in to: an empty 200 where 204 was expected.
        case inconclusive
        /// A status that tells nothing.
        case unhelpful(Int)
        /// Come back later, in seconds.
        case later(Double)
        /// No answer.
        case failed(TransferError)
    }

    /// What to do next.
    enum Decision {
        case done(ProbeResult)
        /// Ask the next named endpoint.
        case next
        /// Wait for another answer, at most until so many milliseconds after the beginning.
        case wait(until: Int)
    }

    /// The whole probe may take so long, in milliseconds.
    static let limit = 3000
    /// HTTPS and the portal API may be silent for so long after the beginning before a good HTTP answer stands alone.
    static let silence = 1000
    /// The named endpoint has so long to contradict a redirect of the address endpoint.
    static let contradiction = 500

    let redirects: RedirectPolicy
    /// Named endpoints that may be asked, in all.
    let namedCount: Int
    let hasAddress: Bool
    let hasHTTPS: Bool
    let hasAPI: Bool
    var limit = Trial.limit

    /// In the order of asking.
    private(set) var named: [Meaning] = []
    private(set) var address: (meaning: Meaning, at: Int)?
    private(set) var https: Meaning?
    private(set) var api: PortalAPIDocument?
    private var apiAnswered = false

    init(
        redirects: RedirectPolicy = RedirectPolicy(), named: Int, address: Bool, https: Bool, api: Bool, limit: Int = Trial.limit
    ) {
        self.redirects = redirects
        namedCount = named
        hasAddress = address
        hasHTTPS = https
        hasAPI = api
        self.limit = limit
    }

    mutating func answeredNamed(_ answer: ProbeAnswer, expect: String) { named.append(meaning(of: answer, expect: expect)) }
    mutating func answeredAddress(_ answer: ProbeAnswer, expect: String, at: Int) {
        address = (meaning(of: answer, expect: expect), at)
    }
    mutating func answeredHTTPS(_ answer: ProbeAnswer) {
        switch answer {
        case .failure(let failure): https = .failed(failure)
        case .response(let response): https = response.status < 400 ? .asExpected : .unhelpful(response.status)
        }
    }
    mutating func answeredAPI(_ document: PortalAPIDocument?) {
        api = document
        apiAnswered = true
    }

    /// Decides, `now` milliseconds after the beginning.
    func decision(at now: Int) -> Decision {
        for case .captive(let url, let page) in named { return .done(captive(url, page)) }
        if let api, api.captive { return .done(ProbeResult(.captive, portalURL: api.portalURL)) }
        if named.contains(where: { if case .asExpected = $0 { true } else { false } }) { return afterGoodHTTP(now) }
        if let (meaning, at) = address, case .captive(let url, let page) = meaning {
            let patience = at + Self.contradiction
            if now >= patience || isNamedExhausted || now >= limit { return .done(captive(url, page)) }
            return .wait(until: patience)
        }
        if now >= limit { return .done(afterBadHTTP()) }
        if !named.isEmpty, !isNamedExhausted { return .next }
        if isNamedExhausted {
            // HTTP told nothing; HTTPS or the address may still.
            if case .asExpected? = https { return .done(afterBadHTTP()) }
            let isWaiting = (hasHTTPS && https == nil) || (hasAddress && address == nil) || (hasAPI && !apiAnswered)
            if !isWaiting { return .done(afterBadHTTP()) }
        }
        return .wait(until: limit)
    }

    /// All endpoints that may be asked have answered, or two in a row had nothing to log in to.
    private var isNamedExhausted: Bool {
        if named.count >= namedCount { return true }
        if case .later? = named.last { return true }
        let tail = named.suffix(2)
        return tail.count == 2 && tail.allSatisfy { if case .inconclusive = $0 { true } else { false } }
    }

    private func captive(_ url: WebURL, _ page: HTTPResponse) -> ProbeResult { ProbeResult(.captive, portalURL: url, page: page) }

    private func afterGoodHTTP(_ now: Int) -> Decision {
        if (hasHTTPS && https == nil) || (hasAPI && !apiAnswered), now < min(Self.silence, limit) {
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
        for case .later(let seconds) in named { result.retryAfter = seconds }
        if case .asExpected? = https, result.retryAfter == nil { return ProbeResult(.online, problem: "httpBlocked") }
        switch named.first {
        case .failed(let failure): result.problem = failure.code.rawValue
        case .inconclusive: result.problem = "emptyAnswer"
        case .unhelpful(let status): result.problem = "status\(status)"
        case .later: result.problem = "askedToWait"
        case .asExpected, .captive, nil: if !named.isEmpty || hasHTTPS { result.problem = "timeout" }
        }
        return result
    }

    /// One row of the table.
    func meaning(of answer: ProbeAnswer, expect: String) -> Meaning {
        let response: HTTPResponse
        switch answer {
        case .failure(let failure): return .failed(failure)
        case .response(let value): response = value
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
            if HTMLReader.read(response).hasPortalMarks || WISPrDocument.find(in: response.body) != nil {
                return .captive(response.url, response)
            }
            if response.status == 503, let seconds = retryAfter(response) { return .later(seconds) }
            return .unhelpful(response.status)
        default: return .unhelpful(response.status)
        }
    }

    /// The settings cannot write a line's end, so that one at the end of the answer is not compared.
    private func isBody(_ body: [UInt8], _ expect: String) -> Bool {
        var body = body[...]
        if body.last == 10 { body = body.dropLast() }
        if body.last == 13 { body = body.dropLast() }
        return body.elementsEqual(expect.utf8)
    }

    /// Seconds, at most 60; a date counts from the answer's own date, since this machine's clock may be wrong.
    private func retryAfter(_ response: HTTPResponse) -> Double? {
        guard let text = response["retry-after"] else { return nil }
        if let seconds = Int(text) { return seconds >= 0 ? Double(min(seconds, 60)) : nil }
        let (at, now) = (curl_getdate(text, nil), curl_getdate(response["date"] ?? "", nil))
        guard at > 0, now > 0, at >= now else { return nil }
        return Double(min(at - now, 60))
    }
}
