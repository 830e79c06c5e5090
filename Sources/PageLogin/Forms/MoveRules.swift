import BoundHTTP
import HotspotCore
import PortalPages

/// The next move after a page.
enum MoveRuling: Sendable {
    case send(FilledForm, HTMLForm)
    /// Ask the user the questions of a form of this page.
    case ask(Prompt, HTMLForm, on: TypedPage)
    /// The portal asks no more questions; the probe decides.
    case done
    /// Give up, with the reason.
    case end(HelperResult, String)
    /// Only a browser can continue; with the reason.
    case handOver(String)
}

/// The first page of a login, before its forms are judged.
struct FirstPageCase: Sendable {
    let page: TypedPage
    let url: WebURL
    /// Whether stored answers were released for this portal, so that it is known.
    var isKnown = false

    init(_ page: TypedPage, at url: WebURL, isKnown: Bool = false) {
        (self.page, self.url, self.isKnown) = (page, url, isKnown)
    }

    enum Ruling: Sendable {
        /// The page does not belong to a portal; with the result and the reason.
        case none(HelperResult, String)
        case imitation(ImitatedBrand)
        case portal
    }

    /// Is the first page a portal's?
    static let rules: [PageRule<FirstPageCase, Ruling>] = [
        PageRule("P1", "hotspotd does not use a login for the administrators of a device or the staff of a venue.") {
            $0.page.isAdministrators
                ? .none(
                    .unsupportedNetwork,
                    "The page is a login for administrators or staff, not for guests; nothing was sent.") : nil
        },
        PageRule("P2", "hotspotd does not answer a page that asks for the key of a Wi-Fi network.") {
            $0.page.asksForKey
                ? .none(
                    .unsupportedNetwork,
                    "The page asks for the key of a Wi-Fi network, which no portal needs; nothing was sent.") : nil
        },
        PageRule("P3", "If the page says that the network blocks access, it is not a login.") {
            $0.page.announcement.has(.blocked)
                ? .none(.unsupportedNetwork, "The page says that the network blocks access; it is not a login.") : nil
        },
        // A portal's login page may also say that its guests are not connected, so this rule needs a page without a login.
        PageRule(
            "P4", "If the page says that the network has no Internet connection, and has no login, hotspotd tries again later."
        ) {
            $0.page.onlyTells && $0.page.announcement.has(.offline)
                ? .none(.temporaryFailure, "The page says that this network has no Internet connection now.") : nil
        },
        PageRule("P5", "If the page says that the session has ended, and has no login, hotspotd tries again later.") {
            $0.page.onlyTells && $0.page.announcement.has(.ended)
                ? .none(.temporaryFailure, "The page says that the session has ended.") : nil
        },
        PageRule(
            "P6", "hotspotd does not answer a page that imitates a well-known company, unless answers are stored for the portal."
        ) {
            $0.isKnown ? nil : ImitatedBrand.imitated(by: $0.page.page, at: $0.url).map(Ruling.imitation)
        },
        PageRule("P7", "Any other page may be a portal's.") { _ in .portal },
    ]

    var ruled: Ruled<Ruling> { Self.rules.ruling(on: self) }

    /// Whether the page does not belong to a portal, whatever it imitates.
    var isNoPortals: Bool { if case .none = FirstPageCase(page, at: url, isKnown: true).ruled.ruling { true } else { false } }
}

/// A first page without anything to fill in or press.
struct NoLoginCase: Sendable {
    let page: TypedPage
    let url: WebURL
    let link: Link
    /// Whether the page offers to log off.
    let offersLogoff: Bool
    /// Whether the page says that something was refused.
    let isRefusal: Bool
    /// The page's words, to follow a sentence of hotspotd.
    let says: String

    private static let needsBrowser = MoveRuling.handOver("This page needs a browser.")
    /// Octets of text below which a page that loads scripts counts as empty without them.
    private static let bareText = 40

