import HotspotCore

/// A company that many people have an account of. A portal has no use for its password; a page that asks for it is often a trap.
struct Company: Sendable {
    let name: String
    /// The words that pages name it by.
    private let words: [String]
    private let domains: [String]

    /// The companies of `companies.txt`: one in each line, with its name, its words and its domains.
    private static let all = String(decoding: PackageResources.companies_txt, as: UTF8.self).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { part in
                part.split(separator: ",").map { PageText.squeezed($0) }
            }
            return Company(name: parts[0][0], words: parts[1].map { " \($0) " }, domains: parts[2])
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

    /// Returns why a page is a trap: its title or heading is a company's that it does not belong to, and it asks for a password.
    static func trap(_ page: HTMLPage, at url: WebURL) -> String? {
        let text = " " + ([page.title ?? ""] + page.headings).map(plain).joined(separator: " ") + " "
        guard page.forms.contains(where: { !$0.isInvisible && !$0.passwords.isEmpty }), let company = named(in: text, at: url)
        else {
            return nil
        }
        return "The page asks for an account of \(company.name) and is not \(company.name)'s; nothing was sent."
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

    /// Returns the words in lower case with one blank between them, without addresses such as `name@gmail.com`. Joined words, such as
    /// "GoogleAccount" and "accounts.google.com", follow once more in parts.
    private static func plain(_ text: String) -> String {
        var words: [String] = []
        for part in LookAlikes.folded(text).split(whereSeparator: \.isWhitespace) where !part.contains("@") {
            for word in part.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "." }) {
                let start = word.drop { $0 == "." }
                words.append(String(start.last == "." ? start.dropLast() : start))
            }
        }
        let joined = words.map(Self.parts).filter { $0.contains(" ") }
        return (words + joined).joined(separator: " ").lowercased()
    }

    /// Returns a word with a blank for each dot and before each capital that follows a small letter.
    private static func parts(of word: String) -> String {
        var parts = ""
        for letter in word {
            if letter.isUppercase, parts.last?.isLowercase ?? false { parts.append(" ") }
            parts.append(letter == "." ? " " : letter)
        }
        return parts
    }
}
