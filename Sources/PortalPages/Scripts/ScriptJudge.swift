/// Decides whether a page's handler only inspects a form before it is sent, for example checks for empty fields. Everything that is not known to be
/// harmless counts as harmful.
struct ScriptJudge {
    private let tokens: ScriptCode
    /// The bodies of the page's own functions.
    private var functions: [String: ScriptCode] = [:]
    /// The bodies of functions that are members of objects, by name.
    private var methods: [String: [ScriptCode]] = [:]
    private let budget = Budget()

    private static let depthLimit = 6
    /// The largest number of tokens before a dot that are read.
    private static let receiverLimit = 60

    /// The number of tokens that may be read for a page, because functions that call each other twice double the work at each level.
    private final class Budget {
        private var tokens = 1_000_000

        /// Returns whether this many more tokens may be read.
        func allows(_ count: Int) -> Bool {
            tokens -= count
            return tokens >= 0
        }
    }

    init(_ tokens: ScriptCode) {
        self.tokens = tokens
        for index in tokens.indices where tokens[index].kind == .word {
            if tokens[index].text == "function", let name = tokens.word(at: index + 1), let body = body(from: index + 2) {
                functions[name] = body
            } else if tokens.isSign("=", at: index + 1) || tokens.isSign(":", at: index + 1) {
                let isFunction = tokens.word(at: index + 2) == "function" || tokens.word(at: index + 2) == "async"
                let isArrow =
                    tokens.isSign("(", at: index + 2)
                    && tokens.closing(index + 2).map { tokens.isSign("=>", at: $0 + 1) } ?? false
                if isFunction || isArrow, let body = body(from: index + 2) { functions[tokens[index].text] = body }
                if tokens.isSign(":", at: index + 1), let body = body(from: index + 2) ?? expression(from: index + 2) {
                    methods[tokens[index].text, default: []].append(body)
                }
            }
        }
    }

    /// Returns the tokens between the braces of a function whose parameters begin soon after an index.
    private func body(from start: Int) -> ScriptCode? {
        guard let open = (start..<max(start, min(start + 3, tokens.count))).first(where: { tokens.isSign("(", at: $0) }),
            let close = tokens.closing(open)
        else { return nil }
        let brace = tokens.isSign("=>", at: close + 1) ? close + 2 : close + 1
        guard tokens.isSign("{", at: brace), let end = tokens.closing(brace) else { return nil }
        return tokens[(brace + 1)..<end]
    }

    /// Returns the tokens of the body of an arrow function with one parameter. The body is a block in braces or an expression.
    private func expression(from start: Int) -> ScriptCode? {
        guard tokens.word(at: start) != nil, tokens.isSign("=>", at: start + 1) else { return nil }
        return tokens[(start + 2)..<tokens.endOfExpression(from: start + 2)]
    }

    /// Returns whether a handler is harmless. The handler is the code of an attribute, or the expression that is attached to an event.
    ///
    /// - Parameter names: the form's id and name, which the handler may submit.
    func isHarmless(_ handler: ScriptCode, names: Set<String>) -> Bool {
        var code = handler
        if code.count == 1, let name = code.word(at: code.startIndex) {
            guard let body = functions[name] else { return false }
            code = body
        } else if let brace = code.firstIndex(of: .sign("{")), let end = code.closing(brace),
            code.word(at: code.startIndex) == "function" || code.contains(.sign("=>")) || isMethod(code, brace)
        {
            code = code[(brace + 1)..<end]
        }
        return passes(code, names, 0) && (sends(code) || !endsUnsent(code))
    }

    /// Returns whether the code is a method of an object in the short form: parameters and body, without `function` or a name.
    private func isMethod(_ code: ScriptCode, _ brace: Int) -> Bool {
        code.isSign("(", at: code.startIndex) && code.closing(code.startIndex) == brace - 1
    }

    /// Returns whether a handler only calls a function that the page's readable scripts do not define, and whose name says that it checks fields or
    /// opens a window.
    func isUnknownCheck(_ handler: ScriptCode) -> Bool {
        guard let name = Self.onlyCall(in: handler), functions[name] == nil else { return false }
        return Self.checks.contains { name.lowercased().contains($0) }
    }

    private static let checks = ["valid", "popup", "openwin", "loading", "loader", "spinner"]

    /// Returns whether a handler only calls a function that no script of the page defines. The call fails, and a browser sends the form
    /// nevertheless.
    func isMissing(_ handler: ScriptCode) -> Bool {
        guard let name = Self.onlyCall(in: handler) else { return false }
        return name.count > 4 && !Self.readers.contains(name) && !Self.keywords.contains(name)
            && !Self.browserFunctions.contains(name)
            && !tokens.mentions(name)
    }

    /// Returns the name of the function if the handler calls only one function and does nothing else.
    private static func onlyCall(in handler: ScriptCode) -> String? {
        let call = handler.word(at: handler.startIndex) == "return" ? handler.dropFirst() : handler
        let start = call.startIndex
        guard let name = call.word(at: start), call.isSign("(", at: start + 1), let close = call.closing(start + 1),
            call[(close + 1)..<call.endIndex].allSatisfy({ $0 == .sign(";") })
        else { return nil }
        return name
    }

