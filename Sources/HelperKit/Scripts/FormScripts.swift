/// Finds the forms that only a script may send, or whose content a script changes before they are sent. A browser must send these.
struct FormScripts {
    /// The marks by which scripts find a form, and the handlers in its own attributes.
    struct Clues {
        var id = ""
        var name = ""
        var classes: [String] = []
        /// The code of `onsubmit` and of its buttons' `onclick`.
        var handlers: [String] = []
        /// A framework's attribute says that a script sends it, such as `ng-submit`.
        var hasFrameworkHandler = false
        /// It asks to read a picture, or to pass another test for people.
        var hasTest = false
        /// It has a hidden field for the result of such a test, which only the test's own script fills in.
        var hasTestResult = false
        /// The ids, names and classes of its buttons.
        var buttons: Set<String> = []
        /// The ids and names of its hidden controls without a value.
        var emptyHidden: Set<String> = []
        /// A button or link within has a handler: its label and code.
        var links: [(label: String, code: String)] = []

        /// The names by which scripts refer to the form.
        var names: Set<String> { Set([id, name].filter { !$0.isEmpty }) }
    }

    /// A handler that a script attaches.
    private struct Attachment {
        var event: String
        /// Words and selectors of what it is attached to.
        var receivers: Set<String>
        var handler: [ScriptToken]
        /// The form is sent only if the handler sends it.
        var mustSend = false
    }

    static let scriptedReason = "Only a script of the page can send its form."
    static let changedReason = "A script of the page changes what its form sends."
    static let testReason = "The page asks to read a picture or to pass a test."
    static let encryptedReason = "A script of the page encrypts the password before it is sent."

    let tokens: [ScriptToken]
    private let judge: ScriptJudge
    private let attachments: [Attachment]
    let copies: [Copy]
    /// The page loads scripts that are not well-known libraries.
    let loadsOwnScripts: Bool
    private let encrypts: Bool
    private let makesRequests: Bool
    private let loadsTest: Bool
    /// It loads the library by which pages talk to CoovaChilli themselves.
    private let loadsGatewayLogin: Bool

    init(scripts: String, sources: [String]) {
        tokens = [ScriptToken](script: scripts)
        judge = ScriptJudge(tokens)
        attachments = Self.attachments(in: tokens)
        copies = Self.copies(in: tokens)
        loadsOwnScripts = sources.contains { source in
            let name = source.lowercased()
            return !Self.libraries.contains { name.contains($0) }
        }
        makesRequests = tokens.contains { $0.kind == .word && Self.requestWords.contains($0.text) }
        let words = sources.joined(separator: " ").lowercased()
        loadsGatewayLogin = words.contains("chillilibrary")
        loadsTest = words.contains("captcha") || words.contains("turnstile") || tokens.contains { $0.text.contains("captcha") }
        encrypts =
            Self.ciphers.contains { words.contains($0) }
            || tokens.contains { token in
                token.kind == .word && Self.cipherWords.contains { token.text.lowercased().hasPrefix($0) }
            }
    }

