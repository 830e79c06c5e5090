import Glibc

/// What `env` (env(1) of the GNU coreutils) would run, as far as that can be told with certainty.
enum EnvLine: Equatable {
    /// The program's path, and its arguments.
    case command([String])
    /// It runs nothing, or a program that is not there.
    case nothing
    /// For this reason, which follows the word «env», nobody can tell.
    case unclear(String)

    /// Reads the arguments of an `env`.
    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.first {
            if word == "-" || word == "-i" || word == "--ignore-environment" {
                rest = rest.dropFirst()
            } else if word == "--" {
                rest = rest.dropFirst()
                break
            } else if word.hasPrefix("-S") || word.hasPrefix("--split-string") {
                guard let words = Self.split(rest) else {
                    self = .unclear("has -S with quotes, escapes or variables")
                    return
                }
                rest = words[...]
            } else if word.hasPrefix("-") {
                self = .unclear("has an option that changes what it runs, or how")
                return
            } else {
                break
            }
        }
        while let word = rest.first, let equals = word.firstIndex(of: "=") {
            if word[..<equals] == "PATH" {
                self = .unclear("sets PATH, where it looks for what it runs")
                return
            }
            rest = rest.dropFirst()
        }
        guard let name = rest.first, !name.isEmpty else {
            self = .nothing
            return
        }
        if name.contains("/") {
            self = .command(Array(rest))
        } else if let folder = ["/usr/bin", "/bin"].first(where: { access("\($0)/\(name)", X_OK) == 0 }) {
            self = .command(["\(folder)/\(name)"] + rest.dropFirst())
        } else {
            self = .nothing
        }
    }

    /// `-S` and its text become the words of the text; `nil` if more than blanks would have to be understood.
    private static func split(_ words: ArraySlice<String>) -> [String]? {
        guard let first = words.first else { return nil }
        var text: String
        var rest = words.dropFirst()
        if first == "-S" || first == "--split-string" {
            guard let next = rest.popFirst() else { return nil }
            text = next
        } else if first.hasPrefix("--split-string=") {
            text = String(first.dropFirst("--split-string=".count))
        } else if first.hasPrefix("-S") {
            text = String(first.dropFirst(2))
        } else {
            return nil
        }
        guard !text.utf8.contains(where: { Array(#"\"'$#"#.utf8).contains($0) }) else { return nil }
        return text.split(whereSeparator: \.isWhitespace).map(String.init) + rest
    }
}
