/// Finds the forms that only a browser can send: only a script may send such a form, or a script changes it before it is sent.
struct FormScripts {
    /// The names by which scripts find a form, and the handlers in its own attributes.
    struct Clues {
        var id = ""
        var name = ""
        var classes: [String] = []
        /// The code of `onsubmit` and of the buttons' `onclick`.
        var handlers: [String] = []
        /// Whether a framework's attribute makes a script send the form, such as `ng-submit`.
        var hasFrameworkHandler = false
        /// Whether the form contains a captcha.
        var hasTest = false
        /// Whether the form has a hidden field for a captcha's result, which only the captcha's own script fills in.
        var hasTestResult = false
        /// The ids, names and classes of the form's buttons.
        var buttons: Set<String> = []
        /// The ids and names of the form's hidden controls without a value.
        var emptyHidden: Set<String> = []
        /// Buttons and links in the form that have a handler, with their label and code.
        var links: [(label: String, code: String)] = []

        /// The names by which scripts refer to the form.
        var names: Set<String> { Set([id, name].filter { !$0.isEmpty }) }

        /// Adds the clues of a control that is outside the form.
        mutating func add(_ control: Clues) {
            handlers += control.handlers
            links += control.links
            buttons.formUnion(control.buttons)
            emptyHidden.formUnion(control.emptyHidden)
            if control.hasFrameworkHandler { hasFrameworkHandler = true }
        }
    }

    /// A handler that a script attaches.
    struct Attachment {
        var event: String
        /// Words and selectors of the elements to which the handler is attached.
        var receivers: Set<String>
        /// Whether the script does not show to which element it attaches the handler.
        var isUnclear = false
        var handler: ScriptCode
        /// Whether only the handler sends the form.
        var mustSend = false
    }

    /// The property of a control, a form or a link that a script sets.
    private enum Setting {
        case value, action, attribute, href
        /// The action, if the script sets it to the page's own address, which a form without an action uses anyway.
        case ownAction
    }

    static let scriptedReason = "Only the page's script can send this form."
    static let changedReason = "The page's script changes the data that the form sends."
    static let testReason = "The page contains a captcha."
    static let encryptedReason = "A script of the page encrypts the password before it is sent."

    let tokens: ScriptCode
    private let judge: ScriptJudge
    private let attachments: [Attachment]
    private let settings: [Setting: Set<String>]
    let copies: [Copy]
    /// Whether the page loads scripts that are not well-known libraries.
    let loadsOwnScripts: Bool
    /// Whether the page loads a script for the login, judged by the script's name.
    private let loadsLogin: Bool
    private let encrypts: Bool
    private let makesRequests: Bool
    private let loadsTest: Bool
    /// Whether the page loads the library with which a page's script logs in at CoovaChilli.
    private let loadsGatewayLogin: Bool

    init(scripts: String, sources: [String]) {
        tokens = ScriptCode(scripts)
        judge = ScriptJudge(tokens)
        attachments = Self.attachments(in: tokens)
        copies = Self.copies(in: tokens)
        settings = Self.settings(in: tokens)
        let own = sources.filter { !Self.isLibrary($0) }
        loadsOwnScripts = !own.isEmpty
        loadsLogin = own.contains { source in
            let name = Self.name(of: source)
            return Self.loginWords.contains { name.contains($0) }
        }
        makesRequests = tokens.indices.contains { [tokens] in Self.isRequest(tokens, $0) }
        let words = sources.joined(separator: " ").lowercased()
        loadsGatewayLogin = words.contains("chillilibrary")
        loadsTest = words.contains("captcha") || words.contains("turnstile") || tokens.contains { $0.text.contains("captcha") }
        encrypts =
            sources.contains(where: Self.isCipher)
            || tokens.contains { token in
                token.kind == .word && Self.cipherWords.contains { token.text.lowercased().hasPrefix($0) }
            }
    }

    /// Returns the reason for which only a browser can send a form; `nil` if it can be sent as it is.
    func reason(for form: HTMLForm, _ clues: Clues) -> String? {
        if clues.hasTest || (clues.hasTestResult && loadsTest) { return Self.testReason }
        if clues.hasFrameworkHandler { return Self.scriptedReason }
        if encrypts, !form.passwords.isEmpty, !isPlain(form, clues) { return Self.encryptedReason }
        return handlerReason(form, clues) ?? actionReason(form, clues) ?? fieldReason(form, clues)
    }

    /// Returns the reason if a form's handlers do more than check it before it is sent; otherwise `nil`.
    private func handlerReason(_ form: HTMLForm, _ clues: Clues) -> String? {
        for code in clues.handlers {
            let handler = Self.withoutPrefix(ScriptCode(code))
            let isCheck = form.method == .post && judge.isUnknownCheck(handler)
            let isMissing = !loadsOwnScripts && judge.isMissing(handler)
            if !handler.isEmpty, !isCheck, !isMissing, !judge.isHarmless(handler, names: clues.names) {
                return Self.changedReason
            }
        }
        for attachment in attachments where concerns(attachment, form, clues) {
            let isSent = !attachment.mustSend || judge.sends(attachment.handler)
            if !isSent || !judge.isHarmless(attachment.handler, names: clues.names) { return Self.scriptedReason }
        }
        return nil
    }

