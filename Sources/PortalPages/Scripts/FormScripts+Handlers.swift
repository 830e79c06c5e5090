/// Finds the handlers that scripts attach to forms and buttons.
extension FormScripts {
    static func attachments(in tokens: ScriptCode) -> [Attachment] {
        var result: [Attachment] = []
        var submitHandlers = tokens.indices.filter { tokens[$0].text == "submitHandler" }[...]
        // The end and the selectors of the last handler for all clicks. Handlers within it get its selectors.
        var clicks: (end: Int, selectors: Set<String>) = (0, [])
        for index in tokens.indices where tokens[index].kind == .word && tokens.isSign(".", at: index - 1) && result.count < 200 {
            let word = tokens[index].text
            let receivers = { Self.receivers(tokens, before: index - 1) }
            let isUnclear = { !Self.receiver(tokens, before: index - 1).contains { $0.kind == .text || $0.text == "document" } }
            if word == "onsubmit" || word == "onclick", tokens.isSign("=", at: index + 1) {
                let end = tokens.endOfStatement(from: index + 2)
                result.append(
                    Attachment(
                        event: String(word.dropFirst(2)), receivers: receivers(), isUnclear: isUnclear(),
                        handler: tokens[(index + 2)..<Swift.max(index + 2, end)]))
            }
            guard tokens.isSign("(", at: index + 1), let close = tokens.closing(index + 1), close > index + 2 else { continue }
            let arguments = tokens[(index + 2)..<close]
            switch word {
            case "submit", "click":
                result.append(Attachment(event: word, receivers: receivers(), isUnclear: isUnclear(), handler: arguments))
            case "ajaxForm", "ajaxSubmit":
                result.append(Attachment(event: "submit", receivers: receivers(), handler: ScriptCode("=")))
            case "validate":
                submitHandlers = submitHandlers.drop { $0 < arguments.startIndex }
                if let place = submitHandlers.first, let handler = submitHandler(in: arguments, at: place) {
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
                let handler = arguments.drop { $0.kind == .text || $0.text == "," }
                var selectors = Set(
                    names.filter { !$0.text.contains(part) || $0.text.contains("[") }.flatMap { pieces(of: $0.text) })
                // A handler for all clicks compares the target of a click with an element that its code names.
                if event == "click", selectors.isEmpty, receivers().isSubset(of: ["document", "window", "body"]) {
                    if close >= clicks.end {
                        clicks = (close, Set(handler.filter { $0.kind == .text }.flatMap { pieces(of: $0.text) }))
                    }
                    selectors = clicks.selectors
                }
                // A selector limits the handler to matching elements within the receiver.
                result.append(
                    Attachment(
                        event: event, receivers: selectors.isEmpty ? receivers() : selectors,
                        isUnclear: selectors.isEmpty && isUnclear(), handler: handler))
            default: break
            }
        }
        return result
    }

    /// Returns the function that jQuery's validation plugin calls instead of sending a checked form. If the arguments only contain the function's
    /// name, returns the name and does not look for its code.
    private static func submitHandler(in arguments: ScriptCode, at index: Int) -> ScriptCode? {
        guard arguments.indices.contains(index) else { return nil }
        let start = arguments.isSign(":", at: index + 1) ? index + 2 : index + 1
        return start < arguments.endIndex ? arguments[start..<arguments.endOfExpression(from: start)] : nil
    }

    /// Returns the words and selectors of the expression that ends before the dot at an index; a variable stands for the expression that it holds.
    static func receivers(_ tokens: ScriptCode, before dot: Int) -> Set<String> {
        let receiver = receiver(tokens, before: dot)
        guard dot > 0, receiver.endIndex != dot, let name = tokens.word(at: dot - 1) else { return words(of: receiver) }
        return tokens.kept(of: name) { words(of: receiver) }
    }

    private static func receiver(_ tokens: ScriptCode, before dot: Int) -> ScriptCode {
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
        if range.count == 1, let name = tokens.word(at: range.lowerBound), let place = tokens.assignment(of: name) {
            let end = min(tokens.endOfStatement(from: place), place + 30)
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

    /// The largest number of words and selectors of one receiver.
    private static let wordLimit = 100

    private static func words(of tokens: ScriptCode) -> Set<String> {
        let silent: Set<String> = ["$", "jQuery", "getElementById", "querySelector", "querySelectorAll", "getElementsByName"]
        var words: Set<String> = []
        for token in tokens where words.count < wordLimit {
            switch token.kind {
            case .text: words.formUnion(pieces(of: token.text).prefix(wordLimit - words.count))
            case .word: if !silent.contains(token.text) { words.insert(token.text) }
            case .number, .sign: break
            }
        }
        return words
    }

    /// Returns the simple selectors of a selector list; of each descendant selector, only its last part counts: `#f input[type=submit], .b` gives
    /// `input`, `type`, `submit`, `.b`. An id is also listed without its sign.
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
