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
    }

    static let scriptedReason = "Only a script of the page can send its form."
    static let changedReason = "A script of the page changes what its form sends."
    static let testReason = "The page asks to read a picture or to pass a test."
    static let encryptedReason = "A script of the page encrypts the password before it is sent."

    private let tokens: [ScriptToken]
    private let judge: ScriptJudge
    private let attachments: [Attachment]
    /// The page loads scripts that are not well-known libraries.
    private let loadsOwnScripts: Bool
    private let encrypts: Bool
    private let makesRequests: Bool

    init(scripts: String, sources: [String]) {
        tokens = [ScriptToken](script: scripts)
        judge = ScriptJudge(tokens)
        attachments = Self.attachments(in: tokens)
        loadsOwnScripts = sources.contains { source in
            let name = source.lowercased()
            return !Self.libraries.contains { name.contains($0) }
        }
        makesRequests = tokens.contains { $0.kind == .word && Self.requestWords.contains($0.text) }
        let words = sources.joined(separator: " ").lowercased()
        encrypts =
            Self.ciphers.contains { words.contains($0) }
            || tokens.contains { token in
                token.kind == .word && Self.cipherWords.contains { token.text.lowercased().hasPrefix($0) }
            }
    }

    /// Returns why only a browser can send a form; `nil` if it can be sent as it is.
    func reason(for form: HTMLForm, _ clues: Clues) -> String? {
        let isTyped = form.inputs.contains { $0.kind != .checkbox && !$0.isInvisible }
        if clues.hasTest { return Self.testReason }
        if clues.hasFrameworkHandler { return Self.scriptedReason }
        if encrypts, !form.passwords.isEmpty, !isPlainMikroTik(form, clues) { return Self.encryptedReason }
        let isPlain = form.method == .post && !form.action.isEmpty
        for code in clues.handlers {
            let handler = Self.withoutPrefix([ScriptToken](script: code))
            if !handler.isEmpty, !(isPlain && judge.isUnknownCheck(handler)), !judge.isHarmless(handler, names: clues.names) {
                return Self.changedReason
            }
        }
        for attachment in attachments where concerns(attachment, form, clues) {
            if !judge.isHarmless(attachment.handler, names: clues.names) { return Self.scriptedReason }
        }
        if form.action.lowercased().hasPrefix("javascript:") { return Self.scriptedReason }
        if changes(clues) { return Self.changedReason }
        let hasNoAction = form.action.isEmpty || form.action.hasPrefix("#")
        if hasNoAction, form.method == .get, isTyped, mayLogIn { return Self.scriptedReason }
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
    var mayLogIn: Bool { loadsOwnScripts || makesRequests }

    /// Returns whether the form is MikroTik's without a challenge: the gateway writes the challenge and the handler into the page, and
    /// only then is the password hashed. The page loads the script for it in any case.
    private func isPlainMikroTik(_ form: HTMLForm, _ clues: Clues) -> Bool {
        clues.name == "login" && form.action.hasSuffix("/login") && form.inputs.map(\.name) == ["username", "password"]
            && clues.handlers.allSatisfy(\.isEmpty) && !tokens.contains { $0.text.lowercased().contains("md5") }
    }

    /// Returns the label of a button or link without a type of its own that sends the form by a harmless handler.
    func sendingLabel(_ clues: Clues) -> String? {
        clues.links.first { link in
            let code = Self.withoutPrefix([ScriptToken](script: link.code))
            return judge.sends(code) && judge.isHarmless(code, names: clues.names)
        }?.label
    }

    /// Returns whether no script changes where a link leads: its own handler is harmless, and no other is attached to it.
    func leavesAlone(_ code: String, _ names: Set<String>) -> Bool {
        let own = Self.withoutPrefix([ScriptToken](script: code))
        return (own.isEmpty || judge.isHarmless(own, names: []))
            && attachments.allSatisfy { $0.receivers.isDisjoint(with: names) || judge.isHarmless($0.handler, names: []) }
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

    /// Returns whether a script writes into a hidden control that the page leaves empty, or into the form's action.
    private func changes(_ clues: Clues) -> Bool {
        let form = clues.names.union(clues.names.map { "#" + $0 })
        return tokens.indices.contains { index in
            guard let word = tokens.word(at: index), tokens.isSign(".", at: index - 1) else { return false }
            let isSet = tokens.isSign("=", at: index + 1)
            let isCall = tokens.isSign("(", at: index + 1) && !tokens.isSign(")", at: index + 2)
            switch word {
            case "value" where isSet, "val" where isCall:
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: clues.emptyHidden)
            case "action" where isSet:
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: form.union(["form", "forms"]))
            case "attr" where isCall && tokens[index + 2].text == "action" && tokens.isSign(",", at: index + 3):
                return !Self.receivers(tokens, before: index - 1).isDisjoint(with: form.union(["form"]))
            default: return false
            }
        }
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
            case "validate" where arguments.contains { $0.text == "submitHandler" }:
                result.append(Attachment(event: "submit", receivers: receivers(), handler: [.sign("=")]))
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
    private static func receivers(_ tokens: [ScriptToken], before dot: Int) -> Set<String> {
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

    private static func assignment(of name: String, in tokens: [ScriptToken]) -> Int? {
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
