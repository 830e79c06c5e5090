import HotspotCore
import Testing

@testable import HelperKit

/// The verdict table, row by row.
@Suite struct TrialTests {
    private func trial(named: Int = 1, address: Bool = false, https: Bool = false, api: Bool = false) -> Trial {
        Trial(named: named, address: address, https: https, api: api)
    }

    private func verdict(_ decision: Trial.Decision) -> String {
        switch decision {
        case .done(let result):
            [result.verdict.rawValue, result.problem, result.portalURL?.text].compactMap { $0 }.joined(separator: " ")
        case .next: "next"
        case .wait(let until): "wait \(until)"
        }
    }

    private func single(_ answer: ProbeAnswer, expect: String = "204") -> String {
        var trial = trial()
        trial.answeredNamed(answer, expect: expect)
        return verdict(trial.decision(at: 100))
    }

    @Test func expectedAnswersAreOnline() {
        #expect(single(.response(response(204))) == "online")
        #expect(single(.response(response(204, "body"))) == "online")
        #expect(single(.response(response(200, "success\n")), expect: "success") == "online")
        #expect(single(.response(response(200, "success!")), expect: "success") == "captive http://portal.test/page")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreCaptive(_ status: Int) {
        let good = response(status, headers: [("location", "https://login.test/p?x=1")])
        #expect(single(.response(good)) == "captive https://login.test/p?x=1")
        for bad in ["", "file:///x", "http://user@x/", "http://x:22/"] {
            #expect(single(.response(response(status, headers: [("location", bad)]))) == "captive http://portal.test/page")
        }
        #expect(single(.response(response(status))) == "captive http://portal.test/page")
    }

    @Test func otherPagesAreCaptive() {
        #expect(single(.response(response(200, "<html>Log in"))) == "captive http://portal.test/page")
        #expect(single(.response(response(511))) == "captive http://portal.test/page")
    }

    @Test(arguments: [401, 403, 404, 500, 503])
    func errorsWithAPortalInsideAreCaptive(_ status: Int) {
        for body in [
            "<form><input name=x><input type=submit></form>", "<meta http-equiv=refresh content='0;url=/x'>",
            "<script>location='/x'</script>",
            "<!-- <WISPAccessGatewayParam><Redirect><MessageType>100</MessageType></Redirect></WISPAccessGatewayParam> -->",
        ] {
            #expect(single(.response(response(status, body))) == "captive http://portal.test/page")
        }
        #expect(single(.response(response(status, "<p>sorry"))) == "limited status\(status)")
    }

    @Test func nothingToLogInToIsLimited() {
        #expect(single(.response(response(200))) == "limited emptyAnswer")
        #expect(single(.response(response(200, "ok!!"))) == "limited emptyAnswer")
        #expect(single(.response(response(418, "<form><input name=x></form>"))) == "limited status418")
        var trial = trial(named: 3)
        trial.answeredNamed(.response(response(200)), expect: "204")
        #expect(verdict(trial.decision(at: 100)) == "next")
        trial.answeredNamed(.response(response(200)), expect: "204")
        #expect(verdict(trial.decision(at: 100)) == "limited emptyAnswer")
    }

    @Test func failuresKeepTheirNames() {
        for code in [TransferError.Code.dnsFailed, .dnsTimeout, .connectFailed, .timeout, .reset, .emptyAnswer] {
            #expect(single(.failure(TransferError(code))) == "limited \(code.rawValue)")
        }
    }

