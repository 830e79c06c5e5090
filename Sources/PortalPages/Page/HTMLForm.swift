import BoundHTTP
import HotspotCore

/// One control of a form.
public struct HTMLControl: Codable, Hashable, Sendable {
    /// The type of a control; as in browsers, unknown types count as text.
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
        /// Whether the `disabled` attribute of the choice or its group forbids choosing it.
        public var isDisabled = false
    }

    /// The type; an unchecked radio button that is alone in its group counts as a box.
    public var kind: InputType
    /// The name that is sent; a control with an empty name is not sent.
    public var name: String
    /// The value that the page fills in.
    public var value = ""
    /// The text beside the control: its label, `aria-label`, placeholder or title.
    public var label = ""
    /// The legend of the field set around a radio button: the question that the group of buttons answers.
    public var legend: String?
    /// The `required` attribute.
    public var isRequired = false
    /// Whether the control has the `readonly` attribute: the value is the portal's own.
    public var isReadOnly = false
    /// The largest length of an answer, in UTF-16 code units (HTML Standard, `maxlength`).
    public var maxLength: Int?
    /// Whether the control takes a date, which browsers send as YYYY-MM-DD.
    public var isDate: Bool?
    /// The `checked` attribute.
    public var isChecked = false
    /// Whether the control, or an element around it, has a style that hides it.
    public var isInvisible = false
    /// The addresses of the links in the control's label, often the terms of use.
    public var links: [String] = []
    /// The choices of a `select` element.
    public var options: [Option] = []
    /// Whether the button, or a field set around it, has the `disabled` attribute. Pages enable such a button when the user ticks a box or fills in a
    /// field.
    public var isDisabled = false
    /// The action that a button uses instead of its form's action.
    public var formAction: String?
    /// The method that a button uses instead of its form's method.
    public var formMethod: HTTPRequest.Method?
    /// The name of the control whose value a script copies into this control, which is hidden.
    public var copyOf: String?
    /// The name that tells a box from other controls of the same name; `nil` if no other control has its name.
    package var boxName: String?

    /// The name under which the user answers the control.
    package var answerName: String { boxName ?? name }

    /// The name, as written and split into words, and the label: the text that ``Purposes`` reads.
    package var words: String {
        let words = String(name.partedAtCapitals.map { $0 == "_" || $0 == "-" ? " " : $0 })
        return words + " " + name + " " + label
    }

    /// Whether a script is likely to fill in the control: it is hidden and empty, and its name suggests a password or a value computed from a
    /// password.
    package var isHiddenPassword: Bool {
        kind == .hidden && value.isEmpty
            && ["pass", "pwd", "hash", "encrypt", "cipher", "digest"].contains { name.lowercased().contains($0) }
    }

    /// Whether ticking the control means agreeing to more than access requires; hotspotd never ticks such a box without asking.
    package var agreesToMore: Bool { kind == .checkbox && Purposes(of: words).agreesToMore }

    /// Whether the user can type in the control.
    package var isField: Bool { [.text, .email, .telephone, .textarea, .password].contains(kind) }

    /// The choice that a browser preselects.
    package var preselected: Option? { options.first(where: \.isSelected) ?? options.first { !$0.isDisabled } }
}

extension String {
    /// The name with a space before each capital that begins a word: `roomNumber` becomes `room Number`.
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
    /// The action as written, relative to ``HTMLPage/base``.
    public var action: String
    /// The method; GET unless the page says POST.
    public var method: HTTPRequest.Method
    /// How a form's fields are encoded in a POST.
    public enum Encoding: String, Codable, Hashable, Sendable {
        case urlEncoded = "application/x-www-form-urlencoded"
        case multipart = "multipart/form-data"
        /// Plain text, which this library does not send.
        case text = "text/plain"
    }

    /// The encoding of a POST.
    public var encoding = Encoding.urlEncoded
    /// The character set in which the form is sent: the form's own, or the page's.
    public var charset = "UTF-8"
    /// The reason why only a browser can send the form; `nil` if it can be sent as it is.
    public var browserReason: String?
    /// The form's id, name, class and role in lower case, by which a search box is recognised.
    public var hints: String
    /// The heading above the form, if no other form is between them.
    package var heading: String?
    /// Whether the form, or an element around it, has a style that hides it.
    public var isInvisible: Bool
    /// The controls, in document order.
    public var controls: [HTMLControl]
    /// The visible text in the form, shortened to about 2000 octets.
    public var text: String
    /// The kind of a form that scripts draw on the page, as a browser shows it; `nil` for a real form.
    package var drawn: Drawn?