    private static let browserFunctions: Set<String> = [
        "fetch", "submit", "reset", "close", "print", "prompt", "setTimeout", "setInterval", "postMessage", "requestSubmit", "$",
        "remove", "click",
    ]

    /// Returns whether a handler sends the form.
    func sends(_ code: ScriptCode) -> Bool { sends(code, 0) }

    private func sends(_ code: ScriptCode, _ depth: Int) -> Bool {
        guard depth < Self.depthLimit, budget.allows(code.count) else { return false }
        return code.indices.contains { index in
            guard let word = code.word(at: index), code.isSign("(", at: index + 1) else { return false }
            if word == "submit" || word == "requestSubmit" { return code.isSign(")", at: index + 2) }
            return !code.isSign(".", at: index - 1) && functions[word].map { sends($0, depth + 1) } ?? false
        }
    }

    /// Returns whether the code always stops the form from being sent: outside all blocks, it prevents the default or returns false.
    private func endsUnsent(_ code: ScriptCode) -> Bool {
        var (depth, statement) = (0, code.startIndex)
        for index in code.indices {
            if code.isSign("{", at: index) { depth += 1 }
            if code.isSign("}", at: index) { depth -= 1 }
            if code.word(at: index - 1) == nil, !code.isSign(".", at: index - 1) { statement = index }
            guard depth == 0, !isConditional(code, statement) else { continue }
            if code.word(at: index) == "preventDefault" { return true }
            if code.word(at: index) == "return", code.word(at: index + 1) == "false" { return true }
        }
        return false
    }

    /// Returns whether the statement at an index directly follows a condition: `if (x) return false`.
    private func isConditional(_ code: ScriptCode, _ start: Int) -> Bool {
        if code.word(at: start) == "else" || code.word(at: start - 1) == "else" { return true }
        return code.isSign(")", at: start - 1)
    }

    private func passes(_ code: ScriptCode, _ names: Set<String>, _ depth: Int) -> Bool {
        guard depth < Self.depthLimit, budget.allows(code.count) else { return false }
        return code.indices.allSatisfy { index in
            switch code[index].kind {
            case .text, .number: return true
            case .sign: return !Self.assignments.contains(code[index].text) || mayAssign(code, index)
            case .word:
                guard code.isSign("(", at: index + 1) else { return true }
                return mayCall(code, index, names, depth)
            }
        }
    }

    private func mayAssign(_ code: ScriptCode, _ sign: Int) -> Bool {
        guard let target = code.word(at: sign - 1) else { return false }
        if code.isSign(".", at: sign - 2) {
            let owner = code.word(at: sign - 3)
            return Self.properties.contains(target) || ["style", "dataset"].contains(owner) || isTrimmed(code, sign)
        }
        if let keyword = code.word(at: sign - 2), ["var", "let", "const"].contains(keyword) { return true }
        return !Self.formNames.contains(target)
    }

    /// Returns whether an assignment only trims a control's value. This does no harm, because answers have no blanks at their ends.
    private func isTrimmed(_ code: ScriptCode, _ sign: Int) -> Bool {
        guard code.word(at: sign - 1) == "value" else { return false }
        let end = code.endOfExpression(from: sign + 1)
        guard (6...Self.receiverLimit).contains(end - sign), code[(end - 4)..<end].map(\.text) == [".", "trim", "(", ")"] else {
            return false
        }
        let own = code[(sign + 1)..<(end - 4)]
        return sign - own.count >= code.startIndex && code[(sign - own.count)..<sign].elementsEqual(own)
    }

    private func mayCall(_ code: ScriptCode, _ index: Int, _ names: Set<String>, _ depth: Int) -> Bool {
        let name = code[index].text
        let (isMethod, isEmpty) = (code.isSign(".", at: index - 1), code.isSign(")", at: index + 2))
        if Self.keywords.contains(name), !isMethod { return true }
        if code.word(at: index - 1) == "function" { return true }
        if code.word(at: index - 1) == "new" { return Self.values.contains(name) }
        switch name {
        case "submit", "requestSubmit": return isEmpty && isOwn(code, index, names)
        case "val": return isEmpty
        case "attr", "prop", "setAttribute", "removeAttr", "removeAttribute":
            guard code.indices.contains(index + 2) else { return false }
            return code.isSign(")", at: index + 3) || Self.attributes.contains(code[index + 2].text)
        case "createElement":
            return code.indices.contains(index + 2) && code[index + 2].kind == .text
                && !Self.controls.contains(code[index + 2].text.lowercased())
        case "append", "prepend", "before", "after", "insertAdjacentHTML", "$", "jQuery":
            guard let close = code.closing(index + 1), budget.allows(close - index) else { return false }
            // Harmless unless the markup contains a control.
            return !code[index..<close].contains { token in
                token.kind == .text && Self.controls.contains { token.text.lowercased().contains("<" + $0) }
            }
        case "setTimeout": return code.indices.contains(index + 2) && code[index + 2].kind != .text
        default:
            if Self.readers.contains(name) { return true }
            // If the methods with this name are harmless in all objects, it does not matter which object has the method.
            if isMethod, let bodies = methods[name] { return bodies.allSatisfy { passes($0, names, depth + 1) } }
            guard !isMethod || code.word(at: index - 2) == "this", let body = functions[name] else { return false }
            return passes(body, names, depth + 1)
        }
    }

