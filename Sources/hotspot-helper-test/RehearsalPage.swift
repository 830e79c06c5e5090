import ForeignText
import HelperKit
import HotspotCore

/// A login page, and what opens its portal: its first form, sent as a browser would send it.
struct RehearsalPage: Sendable {
    /// What is served.
    let octets: [UInt8]
    /// Path of the form's action.
    let action: String
    /// Paths that the page links to; they are answered with terms to read.
    let links: Set<String>
    /// What an author should know about the page.
    let remarks: [Remark]
    private let form: HTMLForm
    /// A browser sends one of the form's buttons, and so must a helper.
    private let wantsButton: Bool

    /// Reads a page that will lie at `origin`. Throws ``Unusable`` where nothing on it could log anybody in.
    ///
    /// - Parameter wantsButton: a button that has a name is sent as well, and no second one.
    init(_ octets: [UInt8], name: String, origin: String, wantsButton: Bool) throws(Unusable) {
        let url = WebURL(origin + "/portal")!
        let page = HTMLPage.read(octets, at: url)
        guard
            let form = page.forms.first(where: { !$0.isInvisible && (!$0.submits.isEmpty || $0.method == .post) })
                ?? page.forms.first
        else { throw Unusable("\(Printable.text(name)) has no form: nothing on it could log anybody in.") }
        guard let target = form.action.isEmpty ? url : WebURL(form.action, relativeTo: page.base) else {
            throw Unusable(
                "\(Printable.text(name)): its form goes to «\(Printable.text(form.action, limit: 120))», which is no address.")
        }
        var remarks: [Remark] = []
        guard target.origin == origin else {
            // The form of a saved page names the portal that it was saved from: the made-up portal stands in its place.
            let text = String(decoding: octets, as: UTF8.self)
            guard text.contains(target.origin) else {
                throw Unusable(
                    "\(Printable.text(name)): its form goes to \(Printable.text(target.origin, limit: 120)), where the made-up portal is not; write the address without scheme and host."
                )
            }
            let moved = try RehearsalPage(
                Array(text.replacing(target.origin, with: origin).utf8), name: name, origin: origin, wantsButton: wantsButton)
            self = moved.adding(.note("\(Printable.text(target.origin, limit: 120)) in the page is served as \(origin)."))
            return
        }
        if page.forms.count > 1 {
            remarks.append(
                .note(
                    "The page has \(page.forms.count) forms; the one to \(Printable.text(target.path, limit: 120)) opens the portal."
                ))
        }
        if !form.isPlain {
            remarks.append(
                .note("The page's form is of a kind that the made-up portal does not read (multipart/form-data or text/plain)."))
        }
        self.octets = octets
        self.form = form
        self.remarks = remarks
        self.wantsButton = wantsButton
        action = target.path
        let references = page.links.map(\.reference) + form.inputs.flatMap(\.links)
        links = Set(references.compactMap { WebURL($0, relativeTo: page.base) }.filter { $0.origin == origin }.map(\.path))
    }

    private init(_ other: RehearsalPage, _ remarks: [Remark]) {
        octets = other.octets
        action = other.action
        links = other.links
        form = other.form
        wantsButton = other.wantsButton
        self.remarks = remarks
    }

    private func adding(_ remark: Remark) -> RehearsalPage { RehearsalPage(self, [remark] + remarks) }

    /// The form goes to wherever the page is.
    var returnsToItself: Bool { form.action.isEmpty }

    /// `GET` or `POST`.
    var method: String { form.method == .post ? "POST" : "GET" }

    /// What a request to the form's address lacks; empty: the portal opens.
    func lacks(_ pairs: [(name: String, value: String)]) -> [String] {
        let sent = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let marksRequired = form.inputs.contains { $0.isRequired && $0.kind != .checkbox }
        var lacks: [String] = []
        for control in form.controls where !control.name.isEmpty {
            let name = "«\(Printable.text(control.name, limit: 40))»"
            let value = sent[control.name]
            switch control.kind {
            case .hidden:
                if value == nil {
                    lacks.append("the hidden field \(name) is missing")
                } else if !pairs.contains(where: { $0.name == control.name && $0.value == control.value }) {
                    lacks.append("the hidden field \(name) has not the page's value")
                }
            case .checkbox: if isBinding(control), value == nil { lacks.append("the box \(name) is not ticked") }
            case .radio: if value == nil, control.isRequired || !marksRequired { lacks.append("of \(name) nothing is chosen") }
            case .text, .password, .email, .telephone, .textarea, .select:
                let isWanted = control.isRequired || control.kind == .password || !marksRequired
                if isWanted, !words(control).contains("optional"), value?.isEmpty ?? true {
                    lacks.append("the field \(name) is empty")
                }
            case .submit, .image, .button, .file: break
            }
        }
        return wantsButton ? lacks + button(pairs) : lacks
    }

    /// What is wrong with the buttons that were sent. Whoever uses a browser presses one, and where it has a name, that is sent; a form
    /// that is sent with the return key carries the first (HTML, implicit submission). Another one alone may have been pressed as well.
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
            return [
                "several buttons were sent, \(Set(shown).sorted().joined(separator: " and ")); a browser sends the one that is pressed"
            ]
        }
        guard shown.isEmpty, let first = form.submits.first, !first.name.isEmpty else { return [] }
        return ["the button \(Self.shown(first)) is missing; a browser sends the one that is pressed, and by itself the first"]
    }

    private static func shown(_ submit: HTMLControl) -> String {
        "«\(Printable.text(submit.name, limit: 40))=\(Printable.text(submit.value, limit: 40))»"
    }

    /// Whether somebody who sent this accepted terms.
    func accepts(_ pairs: [(name: String, value: String)]) -> Bool {
        form.controls.contains { control in
            control.kind == .checkbox && isTerms(control) && pairs.contains { $0.name == control.name }
        }
    }

    private func words(_ control: HTMLControl) -> String { (control.name + " " + control.label).lowercased() }

    private func isBinding(_ control: HTMLControl) -> Bool { control.isRequired || isTerms(control) }

    private func isTerms(_ control: HTMLControl) -> Bool {
        [
            "accept", "agree", "terms", "conditions", "rules", "akzept", "zustimm", "einverstanden", "agb", "nutzungsbed",
            "accetto", "acepto",
        ]
        .contains { words(control).contains($0) }
    }
}

extension RehearsalPage {
    /// The page of a portal that nobody gave a page: terms to accept, a button, and a token that is another with every view.
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
