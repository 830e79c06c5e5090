/// The classes and ids that a page's own styles hide. Only simple selectors outside media rules are read.
struct PageStyles {
    private var selectors: Set<String> = []

    /// Classes of widespread style sheets. They count even if the page does not contain the style sheet but only links to it.
    private static let usual: Set<String> = [".hidden", ".d-none", ".hide", ".is-hidden", ".ng-hide", ".invisible", ".uk-hidden"]
    private static let lengthLimit = 64 * 1024

    mutating func read(_ source: String) {
        var (depth, text) = (0, "")
        var names = ""
        for character in source.prefix(Self.lengthLimit) {
            switch character {
            case "{":
                if depth == 0 { names = text }
                depth += 1
                text = ""
            case "}":
                if depth == 1, Self.hides(text) { add(names) }
                depth = max(0, depth - 1)
                text = ""
            default: text.append(character)
            }
        }
    }

    private mutating func add(_ names: String) {
        for name in names.split(separator: ",").map({ PageText.squeezed($0) })
        where !name.hasPrefix("@") && !name.contains(where: { " >+~:[*".contains($0) }) {
            guard let mark = name.lastIndex(where: { $0 == "." || $0 == "#" }) else { continue }
            selectors.insert(String(name[mark...]))
        }
    }

    func hides(id: String?, classes: String) -> Bool {
        if let id, selectors.contains("#" + id) { return true }
        return classes.split(separator: " ").contains { selectors.contains("." + $0) || Self.usual.contains("." + $0) }
    }

    /// Returns whether declarations make an element invisible.
    static func hides(_ declarations: String) -> Bool {
        declarations.lowercased().split(separator: ";").contains { declaration in
            let sides = declaration.split(separator: ":", maxSplits: 1).map { PageText.squeezed($0) }
            guard sides.count == 2 else { return false }
            let value = sides[1].prefix { $0 != " " && $0 != "!" }
            switch sides[0] {
            case "display": return value == "none"
            case "visibility": return value == "hidden"
            case "opacity": return Double(value) == 0
            case "height", "width": return value == "0" || value == "0px"
            case "left", "top", "text-indent", "margin-left", "margin-top":
                return (Double(value.prefix { $0 == "-" || $0 == "." || $0.isNumber }) ?? 0) < -200
            default: return false
            }
        }
    }
}