    /// What does a first page without a login mean?
    static let rules: [PageRule<NoLoginCase, MoveRuling>] = [
        PageRule(
            "N1", "A page that took too long to read is handed to a browser, because hotspotd may have missed a login.",
            needsScripts: true
        ) {
            $0.page.isTooComplicated ? .handOver(HTMLReader.complicatedReason) : nil
        },
        PageRule("N2", "A page that leads out of the portal, or sounds like the end of a login, ends the login.") {
            RedirectChain.leadsOut($0.page.page, at: $0.url, on: $0.link) || $0.page.soundsLikeSuccess ? .done : nil
        },
        PageRule(
            "N3", "A page that is too large is handed to a browser, because hotspotd may have missed a login.", needsScripts: true
        ) {
            $0.page.isTruncated ? .handOver("The page is too large, and the part that hotspotd read contains no form.") : nil
        },
        PageRule("N4", "A page that offers to log off shows an existing session.") {
            $0.offersLogoff && !$0.page.hasLooseField && !$0.isBare ? .done : nil
        },
        PageRule("N5", "A page is handed to a browser if a script or a frame is likely to contain the login.", needsScripts: true)
        {
            $0.page.isScripted ? needsBrowser : nil
        },
        PageRule("N6", "A page is handed to a browser if its link to the next page works only with a script.", needsScripts: true)
        { page in
            page.page.links.contains { $0.isInert && $0.goesOn } ? needsBrowser : nil
        },
        PageRule(
            "N7", "A page that loads scripts is handed to a browser if it contains fewer than 40 octets of text without them.",
            needsScripts: true
        ) {
            $0.isBare ? needsBrowser : nil
        },
        PageRule(
            "N8",
            "A page with scripts, and with terms but no control to accept them, is handed to a browser: a script adds the control.",
            needsScripts: true
        ) {
            $0.page.hasScripts && $0.page.words.bindsReader ? needsBrowser : nil
        },
        PageRule(
            "N9",
            "A page is handed to a browser if it logs in with another company's account, or with a picture that another device scans."
        ) {
            !$0.isRefusal && ($0.page.offersSocialLogin || $0.page.asksToScan) ? needsBrowser : nil
        },
        PageRule("N10", "A page is handed to a browser if several links may lead on, and hotspotd cannot tell which link does.") {
            page in
            !page.isRefusal && page.page.links.contains(where: page.leadsOn) ? needsBrowser : nil
        },
        // If a page says to continue but has no button, its scripts add the button.
        PageRule(
            "N11", "A page that loads scripts is handed to a browser if its title or a heading asks the guest to continue.",
            needsScripts: true
        ) {
            page in
            !page.isRefusal && page.page.loadsScripts && page.page.heading.isOnward ? needsBrowser : nil
        },
        PageRule("N12", "An empty page is handed to a browser.", needsScripts: true) {
            $0.says.isEmpty ? .handOver("The portal's page is empty.") : nil
        },
        PageRule(
            "N13", "Any other page with scripts has no login now, but may show one once its scripts have run.", needsScripts: true
        ) {
            $0.page.hasScripts ? $0.noLogin : nil
        },
        PageRule("N14", "Any other page has no login now.") { $0.noLogin },
    ]

    private var noLogin: MoveRuling {
        .end(.temporaryFailure, "hotspotd finds no login on the portal's page; hotspotctl browse opens the page." + says)
    }

    private var isBare: Bool { page.loadsScripts && page.page.text.utf8.count < Self.bareText && !isRefusal }

    /// Returns whether a link seems to continue: its words say so, or it leads from the probe's own address to another host.
    private func leadsOn(_ link: TypedLink) -> Bool {
        guard !link.words.leadsBack, !link.words.declines, let target = WebURL(link.reference, relativeTo: page.base) else {
            return false
        }
        let isInPlace = RedirectChain.outsideHosts(of: self.link).contains(url.host) && target.host != url.host
        return isInPlace || (link.words.isOnward && !link.text.contains("://"))
    }
}

/// A page during a login, with the decision about its forms.
struct MoveCase: Sendable {
    let attempt: FormAttempt
    let page: TypedPage
    let url: WebURL
    /// The decision about the page's forms, and its rule.
    let decided: Ruled<FormEngine.FormDecision>

    /// The largest number of forms that are submitted in one command.
    private static let stepLimit = 5