    /// `button` is a button outside forms, with its own words. `layer` is the buttons and the text of a layer over the page. `boxes` is a row of
    /// boxes for one character each, which scripts send after the last character.
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

    /// The controls in which the user can type, including those without a name.
    package var fields: [HTMLControl] { controls.filter { $0.isField && !$0.isInvisible } }

    /// The buttons that send the form.
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
        /// The address as written, relative to ``HTMLPage/base``.
        public var reference: String
        /// Whether the link is hidden, or a script decides where it leads.
        public var isInert = false
    }

    /// A refresh by a meta element or header (HTML Standard, "shared declarative refresh steps").
    package struct Reload: Hashable, Sendable {
        /// The address as written; empty for the page itself.
        package var reference: String
        package var seconds: Double
    }

    /// The title, at most 120 characters.
    public var title: String?
    /// The address to which the page's references are relative: the page's own address, or the address in its `base` element.
    public var base: WebURL
    /// The first 20 forms, in document order.
    public var forms: [HTMLForm]
    /// The first 200 links, in document order.
    public var links: [Hyperlink]
    /// The target of a refresh by a meta element or header, if the refresh waits at most 30 s.
    public var refresh: String?
    /// The seconds that the refresh waits.
    public var refreshDelay: Double { reload?.seconds ?? 0 }
    /// The page's refresh, however long it waits.
    package var reload: Reload?
    /// The target of a simple redirect in a script.
    public var scriptTarget: String?
    /// Whether a script submits the page's only form.
    public var submitsItself: Bool
    /// The visible text, shortened to 8 KiB.
    public var text: String
    /// The text that the page marks as its terms, visible or not, shortened to about 64 KiB.
    public var terms = ""
    /// The visible texts outside controls and their labels, in parts that end at a heading or a control; at most about 32 KiB.
    public var passages: [[String]] = []
    /// The texts of elements that are marked as errors, at most five.
    public var errors: [String]
    /// The visible texts of at most 200 characters, the first 100.
    public var sentences: [String] = []
    /// The visible texts outside the page's head, foot and navigation, shortened like ``text``.
    package var pieces: [String] = []
    /// The texts of the headings, at most five.
    public var headings: [String] = []
    /// Whether the page has scripts other than well-known libraries.
    public var hasScripts = false
    /// Whether the page loads scripts other than well-known libraries from other files.
    public var loadsScripts = false
    /// Whether a script or a frame is likely to contain the login. A script counts if it makes requests, creates the controls of a form, computes
    /// an address and leads there, or waits for a click outside forms.
    public var isScripted = false
    /// Whether there is a text field outside forms.
    public var hasLooseField = false
    /// The addresses of the visible frames of the page's own origin, the first three.
    var frames: [WebURL] = []
    /// Whether the page shows a picture.
    public var hasPicture = false
    /// Whether a button outside forms logs off.
    public var offersLogoff = false
    /// Whether only a part of the page was read, because the page is too long or takes too much processor time.
    public var isTruncated: Bool
    /// Whether the page takes too much processor time to read, so that a browser must show it.
    public var isTooComplicated = false

    /// Whether the page has a form, a refresh or a script redirect: an error page that has one of these is a portal's.
    package var hasPortalMarks: Bool { !forms.isEmpty || refresh != nil || scriptTarget != nil }
}

extension HTMLPage {
    /// If the page has no form, returns the page with a form for its only button. The button's script logs in; pressing the button also accepts the
    /// terms.
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

    /// Makes the page of a saved form, for a login that continues after a question.
    package init(saved form: HTMLForm?, at url: WebURL) {
        self.init(
            title: nil, base: url, forms: form.map { [$0] } ?? [], links: [], refresh: nil, scriptTarget: nil,
            submitsItself: form != nil, text: form?.text ?? "", errors: [], isTruncated: false)
    }
}