    private static func hasNoAction(_ form: HTMLForm) -> Bool { form.action.isEmpty || form.action.hasPrefix("#") }

    /// Returns the reason if scripts decide where a form leads, or change its values; otherwise `nil`.
    private func actionReason(_ form: HTMLForm, _ clues: Clues) -> String? {
        if form.action.lowercased().hasPrefix("javascript:") { return Self.scriptedReason }
        let copies = Set(form.controls.filter { $0.copyOf != nil }.map(\.name))
        if changes(clues, except: copies, hasNoAction: Self.hasNoAction(form)) { return Self.changedReason }
        return nil
    }

    /// Returns the reason if the fields or buttons of a form need a script; otherwise `nil`.
    private func fieldReason(_ form: HTMLForm, _ clues: Clues) -> String? {
        let isTyped = form.inputs.contains { $0.kind != .checkbox && !$0.isInvisible }
        // A script that the page loads, and that cannot be read here, fills in the hidden password.
        if isTyped, loadsOwnScripts, form.controls.contains(where: { $0.isHiddenPassword && $0.copyOf == nil }) {
            return Self.changedReason
        }
        if form.fields.contains(where: { Purposes(of: $0.words).isCode }), fetchesCode(clues) { return Self.scriptedReason }
        if Self.hasNoAction(form), isScripts(form, clues, isTyped) { return Self.scriptedReason }
        // If other fields have names, a field without a name belongs to a script.
        let isNameless = form.fields.contains { $0.name.isEmpty && $0.kind != .textarea && !$0.isReadOnly }
        if isNameless, isTyped, hasScripts { return Self.scriptedReason }
        let typed = form.inputs.filter { ![.checkbox, .radio, .select].contains($0.kind) && !$0.isInvisible }
        let waits = typed.count > 1 || loadsOwnScripts || !clues.links.isEmpty
        if form.submits.isEmpty, !form.inputs.isEmpty, waits || !isTyped { return Self.scriptedReason }
        return nil
    }

    /// Returns whether a script that cannot be read here is likely to send this form, which has no address.
    private func isScripts(_ form: HTMLForm, _ clues: Clues, _ isTyped: Bool) -> Bool {
        guard mayLogIn else { return false }
        if form.controls.allSatisfy(\.name.isEmpty) { return true }
        // A button without its own handler suggests such a script.
        let waits = clues.links.contains { !$0.label.isEmpty && $0.code.isEmpty }
        // If the server wrote a value into a form, the form sends the value back, and no script is needed.
        let isServers = !isTyped && form.controls.contains { $0.kind == .hidden && !$0.value.isEmpty }
        if form.method == .get { return !isServers }
        let hasOwn = clues.handlers.contains { !$0.isEmpty }
        return isTyped && !hasOwn
            && ((waits && loadsOwnScripts) || loadsGatewayLogin || (loadsOwnScripts && !form.action.isEmpty) || loadsLogin)
    }

    /// Whether the page has scripts besides well-known libraries.
    var hasScripts: Bool { loadsOwnScripts || !tokens.isEmpty }

    /// Whether scripts may do the login, because they make requests or cannot be read here.
    private var mayLogIn: Bool { loadsOwnScripts || makesRequests }

    /// Whether the readable scripts make requests, or create the controls of a form.
    var actsByItself: Bool {
        makesRequests
            || tokens.indices.contains { index in
                guard tokens[index].kind == .text else { return false }
                let text = tokens[index].text.lowercased()
                if tokens.isSign("(", at: index - 1), tokens.word(at: index - 2) == "createElement" {
                    if text == "script" { return !loadsOnlyLibraries }
                    return ["form", "input", "button", "iframe"].contains(text)
                }
                return ["<form", "<input", "<button", "<iframe"].contains { text.contains($0) }
            }
    }

    /// Whether the readable scripts contain the address of a well-known library, which is then taken for the only script that they load.
    private var loadsOnlyLibraries: Bool {
        tokens.contains { $0.kind == .text && $0.text.contains("/") && Self.isLibrary($0.text) }
    }

    /// Returns whether a script behind a button or link requests a code that the form needs, for example by text message.
    private func fetchesCode(_ clues: Clues) -> Bool {
        clues.links.contains { link in
            Purposes(of: link.label).isCode
                && (link.code.isEmpty
                    ? mayLogIn : !judge.isHarmless(Self.withoutPrefix(ScriptCode(link.code)), names: clues.names))
        }
    }

    /// Returns the label of a button or link that does not submit by itself, but whose harmless handler sends the form.
    func sendingLabel(_ clues: Clues) -> String? {
        clues.links.first { link in
            let code = Self.withoutPrefix(ScriptCode(link.code))
            return judge.sends(code) && judge.isHarmless(code, names: clues.names)
        }?.label
    }

