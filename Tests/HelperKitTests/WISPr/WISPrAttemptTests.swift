import Testing

@testable import HelperKit

/// The moves of a WISPr login, without a network.
@Suite struct WISPrAttemptTests {
    private let login = WebURL("https://uam.test/login")!

    private func attempt() -> WISPrAttempt {
        var attempt = WISPrAttempt(login: login, pin: "key", redirects: RedirectPolicy()) { $0.host == "10.1.0.1" }
        _ = attempt.begin(user: "rider", password: "tunnel-vision", probed: WebURL("http://probe.test/204?x=1")!)
        return attempt
    }

    private func reply(_ code: Int, _ inner: String = "") -> HTTPResponse {
        response(
            200,
            "<WISPAccessGatewayParam><R><MessageType>120</MessageType><ResponseCode>\(code)</ResponseCode>\(inner)</R></WISPAccessGatewayParam>",
            url: login.text)
    }

    private func words(_ move: WISPrAttempt.Move) -> String {
        switch move {
        case .send(let request): "send \(request.url.text)"
        case .wait(let milliseconds, let request): "wait \(milliseconds) \(request.url.text) \(request.requiredPin ?? "")"
        case .done(let seconds, let logoff, let message): "done \(seconds ?? 0) \(logoff?.text ?? "") \(message ?? "")"
        case .ask(let message): "ask \(message ?? "")"
        case .end(let result, let reason): "\(result.rawValue): \(reason)"
        }
    }

    @Test(arguments: [
        (50, "<LogoffURL>/off</LogoffURL><ReplyMessage>Hi</ReplyMessage>", "done 0 https://uam.test/off Hi"),
        (100, "<ReplyMessage>Unknown rider</ReplyMessage>", "ask Unknown rider"),
        (105, "", "unsupportedNetwork: The gateway has no login for this account."),
        (102, "", "temporaryFailure: The gateway's login service does not work at present."),
        (7, "", "temporaryFailure: The gateway answered with code 7."),
        (201, "<LoginResultsURL>/poll</LoginResultsURL>", "wait 0 https://uam.test/poll key"),
        (201, "<Delay>3</Delay><LoginResultsURL>/poll</LoginResultsURL>", "wait 3000 https://uam.test/poll key"),
        (201, "<Delay>600</Delay><LoginResultsURL>/poll</LoginResultsURL>", "wait 5000 https://uam.test/poll key"),
        // CoovaChilli: the gateway itself has the result, with the name and a digest in the address.
        (
            201, "<LoginResultsURL><![CDATA[http://10.1.0.1:3990/logon?username=rider&response=ab]]></LoginResultsURL>",
            "wait 0 http://10.1.0.1:3990/logon?username=rider&response=ab "
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
        #expect(words(attempt.receive(reply(code, inner))) == move)
    }

    @Test func pollsForATime() {
        var attempt = attempt()
        for number in 0..<15 {
            let move = attempt.receive(reply(201, "<LoginResultsURL>/poll</LoginResultsURL>"))
            #expect(words(move).hasPrefix(number == 0 ? "wait 0 " : "wait 2000 "))
        }
        #expect(words(attempt.receive(reply(201))).hasPrefix("temporaryFailure"))
    }

    /// A result that is not told is a refusal, as at CoovaChilli 1.9; an account whose own request is not answered may be right.
    @Test func asksAfterALostResult() {
        var attempt = attempt()
        #expect(attempt.lost(TransferError(.emptyAnswer)).map(words) == nil)
        _ = attempt.receive(reply(201, "<LoginResultsURL>/poll</LoginResultsURL>"))
        #expect(attempt.lost(TransferError(.emptyAnswer)).map(words)?.hasPrefix("ask The gateway gave no result") == true)
        #expect(attempt.lost(TransferError(.timeout)).map(words) == nil)
    }

    @Test func followsFewRedirects() {
        var attempt = attempt()
        let away = response(302, "", url: login.text, headers: [("location", "/next")])
        for _ in 0..<4 { #expect(words(attempt.receive(away)) == "send https://uam.test/next") }
        #expect(words(attempt.receive(away)).hasPrefix("temporaryFailure"))
    }
}