    /// Returns whether the `submit` at an index submits the handler's own form.
    private func isOwn(_ code: ScriptCode, _ index: Int, _ names: Set<String>) -> Bool {
        var (start, depth) = (index - 1, 0)
        while start >= code.startIndex {
            guard index - start < Self.receiverLimit else { return false }
            let token = code[start]
            if token.kind == .sign {
                switch token.text {
                case ")", "]": depth += 1
                case "(", "[": depth -= 1
                case ".", "#": break
                default: if depth == 0 { depth = -1 }
                }
                if depth < 0 { break }
            }
            start -= 1
        }
        let receiver = code[(start + 1)..<max(start + 1, index - 1)]
        let words = Set(receiver.filter { $0.kind != .sign }.map { $0.text.trimmingPrefix("#").description })
        let selectors = names.union(names.map { "#" + $0 })
        let isVariable = words.contains { word in
            guard let place = tokens.assignment(of: word) else { return false }
            return tokens[place..<tokens.endOfExpression(from: place)].prefix(12).contains {
                $0.kind == .text && selectors.contains($0.text)
            }
        }
        return !words.isDisjoint(with: names) || isVariable
            || words.isSubset(of: Self.ownForms)
    }

    private static let ownForms: Set<String> = [
        "this", "form", "document", "forms", "0", "e", "event", "target", "currentTarget", "$", "jQuery", "closest", "parents",
        "self", "window", "querySelector", "HTMLFormElement", "prototype",
    ]
    private static let assignments: Set<String> = ["=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="]
    private static let keywords: Set<String> = [
        "if", "for", "while", "switch", "catch", "function", "return", "typeof", "void", "throw", "else", "in", "of", "async",
        "case",
    ]
    private static let values: Set<String> = ["RegExp", "Date", "Array", "Object", "String", "Number", "Boolean", "Error"]
    /// Properties of an element that do not change the data that is sent.
    private static let properties: Set<String> = [
        "disabled", "className", "innerHTML", "innerText", "textContent", "display", "visibility", "border", "borderColor",
        "color",
        "background", "backgroundColor", "opacity", "cursor", "outline", "title", "returnValue", "cancelBubble",
        "hidden", "scrollTop", "placeholder", "alt", "tabIndex", "required", "cssText",
    ]
    /// Names that mean the form's own properties within a handler attribute.
    private static let formNames: Set<String> = [
        "action", "method", "target", "enctype", "encoding", "location", "value", "onsubmit", "name", "href", "acceptCharset",
    ]
    private static let attributes: Set<String> = [
        "disabled", "class", "style", "aria-invalid", "aria-disabled", "aria-busy", "title",
    ]
    private static let controls: Set<String> = ["input", "select", "textarea", "button", "form", "script", "iframe"]
    /// Functions that only read, show or count.
    private static let readers: Set<String> = [
        "getElementById", "getElementsByName", "getElementsByTagName", "getElementsByClassName", "querySelector",
        "querySelectorAll", "closest", "find", "children", "parent", "parents", "siblings", "next", "prev", "first", "last", "eq",
        "filter", "not", "each", "is", "has", "hasClass", "getAttribute", "hasAttribute", "test", "match", "exec", "search",
        "indexOf", "lastIndexOf", "includes", "startsWith", "endsWith", "charAt", "charCodeAt", "substring", "substr", "slice",
        "split", "join", "trim", "toLowerCase", "toUpperCase", "toString", "replace", "concat", "push", "parseInt", "parseFloat",
        "isNaN", "Number", "String", "Boolean", "RegExp", "forEach", "map", "some", "every", "alert", "confirm", "log", "warn",
        "error", "info", "focus", "blur", "select", "scrollIntoView", "scrollTo", "show", "hide", "fadeIn", "fadeOut",
        "slideDown",
        "slideUp", "toggle", "addClass", "removeClass", "toggleClass", "add", "remove", "contains", "css", "html", "text",
        "preventDefault", "stopPropagation", "setCustomValidity", "reportValidity", "checkValidity", "valid", "getTime", "now",
        "setItem", "getItem", "removeItem", "ga", "gtag", "fbq", "_trackEvent", "trackEvent", "min", "max", "floor", "round",
        "abs", "open", "appendChild", "insertBefore", "removeChild", "stopImmediatePropagation", "matches", "isArray", "scroll",
        "requestAnimationFrame", "debug", "keys", "values", "entries", "random", "createTextNode", "getBoundingClientRect",
        "getComputedStyle", "clearTimeout", "clearInterval", "animate", "delay", "stop", "button", "tooltip", "modal", "blockUI",
    ]
}
