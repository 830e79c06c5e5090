/// Finds hidden controls into which a script copies the user's input, for example a voucher that serves as user name and password.
extension FormScripts {
    /// One assignment `TARGET.value = SOURCE.value` in the scripts.
    struct Copy {
        /// Words and selectors of the control that is changed.
        var targets: Set<String>
        /// Words and selectors of the control whose value is copied; `nil` for any other value.
        var sources: Set<String>?
    }

    /// The largest number of assignments; if there are more, all of them are ignored.
    private static let copyLimit = 100

    /// Returns the name of the control from which scripts copy into an empty hidden control; `nil` if no script does, or a script writes anything
    /// else into the hidden control.
    func copyOf(_ hidden: HTMLControl, in form: HTMLForm) -> String? {
        guard hidden.kind == .hidden, hidden.value.isEmpty, !hidden.name.isEmpty else { return nil }
        let settings = copies.filter { $0.targets.contains(hidden.name) || $0.targets.contains("#" + hidden.name) }
        guard !settings.isEmpty else { return nil }
        let typed = Set(form.inputs.filter { ($0.kind == .text || $0.kind == .telephone) && !$0.isInvisible }.map(\.name))
        let sources = Set(settings.map { $0.sources?.intersection(typed) ?? [] })
        return sources.count == 1 && sources.first?.count == 1 ? sources.first?.first : nil
    }

    /// Returns all assignments to controls' values that can be followed in the scripts.
    static func copies(in tokens: ScriptCode) -> [Copy] {
        let places = tokens.indices.filter { index in
            tokens.word(at: index) == "value" && tokens.isSign("=", at: index + 1) && tokens.isSign(".", at: index - 1)
        }
        guard places.count <= copyLimit else { return [] }
        return places.map { Copy(targets: receivers(tokens, before: $0 - 1), sources: sources(tokens, at: $0 + 2, 0)) }
    }

    /// Returns the words of a control if the expression at an index is just the control's value, directly or through a variable.
    private static func sources(_ tokens: ScriptCode, at start: Int, _ depth: Int) -> Set<String>? {
        guard depth < 3, let name = tokens.word(at: start) else { return nil }
        var end = start + 1
        while end < tokens.count, end - start < 20, !isEnd(tokens, end) { end += 1 }
        if end == start + 1 {
            return tokens.assignment(of: name).flatMap { $0 == start ? nil : sources(tokens, at: $0, depth + 1) }
        }
        guard tokens.word(at: end - 1) == "value", tokens.isSign(".", at: end - 2) else { return nil }
        return receivers(tokens, before: end - 2)
    }

    /// Returns whether a statement ends before an index; without a semicolon, a word directly follows another word or a bracket.
    private static func isEnd(_ tokens: ScriptCode, _ index: Int) -> Bool {
        switch tokens[index].kind {
        case .sign: [";", ",", "}"].contains(tokens[index].text)
        case .word: tokens[index - 1].kind == .word || tokens.isSign(")", at: index - 1) || tokens.isSign("]", at: index - 1)
        case .text, .number: false
        }
    }
}
