import ForeignText
import HelperKit
import HotspotCore

/// A login page whose first form opens the portal when the form is submitted as a browser submits it.
struct RehearsalPage: Sendable {
    /// The page as it is served.
    let octets: [UInt8]
    /// The path of the form's action.
    let action: String
    /// The paths of the page's links; the portal answers them with made-up terms.
    let links: Set<String>
    private(set) var remarks: [Remark] = []
    private let form: HTMLForm
    /// Whether a request must contain one of the form's buttons, as a browser's request does.
    private let wantsButton: Bool

    /// Reads a page that is served at `origin`. Throws ``CannotTest`` if it has no form that could be a login.
    ///
    /// - Parameter wantsButton: whether a request must contain one of the form's buttons that have a name.
    init(_ octets: [UInt8], name: String, origin: String, wantsButton: Bool) throws(CannotTest) {
        let url = WebURL(origin + "/portal")!
        let page = HTMLPage.read(octets, at: url)
        guard
            let form = page.forms.first(where: { !$0.isInvisible && (!$0.submits.isEmpty || $0.method == .post) })
                ?? page.forms.first
        else { throw CannotTest("\(Printable.text(name)) contains no form, so a login is not possible.") }
        guard let target = form.action.isEmpty ? url : WebURL(form.action, relativeTo: page.base) else {
            throw CannotTest(
                "\(Printable.text(name)): its form goes to \"\(Printable.text(form.action, limit: 120))\", which is not an address."
            )
        }
        guard target.origin == origin else {
            // The form of a saved page may contain the address of the real portal. Replaces it with the made-up portal's address.
            let text = String(decoding: octets, as: UTF8.self)
            guard text.contains(target.origin) else {
                let place = "\(Printable.text(target.origin, limit: 120)), not to the made-up portal"
                throw CannotTest("\(Printable.text(name)): its form goes to \(place); leave scheme and host out of the address.")
            }
            let moved = Array(text.replacing(target.origin, with: origin).utf8)
            self = try RehearsalPage(moved, name: name, origin: origin, wantsButton: wantsButton)
            remarks.insert(.note("\(Printable.text(target.origin, limit: 120)) in the page was replaced by \(origin)."), at: 0)
            return
        }
        if page.forms.count > 1 {
            remarks.note(
                "The page contains \(page.forms.count) forms; the one to \(Printable.text(target.path, limit: 120)) opens the portal."
            )
        }
        if form.encoding != .urlEncoded {
            remarks.note("The made-up portal cannot read the encoding of the page's form (multipart/form-data or text/plain).")
        }
        self.octets = octets
        self.form = form
        self.wantsButton = wantsButton
        action = target.path
        let references = page.links.map(\.reference) + form.inputs.flatMap(\.links)
        links = Set(references.compactMap { WebURL($0, relativeTo: page.base) }.filter { $0.origin == origin }.map(\.path))
    }

    /// Whether the form goes to the address of the page.
    var returnsToItself: Bool { form.action.isEmpty }

    /// `GET` or `POST`.
    var method: String { form.method == .post ? "POST" : "GET" }

    /// Returns the mistakes in a request to the form's address. A request without mistakes opens the portal.
    ///
    /// - Parameter isScript: whether a script made the request, so that it contains no button.
    func lacks(_ pairs: [(name: String, value: String)], isScript: Bool = false) -> [String] {
        let sent = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        var lacks: [String] = []
        for control in form.controls where !control.name.isEmpty {
            let name = "\"\(Printable.text(control.name, limit: 40))\""
            let value = sent[control.name]
            switch control.kind {
            case .hidden:
                if value == nil {
                    lacks.append("the hidden field \(name) is missing")
                } else if !pairs.contains(where: { $0.name == control.name && $0.value == control.value }) {
                    lacks.append("the hidden field \(name) has another value than on the page")
                }
            case .checkbox: if isBinding(control), value == nil { lacks.append("the box \(name) is not ticked") }
            case .radio: if value == nil, control.isRequired || !marksRequired { lacks.append("nothing is chosen for \(name)") }
            case .text, .password, .email, .telephone, .textarea, .select:
                let isWanted = control.isRequired || control.kind == .password || !marksRequired
                if isWanted, !words(control).contains("optional"), value?.isEmpty ?? true {
                    lacks.append("the field \(name) is empty")
                }
            case .submit, .image, .button, .file: break
            }
        }
        return wantsButton && !isScript ? lacks + button(pairs) : lacks
    }

    /// Returns the mistakes in the buttons of a request. A browser sends only the pressed button, if it has a name. If the user
    /// submits the form with the return key, a browser sends the first button (HTML Standard, "Implicit submission").
    private func button(_ pairs: [(name: String, value: String)]) -> [String] {
        let sent = form.submits.map { submit in
            pairs.contains {
                submit.kind == .image
                    ? $0.name == (submit.name.isEmpty ? "x" : submit.name + ".x")
                    : !submit.name.isEmpty && $0.name == submit.name && $0.value == submit.value
            }
        }
        let shown = zip(form.submits, sent).filter(\.1).map { Self.shown($0.0) }
        if Set(shown).count > 1 {
            let all = Set(shown).sorted().joined(separator: " and ")
            return ["several buttons were sent, \(all); a browser sends only the pressed one"]
        }
        guard shown.isEmpty, let first = form.submits.first, !first.name.isEmpty else { return [] }
        return ["the button \(Self.shown(first)) is missing; a browser sends the pressed button, otherwise the first one"]
    }

    private static func shown(_ submit: HTMLControl) -> String {
        "\"\(Printable.text(submit.name, limit: 40))=\(Printable.text(submit.value, limit: 40))\""
    }

    /// Returns whether a request accepts terms.
    func accepts(_ pairs: [(name: String, value: String)]) -> Bool {
        form.controls.contains { control in
            control.kind == .checkbox && isTerms(control) && pairs.contains { $0.name == control.name }
        }
    }

    private func words(_ control: HTMLControl) -> String { (control.name + " " + control.label).lowercased() }

    private func isBinding(_ control: HTMLControl) -> Bool { control.isRequired || isTerms(control) }

    private func isTerms(_ control: HTMLControl) -> Bool {
        Self.termsWords.contains { words(control).contains($0) }
    }

    private static let termsWords = [
        "accept", "agree", "terms", "conditions", "rules", "akzept", "zustimm", "einverstanden", "agb", "nutzungsbed", "accetto",
        "acepto",
    ]
}

extension RehearsalPage {
    /// Returns the default page: terms to accept, a button, and a token that is new at each view.
    static func usual(token: Int, complaint: String) -> String {
        """
        <html><head><title>Rehearsal</title></head><body><h1>Welcome</h1>\(complaint.isEmpty ? "" : "<p class=error>\(complaint)</p>")
        <form action="/login" method="post">
        <input type="hidden" name="token" value="\(token)">
        <label><input type="checkbox" name="accept" value="yes"> I accept the <a href="/terms">house rules</a></label>
        <input type="submit" name="go" value="Connect">
        </form></body></html>
        """
    }
}
