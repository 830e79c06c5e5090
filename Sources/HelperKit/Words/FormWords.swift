import ForeignText
import HotspotCore

/// Recognises the purpose of a control, a form or a page by its words, in the languages of ``PhraseBook``.
enum FormWords {
    private static let book = PhraseBook.all

    static func isTerms(_ text: String) -> Bool { book.finds(.terms, in: text) }
    /// Whether a link leads to what is said of personal data.
    static func isPrivacy(_ text: String) -> Bool { book.finds(.privacy, in: text) }
    /// Whether going on after this text accepts terms.
    static func bindsReader(_ text: String) -> Bool { book.finds(.binding, in: text) }
    static func isAdvertising(_ text: String) -> Bool { book.finds(.advertising, in: text) }
    /// Returns whether a box agrees to more than the access needs: to advertising, or, beside no terms, to data that goes to others, calls,
    /// a bill or a price.
    static func agreesToMore(_ words: String) -> Bool {
        isAdvertising(words) || ((book.finds(.more, in: words) || isPayment(words)) && !isTerms(words))
    }
    /// Whether a form asks for an address to send advertising to.
    static func isNewsletter(_ form: HTMLForm) -> Bool {
        let typed = FormChoice.typed(in: form)
        guard typed.count == 1, typed[0].kind == .email || isEmail(typed[0].words) else { return false }
        let words = [form.heading ?? "", form.action, form.hints, typed[0].words] + form.submits.map(\.label)
        return words.contains(where: isAdvertising)
    }
    static func isLogout(_ text: String) -> Bool { book.finds(.logout, in: text) }
    static func isOnward(_ text: String) -> Bool { book.finds(.onward, in: text) }
    /// Whether a button that stands alone goes on; its text may be any that speaks of access.
    static func isOnwardButton(_ label: String) -> Bool {
        isOnward(label) || isFree(label) || book.finds(.access, in: label) || isTerms(label)
    }
    /// Whether a button or link goes on without an account.
    static func isFree(_ label: String) -> Bool { book.finds(.free, in: label) }
    /// Whether a button or link begins a time that is given once, or for a short time.
    static func isTrial(_ label: String) -> Bool {
        if book.finds(.trial, in: label) { return true }
        let words = label.lowercased().split { !$0.isLetter && !$0.isNumber }
        return zip(words, words.dropFirst()).contains { number, unit in
            number.allSatisfy(\.isNumber) && (shortTimes.contains(String(unit)) || book.finds(.tariff, in: String(unit)))
        }
    }
    private static let shortTimes: Set<String> = ["min", "mins", "h", "hr", "hrs", "std"]
    /// Whether a form writes to people, such as a complaint: no login has several lines.
    static func isContact(_ form: HTMLForm) -> Bool {
        form.passwords.isEmpty
            && form.fields.contains {
                $0.kind == .textarea && !$0.isReadOnly && !isOptional($0.words) && book.finds(.contact, in: $0.words)
            }
    }
    /// Whether a field is for the number of a document, which is no secret but the guest's own.
    static func isIdentity(_ text: String) -> Bool { book.finds(.identity, in: text) }
    static func isCode(_ text: String) -> Bool { book.finds(.code, in: text) || isVoucher(text) }
    static func isVoucher(_ text: String) -> Bool { book.finds(.voucher, in: text) }
    static func isEmail(_ text: String) -> Bool { book.finds(.email, in: text) }
    static func isOptional(_ text: String) -> Bool { book.finds(.optional, in: text) }
    static func isPayment(_ text: String) -> Bool { asksToPay(text) || hasPrice(text) }
    /// Whether a text speaks of paying, whatever sums it has.
    static func asksToPay(_ text: String) -> Bool { book.finds(.payment, in: text) }
    /// Whether a label begins with the number of a card, and so means a bank's, not a library's.
    static func asksForCard(_ label: String) -> Bool { book.range(of: .card, in: PhraseBook.folded(label))?.lowerBound == 0 }
    /// Whether a sum in this text may be that of access.
    static func isTariff(_ text: String) -> Bool { book.finds(.tariff, in: text) }
    /// Whether a text names a time that is sold, such as a day, and no amount of data.
    static func isPeriod(_ text: String) -> Bool { book.finds(.period, in: text) }
    /// Whether a sum in this text is for something else than access, such as a lost key.
    static func isExtra(_ text: String) -> Bool { book.finds(.extra, in: text) }
    static func isSocial(_ text: String) -> Bool { book.finds(.social, in: text) }
    /// Whether a link leads to another company's account. A part of its query may be the page that the user asked for.
    static func isSocial(_ text: String, to reference: String) -> Bool {
        let parts = reference.split { $0 == "?" || $0 == "&" }
        let own = parts.enumerated().filter {
            $0.offset == 0 || !($0.element.contains("://") || $0.element.lowercased().contains("%3a"))
        }
        return isSocial(text) || isSocial(own.map(\.element).joined(separator: " "))
    }
    /// Whether a link leads back to an earlier page.
    static func leadsBack(_ text: String) -> Bool { book.finds(.back, in: text) || book.finds(.again, in: text) }
    /// Whether a button leads back; "Connect again" goes on.
    static func leadsBack(button label: String) -> Bool {
        book.finds(.back, in: label) || (book.finds(.again, in: label) && !isOnwardButton(label))
    }
    static func isCookieNotice(_ text: String) -> Bool { book.finds(.cookie, in: text) }
    /// Whether a button or link gives up, or does not agree.
    static func declines(_ text: String) -> Bool { book.finds(.decline, in: text) }
    static func isRecovery(_ text: String) -> Bool { book.finds(.recovery, in: text) }
    /// Whether a select's option only asks for a choice.
    static func isUndecided(_ label: String) -> Bool {
        label.isEmpty || label.allSatisfy { !$0.isLetter && !$0.isNumber } || book.finds(.choose, in: label)
    }

