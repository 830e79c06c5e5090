import HotspotCore

/// Decides the verdict of a probe, as a value: takes answers and returns the next step. It reads no clock and makes no request.
///
/// Each endpoint over plain HTTP has one vote: for the Internet if the answer was as expected, or for a portal. HTTPS and the portal API (RFC 8908)
/// can contradict a vote. One vote decides if nothing contradicts it. If votes contradict each other, the probe asks another operator's endpoint. Two
/// votes for a portal decide; a single vote for a portal counts only as a filter of that endpoint's host if two other endpoints and HTTPS reach the
/// Internet. Without any vote, working HTTPS means online, and everything else limited.
struct VerdictTable: Sendable {
    /// The meaning of one endpoint's answer.
    enum Meaning: Sendable {
        /// The expected answer.
        case asExpected
        /// A portal answered: the address of its page, and the answer.
        case captive(WebURL, HTTPResponse)
        /// An answer without a page, such as an empty 200 where 204 was expected.
        case inconclusive
        /// A status that says nothing about a portal.
        case unhelpful(Int)
        /// The server is busy and names a time to come back (503 with Retry-After).
        case later(Double)
        /// No answer.
        case failed(TransferError)

        /// Whether the endpoint's name gave no address.
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

    /// Milliseconds after which a probe ends if it has any answer.
    static let limit = 3000
    /// Milliseconds after which a probe ends if it has no answer: busy gateways redirect after 5 s and more. Android waits 10 s
    /// as well.
    static let patience = 10_000
    /// Milliseconds from the beginning in which the probe, after an expected HTTP answer, only waits for HTTPS; later, it also asks another endpoint.
    static let silence = 1000
    /// Milliseconds in which the other endpoints can contradict the first vote for a portal.
    static let contradiction = 500

    let redirects: RedirectPolicy
    /// The number of named endpoints that may be asked.
    let namedCount: Int
    let hasAddress: Bool
    let hasHTTPS: Bool
    let hasAPI: Bool
    /// Whether an answer from the Internet outweighs the portal API: after a login, the API's document may be out of date.
    let outvotesAPI: Bool
    var limit = VerdictTable.limit
    var patience = VerdictTable.patience

    /// The answers of the named endpoints, in the order of asking.
    private(set) var named: [Meaning] = []
    private(set) var address: Meaning?
    /// The answer from the remembered address of the first named endpoint, while the endpoint's name is still being resolved.
    private(set) var remembered: Meaning?
    /// Whether the remembered address is being asked.
    var asksRemembered = false
    private(set) var https: Meaning?
    /// Whether the HTTPS endpoint's certificate was checked. Then nothing on the way breaks HTTPS, whatever the answer will be.
    private(set) var isHTTPSChecked = false
    private(set) var api: PortalAPIDocument?
    private var apiAnswered = false
    /// The times of the first vote for the Internet, of the first vote for a portal, and of the last answer of any kind.
    private var goodAt: Int?
    private var portalAt: Int?
    private var lastAt = 0

    init(
        redirects: RedirectPolicy = RedirectPolicy(), named: Int, address: Bool, https: Bool, api: Bool, outvotesAPI: Bool = false
    ) {
        self.redirects = redirects
        namedCount = named
        hasAddress = address
        hasHTTPS = https
        hasAPI = api
        self.outvotesAPI = outvotesAPI
    }

    mutating func answeredNamed(_ answer: EndpointAnswer, expect: String, at now: Int = 0) {
        let meaning = meaning(of: answer, expect: expect)
        named.append(meaning)
        note(meaning, at: now)
    }
    mutating func answeredAddress(_ answer: EndpointAnswer, expect: String, at now: Int = 0) {
        let meaning = meaning(of: answer, expect: expect)
        address = meaning
        note(meaning, at: now)
    }
    mutating func answeredRemembered(_ answer: EndpointAnswer, expect: String) {
        remembered = meaning(of: answer, expect: expect)
    }
    mutating func answeredHTTPS(_ answer: EndpointAnswer, at now: Int = 0) {
        switch answer {
        case .failure(let failure): https = .failed(failure)
        case .success(let response): https = response.status < 400 ? .asExpected : .unhelpful(response.status)
        }
        lastAt = now
    }
    mutating func checkedHTTPS(at now: Int = 0) {
        isHTTPSChecked = true
        lastAt = now
    }
    mutating func answeredAPI(_ document: PortalAPIDocument?, at now: Int = 0) {
        api = document
        apiAnswered = true
        lastAt = now
        if document?.captive == true, portalAt == nil { portalAt = now }
    }

    private mutating func note(_ meaning: Meaning, at now: Int) {
        lastAt = now
        switch meaning {
        case .asExpected: goodAt = goodAt ?? now
        case .captive: portalAt = portalAt ?? now
        case .inconclusive, .unhelpful, .later, .failed: break
        }
    }

    // MARK: Votes

