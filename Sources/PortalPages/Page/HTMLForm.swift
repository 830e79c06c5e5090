import BoundHTTP
import HotspotCore

/// One control of a form.
public struct HTMLControl: Codable, Hashable, Sendable {
    /// The type of a control; unknown ones count as text, as in browsers.
    public enum InputType: String, Codable, Hashable, Sendable, CaseIterable {
        case hidden, text, password, email, telephone, checkbox, radio, select, textarea, submit, image, button, file
    }

    /// One choice of a `select` element.
    public struct Option: Codable, Hashable, Sendable {
        /// The value that is sent.
        public var value: String
        /// The text that the user reads.
        public var label: String
        /// The `selected` attribute.
        public var isSelected: Bool
        /// The `disabled` attribute: it cannot be chosen.
        public var isDisabled = false
    }

    /// The type.
    public var kind: InputType
    /// The name that is sent; a control with an empty name is not sent.
    public var name: String
    /// The value that the page fills in.
    public var value = ""
    /// The text beside it: its label, `aria-label`, placeholder or title.
    public var label = ""
    /// The legend of the field set that a radio button is in: the question that a group of them answers.
    public var legend: String?
    /// The `required` attribute.
    public var isRequired = false
    /// The `readonly` attribute: the value is the portal's own.
    public var isReadOnly = false
    /// The most UTF-16 code units of an answer (HTML Standard, `maxlength`).
    public var maxLength: Int?
    /// It takes a date, which browsers send as YYYY-MM-DD.
    public var isDate: Bool?
    /// The `checked` attribute.
    public var isChecked = false
    /// It is hidden by its own style or that of an element around it.
    public var isInvisible = false
    /// The references of links within its label, often the terms of use.
    public var links: [String] = []
    /// The choices of a `select` element.
    public var options: [Option] = []
    /// The `disabled` attribute of a button. Pages enable such a button when a box is ticked or a field is filled.
    public var isDisabled = false
    /// The action that a button has in place of its form's.
    public var formAction: String?
    /// The method that a button has in place of its form's.
    public var formMethod: HTTPRequest.Method?
    /// The name of the control whose value a script copies into this hidden one.
    public var copyOf: String?

    /// The name, in words, and the label, for ``Purposes``.
    package var words: String {
        let words = String(name.partedAtCapitals.map { $0 == "_" || $0 == "-" ? " " : $0 })
        return words + " " + name + " " + label
    }

    /// It is a password, or what is computed from one, that the page leaves to a script.
    package var isHiddenPassword: Bool {
        kind == .hidden && value.isEmpty
            && ["pass", "pwd", "hash", "encrypt", "cipher", "digest"].contains { name.lowercased().contains($0) }
    }

    /// It is a box that agrees to more than the access needs, which is never ticked unasked.
    package var agreesToMore: Bool { kind == .checkbox && Purposes(of: words).agreesToMore }

    /// The user can type in it.
    package var isField: Bool { [.text, .email, .telephone, .textarea, .password].contains(kind) }

    /// The choice that a browser makes before the user does.
    package var preselected: Option? { options.first(where: \.isSelected) ?? options.first { !$0.isDisabled } }
}

extension String {
    /// A name with a space before each of its words that begins with a capital: `roomNumber` is `room Number`.
    var partedAtCapitals: String {
        var parted = ""
        for character in self {
            if character.isUppercase, parted.last?.isLowercase == true { parted.append(" ") }
            parted.append(character)
        }
        return parted
    }
}

extension HTMLControl {
    /// Makes a hidden control.
    package init(hidden name: String, value: String) { self.init(kind: .hidden, name: name, value: value) }
}

/// One form of a page.
public struct HTMLForm: Codable, Hashable, Sendable {
    /// The action as written; it is relative to ``HTMLPage/base``.
    public var action: String
    /// The method; GET unless the page says POST.
    public var method: HTTPRequest.Method
    /// How a form's fields are written into a POST.
    public enum Encoding: String, Codable, Hashable, Sendable {
        case urlEncoded = "application/x-www-form-urlencoded"
        case multipart = "multipart/form-data"
        /// Not sent by this library.
        case text = "text/plain"
    }

    /// The encoding of a POST.
    public var encoding = Encoding.urlEncoded
    /// The character set in which it is sent: its own, or the page's.
    public var charset = "UTF-8"
    /// Why only a browser can send it; `nil` if it can be sent as it is.
    public var browserReason: String?
    /// Its id, name, class and role in lower case, to recognise a search box.
    public var hints: String
    /// The heading above it, unless another form stands between.
    package var heading: String?
    /// It is hidden by its own style or that of an element around it.
    public var isInvisible: Bool
    /// The controls, in document order.
    public var controls: [HTMLControl]
    /// The visible text within, shortened to about 2000 octets.
    public var text: String
    /// The drawing in place of a form, or of a field, as a browser sees it; `nil` for any other form.
    package var drawn: Drawn?