    static func soundsLikeSuccess(_ page: HTMLPage) -> Bool {
        let text = page.text + " " + (page.title ?? "")
        return page.errors.isEmpty && (book.finds(.success, in: text) || book.finds(.granted, in: text))
    }
    /// Whether a page says that the gateway has opened. "You are connected" may mean the Wi-Fi alone.
    static func saysGranted(_ page: HTMLPage) -> Bool {
        page.errors.isEmpty && book.finds(.granted, in: page.text + " " + (page.title ?? ""))
    }
    /// Whether a page says nothing but that a login failed.
    static func saysRefused(_ page: HTMLPage) -> Bool {
        page.text.utf8.count < 400 && failure(in: page) != nil && !book.finds(.ended, in: page.text) && !page.hasLooseField
            && !page.forms.contains(where: \.asks)
    }
    /// Whether another device is to read a picture of the page.
    static func asksToScan(_ page: HTMLPage) -> Bool {
        page.hasPicture && book.finds(.scan, in: page.text + " " + (page.title ?? ""))
    }
    /// Returns the sentence in which a page says that a login failed.
    static func failure(in page: HTMLPage) -> String? {
        let text = PhraseBook.folded(page.text)
        guard let range = book.range(of: .failure, in: text) else { return nil }
        return page.sentences.first { book.finds(.failure, in: $0) }
            ?? PageText.squeezed(String(decoding: text[range], as: UTF8.self))
    }

    /// Returns the words of a page that only tells something, without addresses, which may carry a session.
    static func summary(of page: HTMLPage) -> String {
        let words = page.pieces.isEmpty ? page.text : page.pieces.joined(separator: " ")
        let text = words.split(separator: " ").filter { !$0.contains("://") }.prefix(60).joined(separator: " ")
        return text.isEmpty ? page.title ?? "" : text
    }
    /// Whether a page logs in with an account of another company.
    static func offersSocialLogin(_ page: HTMLPage) -> Bool {
        page.links.contains { isSocial($0.text, to: $0.reference) && (isOnward($0.text) || !$0.reference.contains("//")) }
            || page.forms.contains { form in form.submits.contains { isSocial($0.words) } }
    }