    /// The portal's addresses according to the votes for a portal; the votes of named endpoints come first.
    private var portals: [(url: WebURL, page: HTTPResponse)] {
        var portals = (named + [address].compactMap(\.self)).compactMap { meaning -> (url: WebURL, page: HTTPResponse)? in
            if case .captive(let url, let page) = meaning { (url, page) } else { nil }
        }
        // The remembered address has no vote of its own, because another server may use it by now. But if its answer leads to the same portal's host
        // as another operator's endpoint, that portal answers in place of every server, so the vote counts.
        if named.isEmpty, case .captive(let url, let page)? = remembered, portals.first?.url.host == url.host {
            portals.insert((url, page), at: 0)
        }
        return portals
    }

    private var goods: Int {
        (named + [address].compactMap(\.self)).count { if case .asExpected = $0 { true } else { false } }
    }

    private enum HTTPSState {
        /// The endpoint was not asked, or its name does not resolve here.
        case absent
        case awaited
        case good
        case broken(TransferError)
    }

    private var httpsState: HTTPSState {
        switch https {
        case .failed(let failure) where [.dnsFailed, .dnsTimeout, .noNameserver].contains(failure.code): .absent
        case .failed(let failure): .broken(failure)
        case .asExpected, .unhelpful, .captive, .inconclusive, .later: .good
        case nil: isHTTPSChecked ? .good : hasHTTPS ? .awaited : .absent
        }
    }

    /// Whether a server answered at all.
    private var isHeard: Bool {
        (named + [address, remembered, https].compactMap(\.self)).contains { if case .failed = $0 { false } else { true } }
            || isHTTPSChecked || api != nil
    }

    /// Returns when the probe ends. HTTPS gets as much additional time as the first good answer took.
    func end() -> Int {
        if !isHeard { return patience }
        if let goodAt, case .awaited = httpsState { return min(max(limit, 2 * goodAt), patience) }
        return limit
    }

    // MARK: Steps

    /// Returns the next step, `now` milliseconds after the beginning.
    func nextStep(at now: Int) -> NextStep {
        let portals = portals
        let goods = goods
        if portals.count >= 2 { return .done(captive(portals)) }
        if !portals.isEmpty {
            if api?.captive == true, !outvotesAPI { return .done(captive(portals)) }
            if case .broken = httpsState { return .done(captive(portals)) }
            if goods > 0 { return contradicted(portals, goods, now) }
            if case .good = httpsState { return contradicted(portals, goods, now) }
            return alone(portals, now)
        }
        return goods > 0 ? good(now) : undecided(now)
    }

    /// Returns the next step if one endpoint reports a portal, and another endpoint or HTTPS reports the Internet.
    private func contradicted(_ portals: [(url: WebURL, page: HTTPResponse)], _ goods: Int, _ now: Int) -> NextStep {
        var isHTTPSGood = false
        switch httpsState {
        case .good, .absent:
            isHTTPSGood = true
            if goods >= 2 { return .done(open()) }
        case .awaited, .broken: break
        }
        if now < end() {
            if mayAskNext(now) { return .askNext }
            if isAwaited(https: !isHTTPSChecked) || !isNamedExhausted { return .wait(until: end()) }
        }
        return .done(isHTTPSGood && goods > 0 ? open() : captive(portals))
    }

    /// Returns the next step if one endpoint reports a portal, and no other endpoint has voted so far.
    private func alone(_ portals: [(url: WebURL, page: HTTPResponse)], _ now: Int) -> NextStep {
        let until = min((portalAt ?? 0) + Self.contradiction, end())
        let isContradictionAwaited = named.isEmpty || (hasAddress && address == nil)
        return now < until && isContradictionAwaited ? .wait(until: until) : .done(captive(portals))
    }

    /// Returns the next step if an endpoint reports the Internet, and none reports a portal.
    private func good(_ now: Int) -> NextStep {
        // Programs use names: a network in which only addresses work is useless for them.
        if !named.isEmpty, (named + [https].compactMap(\.self)).allSatisfy(\.isNameless), hasHTTPS == (https != nil) {
            return mayAskNext(now) ? .askNext : .done(afterBadHTTP())
        }
        let until = min(Self.silence, limit)
        if hasAPI, !apiAnswered, now < until { return .wait(until: until) }
        let captive = outvotesAPI ? nil : captiveByAPI
        switch httpsState {
        case .broken(let failure):
            return .done(captive ?? open(.partial, failure.code == .clockWrong ? "clockWrong" : "httpsBlocked"))
        case .good, .absent:
            // A silent address endpoint gets as much additional time as the other endpoints took. If only the address endpoint has answered, names
            // may not work, so the probe uses all its time.
            let addressUntil = min(2 * lastAt, until)
            if hasAddress, address == nil, now < addressUntil { return .wait(until: addressUntil) }
            if case .absent = httpsState, let captive { return .done(captive) }
            if case .absent = httpsState, named.isEmpty, now < end() { return .wait(until: end()) }
            return .done(open())
        case .awaited:
            if now < until { return .wait(until: until) }
            if now < end() { return mayAskNext(now) ? .askNext : .wait(until: end()) }
            return .done(captive ?? open(.partial, "httpsBlocked"))
        }
    }

