import HotspotCore

/// A company that many people have an account of. A portal has no use for its password; a page that asks for it is often a trap.
package struct Company: Hashable, Sendable {
    package let name: String
    /// The words that pages name it by, as ``plain(_:)`` returns them.
    private let words: [String]
    private let domains: [String]

    /// The companies of `companies.txt`: one in each line, with its name, its words and its domains.
    private static let all = String(decoding: PackageResources.companies_txt, as: UTF8.self).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { part in
                part.split(separator: ",").map { PageText.squeezed($0) }
            }
            return Company(name: parts[0][0], words: parts[1].map { " \(LookAlikes.skeleton($0)) " }, domains: parts[2])
        }

    /// Returns a warning if a page that is no company's own names one where it asks for an account: beside a password, or in the title.
    static func warning(about form: HTMLForm, on page: HTMLPage, at url: WebURL) -> String? {
        let typed = form.inputs.filter { $0.kind != .checkbox }
        guard !typed.isEmpty else { return nil }
        var texts = [page.title ?? ""]
        if !form.passwords.isEmpty { texts += [form.text] + (typed + form.submits).map { $0.label } }
        let text = " " + texts.map(plain).joined(separator: " ") + " "
        guard let company = named(in: text, at: url) else { return nil }
        return "This page names \(company.name) and is not \(company.name)'s: type no password of \(company.name) here."
    }

    /// Returns the company that a page imitates. Its title or a heading names the company, it asks for a password, and it is not
    /// the company's.
    ///
    /// - Parameter asksPassword: the login asks for a password where the page has no field for it.
    package static func imitated(by page: HTMLPage, at url: WebURL, asksPassword: Bool = false) -> Company? {
        guard asksPassword || page.forms.contains(where: { !$0.isInvisible && !$0.passwords.isEmpty }) else { return nil }
        return imitated(naming: [page.title ?? ""] + page.headings, at: url)
    }

    /// Returns the company that a page imitates whose questions go to the user.
    ///
    /// A company's login may ask for the mail address alone at first. A page that only a browser can show may ask for anything.
    /// For both the title decides.
    package static func imitated(by page: HTMLPage, asking prompt: Prompt, at url: WebURL) -> Company? {
        if let company = imitated(by: page, at: url) { return company }
        guard prompt.handsOver || prompt.fields.contains(where: { $0.kind == .email }), let title = page.title else { return nil }
        return imitated(naming: [title], at: url)
    }

    /// Returns the company that a login with a password imitates by these names, and that does not own the address.
    package static func imitated(naming names: [String], at url: WebURL) -> Company? {
        named(in: " " + names.map(plain).joined(separator: " ") + " ", at: url)
    }

    /// Returns the company that a text of another one's page names.
    private static func named(in text: String, at url: WebURL) -> Company? {
        guard !all.contains(where: { $0.owns(url) }) else { return nil }
        return all.first { $0.words.contains { text.contains($0) } }
    }

    /// Returns whether the page is the company's own. Over plain HTTP any network can answer in its name.
    private func owns(_ url: WebURL) -> Bool {
        url.isSecure && domains.contains { url.host == $0 || url.host.hasSuffix("." + $0) }
    }

    /// Returns the words with one blank between them, as skeletons, without addresses such as `name@gmail.com`. The parts of
    /// joined words follow, such as those of "GoogleAccount", "PayPalLogin" and "accounts.google.com".
    private static func plain(_ text: String) -> String {
        var words: [String] = []
        for part in LookAlikes.folded(text).split(whereSeparator: \.isWhitespace) where !part.contains("@") {
            for word in part.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "." }) {
                let start = word.drop { $0 == "." }
                words.append(String(start.last == "." ? start.dropLast() : start))
            }
        }
        return LookAlikes.skeleton((words + words.flatMap(Self.parts)).joined(separator: " "))
    }

    /// The most parts of a word that are looked at.
    private static let partLimit = 8

    /// Returns the parts of a joined word, alone and with their neighbours, for a company's name may have a capital inside. A
    /// part begins behind each dot, and at each capital that follows a small letter.
    private static func parts(of word: String) -> [String] {
        var parts = [""]
        var isAfterSmall = false
        for letter in word {
            if letter == "." || (letter.isUppercase && isAfterSmall) { parts.append("") }
            if letter != "." { parts[parts.count - 1].append(letter) }
            isAfterSmall = letter.isLowercase
        }
        parts = Array(parts.prefix(partLimit))
        guard parts.count > 1 else { return [] }
        return parts
            + parts.indices.flatMap { first in
                parts.indices.dropFirst(first + 1).map { parts[first...$0].joined() }
            }
    }
}
