import HotspotCore
import Testing

@testable import HelperKit

/// The verdict table, row by row.
@Suite struct VerdictTableTests {
    private func table(named: Int = 1, address: Bool = false, https: Bool = false, api: Bool = false) -> VerdictTable {
        VerdictTable(named: named, address: address, https: https, api: api)
    }

    private func verdict(_ step: VerdictTable.NextStep) -> String {
        switch step {
        case .done(let result):
            [result.verdict.rawValue, result.problem, result.portalURL?.text].compactMap { $0 }.joined(separator: " ")
        case .askNext: "next"
        case .wait(let until): "wait \(until)"
        }
    }

    private func single(_ answer: EndpointAnswer, expect: String = "204") -> String {
        var table = table()
        table.answeredNamed(answer, expect: expect)
        return verdict(table.nextStep(at: 100))
    }

    @Test func expectedAnswersAreOnline() {
        #expect(single(.success(response(204))) == "online")
        #expect(single(.success(response(204, "body"))) == "online")
        #expect(single(.success(response(200, "success\n")), expect: "success") == "online")
        #expect(single(.success(response(200, "success!")), expect: "success") == "captive http://portal.test/page")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreCaptive(_ status: Int) {
        let good = response(status, headers: [("location", "https://login.test/p?x=1")])
        #expect(single(.success(good)) == "captive https://login.test/p?x=1")
        for bad in ["", "file:///x", "http://user@x/"] {
            #expect(single(.success(response(status, headers: [("location", bad)]))) == "captive http://portal.test/page")
        }
        #expect(single(.success(response(status))) == "captive http://portal.test/page")
    }

    @Test func otherPagesAreCaptive() {
        #expect(single(.success(response(200, "<html>Log in"))) == "captive http://portal.test/page")
        #expect(single(.success(response(511))) == "captive http://portal.test/page")
    }

    @Test(arguments: [401, 403, 404, 500, 503])
    func errorsWithAPortalInsideAreCaptive(_ status: Int) {
        for body in [
            "<form><input name=x><input type=submit></form>", "<meta http-equiv=refresh content='0;url=/x'>",
            "<script>location='/x'</script>",
            "<!-- <WISPAccessGatewayParam><Redirect><MessageType>100</MessageType></Redirect></WISPAccessGatewayParam> -->",
        ] {
            #expect(single(.success(response(status, body))) == "captive http://portal.test/page")
        }
        #expect(single(.success(response(status, "<p>sorry"))) == "limited status\(status)")
    }

