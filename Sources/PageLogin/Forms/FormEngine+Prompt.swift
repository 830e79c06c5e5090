import BoundHTTP
import ForeignText
import HotspotCore
import PortalPages

/// Makes the prompt and the terms in it.
extension FormEngine {
    /// How many characters of a page's own terms a prompt shows at most, and how many are compared.
    private static let (shownTerms, comparedTerms) = (8192, 64 * 1024)

    /// The largest number of documents with terms, for one form, that the prompt names and hotspotd compares.
    private static let documents = 3

    /// Returns whether submitting this form accepts terms.
    func isBinding(_ form: TypedForm, _ page: TypedPage) -> Bool {
        form.controls.contains { ($0.kind == .checkbox || $0.kind == .radio) && $0.words.isTerms } || form.words.bindsReader
            || page.bindsReader(beside: form)
    }

    func prompt(
        _ fields: [Field], _ options: [LoginOption], _ page: TypedPage, _ url: WebURL, _ filled: FilledForm, _ fault: String?
    ) -> Prompt {
        let form = pick(options).option.form
        let choice =
            options.count > 1
            ? "One of these is enough: " + options.map(names).joined(separator: "; or ") + "." : nil
        let ticked =
            filled.ticked.isEmpty
            ? nil
            : "The page has ticked these boxes, and they are sent ticked: "
                + filled.ticked.map { "\"\($0)\"" }.joined(separator: ", ") + "."
        var messages = [
            ImitatedBrand.warning(about: form, on: page, at: url), fault, complaint(of: page, about: form, fields), choice,
            ticked,
            place(of: filled, fields, at: url),
        ].compactMap(\.self)
        // Terms are shown only if submitting accepts them, because the daemon treats an answer to a prompt with terms as consent. A mere link to a
        // privacy policy is not shown as terms.
        let terms = isBinding(form, page) ? terms(of: form, on: page, at: url) : nil
        var termsURL: String?
        if case .address(let address, let others, _)? = terms {
            termsURL = address.text
            if !others.isEmpty { messages.append("Also read: " + others.map(\.text).joined(separator: ", ") + ".") }
        }
        // Terms on the page itself are shown in the prompt.
        let text: String? = if case .text(let text)? = terms { PageText.squeezed(text, limit: Self.shownTerms) } else { nil }
        return Prompt(
            title: Printable.text(page.title ?? url.host, limit: 120),
            message: messages.isEmpty ? nil : messages.joined(separator: " "), fields: fields, termsURL: termsURL, terms: text)
    }

    /// Returns the page's complaint about the sent answers. If the page asks for them again without a complaint, returns its new words or
    /// ``unexplained``.
    private func complaint(of page: TypedPage, about form: TypedForm, _ fields: [Field]) -> String? {
        if let complaint = complaint(of: page.page) { return complaint }
        let isRefused = fields.contains { answers.sent($0.name) != nil }
        guard isRefused || form.endsOthers else { return nil }
        if let refusal = refusal(on: page) { return refusal }
        // A page that shows an earlier answer beside new questions has not refused the answer.
        let asksMore = fields.contains { $0.required && $0.kind != .checkbox && answers.sent($0.name) == nil }
        guard isRefused, !asksMore else { return nil }
        // If this command has sent none of the fields, the portal starts over, and its new words are not about the answers.
        return (hasSent(fields) ? news(of: page.page) : nil) ?? Self.unexplained
    }

    /// Returns a sentence about where the typed answers will be sent, if the page's address does not show it.
    private func place(of filled: FilledForm, _ fields: [Field], at url: WebURL) -> String? {
        guard fields.contains(where: { $0.kind != .checkbox }) else { return nil }
        let losesEncryption = url.isSecure && !filled.target.isSecure
        if !filled.staysOnOrigin {
            return "Your answers go to \(filled.target.origin)" + (losesEncryption ? ", unencrypted." : ".")
        }
        return losesEncryption ? "Your answers are sent unencrypted." : nil
    }

    private func names(of option: LoginOption) -> String {
        if option.names.isEmpty {
            return "nothing, for \"\(Printable.text(option.form.button?.control.label ?? "", limit: 60))\""
        }
        return option.names.map { label(of: $0, in: option.form) }.joined(separator: " and ")
    }

    /// Returns the page's error message without the answers that it repeats.
    package func complaint(of page: HTMLPage) -> String? { page.errors.first.map { Printable.text(mask.apply($0), limit: 200) } }

