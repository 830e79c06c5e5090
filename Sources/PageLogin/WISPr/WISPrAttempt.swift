import BoundHTTP
import HotspotCore
import PortalPages

/// One login by WISPr, as a value: takes each answer of the gateway and returns the next move. ``LoginDriver`` runs the loop.
package struct WISPrAttempt: LoginSteps {
    /// The largest numbers of requests for a pending result, and of redirects of one answer.
    private static let (pollLimit, hopLimit) = (15, 4)
    /// The pause between two requests for a result if the gateway names none, and the longest pause that it may name, in seconds.
    private static let (pollInterval, delayLimit) = (2, 5)

    /// The portal with the TLS key for which the account was released. If the portal's key has changed since, the new key is used.
    package private(set) var live: Portal
    package var engine: FormEngine
    /// The address of the login.
    package let formPage: WebURL
    private let account: (user: String, password: String)?
    private let probed: WebURL
    /// Fetches the portal's present key.
    private let fetchPin: @Sendable () -> String?
    private var results: String?
    private var (polls, hops) = (0, 0)
    /// The gateway's document that reports success.
    private(set) var granted: WISPrDocument?

    /// - Parameters: - account: the account, if there is one for this portal. - probed: the address that was probed.
    package init(
        _ account: (user: String, password: String)?, at live: Portal, login: WebURL, probed: WebURL, engine: FormEngine,
        fetchPin: @escaping @Sendable () -> String? = { nil }
    ) {
        (self.account, self.live, formPage, self.probed) = (account, live, login, probed)
        (self.engine, self.fetchPin) = (engine, fetchPin)
    }

    package var hasSent: Bool { account != nil }

    /// The address that ends the session.
    var logoff: WebURL? { granted?.logoffURL.flatMap { try? engine.redirects.target(of: $0, from: formPage) } }

    /// Returns the move that sends the account, or asks the user for an account.
    package mutating func next() -> LoginMove {
        guard let account else { return ask(nil) }
        let request = HTTPRequest(
            posting: [
                ("UserName", account.user), ("Password", account.password), ("button", "Login"), ("FNAME", "0"),
                ("OriginatingServer", probed.origin + probed.path),
            ], to: formPage)
        return .request(request, carriesAnswers: true, follows: false)
    }

    package mutating func arrive(_ chain: RedirectChain) -> LoginMove? { receive(chain.final) }

    /// Returns the move after a request without an answer. CoovaChilli 1.9 closes the connection when it refuses the account.
    package mutating func fail(_ error: TransferError, of move: LoginMove) -> LoginMove? {
        if error.code == .keyChanged {
            // The credential was released for another key, so the user decides about this portal.
            live.pin = fetchPin()
            return ask("This portal's key has changed, so nothing was sent.")
        }
        guard polls > 0, error.code == .emptyAnswer else { return .end(.temporaryFailure, error.description) }
        return refuse("The gateway gave no result; the user name or the password may be wrong.")
    }

    /// Returns the move after an answer.
    private mutating func receive(_ response: HTTPResponse) -> LoginMove {
        guard let document = WISPrDocument.find(in: response.body) else {
            // Some gateways redirect once more.
            guard let location = response.location, hops < Self.hopLimit else {
                return .end(.temporaryFailure, "The gateway's answer contains no result.")
            }
            hops += 1
            do throws(TransferError) {
                let request = HTTPRequest(try engine.redirects.target(of: location, from: response.url))
                return .request(request, carriesAnswers: false, follows: false)
            } catch {
                return .end(.temporaryFailure, error.description)
            }
        }
        hops = 0
        results = document.resultsURL ?? results
        let message = document.message
        switch document.responseCode {
        case 50:
            granted = document
            return .done
        case 100: return refuse(message)
        case 105: return .end(.unsupportedNetwork, message ?? "The gateway does not accept this kind of account.")
        case 102, 255: return .end(.temporaryFailure, message ?? "The gateway's login service does not work now.")
        case 201:
            guard polls < Self.pollLimit, let request = poll() else {
                return .end(.temporaryFailure, "The gateway gave no result in time.")
            }
            // With CoovaChilli, the first request for a result is the login itself, so it is sent at once.
            let seconds = document.delay ?? (polls == 0 ? 0 : Self.pollInterval)
            polls += 1
            let isOwn = request.url.origin == formPage.origin
            return .request(request, carriesAnswers: isOwn, follows: false, wait: min(seconds, Self.delayLimit))
        case let code:
            return .end(.temporaryFailure, message ?? "The gateway answered with \(code.map { "code \($0)" } ?? "no result").")
        }
    }

    /// Asks the user for another account, and shows the gateway's words.
    private func refuse(_ words: String?) -> LoginMove {
        ask(words ?? "The gateway did not accept the user name and password.", reason: words, user: account?.user)
    }

    func ask(_ message: String?, reason: String? = nil, user: String? = nil) -> LoginMove {
        let prompt = Prompt(
            title: live.title ?? live.origin, message: message,
            fields: [
                Field(name: "UserName", label: "User name", kind: .text, required: true, value: user),
                Field(name: "Password", label: "Password", kind: .password, required: true),
            ])
        return .ask(prompt, reason: reason)
    }

    /// Returns the request for a pending result: at the login's origin, or at the gateway itself, which CoovaChilli names. The request must not
    /// repeat the password; it usually contains the name and a digest.
    private func poll() -> HTTPRequest? {
        guard let results, let account, let url = try? engine.redirects.target(of: results, from: formPage),
            url.origin == formPage.origin || engine.leadsInside(url)
        else { return nil }
        let secret = "=" + WebURL.encode([(account.password, "")]).dropLast()
        guard url.origin == formPage.origin || secret.utf8.count < 4 || !url.text.contains(secret) else { return nil }
        return HTTPRequest(url)
    }
}