    @Test(arguments: [("7", 7.0), ("900", 60), ("Sat, 21 Nov 2026 10:00:20 GMT", 20)])
    func waitsAsTold(_ text: String, _ seconds: Double) {
        var trial = trial()
        let answer = response(503, headers: [("retry-after", text), ("date", "Sat, 21 Nov 2026 10:00:00 GMT")])
        trial.answeredNamed(.response(answer), expect: "204")
        guard case .done(let result) = trial.decision(at: 0) else { return #expect(Bool(false)) }
        #expect(result.verdict == .limited)
        #expect(result.retryAfter == seconds)
    }

    @Test(arguments: ["-3", "soon", "", "Sat, 21 Nov 2020 10:00:20 GMT"])
    func ignoresNonsensicalWaits(_ text: String) {
        var trial = trial()
        let answer = response(503, headers: [("retry-after", text), ("date", "Sat, 21 Nov 2026 10:00:00 GMT")])
        trial.answeredNamed(.response(answer), expect: "204")
        guard case .done(let result) = trial.decision(at: 0) else { return #expect(Bool(false)) }
        #expect(result.retryAfter == nil)
    }

    // MARK: Beside HTTP

    @Test func httpsAgreesOrIsSilent() {
        var trial = trial(https: true)
        trial.answeredNamed(.response(response(204)), expect: "204")
        #expect(verdict(trial.decision(at: 100)) == "wait 1000")
        #expect(verdict(trial.decision(at: 1000)) == "online")
        trial.answeredHTTPS(.response(response(204)))
        #expect(verdict(trial.decision(at: 100)) == "online")
    }

    @Test(arguments: [TransferError.Code.tlsFailed, .reset, .connectFailed])
    func httpsBroken(_ code: TransferError.Code) {
        var trial = trial(https: true)
        trial.answeredHTTPS(.failure(TransferError(code)))
        #expect(verdict(trial.decision(at: 100)) == "wait 3000")
        trial.answeredNamed(.response(response(204)), expect: "204")
        #expect(verdict(trial.decision(at: 100)) == "partial httpsBlocked")
    }

    @Test func aWrongClockIsNoInterception() {
        var trial = trial(https: true)
        trial.answeredNamed(.response(response(204)), expect: "204")
        trial.answeredHTTPS(.failure(TransferError(.clockWrong)))
        #expect(verdict(trial.decision(at: 100)) == "partial clockWrong")
    }

    @Test func httpBlocked() {
        var trial = trial(https: true)
        trial.answeredNamed(.failure(TransferError(.timeout)), expect: "204")
        #expect(verdict(trial.decision(at: 100)) == "wait 3000")
        trial.answeredHTTPS(.response(response(204)))
        #expect(verdict(trial.decision(at: 100)) == "online httpBlocked")
    }

    @Test func aRedirectDoesNotWaitForHTTPS() {
        var trial = trial(address: true, https: true, api: true)
        trial.answeredNamed(.response(response(302, headers: [("location", "http://l.test/")])), expect: "204")
        #expect(verdict(trial.decision(at: 5)) == "captive http://l.test/")
    }

    @Test func theAddressDecidesWithoutNames() {
        var trial = trial(named: 1, address: true)
        trial.answeredNamed(.failure(TransferError(.dnsTimeout)), expect: "204")
        #expect(verdict(trial.decision(at: 900)) == "wait 3000")
        trial.answeredAddress(
            .response(response(302, headers: [("location", "http://l.test/")])), expect: "→https://1.1.1.1/", at: 900)
        #expect(verdict(trial.decision(at: 900)) == "captive http://l.test/")
    }

    @Test func theNamedEndpointMayContradictTheAddress() {
        var trial = trial(named: 3, address: true)
        trial.answeredAddress(
            .response(response(302, headers: [("location", "http://l.test/")])), expect: "→https://1.1.1.1/", at: 10)
        #expect(verdict(trial.decision(at: 10)) == "wait 510")
        #expect(verdict(trial.decision(at: 510)) == "captive http://l.test/")
        trial.answeredNamed(.response(response(204)), expect: "204")
        #expect(verdict(trial.decision(at: 20)) == "online")
    }

    @Test func theAddressAnswersAsExpected() {
        let trial = trial()
        guard
            case .asExpected = trial.meaning(
                of: .response(response(301, headers: [("location", "https://1.1.1.1/")])), expect: "→https://1.1.1.1/")
        else { return #expect(Bool(false)) }
    }

    @Test func theAPIWinsWithCaptiveOnly() throws {
        let redirects = RedirectPolicy()
        var trial = trial(api: true)
        trial.answeredAPI(PortalAPIDocument(octets(#"{"captive":true,"user-portal-url":"https://h.test/w"}"#), policy: redirects))
        #expect(verdict(trial.decision(at: 5)) == "captive https://h.test/w")
        var open = self.trial(api: true)
        open.answeredAPI(PortalAPIDocument(octets(#"{"captive":false,"seconds-remaining":60}"#), policy: redirects))
        #expect(verdict(open.decision(at: 5)) == "wait 3000")
        open.answeredNamed(.response(response(200, "<html>Log in")), expect: "204")
        #expect(verdict(open.decision(at: 5)) == "captive http://portal.test/page")
    }

    @Test func silenceIsLimited() {
        #expect(verdict(trial(https: true).decision(at: 3000)) == "limited timeout")
    }
}
