import ForeignText
import HotspotCore

/// A page with the purposes that its words express. Typing is the step between the reader, which ignores the meaning of words, and the rules, which
/// use only purposes.
@dynamicMemberLookup public struct TypedPage: Sendable {
    /// The page as it was read.
    public let page: HTMLPage
    package var forms: [TypedForm]
    package let links: [TypedLink]
    /// The purposes of the page's visible text, and of its title and headings.
    package let (words, heading): (Purposes, Purposes)
    /// The page's short texts.
    package let texts: [(text: String, words: Purposes)]

    package init(_ page: HTMLPage) {
        self.page = page
        forms = page.forms.map(TypedForm.init)
        links = page.links.map(TypedLink.init)
        words = Purposes(of: page.text)
        heading = Purposes(of: ([page.title ?? ""] + page.headings).joined(separator: " "))
        texts = page.sentences.map { ($0, Purposes(of: $0)) }
    }

    /// Reads the page. Public for inlining; otherwise each access would cost a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLPage, Value>) -> Value {
        page[keyPath: path]
    }

    /// The purposes of the page's visible text and its title.
    private var whole: Purposes { words.union(Purposes(of: page.title ?? "")) }

    // MARK: The words of the page

    /// Whether the page sounds like the end of a login.
    package var soundsLikeSuccess: Bool { page.errors.isEmpty && whole.soundsLikeSuccess }

    /// Whether the page says that the gateway has opened. "You are connected" does not count, because it may refer only to the Wi-Fi.
    package var saysGranted: Bool { page.errors.isEmpty && whole.saysGranted }

    /// Whether the page only says that a login failed.
    package var saysRefused: Bool {
        page.text.utf8.count < 400 && words.isFailure && !words.has(.ended) && !page.hasLooseField
            && !forms.contains(where: \.asks)
    }

    /// The sentence in which the page says that a login failed.
    package var failure: String? {
        guard words.isFailure else { return nil }
        return texts.first(where: \.words.isFailure)?.text
            ?? PhraseBook.all.phrase(.failure, in: page.text).map { PageText.squeezed($0) }
    }

    /// Whether the page asks the user to scan a picture with another device.
    package var asksToScan: Bool { page.hasPicture && whole.has(.scan) }

    /// Whether the page offers a login with another company's account.
    package var offersSocialLogin: Bool {
        links.contains { $0.isSocial && ($0.words.isOnward || !$0.reference.contains("//")) }
            || forms.contains { $0.submits.contains(where: \.words.isSocial) }
    }

    /// Whether a form asks for a Wi-Fi network's key. Malicious hotspots do so.
    package var asksForKey: Bool {
        forms.contains { form in
            (1...2).contains(form.fields.count) && !form.isInvisible
                && (form.words.has(.key) || form.fields.contains { $0.words.has(.key) })
        }
    }

    /// Whether the page is a login for a device's administrators or a house's staff.
    package var isAdministrators: Bool {
        let logins = forms.filter { !$0.isInvisible && !$0.passwords.isEmpty }
        let asksAdministrator = logins.contains { form in
            form.inputs.contains(where: \.isAdministrator) || form.words.has(.router)
                || form.passwords.contains { $0.label.has(.router) }
        }
        if asksAdministrator || heading.has(.router) { return true }
        guard !logins.isEmpty || saysAdministrator else { return false }
        return page.base.path.lowercased().split(separator: "/").contains { Self.administratorPaths.contains(String($0)) }
            || (!logins.isEmpty && words.has(.device))
    }

    private var saysAdministrator: Bool {
        ([page.title ?? ""] + page.headings).contains { $0.lowercased().contains("administrat") }
    }

    private static let administratorPaths: Set<String> = [
        "admin", "administrator", "administration", "wp-admin", "wp-login.php", "phpmyadmin", "luci", "staff", "backoffice",
        "webfig", "cpanel", "webmail", "manage",
    ]

    /// Whether the page asks its guest only to tick boxes, or nothing, and begins no session. A form that uses POST begins a session; other forms
    /// only lead to the login.
    package var onlyTells: Bool {
        !forms.contains { !$0.isInvisible && ($0.method == .post || $0.inputs.contains { $0.kind != .checkbox }) }
    }

    /// The purposes of the page's announcement: all its words if it only informs, otherwise its title and headings.
    package var announcement: Purposes { onlyTells ? heading.union(words) : heading }

    /// Whether the page that follows a form asks for more data. The gateway does not open without these data, and only a browser can send them.
    package var asksOn: Bool {
        let shown = forms.filter { !$0.isInvisible }
        if shown.flatMap(\.submits).count(where: { !$0.isInvisible && $0.words.isLogout }) > 1 { return true }
        return !soundsLikeSuccess && shown.contains { $0.asks && !$0.isLogoff && !$0.purpose.contains(.newsletter) }
    }

    /// Returns whether, according to the page's text, using the form accepts terms. Ignores the text of other forms that have their own box for
    /// terms.
    package func bindsReader(beside form: TypedForm) -> Bool {
        let others = forms.filter { $0.form != form.form && !$0.termsBoxes.isEmpty }
        guard words.bindsReader, !others.isEmpty else { return words.bindsReader }
        return Purposes(of: others.reduce(page.text) { $0.replacing($1.form.text, with: " ") }).bindsReader
    }
}

/// A link with the purposes that its words express.
@dynamicMemberLookup public struct TypedLink: Sendable {
    /// The link as it was read.
    public let link: HTMLPage.Hyperlink
    /// The purposes of its text.
    package let words: Purposes
    /// The purposes of its text and its address.
    package let all: Purposes
    /// Whether the link leads to another company's account.
    let isSocial: Bool

    package init(_ link: HTMLPage.Hyperlink) {
        self.link = link
        words = Purposes(of: link.text)
        all = words.union(Purposes(of: link.reference))
        isSocial = all.isSocial && link.leadsToSocial
    }

    /// Reads the link. Public for inlining; otherwise each access would cost a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLPage.Hyperlink, Value>) -> Value {
        link[keyPath: path]
    }

    /// Whether the link seems to continue the login.
    package var goesOn: Bool { words.isOnward && !words.leadsBack }

    package var beginsTrial: Bool { words.beginsTrial(link.text) }

    /// Whether the link is not part of the login: it is for logging off, paying, advertising, recovering a password or using another company's
    /// account, or it leads back or declines.
    package var isAside: Bool {
        all.isLogout || all.isPayment || all.isAdvertising || all.isRecovery || isSocial || words.leadsBack || words.declines
    }
}

extension HTMLPage {
    /// The first words of the page, for a page that only informs. Leaves out addresses, because they may contain a session.
    package var summary: String {
        let words = pieces.isEmpty ? text : pieces.joined(separator: " ")
        let told = words.split(separator: " ").filter { !$0.contains("://") }.prefix(60).joined(separator: " ")
        return told.isEmpty ? title ?? "" : told
    }
}