    /// Decides about the next move.
    static let rules: [PageRule<MoveCase, MoveRuling>] = [
        // A short page is quoted whole, because its heading alone says less.
        PageRule(
            "E1",
            "If a form was sent, a page that reports a refusal and has no login is handed to a browser, with the page's words."
        ) {
            guard $0.isNothing, !$0.isFirst, !$0.page.soundsLikeSuccess, !$0.hasNewSuccess,
                let refusal = $0.attempt.engine.refusal(on: $0.page)
            else { return nil }
            return .handOver($0.page.page.text.utf8.count <= 200 ? $0.attempt.words(of: $0.page) : refusal)
        },
        PageRule(
            "E2",
            "If a form was sent, and the next page asks for data that only a browser can send, the page is handed to a browser."
        ) {
            $0.isNothing && !$0.isFirst && $0.page.asksOn ? .handOver($0.attempt.words(of: $0.page)) : nil
        },
        PageRule("E3", "After a form was sent, any page without a login ends the login.") {
            $0.isNothing && !$0.isFirst ? .done : nil
        },
        // The user has logged in elsewhere, such as in a browser, and this page is the end.
        PageRule("E4", "A first page without a login, after a prompt without questions, ends the login.") {
            $0.isNothing && $0.attempt.engine.isTypedNow && $0.attempt.typed.isEmpty ? .done : nil
        },
        // Some pages always link to their logoff. If a script may show a form there, the form may be the login, so the link does not count.
        PageRule(
            "E5",
            "If the page reports success or offers to log off, the login ends, even if hotspotd must not send the page's form."
        ) {
            $0.isRefused && $0.isLive ? .done : nil
        },
        PageRule(
            "E6", "If the user has logged in with a browser, the login ends, even if hotspotd must not send the page's form."
        ) {
            $0.isRefused && $0.isFirst && $0.attempt.isConfirmation ? .done : nil
        },
        PageRule(
            "E7", "Any other page whose form hotspotd must not send is handed to a browser, with the reason.",
            takingOver: {
                if case .refuse(let reason) = $0.decision { $0.decided.becoming(.handOver(reason)) } else { nil }
            }),
        // Words of success do not end a login while the page has new questions, unless it already offers to log off.
        PageRule(
            "E8", "After a form, words of success end the login if the page asks the same again or offers to log off."
        ) {
            $0.asksAfterSuccess ? .done : nil
        },
        PageRule(
            "E9", "hotspotd asks the user any other question.",
            takingOver: {
                if case .ask(let prompt, let form) = $0.decision {
                    $0.decided.becoming(.ask(prompt, form, on: $0.page))
                } else {
                    nil
                }
            }),
        PageRule(
            "E10",
            "If the page says that the gateway is open, and its form carries no data, the login ends: the button only leads to a web site."
        ) {
            guard let form = $0.submitted, let own = $0.page.forms.first(where: { $0.form == form }) else { return nil }
            return own.carriesNothing && $0.page.saysGranted ? .done : nil
        },
        PageRule(
            "E11",
            "If a form with questions comes again after it was sent, the page is handed to a browser, with the portal's words."
        ) {
            guard let form = $0.submitted, !form.inputs.isEmpty, $0.attempt.hasAnswered(form) else { return nil }
            return .handOver($0.attempt.engine.refusal(on: $0.page) ?? FormEngine.unexplained)
        },
        PageRule(
            "E12",
            "If a button that was pressed comes again after answers were sent, the login ends: the gateway has not opened yet."
        ) {
            $0.comesAgain && $0.attempt.hasAnswered && $0.submitted?.inputs.isEmpty == true ? .done : nil
        },
        // An example is a button for free access after the free time is used up.
        PageRule("E13", "If a button that was pressed comes again, hotspotd offers the page's other way to log in.") {
            guard $0.comesAgain, $0.rest.forms.count < $0.page.forms.count else { return nil }
            guard case .ask(var prompt, let form) = $0.attempt.engine.ruled(on: $0.rest, at: $0.url).ruling else { return nil }
            if prompt.message == nil { prompt.message = $0.attempt.engine.refusal(on: $0.page) ?? FormAttempt.samePage }
            return .ask(prompt, form, on: $0.rest)
        },
        PageRule("E14", "If a form or button comes again, and the page offers no other way, the page is handed to a browser.") {
            $0.comesAgain ? .handOver($0.attempt.engine.complaint(of: $0.page.page) ?? FormAttempt.samePage) : nil
        },
        PageRule("E15", "After a form, a page with words of success and a button to another origin ends the login.") {
            guard case .submit(let filled, let form) = $0.decision else { return nil }
            return $0.page.soundsLikeSuccess && !$0.isFirst && !filled.staysOnOrigin && form.inputs.isEmpty ? .done : nil
        },
        PageRule("E16", "After five forms, the login is handed to a browser.") {
            $0.submitted != nil && $0.attempt.steps >= stepLimit ? .handOver("The portal shows one form after another.") : nil
        },
        PageRule(
            "E17", "Any other form is sent.",
            takingOver: {
                if case .submit(let filled, let form) = $0.decision { $0.decided.becoming(.send(filled, form)) } else { nil }
            }),
        PageRule(
            "E18", "If any other first page has no login, table N decides.",
            takingOver: {
                NoLoginCase.rules.ruling(on: $0.noLogin)
            }),
    ]

