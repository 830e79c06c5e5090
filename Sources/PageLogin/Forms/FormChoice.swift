import BoundHTTP
import HotspotCore
import PortalPages

/// One way to log in that a page offers.
struct LoginOption: Sendable {
    var form: TypedForm
    /// The names of the controls that the user fills in, except boxes.
    var names: [String]
    /// The other ways, which are offered only if the user must be asked anyway.
    var others: [LoginOption] = []
}

/// The choice among a page's forms and links.
enum FormChoice: Sendable {
    /// The ways to log in; the user fills in one of them.
    case options([LoginOption])
    /// There is a login, but hotspotd must not send it; with the reason.
    case refuse(String)
    /// The page contains no possible login.
    case nothing
}

/// A page whose forms the rules judge.
struct ChoiceCase: Sendable {
    let page: TypedPage
    let url: WebURL
    /// The forms that may be the login, visible or not, with their rulings.
    private let candidates: [(form: TypedForm, ruled: Ruled<FormRuling>)]
    /// The forms that the rules leave, the best form first.
    private let ways: [TypedForm]
    /// Whether the portal refused answers to the best form.
    private let isRefused: Bool

    private static let optionLimit = 3

    /// - Parameters: - answered: as ``FormAnswers/expected``. - refused: the names of the answers that the portal refused. - sent: the
    ///   identities of the forms that were sent before and led to this page.
    init(
        _ page: TypedPage, at url: WebURL, answered: Set<String> = [], refused: Set<String> = [],
        behind sent: Set<[String]>? = nil
    ) {
        (self.page, self.url) = (page, url)
        func formCase(_ form: TypedForm) -> FormCase {
            FormCase(form: form, page: page, url: url, answered: answered, refused: refused, sent: sent)
        }
        candidates = page.forms.map { ($0, FormCase.rules.ruling(on: formCase($0))) }.filter { !$0.1.ruling.isOther }
        var open = candidates.filter(\.ruled.ruling.isLogin).map(\.form)
        let hasRefusedLogin = candidates.contains {
            $0.ruled.ruling.reason != nil && !$0.form.typed.isEmpty && !formCase($0.form).pays
        }
        // Each rule sees the forms that the earlier rules have left.
        for rule in FormBesideCase.rules {
            let left = open
            open.removeAll {
                rule.rule(FormBesideCase(form: $0, page: page, open: left, hasRefusedLogin: hasRefusedLogin))?.ruling ?? false
            }
        }
        let ranks = open.map { FormCase.ranks.ruling(on: formCase($0)).ruling }
        let best = open.indices.min { (ranks[$0], $0) < (ranks[$1], $1) }
        ways = best.map { [open[$0]] + open.enumerated().filter { $0.offset != best }.map(\.element) } ?? []
        isRefused = ways.first?.typed.contains { refused.contains($0.name) } ?? false
    }

    /// Which ways to log in does the page offer?
    static let rules: [PageRule<ChoiceCase, FormChoice>] = [
        PageRule(
            "C1",
            "If no form has questions, the way to log in is the only link that continues or, among several links, the only link that needs no account."
        ) {
            let asks = $0.candidates.contains { !$0.ruled.ruling.isHidden && !$0.form.typed.isEmpty }
            guard $0.ways.isEmpty, !asks, !$0.page.hasLooseField else { return nil }
            return Self.link(on: $0.page, at: $0.url).map { .options([LoginOption(form: $0, names: [])]) }
        },
        PageRule(
            "C2",
            "If hotspotd must not send any login on the page, the first login gives the reason; forms with questions come first.",
            takingOver: { $0.refusal }
        ),
        PageRule("C3", "The page contains a login form that only a script shows.", needsScripts: true) {
            $0.ways.isEmpty && $0.candidates.contains { $0.form.controls.contains { $0.isInput || $0.control.isField } }
                ? .refuse("Only a script shows the page's form.") : nil
        },
        PageRule("C4", "The page contains no possible login.") { $0.ways.isEmpty ? .nothing : nil },
        // A trial is available once, so if an account would work as well, the user decides.
        PageRule("C5", "If other forms have questions, a trial or free access is a separate way to log in.") {
            guard let best = $0.ways.first, let trial = $0.trial, !$0.asking.isEmpty, !best.typed.isEmpty || best.beginsTrial
            else {
                return nil
            }
            return .options(
                $0.asking.flatMap(Self.options).prefix(Self.optionLimit - 1) + [LoginOption(form: trial, names: [])])
        },
        PageRule(
            "C6", "If the best form has no questions, it is used; the other forms are offered only if the user is asked anyway."
        ) {
            guard let best = $0.ways.first, best.typed.isEmpty else { return nil }
            let others = $0.asking.flatMap(Self.options).prefix(Self.optionLimit - 1)
            return .options([LoginOption(form: best, names: [], others: Array(others))])
        },
        PageRule("C7", "Otherwise each form with questions is a way to log in, the best one first.") {
            .options(Array($0.asking.flatMap(Self.options).prefix(Self.optionLimit)))
        },
    ]

