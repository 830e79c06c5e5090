/// Finds the handlers that scripts attach to forms and buttons.
extension FormScripts {
    static func attachments(in tokens: [ScriptToken]) -> [Attachment] {
        var result: [Attachment] = []
        for index in tokens.indices where tokens[index].kind == .word && tokens.isSign(".", at: index - 1) && result.count < 200 {
            let word = tokens[index].text
            let receivers = { Self.receivers(tokens, before: index - 1) }
            let isUnclear = { !Self.receiver(tokens, before: index - 1).contains { $0.kind == .text || $0.text == "document" } }
            if word == "onsubmit" || word == "onclick", tokens.isSign("=", at: index + 1) {
                let end = end(of: tokens, from: index + 2)
                result.append(
                    Attachment(
                        event: String(word.dropFirst(2)), receivers: receivers(), isUnclear: isUnclear(),
                        handler: Array(tokens[(index + 2)..<end])))
            }
            guard tokens.isSign("(", at: index + 1), let close = tokens.closing(index + 1), close > index + 2 else { continue }
            let arguments = Array(tokens[(index + 2)..<close])
            switch word {
            case "submit", "click":
                result.append(Attachment(event: word, receivers: receivers(), isUnclear: isUnclear(), handler: arguments))
            case "ajaxForm", "ajaxSubmit":
                result.append(Attachment(event: "submit", receivers: receivers(), handler: [.sign("=")]))
            case "validate":
                if let handler = submitHandler(in: arguments) {
                    result.append(Attachment(event: "submit", receivers: receivers(), handler: handler, mustSend: true))
                }
            case "addEventListener", "on", "bind", "live", "delegate", "one":
                let names = arguments.prefix { $0.kind != .word }.filter { $0.kind == .text }
                let known = [
                    "submit": "submit", "success.form": "submit", "click": "click", "touch": "click", "mousedown": "click",
                ]
                guard let (part, event) = known.first(where: { event in names.contains { $0.text.contains(event.key) } }) else {
                    continue
                }
                let handler = Array(arguments.drop { $0.kind == .text || $0.text == "," })
                var selectors = names.filter { !$0.text.contains(part) || $0.text.contains("[") }.flatMap { pieces(of: $0.text) }
                // The handler of all clicks names the one that it waits for.
                if event == "click", selectors.isEmpty, receivers().isSubset(of: ["document", "window", "body"]) {
                    selectors = handler.filter { $0.kind == .text }.flatMap { pieces(of: $0.text) }
                }
                // A selector narrows what the handler is for.
                result.append(
                    Attachment(
                        event: event, receivers: selectors.isEmpty ? receivers() : Set(selectors),
                        isUnclear: selectors.isEmpty && isUnclear(), handler: handler))
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
    static func end(of tokens: [ScriptToken], from start: Int) -> Int {
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
    static func receivers(_ tokens: [ScriptToken], before dot: Int) -> Set<String> { words(of: receiver(tokens, before: dot)) }

    private static func receiver(_ tokens: [ScriptToken], before dot: Int) -> ArraySlice<ScriptToken> {
        var (start, depth) = (dot - 1, 0)
        while start >= 0, dot - start < 60 {
            let token = tokens[start]
            if token.kind == .sign {
                switch token.text {
                // A word after a bracket begins another statement.
                case ")", "]": depth = depth == 0 && start + 1 < dot && tokens[start + 1].kind != .sign ? -1 : depth + 1
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
            // Without a semicolon, a word after a bracket begins the next statement.
            let next = (place..<end).dropFirst().first { index in
                tokens[index].text == "forEach"
                    || (tokens[index].kind == .word && [")", "]"].contains(tokens[index - 1].text)
                        && tokens[index - 1].kind == .sign)
            }
            return tokens[place..<(next ?? end)]
        }
        return tokens[range]
    }

    static func assignment(of name: String, in tokens: [ScriptToken]) -> Int? {
        let places = tokens.indices.filter {
            tokens[$0].text == name && tokens[$0].kind == .word && !tokens.isSign(".", at: $0 - 1)
        }
        if let index = places.first(where: { tokens.isSign("=", at: $0 + 1) }) { return index + 2 }
        if let index = places.first(where: { tokens.word(at: $0 + 1) == "of" }) { return index + 2 }
        return places.lazy.compactMap { listed(tokens, $0) }.first
    }

    /// Returns where the list begins that calls a function with the parameter at an index for each of its members.
    private static func listed(_ tokens: [ScriptToken], _ index: Int) -> Int? {
        var start = index - 1
        while start > 0, tokens.isSign("(", at: start) || tokens.word(at: start) == "function" { start -= 1 }
        guard tokens.word(at: start) == "forEach", tokens.isSign(".", at: start - 1) else { return nil }
        start -= 2
        var depth = 0
        while start >= 0, index - start < 40 {
            if tokens.isSign(")", at: start) { depth += 1 }
            if tokens.isSign("(", at: start) { depth -= 1 }
            if depth < 0 || (depth == 0 && (tokens.isSign(";", at: start) || tokens.isSign("}", at: start))) { break }
            start -= 1
        }
        return start + 1
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
}
