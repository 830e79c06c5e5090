import HotspotCore

/// A text with values: `text${source:name|function:argument}text`.
struct Template: Hashable, Sendable {
    /// One `${…}`.
    struct Expression: Hashable, Sendable {
        var source: Source
        var functions: [Function]
    }

    enum Piece: Hashable, Sendable {
        case text([UInt8])
        case value(Expression)
    }

    /// The reason why a text is not a template, as the end of a sentence.
    struct Mistake: Error, Hashable {
        var message: String
    }

    let pieces: [Piece]
    static let functionLimit = 8

    init(_ text: String) throws(Mistake) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            if start.lowerBound > rest.startIndex { pieces.append(.text(Array(rest[..<start.lowerBound].utf8))) }
            rest = rest[start.upperBound...]
            pieces.append(.value(try Self.expression(&rest)))
        }
        if !rest.isEmpty { pieces.append(.text(Array(rest.utf8))) }
        self.pieces = pieces
    }

    /// The values of the template.
    var expressions: [Expression] { pieces.compactMap { if case .value(let expression) = $0 { expression } else { nil } } }

    /// The answers that the template needs.
    var answers: Set<String> {
        Set(expressions.compactMap { if case .answer(let name) = $0.source { name } else { nil } })
    }

    /// The names of the kept values that the template needs.
    var names: Set<String> { Set(expressions.flatMap { $0.source.names + $0.functions.flatMap(\.names) }) }

    /// Skips a `${…}`.
    static func skipExpression(_ rest: inout Substring) throws(Mistake) {
        rest = rest.dropFirst(2)
        _ = try expression(&rest)
    }

    /// Reads `source:name|function:argument}`.
    private static func expression(_ rest: inout Substring) throws(Mistake) -> Expression {
        let (name, arguments) = try word(&rest)
        guard let source = Source(name, arguments) else {
            throw Mistake(
                message:
                    "uses the value ${\(name)…}, which does not exist or takes other arguments; /usr/share/doc/hotspotd/portals.md lists the values"
            )
        }
        var functions: [Function] = []
        while rest.first == "|" {
            rest = rest.dropFirst()
            let (name, arguments) = try word(&rest)
            guard let function = Function(name, arguments) else {
                throw Mistake(
                    message: Function.names.contains(name)
                        ? "uses the function \(name) with wrong arguments; quote an argument that contains `:`"
                        : "uses the function \(name), which does not exist")
            }
            functions.append(function)
        }
        guard rest.popFirst() == "}" else { throw Mistake(message: "contains ${ without }") }
        guard functions.count <= functionLimit else {
            throw Mistake(message: "contains more than \(functionLimit) functions in a row")
        }
        return Expression(source: source, functions: functions)
    }

    /// Reads `name:argument:argument`.
    private static func word(_ rest: inout Substring) throws(Mistake) -> (name: String, arguments: [String]) {
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        rest = rest.dropFirst(name.count)
        var arguments: [String] = []
        while rest.first == ":" {
            rest = rest.dropFirst()
            arguments.append(try argument(&rest))
        }
        return (String(name), arguments)
    }

    private static func argument(_ rest: inout Substring) throws(Mistake) -> String {
        guard rest.first == "\"" else {
            let plain = rest.prefix { !"|:}\" ".contains($0) }
            rest = rest.dropFirst(plain.count)
            return String(plain)
        }
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { break }
                text.append(escaped == "n" ? "\n" : escaped)
            default: text.append(character)
            }
        }
        throw Mistake(message: "contains an opening \" without a closing one")
    }
}

/// The source of a value.
enum Source: Hashable, Sendable {
    case answer(String), value(String), text(String)
    case url, origin, host, path
    case query(String)
    case input(String), field(String), action(String)
    case link(Glob)
    case title, body
    case json(JSONPath)
    case cookie(String), header(String)
    case status, phrase, address, probe, time, milliseconds
    case random(Int)

    private static let plain: [String: Source] = [
        "url": .url, "origin": .origin, "host": .host, "path": .path, "title": .title, "body": .body, "status": .status,
        "phrase": .phrase, "address": .address, "probe": .probe, "time": .time, "milliseconds": .milliseconds,
    ]

