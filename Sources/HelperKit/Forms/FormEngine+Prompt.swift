import ForeignText
import HotspotCore

/// The prompt, and the terms that it shows.
extension FormEngine {
    /// The most characters of a page's own terms that a prompt shows, and that are compared.
    private static let (shownTerms, comparedTerms) = (8192, 64 * 1024)

    /// The most documents that are agreed to with one form, are named in the prompt, and compared.
    private static let documents = 3

    /// Returns whether submitting this form accepts terms.
    func isBinding(_ form: HTMLForm, _ page: HTMLPage) -> Bool {
        form.controls.contains { $0.kind == .checkbox && FormWords.isTerms($0.words) } || FormWords.bindsReader(form.text)
            || FormWords.bindsReader(text(beside: form, on: page))
    }

    /// Returns a page's text without that of other forms with a box for terms of their own.
    private func text(beside form: HTMLForm, on page: HTMLPage) -> String {
        page.forms.filter { other in
            other != form && other.inputs.contains { $0.kind == .checkbox && FormWords.isTerms($0.words) }
        }.reduce(page.text) { $0.replacing($1.text, with: " ") }
    }

    func prompt(
        _ fields: [Field], _ options: [LoginOption], _ page: HTMLPage, _ url: WebURL, _ filled: FilledForm, _ fault: String?
    ) -> Prompt {
        let form = pick(options).option.form
        let title = Printable.text(page.title ?? url.host, limit: 120)
        let isRefused = fields.contains { offered[$0.name] != nil }
        // A next page may show an answer of the one before, beside what it asks for.
        let asksMore = fields.contains { $0.required && $0.kind != .checkbox && offered[$0.name] == nil }
        // Where the portal begins anew, nothing on its page is about the answers.
        let news = hasSent(fields) ? news(of: page) : nil
        let complaint =
            complaint(of: page) ?? (form.endsOthers ? refusal(on: page) : nil)
            ?? (isRefused ? refusal(on: page) ?? (asksMore ? nil : news ?? Self.unexplained) : nil)
        let isTyped = fields.contains { $0.kind != .checkbox }
        var places: String?
        if isTyped, !filled.staysOnOrigin {
            places =
                "Your answers go to \(filled.target.origin)" + (url.isSecure && !filled.target.isSecure ? ", unencrypted." : ".")
        } else if isTyped, url.isSecure, !filled.target.isSecure {
            places = "Your answers are sent unencrypted."
        }
        let choice =
            options.count > 1
            ? "One of these is enough: " + options.map(names).joined(separator: "; or ") + "." : nil
        let ticked =
            filled.ticked.isEmpty
            ? nil : "Ticked by the page, and sent so: " + filled.ticked.map { "\"\($0)\"" }.joined(separator: ", ") + "."
        var messages = [Company.warning(about: form, on: page, at: url), fault, complaint, choice, ticked, places].compactMap {
            $0
        }
        // Terms are shown only where submitting accepts them: for the daemon, an answered prompt with terms is consent. A mere link to
        // a privacy policy is not shown as terms.
        let terms = isBinding(form, page) ? terms(of: form, on: page, at: url) : nil
        var termsURL: String?
        if case .address(let address, let others, _)? = terms {
            termsURL = address.text
            if !others.isEmpty { messages.append("To be read as well: " + others.map(\.text).joined(separator: ", ") + ".") }
        }
        let message = messages.isEmpty ? nil : messages.joined(separator: " ")
        // Terms on the page itself are shown in the prompt.
        let text: String? = if case .text(let text)? = terms { PageText.squeezed(text, limit: Self.shownTerms) } else { nil }
        return Prompt(title: title, message: message, fields: fields, termsURL: termsURL, terms: text)
    }

    private func names(of option: LoginOption) -> String {
        if option.names.isEmpty {
            return "nothing, for \"\(Printable.text(FilledForm.button(of: option.form)?.label ?? "", limit: 60))\""
        }
        return option.names.map { label(of: $0, in: option.form) }.joined(separator: " and ")
    }

    /// Returns the page's error message without the answers that it repeats.
    package func complaint(of page: HTMLPage) -> String? { page.errors.first.map { Printable.text(mask.apply($0), limit: 200) } }