    /// Returns whether scripts leave a link's target alone: all handlers of the link are harmless, and no script sets its address.
    func leavesAlone(_ code: String, _ names: Set<String>) -> Bool {
        let own = Self.withoutPrefix(ScriptCode(code))
        return (own.isEmpty || judge.isHarmless(own, names: []))
            && attachments.allSatisfy { $0.receivers.isDisjoint(with: names) || judge.isHarmless($0.handler, names: []) }
            && !sets(.href, of: names)
    }

    private static func withoutPrefix(_ code: ScriptCode) -> ScriptCode {
        code.word(at: 0) == "javascript" && code.isSign(":", at: 1) ? code.dropFirst(2) : code
    }

    private func concerns(_ attachment: Attachment, _ form: HTMLForm, _ clues: Clues) -> Bool {
        let own = Set([clues.id, clues.name].filter { !$0.isEmpty } + ["#" + clues.id] + clues.classes.map { "." + $0 })
        let isForm = !attachment.receivers.isDisjoint(with: own.union(["form", "forms"]))
        let buttons = clues.buttons.union(["button", "submit", ":submit"])
        switch attachment.event {
        case "submit":
            return isForm || attachment.isUnclear || attachment.receivers.isSubset(of: ["document", "window", "this"])
                // A button itself is not submitted, but a script may find the form through its button.
                || (!attachment.receivers.isDisjoint(with: buttons)
                    && !attachment.receivers.subtracting(buttons).subtracting(["document"]).isEmpty)
        default: return !attachment.receivers.isDisjoint(with: buttons) && !form.submits.isEmpty
        }
    }

    /// Returns whether a script writes into a hidden control that the page leaves empty, or into the form's action.
    private func changes(_ clues: Clues, except copies: Set<String>, hasNoAction: Bool) -> Bool {
        let form = clues.names.union(clues.names.map { "#" + $0 })
        let emptyHidden = clues.emptyHidden.subtracting(copies.union(copies.map { "#" + $0 }))
        return sets(.value, of: emptyHidden) || sets(.action, of: form.union(["form", "forms"]))
            || (!hasNoAction && sets(.ownAction, of: form.union(["form", "forms"])))
            || sets(.attribute, of: form.union(["form"]))
    }

    private func sets(_ setting: Setting, of names: Set<String>) -> Bool {
        settings[setting].map { !$0.isDisjoint(with: names) } ?? false
    }

    /// Returns, for each property, the words and selectors of the controls, forms and links that the scripts change.
    private static func settings(in tokens: ScriptCode) -> [Setting: Set<String>] {
        var result: [Setting: Set<String>] = [:]
        for index in tokens.indices {
            guard let word = tokens.word(at: index), tokens.isSign(".", at: index - 1) else { continue }
            let isSet = tokens.isSign("=", at: index + 1)
            let isCall = tokens.isSign("(", at: index + 1) && !tokens.isSign(")", at: index + 2)
            let setting: Setting? =
                switch word {
                case "value" where isSet, "val" where isCall: .value
                case "action" where isSet: leadsToPage(tokens, index + 2) ? .ownAction : .action
                case "attr" where isCall && tokens.isText("action", at: index + 2) && tokens.isSign(",", at: index + 3):
                    .attribute
                case "href" where isSet: .href
                default: nil
                }
            if let setting { result[setting, default: []].formUnion(receivers(tokens, before: index - 1)) }
        }
        return result
    }

    /// Returns whether the expression at an index is the page's own address.
    private static func leadsToPage(_ tokens: ScriptCode, _ start: Int) -> Bool {
        let end = tokens.endOfExpression(from: start)
        let words = tokens[start..<end].prefix { $0.kind == .word || $0.text == "." }.map(\.text)
        let path = words.filter { !["window", "document", "self", "."].contains($0) }
        return words.count == end - start && [["location", "href"], ["location"], ["URL"]].contains(path)
    }
}

/// Recognises gateways' forms that are sent unencrypted although their pages load a script that encrypts.
extension FormScripts {
    /// Returns whether the form is sent unencrypted although the page loads a script that encrypts. This holds for MikroTik's form without a
    /// challenge, because the gateway writes a handler into the page only together with a challenge, and for the form of a CoovaChilli portal whose
    /// server computes the response.
    private func isPlain(_ form: HTMLForm, _ clues: Clues) -> Bool {
        let flow = ScriptFlow(tokens)
        let mayRun = tokens.indices.contains { tokens[$0].text.lowercased().contains("md5") && flow.runs(at: $0) }
        guard !mayRun, clues.handlers.allSatisfy(\.isEmpty), clues.links.isEmpty else { return false }
        let isMikroTik =
            clues.name == "login" && form.action.hasSuffix("/login") && form.inputs.map(\.name) == ["username", "password"]
        return isMikroTik || form.controls.contains { $0.kind == .hidden && $0.name == "chal" && !$0.value.isEmpty }
    }
}