    init?(_ name: String, _ arguments: [String]) {
        if let source = Self.plain[name] {
            guard arguments.isEmpty else { return nil }
            self = source
            return
        }
        guard arguments.count == 1, let argument = arguments.first, !argument.isEmpty else { return nil }
        switch name {
        case "answer": self = .answer(argument)
        case "value": self = .value(argument)
        case "text": self = .text(argument)
        case "query": self = .query(argument)
        case "input": self = .input(argument)
        case "field": self = .field(argument)
        case "action": self = .action(argument)
        case "cookie": self = .cookie(argument)
        case "header": self = .header(argument.lowercased())
        case "link":
            guard let glob = Glob(argument) else { return nil }
            self = .link(glob)
        case "json":
            guard let path = JSONPath(argument) else { return nil }
            self = .json(path)
        case "random":
            guard let count = Int(argument), (1...64).contains(count) else { return nil }
            self = .random(count)
        default: return nil
        }
    }

    /// The names of the kept values that the source uses.
    var names: [String] {
        switch self {
        case .value(let name): [name]
        case .json(let path): path.names
        case .answer, .text, .url, .origin, .host, .path, .query, .input, .field, .action, .link, .title, .body, .cookie, .header,
            .status,
            .phrase, .address, .probe, .time, .milliseconds, .random:
            []
        }
    }
}

/// A condition: `VALUE is GLOBS` or `VALUE has TEXTS`, each also with `not`, or a value alone, which is true if it is not empty.
struct Condition: Hashable, Sendable {
    enum Comparison: Hashable, Sendable {
        case exists
        case matches([Glob])
        case differs([Glob])
    }

    let value: Template
    let comparison: Comparison

    /// Whether the condition is true if its value is missing.
    var negates: Bool {
        switch comparison {
        case .exists, .matches: false
        case .differs: true
        }
    }

    init(_ text: String) throws(Template.Mistake) {
        let words: [(word: String, contains: Bool, negates: Bool)] = [
            (" is not ", false, true), (" has not ", true, true), (" is ", false, false), (" has ", true, false),
        ]
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix("${") {
                // Skips values, because their arguments may contain ` is ` or ` has ` as well.
                try Template.skipExpression(&rest)
            } else if let (word, contains, negates) = words.first(where: { rest.hasPrefix($0.word) }) {
                value = try Template(String(text[..<rest.startIndex]))
                let globs = try Globs.read(String(rest.dropFirst(word.count)), contains: contains)
                comparison = negates ? .differs(globs) : .matches(globs)
                return
            } else {
                rest = rest.dropFirst()
            }
        }
        value = try Template(text)
        comparison = .exists
        // A value alone must have no text beside it: with text, it would never be empty.
        guard !value.pieces.isEmpty, value.pieces.count == value.expressions.count else {
            throw Template.Mistake(
                message: text.contains("=")
                    ? "contains an unknown comparison: instead of `=`, write `VALUE is true`"
                    : "is not a condition: VALUE, VALUE is GLOBS or VALUE has TEXTS")
        }
    }

    func holds(_ octets: [UInt8]) -> Bool {
        switch comparison {
        case .exists: !octets.isEmpty
        case .matches(let globs): globs.contains { $0.matches(octets) }
        case .differs(let globs): !globs.contains { $0.matches(octets) }
        }
    }
}

/// Lists of globs, separated by `;`.
enum Globs {
    private static let (countLimit, lengthLimit) = (32, 200)

    static func read(_ list: String, contains: Bool = false) throws(Template.Mistake) -> [Glob] {
        let entries = Glob.split(list)
        guard (1...countLimit).contains(entries.count) else {
            throw Template.Mistake(message: "needs 1 to \(countLimit) entries, separated by ;")
        }
        var globs: [Glob] = []
        for entry in entries {
            guard entry.utf8.count <= lengthLimit else {
                throw Template.Mistake(message: "contains an entry of more than \(lengthLimit) octets")
            }
            guard let glob = Glob(contains ? "*\(entry)*" : entry) else {
                throw Template.Mistake(message: "contains an unknown escape; the known escapes are \\xNN \\; \\* \\? \\s \\\\")
            }
            globs.append(glob)
        }
        return globs
    }
}