    var choice: Ruled<FormChoice> { Self.rules.ruling(on: self) }

    private var asking: [TypedForm] { ways.filter { !$0.typed.isEmpty } }

    /// The refusal to report if no form can be used.
    private var refusal: Ruled<FormChoice>? {
        guard ways.isEmpty else { return nil }
        let asking = candidates.filter { !$0.form.typed.isEmpty }
        return (asking + candidates).lazy.compactMap { candidate in
            candidate.ruled.ruling.reason.map { candidate.ruled.becoming(.refuse($0)) }
        }.first
    }

    /// The form or link that begins a trial, or that continues without an account after the portal refused an account.
    private var trial: TypedForm? {
        ways.first { $0.typed.isEmpty && ($0.beginsTrial || (isRefused && $0.goesOnFree)) } ?? Self.trialLink(on: page, at: url)
    }

    /// Returns the ways to log in with one form. If the form has fields for an account and for a voucher, these are two ways.
    private static func options(of form: TypedForm) -> [LoginOption] {
        let vouchers = form.typed.filter(\.words.isVoucher).map(\.name)
        let account = form.typed.map(\.name).filter { !vouchers.contains($0) }
        let hasPassword = form.typed.contains { $0.kind == .password && !vouchers.contains($0.name) }
        guard hasPassword, !vouchers.isEmpty, !form.typed.contains(where: \.isRequired) else {
            return [LoginOption(form: form, names: form.typed.map(\.name))]
        }
        return [LoginOption(form: form, names: account), LoginOption(form: form, names: vouchers)]
    }

    // MARK: Links

    /// Returns the link that begins a trial, as a form that has no fields.
    private static func trialLink(on page: TypedPage, at url: WebURL) -> TypedForm? {
        let link = page.links.first { !$0.isInert && $0.text.count <= 60 && $0.beginsTrial && !$0.words.isPayment }
        guard let link, let target = WebURL(link.reference, relativeTo: page.base), target != url, target.isSameSite(as: url)
        else {
            return nil
        }
        return TypedForm(HTMLForm(leadingTo: target, label: link.text))
    }

    /// Returns whether a form is the only form on its page and leads to the next page, so that it is a step before the login, such as the choice of a
    /// language.
    static func isOnlyStep(_ form: TypedForm, of page: TypedPage, at url: WebURL) -> Bool {
        !form.isInvisible && form.submits.contains(where: \.label.isOnward) && !page.hasLooseField
            && !page.forms.contains { $0.form != form.form && (!$0.isInvisible || !$0.inputs.isEmpty) }
            && link(on: page, at: url) == nil
    }

    /// Returns the link with which a page without forms continues, as a form without fields: the only link that leads on; among several links, the
    /// only link that needs no account.
    private static func link(on page: TypedPage, at url: WebURL) -> TypedForm? {
        // The link of a page that shows a refusal only leads back.
        if !page.errors.isEmpty || page.failure != nil { return nil }
        let soundsDone = page.soundsLikeSuccess
        var targets: [String: TypedLink] = [:]
        for link in page.links where !link.isInert && link.text.count <= 60 && !link.isAside {
            guard let target = WebURL(link.reference, relativeTo: page.base), target != url,
                !files.contains(where: { target.path.lowercased().hasSuffix($0) })
            else { continue }
            // A link that opens the gateway counts even on a page that sounds like success: a page may greet its user before the gateway opens.
            if opensGateway(target) {
                if link.words.isOnwardButton { targets[target.text] = link }
            } else if !soundsDone, link.words.isOnward || link.words.isFree, target.isSameSite(as: url) {
                targets[target.text] = link
            }
        }
        if targets.count > 1 { targets = targets.filter { $0.value.words.isFree } }
        guard targets.count == 1, let (target, link) = targets.first, let address = WebURL(target) else { return nil }
        return TypedForm(HTMLForm(leadingTo: address, label: link.text))
    }

    /// Suffixes of files that a browser saves instead of showing.
    private static let files = [".apk", ".exe", ".msi", ".dmg", ".zip", ".pdf", ".mobileconfig", ".crt", ".cer", ".pem"]

    /// Returns whether this address makes a gateway open: nodogsplash, openNDS and Meraki use such addresses.
    private static func opensGateway(_ target: WebURL) -> Bool {
        guard target.scheme == "http" || target.scheme == "https" else { return false }
        let query = target.query ?? ""
        return ["/nodogsplash_auth/", "/opennds_auth/"].contains { target.path.hasPrefix($0) && query.contains("tok=") }
            || (target.path.hasSuffix("/splash/grant") && target.host.hasSuffix(".network-auth.com"))
    }
}

extension WebURL {
    /// Returns whether this address has a host in the same domain as another address, or the same numeric host.
    func isSameSite(as other: WebURL) -> Bool {
        guard scheme == "http" || scheme == "https" else { return false }
        func site(_ host: String) -> Substring {
            InternetAddress(host) == nil ? host.split(separator: ".").suffix(2).joined(separator: ".")[...] : host[...]
        }
        return site(host) == site(other.host)
    }
}
