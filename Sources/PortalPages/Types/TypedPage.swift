import ForeignText
import HotspotCore

/// A page with what its words are for: the second pass, between the reader, which knows no words, and the rules, which ask for purposes.
@dynamicMemberLookup public struct TypedPage: Sendable {
    /// The page as it was read.
    public let page: HTMLPage
    package var forms: [TypedForm]
    package let links: [TypedLink]
    /// Of its visible text, and of its title and headings.
    package let (words, heading): (Purposes, Purposes)
    /// Its short texts.
    package let texts: [(text: String, words: Purposes)]

    package init(_ page: HTMLPage) {
        self.page = page
        forms = page.forms.map(TypedForm.init)
        links = page.links.map(TypedLink.init)
        words = Purposes(of: page.text)
        heading = Purposes(of: ([page.title ?? ""] + page.headings).joined(separator: " "))
        texts = page.sentences.map { ($0, Purposes(of: $0)) }
    }

    /// Reads the page. It is public for inlining: else each member of it costs a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLPage, Value>) -> Value {
        page[keyPath: path]
    }

    /// Of its visible text and its title.
    private var whole: Purposes { words.union(Purposes(of: page.title ?? "")) }

    // MARK: The words of the page

    /// It sounds like the end of a login.
    package var soundsLikeSuccess: Bool { page.errors.isEmpty && whole.soundsLikeSuccess }

    /// It says that the gateway has opened. "You are connected" may mean the Wi-Fi alone.
    package var saysGranted: Bool { page.errors.isEmpty && whole.saysGranted }

    /// It says only that a login failed.
    package var saysRefused: Bool {
        page.text.utf8.count < 400 && words.isFailure && !words.has(.ended) && !page.hasLooseField
            && !forms.contains(where: \.asks)
    }

    /// The sentence in which it says that a login failed.
    package var failure: String? {
        guard words.isFailure else { return nil }
        return texts.first(where: \.words.isFailure)?.text
            ?? PhraseBook.all.phrase(.failure, in: page.text).map { PageText.squeezed($0) }
    }

    /// Another device is to read a picture of the page.
    package var asksToScan: Bool { page.hasPicture && whole.has(.scan) }

    /// It logs in with an account of another company.
    package var offersSocialLogin: Bool {
        links.contains { $0.isSocial && ($0.words.isOnward || !$0.reference.contains("//")) }
            || forms.contains { $0.submits.contains(where: \.words.isSocial) }
    }

    /// A form asks for a Wi-Fi network's key, as traps do.
    package var asksForKey: Bool {
        forms.contains { form in
            (1...2).contains(form.fields.count) && !form.isInvisible
                && (form.words.has(.key) || form.fields.contains { $0.words.has(.key) })
        }
    }

    /// It is a login for the administrators of a device or the staff of a house.
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

    /// It has no question for its guest beside boxes, and begins no session. A form that posts begins one; any other only leads to the login.
    package var onlyTells: Bool {
        !forms.contains { !$0.isInvisible && ($0.method == .post || $0.inputs.contains { $0.kind != .checkbox }) }
    }

    /// The purposes of its announcement: of all its words where it only tells something, else of its title and headings.
    package var announcement: Purposes { onlyTells ? heading.union(words) : heading }

    /// It asks for data that only a browser can send, behind a form. No gateway opens before it has them.
    package var asksOn: Bool {
        let shown = forms.filter { !$0.isInvisible }
        if shown.flatMap(\.submits).count(where: { !$0.isInvisible && $0.words.isLogout }) > 1 { return true }
        return !soundsLikeSuccess && shown.contains { $0.asks && !$0.isLogoff && !$0.purpose.contains(.newsletter) }
    }

    /// Its text without that of other forms with a box for terms of their own binds its reader.
    package func bindsReader(beside form: TypedForm) -> Bool {
        let others = forms.filter { $0.form != form.form && !$0.termsBoxes.isEmpty }
        guard words.bindsReader, !others.isEmpty else { return words.bindsReader }
        return Purposes(of: others.reduce(page.text) { $0.replacing($1.form.text, with: " ") }).bindsReader
    }
}

/// A link with what its words are for.
@dynamicMemberLookup public struct TypedLink: Sendable {
    /// The link as it was read.
    public let link: HTMLPage.Hyperlink
    /// Of its text.
    package let words: Purposes
    /// Of its text and its address.
    package let all: Purposes
    /// It leads to another company's account.
    let isSocial: Bool

    package init(_ link: HTMLPage.Hyperlink) {
        self.link = link
        words = Purposes(of: link.text)
        all = words.union(Purposes(of: link.reference))
        isSocial = all.isSocial && link.leadsToSocial
    }

    /// Reads the link. It is public for inlining: else each member of it costs a key path at run time.
    @inlinable @inline(__always) public subscript<Value>(dynamicMember path: KeyPath<HTMLPage.Hyperlink, Value>) -> Value {
        link[keyPath: path]
    }

    /// It seems to go on.
    package var goesOn: Bool { words.isOnward && !words.leadsBack }

    package var beginsTrial: Bool { words.beginsTrial(link.text) }

    /// It is for something else than going on: to end a session, to pay, for advertising, a forgotten password, another company's account.
    package var isAside: Bool {
        all.isLogout || all.isPayment || all.isAdvertising || all.isRecovery || isSocial || words.leadsBack || words.declines
    }
}

extension HTMLPage {
    /// The beginning of the words of a page that only tells something, without addresses, which may carry a session.
    package var summary: String {
        let words = pieces.isEmpty ? text : pieces.joined(separator: " ")
        let told = words.split(separator: " ").filter { !$0.contains("://") }.prefix(60).joined(separator: " ")
        return told.isEmpty ? title ?? "" : told
    }
}