    /// Returns the next step if no endpoint has voted so far.
    private func undecided(_ now: Int) -> NextStep {
        if now >= end() { return .done(afterBadHTTP()) }
        if let captive = captiveByAPI {
            let until = (portalAt ?? 0) + Self.contradiction
            let isContradictionAwaited = named.isEmpty && hasHTTPS
            return now < min(until, end()) && isContradictionAwaited ? .wait(until: min(until, end())) : .done(captive)
        }
        if mayAskNext(now) { return .askNext }
        if isNamedExhausted {
            // The named endpoints decided nothing; HTTPS, the address endpoint or the API may still decide.
            if case .asExpected? = https { return .done(afterBadHTTP()) }
            // If the named endpoints do not answer, the remembered address shows whether a portal is there.
            let isWaiting =
                isAwaited(https: true)
                || (asksRemembered && remembered == nil && named.allSatisfy(\.isNameless))
            if !isWaiting { return .done(afterBadHTTP()) }
        }
        return .wait(until: end())
    }

    /// Returns whether HTTPS (if wanted), the address endpoint or the portal API still has to answer.
    private func isAwaited(https isWanted: Bool) -> Bool {
        (isWanted && hasHTTPS && https == nil) || (hasAddress && address == nil) || (hasAPI && !apiAnswered)
    }

    /// Returns whether another named endpoint may be asked: at least one has answered or failed, and the probe has time.
    private func mayAskNext(_ now: Int) -> Bool { !named.isEmpty && !isNamedExhausted && now < end() }

    /// Whether no further named endpoint is asked: none is left, the last one said to come back later, or the last two answers had no page.
    private var isNamedExhausted: Bool {
        if named.count >= namedCount { return true }
        if case .later? = named.last { return true }
        let tail = named.suffix(2)
        return tail.count == 2 && tail.allSatisfy { if case .inconclusive = $0 { true } else { false } }
    }

    // MARK: Results

    private func captive(_ portals: [(url: WebURL, page: HTTPResponse)]) -> ProbeResult {
        ProbeResult(.captive, portalURL: portals[0].url, page: portals[0].page)
    }

    private var captiveByAPI: ProbeResult? {
        api.flatMap { $0.captive ? ProbeResult(.captive, portalURL: $0.portalURL) : nil }
    }

    private func open(_ verdict: Verdict = .online, _ problem: String? = nil) -> ProbeResult {
        var result = ProbeResult(verdict, problem: problem)
        result.secondsRemaining = api?.secondsRemaining
        return result
    }

    private func afterBadHTTP() -> ProbeResult {
        if let captive = captiveByAPI { return captive }
        var result = ProbeResult(.limited, problem: "noAnswer")
        let mustWait = named.contains { if case .later = $0 { true } else { false } }
        if case .asExpected? = https, !mustWait { return ProbeResult(.online, problem: "httpBlocked") }
        switch named.first {
        // The endpoints' own servers speak correct HTTP, so another server answered in their place; a browser may be able to read its answer.
        case .failed(let failure) where failure.code == .badHeader: return ProbeResult(.captive, problem: failure.code.rawValue)
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
        case 200:
            // Browsers also follow a Refresh header of an empty answer.
            let leadsOn = response.body.count > 4 || response["refresh"].flatMap(HTMLReader.refresh) != nil
            return leadsOn ? .captive(response.url, response) : .inconclusive
        case 204: return .inconclusive
        case 511: return .captive(response.url, response)
        case 401, 403, 404, 500...599:
            // Sophos firewalls refuse every address to a guest who is not logged in, and name their proxy in `Via`.
            let isSophos = response.status == 403 && response["via"]?.contains("forward.http.proxy") == true
            if isSophos || HTMLReader.read(response).hasPortalMarks || WISPrDocument.find(in: response.body) != nil {
                return .captive(response.url, response)
            }
            if response.status == 503, let seconds = retryAfter(response) { return .later(seconds) }
            return .unhelpful(response.status)
        default: return .unhelpful(response.status)
        }
    }

    /// Compares a body, ignoring a line end at its end, which the settings cannot contain.
    private func isBody(_ body: [UInt8], _ expect: String) -> Bool {
        var body = body[...]
        if body.last == 10 { body = body.dropLast() }
        if body.last == 13 { body = body.dropLast() }
        return body.elementsEqual(expect.utf8)
    }

    /// Returns the seconds of Retry-After, at most 60. A date is compared with the answer's own date, because this machine's
    /// clock may be wrong.
    private func retryAfter(_ response: HTTPResponse) -> Double? {
        guard let text = response["retry-after"] else { return nil }
        if let seconds = Int(text) { return seconds >= 0 ? Double(min(seconds, 60)) : nil }
        guard let at = HTTPResponse.time(text), let now = HTTPResponse.time(response["date"] ?? ""), at >= now else { return nil }
        return Double(min(at - now, 60))
    }
}