    /// A button outside of forms, with what belongs to it alone; the buttons of a layer over the page, with its text; boxes for one character
    /// each, which scripts send with the last one.
    package enum Drawn: String, Codable, Hashable, Sendable { case button, layer, boxes }

    /// The controls in which the user types or chooses.
    public var inputs: [HTMLControl] {
        controls.filter {
            switch $0.kind {
            case .text, .password, .email, .telephone, .textarea, .select, .radio, .checkbox: !$0.name.isEmpty
            case .hidden, .submit, .image, .button, .file: false
            }
        }
    }

    /// The controls in which the user can type, also those without a name.
    package var fields: [HTMLControl] { controls.filter { $0.isField && !$0.isInvisible } }

    /// The buttons that send it.
    public var submits: [HTMLControl] { controls.filter { $0.kind == .submit || $0.kind == .image } }

    /// The password controls.
    public var passwords: [HTMLControl] { controls.filter { $0.kind == .password } }
}

/// The parts of a portal's page that a login needs.
public struct HTMLPage: Hashable, Sendable {
    /// One link.
    public struct Hyperlink: Hashable, Sendable {
        /// The text that the user reads.
        public var text: String
        /// The reference as written; it is relative to ``HTMLPage/base``.
        public var reference: String
        /// A script decides where it leads, or it is hidden.
        public var isInert = false
    }

    /// A refresh by meta element or header (HTML Standard, "shared declarative refresh steps").
    package struct Reload: Hashable, Sendable {
        /// The reference as written; empty for the page itself.
        package var reference: String
        package var seconds: Double
    }

    /// The title, at most 120 characters.
    public var title: String?
    /// The address that references are relative to: the page's own, or that of its `base` element.
    public var base: WebURL
    /// The first 20 forms, in document order.
    public var forms: [HTMLForm]
    /// The first 200 links, in document order.
    public var links: [Hyperlink]
    /// The target of a refresh, by meta element or header, that waits at most 30 s.
    public var refresh: String?
    /// The seconds that it waits.
    public var refreshDelay: Double { reload?.seconds ?? 0 }
    /// The page's refresh, however long it waits.
    package var reload: Reload?
    /// The target of a simple redirect in a script.
    public var scriptTarget: String?
    /// A script submits the page's only form.
    public var submitsItself: Bool
    /// The visible text, shortened to 8 KiB.
    public var text: String
    /// The text that the page marks as its terms, hidden or not: of about 64 KiB at most.
    public var terms = ""
    /// The visible texts outside of controls and their labels, in parts that a heading or a control ends: of about 32 KiB at most.
    public var passages: [[String]] = []
    /// The texts of elements that are marked as errors, at most five.
    public var errors: [String]
    /// The visible texts of at most 200 characters, the first 100.
    public var sentences: [String] = []
    /// The visible texts outside of the page's head, foot and navigation, shortened like ``text``.
    package var pieces: [String] = []
    /// The texts of the headings, at most five.
    public var headings: [String] = []
    /// The page has scripts other than well-known libraries.
    public var hasScripts = false
    /// It loads such scripts.
    public var loadsScripts = false
    /// A script or a frame is likely to have its login: scripts make requests or the controls of a form, lead to an address that they
    /// compute, or wait for a click outside of forms.
    public var isScripted = false
    /// A field to type in is outside of forms.
    public var hasLooseField = false
    /// The addresses of the visible frames of the page's own origin, the first three.
    var frames: [WebURL] = []
    /// It shows a picture.
    public var hasPicture = false
    /// A button outside of forms logs off.
    public var offersLogoff = false
    /// Only a part was read, because the page is too long or takes too much processor time.
    public var isTruncated: Bool
    /// Reading it took more processor time than a page may take; a browser has to show it.
    public var isTooComplicated = false

    /// It has a form, a refresh or a script redirect, which only the error page of a portal has.
    package var hasPortalMarks: Bool { !forms.isEmpty || refresh != nil || scriptTarget != nil }
}

extension HTMLPage {
    /// The page, with a lone button if it has no form (a script of it logs in): pressing it accepts the terms too.
    package var withButton: HTMLPage {
        guard forms.isEmpty else { return self }
        var page = self
        page.forms = [
            HTMLForm(
                action: "", method: .get, hints: "", isInvisible: false,
                controls: [HTMLControl(kind: .submit, name: "")], text: "")
        ]
        return page
    }

    /// Makes the page of a saved form, for a login that goes on after a question.
    package init(saved form: HTMLForm?, at url: WebURL) {
        self.init(
            title: nil, base: url, forms: form.map { [$0] } ?? [], links: [], refresh: nil, scriptTarget: nil,
            submitsItself: form != nil, text: form?.text ?? "", errors: [], isTruncated: false)
    }
}