    /// Returns the move, and the rule that explains it best.
    static func ruled(_ attempt: FormAttempt, on page: TypedPage, at url: WebURL) -> Ruled<MoveRuling> {
        rules.ruling(
            on: MoveCase(attempt: attempt, page: page, url: url, decided: attempt.engine.ruled(on: page, at: url)))
    }

    private var decision: FormEngine.FormDecision { decided.ruling }

    private var isFirst: Bool { attempt.steps == 0 }
    private var isNothing: Bool { if case .nothing = decision { true } else { false } }
    private var isRefused: Bool { if case .refuse = decision { true } else { false } }
    private var submitted: HTMLForm? { if case .submit(_, let form) = decision { form } else { nil } }

    private var noLogin: NoLoginCase {
        NoLoginCase(
            page: page, url: url, link: attempt.link, offersLogoff: attempt.logoff != nil || page.offersLogoff,
            isRefusal: page.saysRefused || (page.forms.isEmpty && attempt.engine.refusal(on: page) != nil),
            says: attempt.says(page))
    }

    /// Whether the page now reports success, and all its words of refusal were already on an earlier page.
    private var hasNewSuccess: Bool {
        let known = Set(attempt.engine.textBefore)
        let new = page.texts.filter { !known.contains($0.text) }.map(\.words)
        return page.errors.allSatisfy(known.contains) && new.contains(where: \.soundsLikeSuccess)
            && !new.contains(where: \.isFailure)
    }

    /// Whether the page shows a running session, and no questions for a guest.
    private var isLive: Bool {
        let hasHidden = page.forms.contains { $0.isInvisible && $0.controls.contains(where: \.control.isField) }
        let asksNothing = page.forms.allSatisfy { $0.isInvisible || $0.fields.isEmpty } && !page.hasLooseField
        let isOpen = page.soundsLikeSuccess || (isFirst && !hasHidden && (attempt.logoff != nil || page.offersLogoff))
        return isOpen && (!isFirst || asksNothing) && !page.forms.contains(where: \.endsOthers)
    }

    private var asksAfterSuccess: Bool {
        guard case .ask(let prompt, let form) = decision, page.soundsLikeSuccess, !isFirst, form.passwords.isEmpty,
            page.forms.first(where: { $0.form == form })?.endsOthers != true
        else { return false }
        return attempt.hasAnswered(form)
            || (attempt.offersLogoff(page, at: url) && !prompt.fields.contains { $0.kind == .code })
    }

    /// Whether the form was sent before, or is a button that was pressed, even if its token has changed.
    private var comesAgain: Bool { submitted.map { attempt.hasSent($0) } ?? false }

    /// The page without the buttons that were pressed.
    private var rest: TypedPage {
        var rest = page
        rest.forms.removeAll { attempt.wasPressed($0.form) }
        return rest
    }
}