    /// Returns the page's error message, also one that only its words show.
    func refusal(on page: HTMLPage) -> String? {
        complaint(of: page) ?? FormWords.failure(in: page).map { Printable.text(mask.apply($0), limit: 200) }
    }

    /// Returns what a page says that those before did not: its words about the answers, where nothing else marks them. `nil` if it says
    /// nothing new, or no page before is known.
    private func news(of page: HTMLPage) -> String? {
        guard !textBefore.isEmpty else { return nil }
        let known = Set(textBefore)
        let new = page.sentences.filter { !known.contains($0) && $0.unicodeScalars.count(where: \.properties.isAlphabetic) > 8 }
        return new.isEmpty ? nil : Printable.text(mask.apply(new.joined(separator: " ")), limit: 200)
    }

    /// Returns the terms that submitting the page's form accepts; `nil` if there are none.
    package func bindingTerms(on page: HTMLPage, at url: WebURL) -> Terms? {
        guard let form = choose(page, at: url), isBinding(form, page) else { return nil }
        return terms(of: form, on: page, at: url)
    }

    /// Returns what a page says of its terms without marking it: of each passage all from the first text that names them, such as a heading.
    private func spokenTerms(on page: HTMLPage, beside boxes: [String]) -> [String] {
        page.passages.map { $0.drop { !FormWords.isTerms($0) }.joined(separator: " ") }
            .filter { passage in !passage.isEmpty && !boxes.contains { $0.contains(passage) } }
    }

    private func terms(of form: HTMLForm, on page: HTMLPage, at url: WebURL) -> Terms? {
        let agreed = form.inputs.filter { $0.kind == .checkbox && FormWords.isTerms($0.words) }.flatMap(\.links)
        // What is called terms, or else what "you accept the" leads over to, whatever it is called.
        let pieces = zip(page.sentences, page.sentences.dropFirst())
        let accepted = Set(pieces.filter { FormWords.bindsReader($0.0) && $0.0.last?.isLetter == true }.map(\.1))
        let linked = page.links.filter { FormWords.isTerms($0.text) } + page.links.filter { accepted.contains($0.text) }
        let named = (linked.first { !FormWords.isPrivacy($0.text) } ?? linked.first)?.reference
        // All that the boxes name is agreed to; what stands elsewhere on the page, and what another box names, counts where they name none.
        let other = named ?? form.inputs.first { $0.kind == .checkbox && !$0.links.isEmpty }?.links.first
        let references = agreed.isEmpty ? [other].compactMap(\.self) : agreed
        let boxes = form.inputs.filter { $0.kind == .checkbox && FormWords.isTerms($0.words) }.map(\.label).filter { !$0.isEmpty }
        let box = boxes.joined(separator: " ")
        // A link to a place on the page shows what the page has.
        var addresses: [WebURL] = []
        for reference in references where !reference.hasPrefix("#") && addresses.count < Self.documents {
            guard let address = try? redirects.target(of: reference, from: page.base), !addresses.contains(address) else {
                continue
            }
            addresses.append(address)
        }
        func isPrivacy(_ address: WebURL) -> Bool {
            page.links.contains { FormWords.isPrivacy($0.text) && WebURL($0.reference, relativeTo: page.base) == address }
        }
        if let address = addresses.first(where: { !isPrivacy($0) }) ?? addresses.first {
            return .address(address, others: addresses.filter { $0 != address }, box: box)
        }
        if let reader = page.forms.first(where: FormWords.readsTerms),
            let filled = try? FilledForm(reader, on: page, at: url, answers: [:], consent: false, redirects: redirects),
            filled.request.method == .get
        {
            return .address(filled.request.url, box: box)
        }
        // "I agree" on a button says nothing of what.
        let spoken = form.submits.map(\.label).filter { !$0.isEmpty }.reduce(form.text) { $0.replacing($1, with: " ") }
        let rest = FormWords.bindsReader(spoken) ? form.text : page.text
        let marked = page.terms.isEmpty ? spokenTerms(on: page, beside: boxes) : [page.terms]
        let source = boxes.isEmpty && page.terms.isEmpty ? [rest] : boxes + marked
        let text = PageText.squeezed(source.joined(separator: " "), limit: Self.comparedTerms)
        return text.isEmpty ? nil : .text(text)
    }
}
