import HotspotCore
import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// The moves of a WISPr login, without a network.
@Suite struct WISPrAttemptTests {
    private let login = WebURL("https://uam.test/login")!

    private func attempt() -> WISPrAttempt {
        var engine = FormEngine(for: RedirectPolicy())
        engine.leadsInside = { $0.host == "10.1.0.1" }
        return WISPrAttempt(
            ("rider", "tunnel-vision"), at: Portal(origin: login.origin, pin: "key", kind: "wispr"), login: login,
            probed: WebURL("http://probe.test/204?x=1")!, engine: engine)
    }

    private func reply(_ code: Int, _ inner: String = "") -> HTTPResponse {
        response(
            200,
            "<WISPAccessGatewayParam><R><MessageType>120</MessageType><ResponseCode>\(code)</ResponseCode>\(inner)</R></WISPAccessGatewayParam>",
            url: login.text)
    }

    /// Returns the move after an answer, in words.
    private func words(_ attempt: inout WISPrAttempt, _ answer: HTTPResponse) -> String {
        let move = attempt.arrive(RedirectChain(answer))
        guard case .done = move, let granted = attempt.granted else { return words(move) }
        return "done \(granted.sessionSeconds ?? 0) \(attempt.logoff?.text ?? "") \(granted.message ?? "")"
    }

    private func words(_ move: LoginMove?) -> String {
        switch move {
        case .request(let request, let carriesAnswers, false, let wait):
            "wait \(wait) \(request.url.text)\(carriesAnswers ? " key" : "")"
        case .ask(_, _, let reason): "ask \(reason ?? "")"
        case .end(let result, let reason): "\(result.rawValue): \(reason)"
        case .submit, .request, .render, .probe, .done, .leave, nil: "another move"
        }
    }

    @Test(arguments: [
        (50, "<LogoffURL>/off</LogoffURL><ReplyMessage>Hi</ReplyMessage>", "done 0 https://uam.test/off Hi"),
        (100, "<ReplyMessage>Unknown rider</ReplyMessage>", "ask Unknown rider"),
        (105, "", "unsupportedNetwork: The gateway does not accept this kind of account."),
        (102, "", "temporaryFailure: The gateway's login service does not work now."),
        (7, "", "temporaryFailure: The gateway answered with code 7."),
        (201, "<LoginResultsURL>/poll</LoginResultsURL>", "wait 0 https://uam.test/poll key"),
        (201, "<Delay>3</Delay><LoginResultsURL>/poll</LoginResultsURL>", "wait 3 https://uam.test/poll key"),
        (201, "<Delay>600</Delay><LoginResultsURL>/poll</LoginResultsURL>", "wait 5 https://uam.test/poll key"),
        // CoovaChilli: the gateway itself has the result, with the name and a digest in the address.
        (
            201, "<LoginResultsURL><![CDATA[http://10.1.0.1:3990/logon?username=rider&response=ab]]></LoginResultsURL>",
            "wait 0 http://10.1.0.1:3990/logon?username=rider&response=ab"
        ),
        (
            201, "<LoginResultsURL>http://10.1.0.1:3990/logon?password=tunnel-vision</LoginResultsURL>",
            "temporaryFailure: The gateway gave no result in time."
        ),
        (
            201, "<LoginResultsURL>http://elsewhere.test/poll</LoginResultsURL>",
            "temporaryFailure: The gateway gave no result in time."
        ),
        (201, "", "temporaryFailure: The gateway gave no result in time."),
    ]) func decides(_ code: Int, _ inner: String, _ move: String) {
        var attempt = attempt()
        #expect(words(&attempt, reply(code, inner)) == move)
    }

    @Test func pollsForATime() {
        var attempt = attempt()
        for number in 0..<15 {
            let move = words(&attempt, reply(201, "<LoginResultsURL>/poll</LoginResultsURL>"))
            #expect(move.hasPrefix(number == 0 ? "wait 0 " : "wait 2 "))
        }
        #expect(words(&attempt, reply(201)).hasPrefix("temporaryFailure"))
    }

    /// A missing result is a refusal, as with CoovaChilli 1.9. If the login's own request got no answer, the account may be right.
    @Test func asksAfterALostResult() {
        var attempt = attempt()
        let post = attempt.next()
        func fail(_ code: TransferErrorCode) -> String { words(attempt.fail(TransferError(code), of: post)) }
        #expect(fail(.emptyAnswer).hasPrefix("temporaryFailure"))
        _ = words(&attempt, reply(201, "<LoginResultsURL>/poll</LoginResultsURL>"))
        #expect(fail(.emptyAnswer).hasPrefix("ask The gateway gave no result"))
        #expect(fail(.timeout).hasPrefix("temporaryFailure"))
    }

    @Test func followsFewRedirects() {
        var attempt = attempt()
        let away = response(302, "", url: login.text, headers: [("location", "/next")])
        for _ in 0..<4 { #expect(words(&attempt, away) == "wait 0 https://uam.test/next") }
        #expect(words(&attempt, away).hasPrefix("temporaryFailure"))
    }
}
