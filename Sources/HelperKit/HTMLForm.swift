import HotspotCore

/// One control of a form.
public struct HTMLControl: Codable, Hashable, Sendable {
    /// What it is; what HTML calls otherwise counts as text, as browsers have it.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case hidden, text, password, email, telephone, checkbox, radio, select, textarea, submit, image, button, file
    }

    /// One choice of a select.
    public struct Option: Codable, Hashable, Sendable {
        /// What is sent.
        public var value: String
        /// What is read.
        public var label: String
        /// Chosen at first.
        public var isSelected: Bool
    }

    /// What it is.
    public var kind: Kind
    /// The key that is sent; empty means that nothing is.
    public var name: String
    /// What is filled in.
    public var value: String
    /// What the user reads beside it.
    public var label: String
    /// The `required` attribute.
    public var isRequired: Bool
    /// Ticked at first.
    public var isChecked: Bool
    /// Nobody can see it, by its style or that of something around it.
    public var isInvisible: Bool
    /// Links within its label: where the terms can be read.
    public var links: [String]
    /// Of a select.
    public var options: [Option]

    init(
        kind: Kind, name: String, value: String = "", label: String = "", isRequired: Bool = false, isChecked: Bool = false,
        isInvisible: Bool = false, links: [String] = [], options: [Option] = []
    ) {
        self.kind = kind
        self.name = name
        self.value = value
        self.label = label
        self.isRequired = isRequired
        self.isChecked = isChecked
        self.isInvisible = isInvisible
        self.links = links
        self.options = options
    }

    /// Its name and its label in lower case, to look for words in.
    var words: String { (name + " " + label).lowercased() }
}

/// One form of a page.
public struct HTMLForm: Codable, Hashable, Sendable {
    /// As written; resolve it against ``HTMLPage/base``.
    public var action: String
    /// `GET` unless the page says otherwise.
    public var method: HTTPRequest.Method
    /// `multipart/form-data` and the like, which are not spoken here.
    public var isPlain: Bool
    /// Its ID, name and class, to recognise a search box.
    public var hints: String
    /// Nobody can see it.
    public var isInvisible: Bool
    /// In document order.
    public var controls: [HTMLControl]
    /// Visible text within, shortened.
    public var text: String

    /// Where the user types or chooses.
    public var inputs: [HTMLControl] {
        controls.filter {
            switch $0.kind {
            case .text, .password, .email, .telephone, .textarea, .select, .radio, .checkbox: !$0.name.isEmpty
            case .hidden, .submit, .image, .button, .file: false
            }
        }
    }

    /// The buttons that send it.
    public var submits: [HTMLControl] { controls.filter { $0.kind == .submit || $0.kind == .image } }

    /// The password controls.
    public var passwords: [HTMLControl] { controls.filter { $0.kind == .password } }
}

/// What a portal's page says, as far as a login needs it.
public struct HTMLPage: Hashable, Sendable {
    /// One link.
    public struct Link: Hashable, Sendable {
        /// What the user reads.
        public var text: String
        /// As written.
        public var reference: String
    }

    /// The page's own title.
    public var title: String?
    /// What references are relative to: the page, or its `<base>`.
    public var base: WebURL
    /// All forms, in document order.
    public var forms: [HTMLForm]
    /// Links, in document order.
    public var links: [Link]
    /// The target of a meta refresh within 30 s.
    public var refresh: String?
    /// The target of a simple redirect in a script.
    public var scriptTarget: String?
    /// A script sends the only form by itself.
    public var submitsItself: Bool
    /// Visible text, shortened to 8 KiB.
    public var text: String
    /// Texts of elements that are marked as errors.
    public var errors: [String]
    /// The page was longer than what was read, or too costly to read whole.
    public var isTruncated: Bool

    /// A form, a refresh or a script redirect: something that only a portal's error page has.
    var hasPortalMarks: Bool { !forms.isEmpty || refresh != nil || scriptTarget != nil }
}