    /// Returns the page's error message, even if only its wording shows that it is an error.
    func refusal(on page: TypedPage) -> String? {
        complaint(of: page.page) ?? page.failure.map { Printable.text(mask.apply($0), limit: 200) }
    }

    /// Returns the page's words that earlier pages did not contain: if the page marks no error message, they are about the answers. `nil` if there
    /// are no new words, or no earlier page is known.
    private func news(of page: HTMLPage) -> String? {
        guard !textBefore.isEmpty else { return nil }
        let known = Set(textBefore)
        let new = page.sentences.filter { !known.contains($0) && $0.unicodeScalars.count(where: \.properties.isAlphabetic) > 8 }
        return new.isEmpty ? nil : Printable.text(mask.apply(new.joined(separator: " ")), limit: 200)
    }

    /// Returns the terms that submitting the page's form accepts; `nil` if there are none.
    package func bindingTerms(on page: HTMLPage, at url: WebURL) -> Terms? { bindingTerms(on: TypedPage(page), at: url) }

    func bindingTerms(on page: TypedPage, at url: WebURL) -> Terms? {
        let options = offered(ways(on: page, at: url), on: page)
        guard !options.isEmpty else { return nil }
        let form = pick(options).option.form
        return isBinding(form, page) ? terms(of: form, on: page, at: url) : nil
    }

    private func terms(of form: TypedForm, on page: TypedPage, at url: WebURL) -> Terms? {
        let boxes = form.termsBoxes.map(\.control.label).filter { !$0.isEmpty }
        let box = boxes.joined(separator: " ")
        let addresses = termsAddresses(of: form, on: page)
        func isPrivacy(_ address: WebURL) -> Bool {
            page.links.contains { $0.words.isPrivacy && WebURL($0.reference, relativeTo: page.base) == address }
        }
        if let address = addresses.first(where: { !isPrivacy($0) }) ?? addresses.first {
            return .address(address, others: addresses.filter { $0 != address }, box: box)
        }
        if let reader = page.forms.first(where: { $0.purpose.contains(.reading) }),
            let filled = try? FilledForm(reader, on: page.page, at: url, redirects: redirects), filled.request.method == .get
        {
            return .address(filled.request.url, box: box)
        }
        // A button's label, such as "I agree", does not count: it does not name the terms.
        let spoken = form.submits.map(\.control.label).filter { !$0.isEmpty }.reduce(form.text) { $0.replacing($1, with: " ") }
        let rest = Purposes(of: spoken).bindsReader ? form.text : page.text
        let marked = page.terms.isEmpty ? spokenTerms(on: page, beside: boxes) : [page.terms]
        let source = boxes.isEmpty && page.terms.isEmpty ? [rest] : boxes + marked
        let text = PageText.squeezed(source.joined(separator: " "), limit: Self.comparedTerms)
        return text.isEmpty ? nil : .text(text)
    }

    /// Returns the addresses of the terms. A box for terms accepts all documents to which it links. Documents elsewhere on the page count only if no
    /// such box has a link.
    private func termsAddresses(of form: TypedForm, on page: TypedPage) -> [WebURL] {
        let agreed = form.termsBoxes.flatMap(\.control.links)
        // A link called terms; otherwise the link that follows the words "you accept the", whatever its name.
        let texts = zip(page.texts, page.texts.dropFirst())
        let accepted = Set(texts.filter { $0.0.words.bindsReader && $0.0.text.last?.isLetter == true }.map(\.1.text))
        let linked = page.links.filter(\.words.isTerms) + page.links.filter { accepted.contains($0.text) }
        let named = (linked.first { !$0.words.isPrivacy } ?? linked.first)?.reference
        let other = named ?? form.inputs.first { $0.kind == .checkbox && !$0.control.links.isEmpty }?.control.links.first
        var addresses: [WebURL] = []
        // A link to a place on the same page is skipped: it leads to text that the page already contains.
        for reference in agreed.isEmpty ? [other].compactMap(\.self) : agreed
        where !reference.hasPrefix("#") && addresses.count < Self.documents {
            guard let address = try? redirects.target(of: reference, from: page.base), !addresses.contains(address) else {
                continue
            }
            addresses.append(address)
        }
        return addresses
    }

    /// Returns the terms in a page's text that are not marked as terms: in each passage, everything from the first text that names them, such as a
    /// heading.
    private func spokenTerms(on page: TypedPage, beside boxes: [String]) -> [String] {
        page.passages.map { $0.drop { !Purposes(of: $0).isTerms }.joined(separator: " ") }
            .filter { passage in !passage.isEmpty && !boxes.contains { $0.contains(passage) } }
    }
}
