import HotspotCore

/// One login by WISPr as a value: the account, then each answer of the gateway go in, the next move comes out. ``WISPrLogin`` makes the
/// transfers.
package struct WISPrAttempt: Sendable {
    /// The next thing to do.
    package enum Move: Sendable {
        /// Make a request.
        case send(HTTPRequest)
        /// Wait, then make a request.
        case wait(milliseconds: Int, HTTPRequest)
        /// The gateway says that the login worked; the probe decides.
        case done(seconds: Int?, logoff: WebURL?, message: String?)
        /// Ask for another account, with the gateway's words.
        case ask(String?)
        /// Give up, with the reason.
        case end(HelperResult, String)
    }

    /// The most requests for a pending result, and the most redirects of one answer.
    private static let (pollLimit, hopLimit) = (15, 4)
    /// Seconds between two requests for a result where the gateway names none, and the most that it may name.
    private static let (pollInterval, delayLimit) = (2, 5)

    private let login: WebURL
    private let pin: String
    private let redirects: RedirectPolicy
    /// Whether a URL leads to an address of the link's own networks.
    private let leadsInside: @Sendable (WebURL) -> Bool
    private var secret = ""
    private var results: String?
    private var (polls, hops) = (0, 0)

    package init(login: WebURL, pin: String, redirects: RedirectPolicy, leadsInside: @escaping @Sendable (WebURL) -> Bool) {
        self.login = login
        self.pin = pin
        self.redirects = redirects
        self.leadsInside = leadsInside
    }

    /// Returns the move that posts the account.
    package mutating func begin(user: String, password: String, probed: WebURL) -> Move {
        secret = "=" + WebURL.encode([(password, "")]).dropLast()
        var request = HTTPRequest(
            posting: [
                ("UserName", user), ("Password", password), ("button", "Login"), ("FNAME", "0"),
                ("OriginatingServer", probed.origin + probed.path),
            ], to: login)
        request.requiredPin = pin
        return .send(request)
    }

    /// Returns the move after an answer.
    mutating func receive(_ response: HTTPResponse) -> Move {
        guard let document = WISPrDocument.find(in: response.body) else {
            // Some gateways redirect once more.
            guard let location = response.location, hops < Self.hopLimit else {
                return .end(.temporaryFailure, "The gateway answered with no result.")
            }
            hops += 1
            do throws(TransferError) {
                return .send(HTTPRequest(try redirects.target(of: location, from: response.url)))
            } catch {
                return .end(.temporaryFailure, error.description)
            }
        }
        hops = 0
        results = document.resultsURL ?? results
        let message = document.message
        switch document.responseCode {
        case 50:
            let logoff = document.logoffURL.flatMap { try? redirects.target(of: $0, from: login) }
            return .done(seconds: document.sessionSeconds, logoff: logoff, message: message)
        case 100: return .ask(message)
        case 105: return .end(.unsupportedNetwork, message ?? "The gateway has no login for this account.")
        case 102, 255: return .end(.temporaryFailure, message ?? "The gateway's login service does not work at present.")
        case 201:
            guard polls < Self.pollLimit, let request = poll() else {
                return .end(.temporaryFailure, "The gateway gave no result in time.")
            }
            // CoovaChilli's first result is the login itself, which waits for the client.
            let seconds = document.delay ?? (polls == 0 ? 0 : Self.pollInterval)
            polls += 1
            return .wait(milliseconds: min(seconds, Self.delayLimit) * 1000, request)
        case let code:
            return .end(.temporaryFailure, message ?? "The gateway answered with \(code.map { "code \($0)" } ?? "no result").")
        }
    }

    /// Returns the move after a request without an answer, if that says something: CoovaChilli 1.9 closes the connection where the
    /// account is refused.
    func lost(_ error: TransferError) -> Move? {
        guard polls > 0, error.code == .emptyAnswer else { return nil }
        return .ask("The gateway gave no result; user name or password may be wrong.")
    }

    /// Returns the request for a pending result: at the login's origin, or at the gateway itself, which CoovaChilli names. It must not
    /// repeat the password; the name and a digest are usual there.
    private func poll() -> HTTPRequest? {
        guard let results, let url = try? redirects.target(of: results, from: login),
            url.origin == login.origin || leadsInside(url)
        else { return nil }
        let isOwn = url.origin == login.origin
        guard isOwn || secret.utf8.count < 4 || !url.text.contains(secret) else { return nil }
        var request = HTTPRequest(url)
        if isOwn { request.requiredPin = pin }
        return request
    }
}
