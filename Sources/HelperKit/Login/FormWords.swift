import ForeignText
import HotspotCore

/// Recognises the purpose of a control, a form or a page by its words, in several European languages.
enum FormWords {
    private static let terms = [
        "terms", "conditions", "accept", "agree", "consent", "policy", "nutzungsbedingung", "akzeptier", "einverstanden",
        "bedingungen", "zustimm", "datenschutz", "términos", "condizioni", "acepto", "accetto", "j'accepte", "voorwaarden",
    ]
    private static let shortTerms: Set<String> = ["agb", "tos", "gtc", "cgu", "eula", "aup"]
    private static let binding = [
        "terms of", "terms and", "terms &", "conditions of use", "you accept", "you agree", "i accept", "i agree",
        "acceptable use",
        "nutzungsbedingungen", "geschäftsbedingungen", "conditions générales", "términos", "condizioni", "voorwaarden",
    ]
    private static let advertising = ["newsletter", "marketing", "offers", "promo", "werbung", "subscribe", "angebote", "advert"]
    private static let logout = [
        "logout", "log out", "log-out", "logoff", "log off", "log-off", "sign out", "signout", "abmelden", "déconnexion",
        "disconnect", "cerrar sesión", "esci", "uitloggen", "_deny",
    ]
    private static let success = [
        "you are now logged in", "you are logged in", "now connected", "you are connected", "successfully", "you are online",
        "now online", "connected to the internet", "internet access granted", "have internet access", "sie sind verbunden",
        "sie sind angemeldet", "erfolgreich", "vous êtes connecté", "login successful", "thank you for logging in",
    ]
    private static let onward = [
        "continue", "connect", "accept", "agree", "go online", "get online", "start", "free", "surf", "weiter", "verbinden",
        "login",
        "log in", "sign in", "anmelden", "akzeptieren", "continuer", "continuar", "ok", "submit",
    ]
    private static let codes = ["voucher", "code", "otp", "token", "pin", "sms", "ticket", "gutschein"]

    static func isTerms(_ text: String) -> Bool {
        terms.contains { text.contains($0) } || !words(of: text).isDisjoint(with: shortTerms)
    }
    /// Whether going on after this text accepts terms.
    static func bindsReader(_ text: String) -> Bool {
        let text = text.lowercased()
        return binding.contains { text.contains($0) } || !words(of: text).isDisjoint(with: shortTerms)
    }
    static func isAdvertising(_ text: String) -> Bool { advertising.contains { text.contains($0) } }
    static func isLogout(_ text: String) -> Bool {
        let text = text.lowercased()
        return logout.contains { text.contains($0) }
    }
    static func isOnward(_ text: String) -> Bool {
        let text = text.lowercased()
        return onward.contains { text.contains($0) }
    }
    static func isCode(_ text: String) -> Bool { !words(of: text).isDisjoint(with: codes) || text.contains("voucher") }
    static func soundsLikeSuccess(_ page: HTMLPage) -> Bool {
        let text = (page.text + " " + (page.title ?? "")).lowercased()
        return page.errors.isEmpty && success.contains { text.contains($0) }
    }
    static func isSearch(_ form: HTMLForm) -> Bool {
        let names = form.inputs.map { $0.name.lowercased() }
        return form.hints.contains("search") || names == ["q"] || names == ["s"] || names == ["search"]
    }
    static func isLanguage(_ form: HTMLForm) -> Bool {
        !form.inputs.isEmpty && form.inputs.allSatisfy { $0.kind == .select && isLanguage($0.words) }
    }
    static func isLanguage(_ text: String) -> Bool { ["lang", "locale", "sprache"].contains { text.contains($0) } }
    /// Returns a choice as the user sees and answers it.
    static func choice(_ label: String, _ value: String) -> String { Printable.text(label.isEmpty ? value : label, limit: 80) }
    /// Whether a form only opens the terms, such as the second form of openNDS.
    static func readsTerms(_ form: HTMLForm) -> Bool {
        guard form.inputs.isEmpty, let label = form.submits.first?.label.lowercased(), isTerms(label) else { return false }
        return ["read", "view", "show", "lesen", "anzeigen", "terms of service"].contains { label.contains($0) }
            && !label.hasPrefix("accept") && !label.hasPrefix("agree") && !label.hasPrefix("i ")
    }

    private static func words(of text: String) -> Set<String> {
        Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }
}
