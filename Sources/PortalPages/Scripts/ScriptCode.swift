/// A script, or a part of a script that shares the script's tokens. One walk over the script finds where all brackets close and all expressions end:
/// a search for each would be slow on a page full of brackets.
struct ScriptCode: RandomAccessCollection {
    private let script: Script
    let startIndex: Int
    let endIndex: Int

    init(_ text: String) {
        script = Script([ScriptToken](script: text))
        (startIndex, endIndex) = (0, script.tokens.count)
    }

    private init(_ script: Script, _ range: Range<Int>) {
        self.script = script
        (startIndex, endIndex) = (range.lowerBound, range.upperBound)
    }

    subscript(index: Int) -> ScriptToken { script.tokens[index] }

    subscript(range: Range<Int>) -> ScriptCode {
        precondition(range.lowerBound >= startIndex && range.upperBound <= endIndex)
        return ScriptCode(script, range)
    }

    /// Returns whether the token at an index is a sign with this text.
    func isSign(_ text: String, at index: Int) -> Bool {
        index >= startIndex && index < endIndex && self[index].kind == .sign && self[index].text == text
    }

    /// Returns the word at an index.
    func word(at index: Int) -> String? {
        index >= startIndex && index < endIndex && self[index].kind == .word ? self[index].text : nil
    }

    /// Returns whether the token at an index is a string with this content.
    func isText(_ text: String, at index: Int) -> Bool {
        index >= startIndex && index < endIndex && self[index].kind == .text && self[index].text == text
    }

    /// Returns the index of the bracket that closes the bracket at `open`.
    func closing(_ open: Int) -> Int? {
        let close = script.closers[open]
        return close < endIndex ? close : nil
    }

    /// Returns the end of the expression that begins at an index: a comma, a semicolon, or a closing bracket of an enclosing
    /// pair.
    func endOfExpression(from start: Int) -> Int {
        start < endIndex ? Swift.min(script.expressionEnds[start], endIndex) : endIndex
    }

    /// Returns the end of the statement that begins at an index: a semicolon, the end of a block, or a closing bracket of an enclosing pair.
    func endOfStatement(from start: Int) -> Int { start < endIndex ? Swift.min(script.statementEnds[start], endIndex) : endIndex }

    // MARK: - The whole script

    /// Returns the index of the expression that the script assigns to a variable.
    func assignment(of name: String) -> Int? { script.assignments[name]?.place }

    /// Returns whether the script contains a token with this text.
    func mentions(_ text: String) -> Bool { script.texts.contains(text) }

    /// Returns the words of the expression that is assigned to a variable. Computes them once and keeps them.
    func kept(of variable: String, _ compute: () -> Set<String>) -> Set<String> {
        if let kept = script.kept[variable] { return kept }
        let result = compute()
        script.kept[variable] = result
        return result
    }
}

/// The tokens of a script, and the results of walks over all of them.
private final class Script {
    let tokens: [ScriptToken]
    /// The index of the bracket that closes the bracket at an index; `Int.max` if there is none.
    private(set) var closers: [Int]
    /// The ends of the expressions and statements that begin at an index.
    private(set) var expressionEnds: [Int]
    private(set) var statementEnds: [Int]
    /// The words of the expressions that are assigned to variables.
    var kept: [String: Set<String>] = [:]
    private(set) lazy var texts = Set(tokens.lazy.map(\.text))
    private(set) lazy var assignments = findAssignments()

    /// The largest number of tokens between the beginning of a list and the function that `forEach` calls with its members.
    private static let listLimit = 40

    init(_ tokens: [ScriptToken]) {
        self.tokens = tokens
        closers = [Int](repeating: .max, count: tokens.count)
        var open: [Int] = []
        for index in tokens.indices where tokens[index].kind == .sign {
            switch tokens[index].text {
            case "(", "[", "{": open.append(index)
            case ")", "]", "}": if let last = open.popLast() { closers[last] = index }
            default: break
            }
        }
        expressionEnds = [Int](repeating: tokens.count, count: tokens.count + 1)
        statementEnds = expressionEnds
        for index in tokens.indices.reversed() {
            (expressionEnds[index], statementEnds[index]) = (expressionEnds[index + 1], statementEnds[index + 1])
            guard tokens[index].kind == .sign else { continue }
            switch tokens[index].text {
            case "(", "[", "{":
                let close = closers[index]
                expressionEnds[index] = close < tokens.count ? expressionEnds[close + 1] : tokens.count
                statementEnds[index] =
                    close >= tokens.count ? tokens.count : tokens[close].text == "}" ? close + 1 : statementEnds[close + 1]
            case ")", "]", "}", ";": (expressionEnds[index], statementEnds[index]) = (index, index)
            case ",": expressionEnds[index] = index
            default: break
            }
        }
    }

    /// Returns the index of the expression that is assigned to each variable: by the first `=`, otherwise by `for … of`, otherwise by `forEach`,
    /// which passes the members of a list to a function.
    private func findAssignments() -> [String: (rank: Int, place: Int)] {
        var result: [String: (rank: Int, place: Int)] = [:]
        for index in tokens.indices where tokens[index].kind == .word && !isSign(".", index - 1) {
            let name = tokens[index].text
            let rank = result[name]?.rank ?? .max
            if isSign("=", index + 1) {
                if rank > 0 { result[name] = (0, index + 2) }
            } else if isWord("of", index + 1) {
                if rank > 1 { result[name] = (1, index + 2) }
            } else if rank > 2, let place = listed(index) {
                result[name] = (2, place)
            }
        }
        return result
    }

    /// Returns the index of the list before `forEach`, if the word at an index is the first parameter of the function that `forEach` calls.
    private func listed(_ index: Int) -> Int? {
        var start = index - 1
        while start > 0, index - start < Self.listLimit, isSign("(", start) || isWord("function", start) { start -= 1 }
        guard isWord("forEach", start), isSign(".", start - 1) else { return nil }
        start -= 2
        var depth = 0
        while start >= 0, index - start < Self.listLimit {
            if isSign(")", start) { depth += 1 }
            if isSign("(", start) { depth -= 1 }
            if depth < 0 || (depth == 0 && (isSign(";", start) || isSign("}", start))) { break }
            start -= 1
        }
        return start + 1
    }

    private func isSign(_ text: String, _ index: Int) -> Bool {
        tokens.indices.contains(index) && tokens[index] == .sign(text)
    }

    private func isWord(_ text: String, _ index: Int) -> Bool {
        tokens.indices.contains(index) && tokens[index] == ScriptToken(kind: .word, text: text)
    }
}
