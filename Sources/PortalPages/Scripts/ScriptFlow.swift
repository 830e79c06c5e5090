/// Finds the parts of a script that run by themselves, while the page loads or soon after, without the user.
struct ScriptFlow {
    /// The body of one function.
    private struct Body {
        /// The index of the first token of the function.
        var start: Int
        var range: Range<Int>
        var name: String?
        /// Whether the function is called in place, by a timer, or when the page has loaded.
        var callsItself: Bool
        var runs = false
    }

    let tokens: ScriptCode
    private var bodies: [Body] = []
    /// The index of the innermost body of each token; -1 for none.
    private var owners: [Int] = []

    private static let bodyLimit = 1000
    private static let parameterLimit = 100

    init(_ tokens: ScriptCode) {
        self.tokens = tokens
        for index in tokens.indices.filter({ tokens[$0].text == "function" || tokens[$0].text == "=>" }).prefix(Self.bodyLimit) {
            if tokens.word(at: index) == "function" {
                addFunction(at: index)
            } else if tokens.isSign("=>", at: index) {
                addArrow(at: index)
            }
        }
        bodies.sort { $0.range.lowerBound < $1.range.lowerBound }
        findOwners()
        findRunning()
    }

    /// Returns whether the token at an index runs by itself.
    func runs(at index: Int) -> Bool { owner(at: index) < 0 || bodies[owner(at: index)].runs }

    private func owner(at index: Int) -> Int { index < 0 ? -1 : owners[index] }

    /// The code in strings that timers run.
    var timerCode: [String] {
        tokens.indices.filter { index in
            tokens[index].kind == .text && tokens.isSign("(", at: index - 1)
                && tokens.word(at: index - 2).map(Self.timers.contains) ?? false && runs(at: index)
        }.map { tokens[$0].text }
    }

    // MARK: - Functions

    private mutating func findOwners() {
        var (open, next): ([Int], Int) = ([], 0)
        owners = tokens.indices.map { index in
            while next < bodies.count, bodies[next].range.lowerBound <= index {
                open.append(next)
                next += 1
            }
            while let last = open.last, bodies[last].range.upperBound <= index { open.removeLast() }
            return open.last ?? -1
        }
    }

    private mutating func addFunction(at index: Int) {
        let name = tokens.word(at: index + 1)
        let open = name == nil ? index + 1 : index + 2
        guard tokens.isSign("(", at: open), let close = tokens.closing(open), tokens.isSign("{", at: close + 1),
            let end = tokens.closing(close + 1)
        else { return }
        add(from: index, name, (close + 2)..<end, after: end + 1)
    }

    private mutating func addArrow(at index: Int) {
        var start = index - 1
        if tokens.isSign(")", at: start) {
            var depth = 0
            while start >= 0, index - start < Self.parameterLimit {
                if tokens.isSign(")", at: start) { depth += 1 }
                if tokens.isSign("(", at: start) { depth -= 1 }
                if depth == 0 { break }
                start -= 1
            }
        }
        guard start >= 0 else { return }
        if tokens.isSign("{", at: index + 1) {
            guard let end = tokens.closing(index + 1) else { return }
            add(from: start, nil, (index + 2)..<end, after: end + 1)
        } else {
            let end = tokens.endOfExpression(from: index + 1)
            add(from: start, nil, (index + 1)..<end, after: end)
        }
    }

    private mutating func add(from start: Int, _ name: String?, _ range: Range<Int>, after: Int) {
        var before = start - 1
        if tokens.word(at: before) == "async" { before -= 1 }
        let isCalled =
            tokens.isSign("(", at: after) || (tokens.isSign(")", at: after) && tokens.isSign("(", at: after + 1))
            || (tokens.isSign(".", at: after) && tokens.word(at: after + 1) == "call")
        let isAssigned = tokens.isSign("=", at: before) || tokens.isSign(":", at: before)
        bodies.append(
            Body(
                start: start, range: range, name: name ?? (isAssigned ? tokens.word(at: before - 1) : nil),
                callsItself: isCalled || isStarted(at: before + 1)))
    }

    /// Returns whether the function at an index, or its name, is passed to a timer or to a handler that runs when the page has
    /// loaded.
    private func isStarted(at index: Int) -> Bool {
        if tokens.isSign("(", at: index - 1), let caller = tokens.word(at: index - 2) {
            return Self.timers.contains(caller) || ["ready", "$", "jQuery"].contains(caller)
        }
        if tokens.isSign(",", at: index - 1), tokens.indices.contains(index - 2), tokens[index - 2].kind == .text {
            return ["load", "onload", "DOMContentLoaded", "pageshow"].contains(tokens[index - 2].text)
        }
        return tokens.isSign("=", at: index - 1) && ["onload", "onpageshow"].contains(tokens.word(at: index - 2))
    }

    /// Marks the bodies that run, starting with those that are called outside all functions.
    private mutating func findRunning() {
        let names = Set(bodies.compactMap(\.name))
        // The names of the functions that each body calls, by the body's index; -1 for code outside all bodies.
        var calls: [Int: Set<String>] = [:]
        for index in tokens.indices {
            guard let name = tokens.word(at: index), names.contains(name), tokens.word(at: index - 1) != "function" else {
                continue
            }
            let isMethod = tokens.isSign(".", at: index - 1) && tokens.word(at: index - 2) != "window"
            if (tokens.isSign("(", at: index + 1) && !isMethod) || isStarted(at: index) {
                calls[owners[index], default: []].insert(name)
            }
        }
        for (index, token) in tokens.enumerated() where token.kind == .text && tokens.isSign("(", at: index - 1) {
            guard tokens.word(at: index - 2).map(Self.timers.contains) ?? false else { continue }
            let name = String(token.text.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            if names.contains(name) { calls[owners[index], default: []].insert(name) }
        }
        let named = Dictionary(grouping: bodies.indices.filter { bodies[$0].name != nil }) { bodies[$0].name! }
        let inner = Dictionary(grouping: bodies.indices.filter { bodies[$0].callsItself }) { owner(at: bodies[$0].start) }
        var called: Set<String> = []
        var running = [-1]
        while let body = running.popLast() {
            let new = (calls[body] ?? []).filter { called.insert($0).inserted }
            for next in (inner[body] ?? []) + new.flatMap({ named[$0] ?? [] }) where !bodies[next].runs {
                bodies[next].runs = true
                running.append(next)
            }
        }
    }

    private static let timers: Set<String> = ["setTimeout", "setInterval", "requestAnimationFrame"]
}
