import BoundHTTP
import HotspotCore
import PortalPages

/// The next thing to do in a login.
package indirect enum LoginMove: Sendable {
    /// Submit the form.
    case submit(FilledForm, HTMLForm)
    /// Send the request after this many seconds; `follows` allows following the redirects of its answer.
    case request(HTTPRequest, carriesAnswers: Bool, follows: Bool, wait: Int = 0)
    /// Probe for at most this number of seconds.
    case probe(seconds: Int)
    /// Ask the user. The form is kept if its page cannot be fetched again; the reason is given if only a browser can continue.
    case ask(Prompt, keeping: HTMLForm? = nil, reason: String? = nil)
    /// Run the page's scripts in a browser, because of a rule. Without a browser, make the other move.
    case render(because: RuleName, orElse: LoginMove)
    /// The portal asks no more questions; the probe decides.
    case done
    /// Give up, with the reason.
    case end(HelperResult, String)
    /// Send nothing: the page imitates this company.
    case leave(ImitatedBrand)
}

extension LoginMove {
    /// The move to make without a browser.
    package var withoutBrowser: LoginMove { if case .render(_, let other) = self { other } else { self } }
}

/// The decisions of one way to log in, as a value: takes an answer and returns the next move. ``LoginDriver`` runs the loop.
package protocol LoginSteps: Sendable {
    /// The portal of the login.
    var live: Portal { get }
    /// The portal that asks at present; redirects change it.
    var asking: Portal { get }
    /// The page from which forms and requests are sent.
    var formPage: WebURL { get }
    /// The user's consent to terms, and the agreements to unusual ways of sending.
    var engine: FormEngine { get set }
    /// The terms that the last move accepts.
    var shownTerms: ShownTerms? { get }
    /// The agreements that an answer to the last prompt implies.
    var impliedAgreements: [String] { get }
    /// Whether the portal received something that may have opened the network.
    var hasSent: Bool { get }

    /// Returns the next move.
    mutating func next() -> LoginMove
    /// Notes that a move is carried out now, and whether the user accepts terms with it.
    mutating func begin(_ move: LoginMove, acceptingTerms: Bool)
    /// Returns the move after an answer, or `nil` if ``next()`` decides.
    mutating func arrive(_ chain: RedirectChain) -> LoginMove?
    /// Returns the move after a request without an answer, or `nil` if ``next()`` decides.
    mutating func fail(_ error: TransferError, of move: LoginMove) -> LoginMove?
    /// Continues from the page as a browser shows it.
    mutating func show(_ chain: RedirectChain)
    /// Returns the move after ``LoginMove/probe(seconds:)``, or `nil` if ``next()`` decides.
    mutating func probed(isOpen: Bool) -> LoginMove?
    /// Returns how long to wait for the network to open before a move; `nil` if the move does not depend on the network.
    func patience(before move: LoginMove) -> Patience?
    /// Returns the move once it is known whether the network is open.
    mutating func settle(_ move: LoginMove, isOpen: Bool) -> LoginMove
}

/// How long a network may take to open: one probe, or some seconds if the portal shows its login again until the network is open.
package enum Patience: Sendable { case once, seconds }

extension LoginSteps {
    package var asking: Portal { live }
    package var shownTerms: ShownTerms? { nil }
    package var impliedAgreements: [String] { [] }
    package mutating func begin(_ move: LoginMove, acceptingTerms: Bool) {}
    package mutating func probed(isOpen: Bool) -> LoginMove? { nil }
    package mutating func show(_ chain: RedirectChain) {}
    /// A gateway may open the network and break off its answer, so the probe decides.
    package func patience(before move: LoginMove) -> Patience? {
        if case .end(.temporaryFailure, _) = move, hasSent { .once } else { nil }
    }
    package mutating func settle(_ move: LoginMove, isOpen: Bool) -> LoginMove { isOpen ? .done : move }
}

/// Carries out the moves of a login.
package protocol LoginCarrier {
    /// The client that reads terms of use.
    var client: HTTPClient { get }
    /// Submits a form. Throws ``TransferError``.
    mutating func submit(_ filled: FilledForm, for steps: some LoginSteps) throws(TransferError) -> RedirectChain
    /// Sends a request. Throws ``TransferError``.
    mutating func send(
        _ request: HTTPRequest, carriesAnswers: Bool, follows: Bool, for steps: some LoginSteps
    ) throws(TransferError) -> RedirectChain
    /// The browser's page, if the login continues in a browser.
    var shown: RedirectChain? { get }
    /// The sentence that tells the user which browser to install for a page that needs its scripts; `nil` if no browser is missing.
    var missingBrowser: String? { get }
    /// Opens the page in a browser. Returns `nil` if there is no browser, or if the page is already open in one. Throws ``TransferError``.
    mutating func render(for steps: some LoginSteps, because rule: RuleName) throws(TransferError) -> RedirectChain?
    /// Forgets the key of an origin.
    mutating func forgetKey(of target: WebURL)
    /// Writes keys and cookies into a session's memory.
    ///
    /// - Parameter isAsking: whether the user is asked, so that the login continues with a later command.
    func keep(in memory: inout SessionMemory, isAsking: Bool)
}

extension LoginCarrier {
    package var shown: RedirectChain? { nil }
    package var missingBrowser: String? { nil }
    package mutating func render(for steps: some LoginSteps, because rule: RuleName) throws(TransferError) -> RedirectChain? {
        nil
    }
}
