import HelperKit
import HotspotCore

/// A company with which many people have an account. A portal never needs the password of such an account; a page that asks for it is often a trap.
package struct ImitatedBrand: Hashable, Sendable {
    package let name: String
    /// The words by which pages name the company, as ``plain(_:)`` returns them.
    private let words: [String]
    /// The words that name the company only as a whole text, because people or places have the same name.
    private let names: [String]
    private let domains: [String]

    /// The companies of `companies.txt`: one in each line, with its name, its words and its domains.
    private static let all = String(decoding: PackageResources.companies_txt, as: UTF8.self).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { part in
                part.split(separator: ",").map { PageText.squeezed($0) }
            }
            func words(_ words: [String]) -> [String] { words.map { " \(LookAlikes.skeleton($0)) " } }
            return ImitatedBrand(
                name: parts[0][0], words: words(parts[1].filter { !$0.hasPrefix("=") }),
                names: words(parts[1].filter { $0.hasPrefix("=") }.map { String($0.dropFirst()) }), domains: parts[2])
        }

    /// Returns a warning if a page asks for a company's account but belongs to none of the companies. The page names the company beside a password,
    /// or in the title.
    static func warning(about form: TypedForm, on page: TypedPage, at url: WebURL) -> String? {
        guard let company = asked(by: form, on: page, at: url) else { return nil }
        return
            "This page names \(company.name) but does not belong to \(company.name). Do not type your \(company.name) password here."
    }

    /// Returns the company whose account a form asks for.
    private static func asked(by form: TypedForm, on page: TypedPage, at url: WebURL) -> ImitatedBrand? {
        let typed = form.inputs.filter { $0.kind != .checkbox }
        guard !typed.isEmpty else { return nil }
        guard !form.passwords.isEmpty else { return imitated(naming: [page.title ?? ""], at: url) }
        // The words of links and of other buttons do not count, because they offer other logins.
        let button = form.button?.control.label
        let offers = page.links.map(\.link.text) + form.submits.map(\.control.label).filter { $0 != button }
        let text = offers.reduce(form.text) { $1.isEmpty ? $0 : $0.replacing($1, with: "\n") }
        // A text that is only a company's name counts as a logo.
        let logos = page.page.sentences.filter { !offers.contains($0) && isName($0) }
        return imitated(naming: [page.title ?? "", text, button ?? ""] + typed.map(\.control.label) + logos, at: url)
    }

    /// Returns the company that a page imitates: the title or first heading names the company, and the page asks for a password without belonging to
    /// the company. A heading such as "Log in with Google" does not count, because it offers one of several ways to log in.
    ///
    /// - Parameter asksPassword: whether the login asks for a password although the page has no field for it.
    package static func imitated(by page: HTMLPage, at url: WebURL, asksPassword: Bool = false) -> ImitatedBrand? {
        guard asksPassword || page.forms.contains(where: { !$0.isInvisible && !$0.passwords.isEmpty }) else { return nil }
        return imitated(naming: [page.title, nameHeading(of: page)].compactMap(\.self), at: url)
    }

    /// Returns the heading that names a page: the first heading if it is only a company's name; otherwise the first heading that neither offers
    /// another company's account nor asks for a login; otherwise the first heading.
    private static func nameHeading(of page: HTMLPage) -> String? {
        guard let first = page.headings.first else { return nil }
        if isName(first) { return first }
        return page.headings.first { Purposes(of: $0).isDisjoint(with: [Purposes(.social), Purposes(.onward)]) } ?? first
    }

    /// Returns the company that a page imitates when it asks the user.
    ///
    /// A company's login may first ask only for the mail address, and a page for a browser may ask for anything. In both cases the title decides.
    static func imitated(by page: TypedPage, asking prompt: Prompt, at url: WebURL) -> ImitatedBrand? {
        let form = page.forms.first { !$0.isInvisible && !$0.passwords.isEmpty }
        if let company = imitated(by: page.page, at: url) ?? form.flatMap({ asked(by: $0, on: page, at: url) }) { return company }
        guard prompt.handsOver || prompt.fields.contains(where: { $0.kind == .email }), let title = page.title else { return nil }
        return imitated(naming: [title], at: url)
    }

    /// Returns the company that one of these texts names, on a page that belongs to none of the companies.
    package static func imitated(naming texts: [String], at url: WebURL) -> ImitatedBrand? {
        guard !all.contains(where: { $0.owns(url) }) else { return nil }
        let texts = texts.map { (" " + plain($0) + " ", name($0)) }
        return all.first { company in
            texts.contains { text, name in company.isCalled(name) || company.words.contains { text.contains($0) } }
        }
    }

    /// Returns whether a text is only a company's name.
    private static func isName(_ text: String) -> Bool {
        let name = name(text)
        return all.contains { $0.isCalled(name) }
    }

    private func isCalled(_ name: String) -> Bool { names.contains(name) || words.contains(name) }

    /// Returns a text in the form in which company names are compared.
    private static func name(_ text: String) -> String {
        let words = words(of: text)
        return " " + LookAlikes.skeleton(words.joined(separator: isSpaced(words[...]) ? "" : " ")) + " "
    }

    /// Returns whether the words are the single letters of a spaced-out word, as in "G o o g l e".
    private static func isSpaced(_ words: ArraySlice<String>) -> Bool { words.count > 3 && words.allSatisfy { $0.count == 1 } }

    /// Returns whether the page is the company's own. Over plain HTTP, any network can answer in the company's name.
    private func owns(_ url: WebURL) -> Bool {
        url.isSecure && domains.contains { url.host == $0 || url.host.hasSuffix("." + $0) }
    }

    /// Returns the words as skeletons with one blank between them, without addresses such as `name@gmail.com`. The parts of joined words, such as
    /// "GoogleAccount", "PayPalLogin" and "accounts.google.com", are added at the end.
    private static func plain(_ text: String) -> String {
        let words = words(of: text)
        let spaced = words.split { $0.count > 1 }.filter(isSpaced).map { $0.joined() }
        return LookAlikes.skeleton((words + words.flatMap(parts) + spaced).joined(separator: " "))
    }

    private static func words(of text: String) -> [String] {
        var words: [String] = []
        for part in LookAlikes.folded(text).split(whereSeparator: \.isWhitespace) where !part.contains("@") {
            for word in part.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "." }) {
                let start = word.drop { $0 == "." }
                words.append(String(start.last == "." ? start.dropLast() : start))
            }
        }
        return words
    }

    /// The largest number of parts of a word that are joined with their neighbours.
    private static let partLimit = 8

    /// Returns the parts of a joined word, alone and joined with their neighbours, because a company's name may contain a capital. A part begins
    /// after each dot, and at each capital that follows a small letter.
    private static func parts(of word: String) -> [String] {
        var parts = [""]
        var isAfterSmall = false
        for letter in word {
            if letter == "." || (letter.isUppercase && isAfterSmall) { parts.append("") }
            if letter != "." { parts[parts.count - 1].append(letter) }
            isAfterSmall = letter.isLowercase
        }
        guard parts.count > 1 else { return [] }
        let joined = parts.indices.flatMap { first in
            (first + 1..<min(first + partLimit, parts.count)).map { parts[first...$0].joined() }
        }
        return parts + joined
    }
}

extension HelperCommand {
    /// Makes the reply of a login that sent no answers, because the portal imitates a company.
    package func leave(_ portal: Portal?, imitating company: ImitatedBrand) -> Reply {
        var reply = reply(
            .unsupportedNetwork, portal: portal,
            reason: "The page asks for your \(company.name) account but does not belong to \(company.name). Nothing was sent."
        )
        reply.imitates = company.name
        return reply
    }
}