    @Test func answersWithoutAPageAreLimited() {
        #expect(single(.success(response(200))) == "limited emptyAnswer")
        #expect(single(.success(response(200, "ok!!"))) == "limited emptyAnswer")
        #expect(single(.success(response(418, "<form><input name=x></form>"))) == "limited status418")
        var table = table(named: 3)
        table.answeredNamed(.success(response(200)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "next")
        table.answeredNamed(.success(response(200)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "limited emptyAnswer")
    }

    @Test func failuresKeepTheirNames() {
        for code in [TransferErrorCode.dnsFailed, .dnsTimeout, .connectFailed, .timeout, .reset, .emptyAnswer] {
            #expect(single(.failure(TransferError(code))) == "limited \(code.rawValue)")
        }
    }

    @Test(arguments: [("7", 7.0), ("900", 60), ("Sat, 21 Nov 2026 10:00:20 GMT", 20)])
    func recognisesRetryAfter(_ text: String, _ seconds: Double) {
        var table = table()
        let answer = response(503, headers: [("retry-after", text), ("date", "Sat, 21 Nov 2026 10:00:00 GMT")])
        table.answeredNamed(.success(answer), expect: "204")
        guard case .done(let result) = table.nextStep(at: 0) else { return #expect(Bool(false)) }
        #expect(result.verdict == .limited)
        #expect(result.problem == "askedToWait" && result.retryAfter == seconds)
    }

    @Test(arguments: ["-3", "soon", "", "Sat, 21 Nov 2020 10:00:20 GMT"])
    func ignoresInvalidRetryAfter(_ text: String) {
        var table = table()
        let answer = response(503, headers: [("retry-after", text), ("date", "Sat, 21 Nov 2026 10:00:00 GMT")])
        table.answeredNamed(.success(answer), expect: "204")
        guard case .done(let result) = table.nextStep(at: 0) else { return #expect(Bool(false)) }
        #expect(result.problem == "status503" && result.retryAfter == nil)
    }

    // MARK: Beside HTTP

    @Test func httpsAgreesOrIsSilent() {
        var table = table(https: true)
        table.answeredNamed(.success(response(204)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "wait 1000")
        #expect(verdict(table.nextStep(at: 1000)) == "wait 3000")
        #expect(verdict(table.nextStep(at: 3000)) == "partial httpsBlocked")
        table.answeredHTTPS(.success(response(204)))
        #expect(verdict(table.nextStep(at: 100)) == "online")
    }

    /// Once the certificate is checked, nothing depends on the answer if HTTP is good.
    @Test func aCheckedCertificateIsWaitedForAndTheAnswerIsNot() {
        var table = table(https: true)
        table.checkedHTTPS()
        #expect(verdict(table.nextStep(at: 90)) == "wait 3000")
        var broken = table
        table.answeredNamed(.success(response(204)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "online")
        // The known part of the answer counts.
        table.answeredHTTPS(.failure(TransferError(.reset)))
        #expect(verdict(table.nextStep(at: 100)) == "partial httpsBlocked")
        broken.answeredNamed(.failure(TransferError(.timeout)), expect: "204")
        #expect(verdict(broken.nextStep(at: 100)) == "wait 3000")
        #expect(verdict(broken.nextStep(at: 3000)) == "limited timeout")
    }

    @Test(arguments: [TransferErrorCode.tlsFailed, .reset, .connectFailed])
    func httpsBroken(_ code: TransferErrorCode) {
        var table = table(https: true)
        table.answeredHTTPS(.failure(TransferError(code)))
        #expect(verdict(table.nextStep(at: 100)) == "wait 10000")
        table.answeredNamed(.success(response(204)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "partial httpsBlocked")
    }

    @Test func aWrongClockIsReportedAsSuch() {
        var table = table(https: true)
        table.answeredNamed(.success(response(204)), expect: "204")
        table.answeredHTTPS(.failure(TransferError(.clockWrong)))
        #expect(verdict(table.nextStep(at: 100)) == "partial clockWrong")
    }

    @Test func httpBlocked() {
        var table = table(https: true)
        table.answeredNamed(.failure(TransferError(.timeout)), expect: "204")
        #expect(verdict(table.nextStep(at: 100)) == "wait 10000")
        table.answeredHTTPS(.success(response(204)))
        #expect(verdict(table.nextStep(at: 100)) == "online httpBlocked")
    }

    @Test func aRedirectDoesNotWaitForHTTPS() {
        var table = table(https: true, api: true)
        table.answeredNamed(toward("l.test"), expect: "204")
        #expect(verdict(table.nextStep(at: 5)) == "captive http://l.test/?from=here")
    }

    @Test func theAddressDecidesWithoutNames() {
        var table = table(named: 1, address: true)
        table.answeredNamed(.failure(TransferError(.dnsTimeout)), expect: "204")
        #expect(verdict(table.nextStep(at: 900)) == "wait 10000")
        table.answeredAddress(
            .success(response(302, headers: [("location", "http://l.test/")])), expect: "→https://1.1.1.1/", at: 900)
        #expect(verdict(table.nextStep(at: 900)) == "captive http://l.test/")
    }

    @Test func theNamedEndpointMayContradictTheAddress() {
        var table = table(named: 3, address: true)
        table.answeredAddress(
            .success(response(302, headers: [("location", "http://l.test/")])), expect: "→https://1.1.1.1/", at: 10)
        #expect(verdict(table.nextStep(at: 10)) == "wait 510")
        #expect(verdict(table.nextStep(at: 510)) == "captive http://l.test/")
        table.answeredNamed(.success(response(204)), expect: "204", at: 20)
        #expect(verdict(table.nextStep(at: 20)) == "next")
    }

    // MARK: Contradictions

    private static let portal = "http://l.test/"
    private var elsewhere: EndpointAnswer { .success(response(302, headers: [("location", Self.portal)])) }
    private var filtered: EndpointAnswer { .success(response(200, "<form><input type=password><button>")) }
    private var good: EndpointAnswer { .success(response(204)) }

    /// Some portals let one check host through: its answer alone proves nothing.
    @Test(arguments: ["silent", "checked", "broken"]) func twoVotesForAPortalAreAPortal(https: String) {
        var table = table(named: 3, address: true, https: true)
        table.answeredNamed(good, expect: "204", at: 40)
        if https == "checked" { table.checkedHTTPS(at: 40) }
        table.answeredAddress(elsewhere, expect: "→https://1.1.1.1/", at: 50)
        #expect(verdict(table.nextStep(at: 50)) == "next")
        if https == "broken" {
            table.answeredHTTPS(.failure(TransferError(.reset)), at: 60)
            #expect(verdict(table.nextStep(at: 60)) == "captive http://l.test/")
        }
        table.answeredNamed(elsewhere, expect: "204", at: 90)
        #expect(verdict(table.nextStep(at: 90)) == "captive http://l.test/")
    }

    /// One vote for a portal counts if HTTPS stays silent to the end.
    @Test func oneVoteAndSilentHTTPSAreAPortal() {
        var table = table(named: 2, address: true, https: true)
        table.answeredAddress(elsewhere, expect: "→https://1.1.1.1/", at: 10)
        table.answeredNamed(good, expect: "204", at: 20)
        table.answeredNamed(.failure(TransferError(.timeout)), expect: "204", at: 2000)
        #expect(verdict(table.nextStep(at: 2000)) == "wait 3000")
        #expect(verdict(table.nextStep(at: 3000)) == "captive http://l.test/")
    }

    /// A filter leads one check host to a page of its own; two other hosts and HTTPS are good.
    @Test(arguments: [true, false], [true, false]) func aFilterOfOneHostIsNoPortal(redirects: Bool, addressIsFirst: Bool) {
        var table = table(named: 3, address: true, https: true)
        let filter = redirects ? elsewhere : filtered
        let address = EndpointAnswer.success(response(301, headers: [("location", "https://1.1.1.1/")]))
        if addressIsFirst { table.answeredAddress(address, expect: "→https://1.1.1.1/", at: 10) }
        table.answeredNamed(filter, expect: "204", at: 15)
        #expect(verdict(table.nextStep(at: 15)) == (addressIsFirst ? "next" : "wait 515"))
        if !addressIsFirst { table.answeredAddress(address, expect: "→https://1.1.1.1/", at: 60) }
        #expect(verdict(table.nextStep(at: 60)) == "next")
        table.checkedHTTPS(at: 70)
        #expect(verdict(table.nextStep(at: 70)) == "next")
        table.answeredNamed(good, expect: "204", at: 90)
        #expect(verdict(table.nextStep(at: 90)) == "online")
    }

    /// The same if the endpoint without a name cannot be reached.
    @Test func aFilterOfOneHostIsNoPortalWithoutTheAddress() {
        var table = table(named: 3, address: true, https: true)
        table.answeredNamed(filtered, expect: "204", at: 15)
        table.checkedHTTPS(at: 30)
        #expect(verdict(table.nextStep(at: 30)) == "next")
        table.answeredNamed(good, expect: "204", at: 60)
        table.answeredNamed(good, expect: "204", at: 90)
        #expect(verdict(table.nextStep(at: 90)) == "online")
    }

    /// A gateway lets HTTPS to one operator through, and leads all plain HTTP to its portal.
    @Test func goodHTTPSAloneIsNoInternet() {
        var table = table(named: 3, address: true, https: true)
        table.checkedHTTPS(at: 30)
        table.answeredNamed(elsewhere, expect: "204", at: 35)
        #expect(verdict(table.nextStep(at: 35)) == "next")
        table.answeredAddress(elsewhere, expect: "→https://1.1.1.1/", at: 40)
        #expect(verdict(table.nextStep(at: 40)) == "captive http://l.test/")
    }

    /// The endpoint without a name gets as much additional time as the other endpoints took, and HTTPS as much as a slow first answer.
    @Test func theOthersGetTheirTime() {
        var table = table(named: 3, address: true, https: true)
        table.answeredNamed(good, expect: "204", at: 60)
        table.checkedHTTPS(at: 80)
        #expect(verdict(table.nextStep(at: 80)) == "wait 160")
        #expect(verdict(table.nextStep(at: 160)) == "online")
        var slow = self.table(https: true)
        slow.answeredNamed(good, expect: "204", at: 2800)
        #expect(verdict(slow.nextStep(at: 2900)) == "wait 5600")
        slow.checkedHTTPS(at: 4000)
        #expect(verdict(slow.nextStep(at: 4000)) == "online")
    }

    /// An answer from an address says nothing about names. If HTTPS is not asked or its name is unknown, a named endpoint has to answer.
    @Test(arguments: [true, false]) func anAddressAloneIsNotOnline(asksHTTPS: Bool) {
        var table = table(named: 1, address: true, https: asksHTTPS)
        if asksHTTPS { table.answeredHTTPS(.failure(TransferError(.dnsFailed)), at: 20) }
        table.answeredAddress(
            .success(response(301, headers: [("location", "https://1.1.1.1/")])), expect: "→https://1.1.1.1/", at: 60)
        #expect(verdict(table.nextStep(at: 60)) == "wait 3000")
        var nameless = table
        nameless.answeredNamed(.failure(TransferError(.dnsTimeout)), expect: "204", at: 3000)
        #expect(verdict(nameless.nextStep(at: 3000)) == "limited dnsTimeout")
        table.answeredNamed(good, expect: "204", at: 62)
        #expect(verdict(table.nextStep(at: 62)) == "online")
    }

    /// Some gateways redirect only after 5 s, so the requests go on.
    @Test(arguments: [4000, 7000, 9900]) func whereNothingAnswersTheRequestsGoOn(_ milliseconds: Int) {
        var table = table(named: 3, address: true, https: true)
        #expect(verdict(table.nextStep(at: milliseconds - 1)) == "wait 10000")
        table.answeredAddress(elsewhere, expect: "→https://1.1.1.1/", at: milliseconds)
        #expect(verdict(table.nextStep(at: milliseconds)) == "captive http://l.test/")
    }

    /// A filter that does not know the HTTPS host's name proves nothing about HTTPS.
    @Test func anUnknownNameIsNoBrokenHTTPS() {
        var table = table(https: true)
        table.answeredHTTPS(.failure(TransferError(.dnsFailed)), at: 10)
        table.answeredNamed(good, expect: "204", at: 20)
        #expect(verdict(table.nextStep(at: 20)) == "online")
    }

    @Test(arguments: [("0;url=http://l.test/", "captive http://portal.test/page"), ("nonsense", "limited emptyAnswer")])
    func anEmptyAnswerMayLeadOn(_ refresh: String, _ expected: String) {
        #expect(single(.success(response(200, headers: [("refresh", refresh)]))) == expected)
    }

    // MARK: The API beside them

    /// A document that always says captive: a checked HTTPS endpoint outvotes it, and after a login, so does the Internet's answer alone.
    @Test(arguments: [false, true]) func theInternetOutvotesTheAPI(afterALogin: Bool) throws {
        var table = VerdictTable(named: 1, address: false, https: true, api: true, outvotesAPI: afterALogin)
        table.answeredAPI(PortalAPIDocument(octets(#"{"captive":true,"user-portal-url":"https://h.test/w"}"#)), at: 5)
        #expect(verdict(table.nextStep(at: 5)) == "wait 505")
        table.answeredNamed(good, expect: "204", at: 20)
        #expect(verdict(table.nextStep(at: 20)) == "wait 1000")
        var silent = table
        table.checkedHTTPS(at: 30)
        #expect(verdict(table.nextStep(at: 30)) == "online")
        silent.answeredHTTPS(.failure(TransferError(.timeout)), at: 3000)
        #expect(verdict(silent.nextStep(at: 3000)) == (afterALogin ? "partial httpsBlocked" : "captive https://h.test/w"))
    }

    private func toward(_ host: String) -> EndpointAnswer {
        .success(response(302, headers: [("location", "http://\(host)/?from=here")]))
    }

    /// If servers of two operators lead to the same host, the network is captive, even before any name is known.
    @Test func aRememberedAddressMayAgreeWithTheOther() {
        var table = table(named: 3, address: true)
        table.answeredRemembered(toward("l.test"), expect: "204")
        #expect(verdict(table.nextStep(at: 10)) == "wait 3000")
        table.answeredAddress(toward("l.test"), expect: "→https://1.1.1.1/", at: 10)
        #expect(verdict(table.nextStep(at: 10)) == "captive http://l.test/?from=here")
    }

    @Test(arguments: ["other.test", "1.1.1.1"]) func aRememberedAddressAloneDecidesNothing(_ host: String) {
        var table = table(named: 3, address: true)
        table.answeredAddress(toward("l.test"), expect: "→https://1.1.1.1/", at: 10)
        table.answeredRemembered(toward(host), expect: "204")
        #expect(verdict(table.nextStep(at: 10)) == "wait 510")
        table.answeredRemembered(.success(response(204)), expect: "204")
        #expect(verdict(table.nextStep(at: 10)) == "wait 510")
        table.answeredRemembered(.success(response(200, "<html>Welcome")), expect: "204")
        #expect(verdict(table.nextStep(at: 10)) == "wait 510")
    }

    @Test func recognisesTheExpectedRedirect() {
        let table = table()
        guard
            case .asExpected = table.meaning(
                of: .success(response(301, headers: [("location", "https://1.1.1.1/")])), expect: "→https://1.1.1.1/")
        else { return #expect(Bool(false)) }
    }

    @Test func theAPIDecidesOnlyIfCaptive() throws {
        let redirects = RedirectPolicy()
        var table = table(api: true)
        table.answeredAPI(PortalAPIDocument(octets(#"{"captive":true,"user-portal-url":"https://h.test/w"}"#), policy: redirects))
        #expect(verdict(table.nextStep(at: 5)) == "captive https://h.test/w")
        var open = self.table(api: true)
        open.answeredAPI(PortalAPIDocument(octets(#"{"captive":false,"seconds-remaining":60}"#), policy: redirects))
        #expect(verdict(open.nextStep(at: 5)) == "wait 3000")
        open.answeredNamed(.success(response(200, "<html>Log in")), expect: "204")
        #expect(verdict(open.nextStep(at: 5)) == "captive http://portal.test/page")
    }

    @Test func noAnswerIsLimited() {
        #expect(verdict(table(https: true).nextStep(at: 10_000)) == "limited timeout")
    }

    /// If names do not resolve, the endpoint's remembered address shows whether there is a portal.
    @Test(arguments: [(TransferErrorCode.noNameserver, true), (.dnsFailed, true), (.connectFailed, false)])
    func theRememberedAddressIsWaitedForWithoutNames(_ code: TransferErrorCode, isWaitedFor: Bool) {
        var table = table()
        table.asksRemembered = true
        table.answeredNamed(.failure(TransferError(code)), expect: "204")
        #expect(verdict(table.nextStep(at: 10)) == (isWaitedFor ? "wait 10000" : "limited \(code.rawValue)"))
        table.answeredRemembered(.failure(TransferError(.timeout)), expect: "204")
        #expect(verdict(table.nextStep(at: 20)) == "limited \(code.rawValue)")
    }

    /// An answer with a broken header line is not from the endpoint: a browser may be able to read it.
    @Test(arguments: [TransferErrorCode.badHeader, .badAnswer, .reset]) func aBrokenHeaderLineIsAPortals(
        _ code: TransferErrorCode
    ) {
        var table = VerdictTable(named: 1, address: false, https: false, api: false)
        table.answeredNamed(.failure(TransferError(code)), expect: "204")
        guard case .done(let result) = table.nextStep(at: 10) else {
            Issue.record("not decided")
            return
        }
        #expect(result.verdict == (code == .badHeader ? .captive : .limited))
    }
}