    /// Whether a form only looks for something: by what it is called, or by its button where it only opens an address.
    static func isSearch(_ form: HTMLForm) -> Bool {
        let names = form.inputs.map { $0.name.lowercased() }
        if form.hints.contains("search") || names == ["q"] || names == ["s"] || names == ["search"] { return true }
        guard form.method == .get, form.passwords.isEmpty, form.inputs.contains(where: \.isField) else { return false }
        return book.finds(.search, in: (form.submits.map(\.label) + [form.action]).joined(separator: " "))
    }
    static func isLanguage(_ form: HTMLForm) -> Bool {
        !form.inputs.isEmpty && form.inputs.allSatisfy { $0.kind == .select && (isLanguage($0.words) || offersLanguages($0)) }
    }
    private static func offersLanguages(_ control: HTMLControl) -> Bool {
        control.options.count > 1 && control.options.allSatisfy { book.finds(.tongue, in: $0.label) }
    }
    static func isLanguage(_ text: String) -> Bool { book.finds(.language, in: text) }
    /// Returns a choice as the user sees and answers it.
    static func choice(_ label: String, _ value: String) -> String { Printable.text(label.isEmpty ? value : label, limit: 80) }
    /// Whether a form only opens the terms, such as the second form of openNDS.
    static func readsTerms(_ form: HTMLForm) -> Bool {
        guard form.inputs.isEmpty, let label = form.submits.first?.label.lowercased(), isTerms(label) else { return false }
        return book.finds(.reading, in: label) && !label.hasPrefix("accept") && !label.hasPrefix("agree")
            && !label.hasPrefix("i ")
    }

    /// The message of a page that is no portal's, in words for the user.
    static func notice(of page: HTMLPage) -> (text: String, purpose: PhraseBook.Purpose)? {
        let heading = (page.title ?? "") + " " + page.headings.joined(separator: " ")
        let hasQuestions = page.forms.contains { !$0.isInvisible && $0.inputs.contains { $0.kind != .checkbox } }
        let logins = page.forms.filter { !$0.isInvisible && !$0.passwords.isEmpty }
        let asksAdministrator = logins.contains { form in
            form.inputs.contains { isAdministrator($0.label) || ($0.kind == .text && isAdministrator($0.value)) }
                || book.finds(.router, in: form.text + " " + form.passwords.map(\.label).joined(separator: " "))
        }
        let isTheirs =
            (!logins.isEmpty || heading.lowercased().contains("administrat"))
            && page.base.path.lowercased().split(separator: "/").contains { administratorPaths.contains(String($0)) }
        let isDevice = !logins.isEmpty && book.finds(.device, in: page.text)
        if asksAdministrator || isTheirs || isDevice || book.finds(.router, in: heading) {
            return ("The page is a login for administrators or staff, not for guests; nothing was sent.", .router)
        }
        if asksForKey(page) {
            return ("The page asks for the key of a Wi-Fi network, which is no portal's business; nothing was sent.", .key)
        }
        let text = hasQuestions ? heading : heading + " " + page.text
        if book.finds(.blocked, in: text) { return ("The network blocks access by a rule; the page is no login.", .blocked) }
        if book.finds(.offline, in: text) { return ("The page says that this network has no Internet connection now.", .offline) }
        // A form that posts begins another session; any other only leads to the login.
        let begins = page.forms.contains { !$0.isInvisible && $0.method == .post }
        if !hasQuestions, !begins, book.finds(.ended, in: text) { return ("The page says that the session has ended.", .ended) }
        return nil
    }

    /// Whether a form asks for a Wi-Fi network's key, as traps do.
    private static func asksForKey(_ page: HTMLPage) -> Bool {
        page.forms.contains { form in
            let fields = form.fields
            guard (1...2).contains(fields.count), !form.isInvisible else { return false }
            return book.finds(.key, in: form.text + " " + fields.map(\.words).joined(separator: " "))
        }
    }

    private static let administratorPaths: Set<String> = [
        "admin", "administrator", "administration", "wp-admin", "wp-login.php", "phpmyadmin", "luci", "staff", "backoffice",
        "webfig", "cpanel", "webmail", "manage",
    ]

    /// Whether a field's label is nothing but the name of the administrator's account.
    private static func isAdministrator(_ label: String) -> Bool {
        ["admin", "administrator"].contains(label.lowercased().filter(\.isLetter))
    }

    /// Whether a text has a sum of money, zero apart.
    static func hasPrice(_ text: String) -> Bool { Currencies.all.findsSum(in: text) }

    /// Whether a text is a sum and nothing else.
    static func isBarePrice(_ text: String) -> Bool {
        hasPrice(text) && text.split { !$0.isLetter }.allSatisfy(Currencies.all.knows)
    }

    static func isOfAmount(_ character: Character) -> Bool {
        character.wholeNumberValue != nil || character == "." || character == ","
    }
}