    /// Returns why only a browser can send a form; `nil` if it can be sent as it is.
    func reason(for form: HTMLForm, _ clues: Clues) -> String? {
        let isTyped = form.inputs.contains { $0.kind != .checkbox && !$0.isInvisible }
        if clues.hasTest || (clues.hasTestResult && loadsTest) { return Self.testReason }
        if clues.hasFrameworkHandler { return Self.scriptedReason }
        if encrypts, !form.passwords.isEmpty, !isPlain(form, clues) { return Self.encryptedReason }
        for code in clues.handlers {
            let handler = Self.withoutPrefix([ScriptToken](script: code))
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
        if form.action.lowercased().hasPrefix("javascript:") { return Self.scriptedReason }
        let hasNoAction = form.action.isEmpty || form.action.hasPrefix("#")
        let copies = Set(form.controls.filter { $0.copyOf != nil }.map(\.name))
        if changes(clues, except: copies, hasNoAction: hasNoAction) { return Self.changedReason }
        // A hidden password is for a script to fill in, which is not here to be read.
        if isTyped, loadsOwnScripts, form.controls.contains(where: { $0.isHiddenPassword && $0.copyOf == nil }) {
            return Self.changedReason
        }
        // A button without a handler of its own is for a script that is not here to be read.
        let waitsForScript = clues.links.contains { !$0.label.isEmpty && $0.code.isEmpty }
        if hasNoAction, isTyped, loadsOwnScripts, waitsForScript { return Self.scriptedReason }
        if form.fields.contains(where: { FormWords.isCode($0.words) }), fetchesCode(clues) { return Self.scriptedReason }
        if hasNoAction, isTyped, mayLogIn, form.method == .get || loadsGatewayLogin { return Self.scriptedReason }
        if hasNoAction, form.controls.allSatisfy(\.name.isEmpty), mayLogIn { return Self.scriptedReason }
        let typed = form.inputs.filter { ![.checkbox, .radio, .select].contains($0.kind) && !$0.isInvisible }
        if form.submits.isEmpty, isTyped, typed.count > 1 || form.controls.contains(where: { $0.kind == .button }) {
            return Self.scriptedReason
        }
        return nil
    }

    /// The page has scripts beside well-known libraries.
    var hasScripts: Bool { loadsOwnScripts || !tokens.isEmpty }

    /// Whether scripts may do the login, because they make requests or are not here to be read.
    private var mayLogIn: Bool { loadsOwnScripts || makesRequests }

    /// Whether the scripts that can be read make requests, or the controls of a form.
    var actsByItself: Bool {
        makesRequests
            || tokens.indices.contains { index in
                guard tokens[index].kind == .text else { return false }
                let text = tokens[index].text.lowercased()
                if tokens.isSign("(", at: index - 1), tokens.word(at: index - 2) == "createElement" {
                    return ["form", "input", "button", "iframe"].contains(text)
                }
                return ["<form", "<input", "<button", "<iframe"].contains { text.contains($0) }
            }
    }

    /// Whether a button or link asks by a script for the code that the form wants, such as one by text message.
    private func fetchesCode(_ clues: Clues) -> Bool {
        clues.links.contains { link in
            FormWords.isCode(link.label)
                && (link.code.isEmpty
                    ? mayLogIn : !judge.isHarmless(Self.withoutPrefix([ScriptToken](script: link.code)), names: clues.names))
        }
    }

    /// Returns the label of a button or link without a type of its own that sends the form by a harmless handler.
    func sendingLabel(_ clues: Clues) -> String? {
        clues.links.first { link in
            let code = Self.withoutPrefix([ScriptToken](script: link.code))
            return judge.sends(code) && judge.isHarmless(code, names: clues.names)
        }?.label
    }

    /// Whether no script changes where a link leads: its own handler is harmless, and no other is attached to it.
    func leavesAlone(_ code: String, _ names: Set<String>) -> Bool {
        let own = Self.withoutPrefix([ScriptToken](script: code))
        return (own.isEmpty || judge.isHarmless(own, names: []))
            && attachments.allSatisfy { $0.receivers.isDisjoint(with: names) || judge.isHarmless($0.handler, names: []) }
            && !tokens.indices.contains { index in
                tokens.word(at: index) == "href" && tokens.isSign(".", at: index - 1) && tokens.isSign("=", at: index + 1)
                    && !Self.receivers(tokens, before: index - 1).isDisjoint(with: names)
            }
    }

    private static func withoutPrefix(_ code: [ScriptToken]) -> [ScriptToken] {
        code.word(at: 0) == "javascript" && code.isSign(":", at: 1) ? Array(code.dropFirst(2)) : code
    }

    private func concerns(_ attachment: Attachment, _ form: HTMLForm, _ clues: Clues) -> Bool {
        let own = Set([clues.id, clues.name].filter { !$0.isEmpty } + ["#" + clues.id] + clues.classes.map { "." + $0 })
        let isForm = !attachment.receivers.isDisjoint(with: own.union(["form", "forms"]))
        let buttons = clues.buttons.union(["button", "submit", ":submit"])
        switch attachment.event {
        case "submit":
            return isForm || attachment.receivers.isEmpty || attachment.receivers.isSubset(of: ["document", "window", "this"])
                || !attachment.receivers.isDisjoint(with: buttons)
        default: return !attachment.receivers.isDisjoint(with: buttons) && !form.submits.isEmpty
        }
    }

    /// Whether a script writes into a hidden control that the page leaves empty, or into the form's action.
    private func changes(_ clues: Clues, except copies: Set<String>, hasNoAction: Bool) -> Bool {
        let form = clues.names.union(clues.names.map { "#" + $0 })
        let emptyHidden = clues.emptyHidden.subtracting(copies.union(copies.map { "#" + $0 }))
        return tokens.indices.contains { index in
            guard let word = tokens.word(at: index), tokens.isSign(".", at: index - 1) else { return false }
            let isSet = tokens.isSign("=", at: index + 1)
            let isCall = tokens.isSign("(", at: index + 1) && !tokens.isSign(")", at: index + 2)
            switch word {
            case "value" where isSet, "val" where isCall:
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: emptyHidden)
            case "action" where isSet && hasNoAction && leadsToPage(index + 2): return false
            case "action" where isSet:
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: form.union(["form", "forms"]))
            case "attr" where isCall && tokens[index + 2].text == "action" && tokens.isSign(",", at: index + 3):
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: form.union(["form"]))
            default: return false
            }
        }
    }

    /// Whether the expression at an index is the page's own address, where a form without an action is sent in any case.
    private func leadsToPage(_ start: Int) -> Bool {
        let end = tokens.endOfExpression(from: start)
        let words = tokens[start..<end].prefix { $0.kind == .word || $0.text == "." }.map(\.text)
        let path = words.filter { !["window", "document", "self", "."].contains($0) }
        return words.count == end - start && [["location", "href"], ["location"], ["URL"]].contains(path)
    }

    private static func attachments(in tokens: [ScriptToken]) -> [Attachment] {
        var result: [Attachment] = []
        for index in tokens.indices where tokens[index].kind == .word && tokens.isSign(".", at: index - 1) && result.count < 200 {
            let word = tokens[index].text
            let receivers = { Self.receivers(tokens, before: index - 1) }
            if word == "onsubmit" || word == "onclick", tokens.isSign("=", at: index + 1) {
                let end = end(of: tokens, from: index + 2)
                result.append(
                    Attachment(
                        event: String(word.dropFirst(2)), receivers: receivers(), handler: Array(tokens[(index + 2)..<end])))
            }
            guard tokens.isSign("(", at: index + 1), let close = tokens.closing(index + 1), close > index + 2 else { continue }
            let arguments = Array(tokens[(index + 2)..<close])
            switch word {
            case "submit", "click":
                result.append(Attachment(event: word, receivers: receivers(), handler: arguments))
            case "ajaxForm", "ajaxSubmit":
                result.append(Attachment(event: "submit", receivers: receivers(), handler: [.sign("=")]))
            case "validate":
                if let handler = submitHandler(in: arguments) {
                    result.append(Attachment(event: "submit", receivers: receivers(), handler: handler, mustSend: true))
                }
            case "addEventListener", "on", "bind", "live", "delegate", "one":
                let names = arguments.prefix { $0.kind != .word }.filter { $0.kind == .text }
                guard let event = ["submit", "click"].first(where: { event in names.contains { $0.text.contains(event) } }) else {
                    continue
                }
                let selectors = names.filter { !$0.text.contains(event) || $0.text.contains("[") }.flatMap { pieces(of: $0.text) }
                let handler = Array(arguments.drop { $0.kind == .text || $0.text == "," })
                // A selector narrows what the handler is for.
                result.append(
                    Attachment(event: event, receivers: selectors.isEmpty ? receivers() : Set(selectors), handler: handler))
            default: break
            }
        }
        return result
    }

    /// Returns the function that jQuery's validation plugin calls in place of sending a checked form; one that is only named is not
    /// followed.
    private static func submitHandler(in arguments: [ScriptToken]) -> [ScriptToken]? {
        guard let index = arguments.firstIndex(where: { $0.text == "submitHandler" }) else { return nil }
        let start = arguments.isSign(":", at: index + 1) ? index + 2 : index + 1
        let end = max(start, arguments.endOfExpression(from: start))
        let handler = Array(arguments[start..<min(end, arguments.count)])
        // A method of the object has no word before its parameters.
        return handler.first == .sign("(") && !handler.contains(.sign("=>"))
            ? [ScriptToken(kind: .word, text: "function")] + handler : handler
    }

    /// Returns the end of the statement that begins at an index.
    private static func end(of tokens: [ScriptToken], from start: Int) -> Int {
        var depth = 0
        for index in start..<tokens.count where tokens[index].kind == .sign {
            switch tokens[index].text {
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth < 0 { return index }
            case ";" where depth == 0: return index
            default: break
            }
            if depth == 0, tokens.isSign("}", at: index) { return index + 1 }
        }
        return tokens.count
    }

    /// Returns the words and selectors of the expression that ends before the dot at an index; a variable stands for what was assigned to it.
    static func receivers(_ tokens: [ScriptToken], before dot: Int) -> Set<String> {
        var (start, depth) = (dot - 1, 0)
        while start >= 0, dot - start < 60 {
            let token = tokens[start]
            if token.kind == .sign {
                switch token.text {
                case ")", "]": depth += 1
                case "(", "[": depth -= 1
                case ".", "?.": break
                default: if depth == 0 { depth = -1 }
                }
                if depth < 0 { break }
            } else if depth == 0, start + 1 < dot, tokens[start + 1].kind != .sign {
                break
            }
            start -= 1
        }
        let range = max(0, start + 1)..<dot
        if range.count == 1, let name = tokens.word(at: range.lowerBound), let place = assignment(of: name, in: tokens) {
            let end = min(end(of: tokens, from: place), place + 30)
            return words(of: tokens[place..<end])
        }
        return words(of: tokens[range])
    }

    static func assignment(of name: String, in tokens: [ScriptToken]) -> Int? {
        tokens.indices.first { index in
            tokens[index].text == name && tokens.isSign("=", at: index + 1) && !tokens.isSign(".", at: index - 1)
        }.map { $0 + 2 }
    }

    private static func words(of tokens: ArraySlice<ScriptToken>) -> Set<String> {
        let silent: Set<String> = ["$", "jQuery", "getElementById", "querySelector", "querySelectorAll", "getElementsByName"]
        return Set(
            tokens.flatMap { token -> [String] in
                switch token.kind {
                case .text: pieces(of: token.text)
                case .word: silent.contains(token.text) ? [] : [token.text]
                case .number, .sign: []
                }
            })
    }

    /// Returns the simple selectors of a selector list: of `#f input[type=submit], .b` these are `#f`, `input`, `type`, `submit`, `.b`; an id is
    /// also listed without its sign. A part before the last one of a descendant selector is left out if the last one is no form's.
    private static func pieces(of selector: String) -> [String] {
        selector.split { ",".contains($0) }.flatMap { part -> [String] in
            let last = part.split(separator: " ").last ?? part[...]
            var result: [String] = []
            var piece = ""
            for character in last + " " {
                if character.isLetter || character.isNumber || character == "-" || character == "_"
                    || (piece.isEmpty && "#.:".contains(character))
                {
                    piece.append(character)
                } else {
                    if !piece.isEmpty { result.append(piece) }
                    piece = "#.:".contains(character) ? String(character) : ""
                }
            }
            return result + result.filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) }
        }
    }

    private static let libraries = [
        "jquery", "bootstrap", "popper", "modernizr", "html5shiv", "respond", "fontawesome", "font-awesome", "analytics", "gtag",
        "ie10-viewport", "ie-emulation",
        "googletagmanager", "polyfill", "webfont", "cookieconsent", "swiper", "slick", "wow.", "placeholder",
    ]
    private static let requestWords: Set<String> = ["fetch", "XMLHttpRequest", "ajax", "axios", "getJSON", "sendBeacon"]
    private static let ciphers = ["md5", "sha1", "sha256", "sha512", "crypto", "rsa", "jsencrypt", "chillilibrary", "aes."]
    private static let cipherWords = [
        "md5", "hex_md5", "hexmd5", "chapmd5", "sha1", "sha256", "hex_sha", "cryptojs", "jsencrypt", "rsakey",
    ]
}
