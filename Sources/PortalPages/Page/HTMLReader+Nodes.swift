import CXML
import ForeignText
import HotspotCore

/// Reads single elements.
extension HTMLReader {
    static func kind(of node: Node, _ element: String) -> HTMLControl.InputType? {
        switch element {
        case "select": return .select
        case "textarea": return .textarea
        case "button":
            switch attribute(node, "type")?.lowercased() {
            case "button", "reset": return .button
            default: return .submit
            }
        default:
            switch attribute(node, "type")?.lowercased() ?? "text" {
            case "hidden": return .hidden
            case "password": return .password
            case "email": return .email
            case "tel": return .telephone
            case "checkbox": return .checkbox
            case "radio": return .radio
            case "submit": return .submit
            case "image": return .image
            case "button": return .button
            case "reset": return nil
            case "file": return .file
            default: return .text
            }
        }
    }

    static func options(of select: Node) -> [HTMLControl.Option] {
        var options: [HTMLControl.Option] = []
        visit(select) { node in
            guard node.pointee.type == XML_ELEMENT_NODE, name(node) == "option" else {
                return true
            }
            let label = PageText.squeezed(text(of: node), limit: 120)
            options.append(
                HTMLControl.Option(
                    value: attribute(node, "value") ?? label, label: label, isSelected: attribute(node, "selected") != nil,
                    isDisabled: isDisabled(node) || ancestor(of: node, "optgroup", within: 1).map(isDisabled) ?? false))
            return options.count < 300
        }
        return options
    }

    static func enclosingLabel(_ node: Node) -> (text: String, links: [String])? {
        ancestor(of: node, "label", within: 6).map { (labelText(of: $0), links(in: $0)) }
    }

    /// Returns the nearest ancestor of a node with this element name, at most `levels` up.
    static func ancestor(of node: Node, _ element: String, within levels: Int) -> Node? {
        var parent = node.pointee.parent
        for _ in 0..<levels {
            guard let current = parent, current.pointee.type == XML_ELEMENT_NODE else { return nil }
            if name(current) == element { return current }
            parent = current.pointee.parent
        }
        return nil
    }

    /// Returns the legend of the nearest field set around a node.
    static func legend(around node: Node) -> String? {
        var child = ancestor(of: node, "fieldset", within: 8)?.pointee.children
        while let inner = child, inner.pointee.type != XML_ELEMENT_NODE || name(inner) != "legend" { child = inner.pointee.next }
        let words = child.map { PageText.squeezed(text(of: $0), limit: 120) } ?? ""
        return words.isEmpty ? nil : words
    }

    static func links(in node: Node) -> [String] {
        var references: [String] = []
        visit(node) { inner in
            if inner.pointee.type == XML_ELEMENT_NODE, name(inner) == "a",
                let reference = attribute(inner, "href")
            {
                references.append(reference)
            }
            return references.count < 4
        }
        return references
    }

    static func name(_ node: Node) -> String { String(cString: node.pointee.name).lowercased() }

    static func attribute(_ node: Node, _ name: String) -> String? {
        guard let value = xmlGetProp(node, name) else { return nil }
        defer { cxml_free(value) }
        return StreamSafe.text(String(cString: value))
    }

    static func isDisabled(_ node: Node) -> Bool { attribute(node, "disabled") != nil }

    static func content(_ node: Node) -> String {
        node.pointee.content.map { StreamSafe.text(String(cString: $0)) } ?? ""
    }

    /// Returns the text in a node, from at most 400 nodes, without the elements named in `left`.
    static func text(of node: Node, limit: Int = 4096, without left: Set<String> = []) -> String {
        if node.pointee.type == XML_TEXT_NODE { return content(node) }
        var text = ""
        visit(node) { inner in
            switch inner.pointee.type {
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                if !(inner.pointee.parent.map { left.contains(name($0)) } ?? false) { text += content(inner) }
            case XML_ELEMENT_NODE where name(inner) == "img": text += attribute(inner, "alt").map { " \($0) " } ?? ""
            case XML_ELEMENT_NODE where lines.contains(name(inner)): text += " "
            default: break
            }
            return text.utf8.count < limit
        }
        // The joined text may have too many combining marks in a row, even if each part obeys the limit.
        return StreamSafe.text(text)
    }

    /// Returns the text of a label without the text of the control that the label contains.
    static func labelText(of node: Node) -> String { text(of: node, without: ["option", "textarea", "button"]) }

    /// Elements that begin a line.
    static let lines: Set<String> = ["br", "p", "div", "tr", "td", "th", "li", "h1", "h2", "h3", "h4", "hr"]

    /// Visits the nodes below a node in document order, at most 400, until the body returns `false`.
    static func visit(_ node: Node, _ body: (Node) -> Bool) {
        var stack: [Node] = []
        if let child = node.pointee.children { stack.append(child) }
        var visited = 0
        while let inner = stack.popLast(), visited < 400 {
            visited += 1
            if let next = inner.pointee.next { stack.append(next) }
            guard body(inner) else { return }
            if inner.pointee.type == XML_ELEMENT_NODE, let child = inner.pointee.children { stack.append(child) }
        }
    }

    /// Returns the target and the seconds of `5; url=/login` (HTML Standard, "shared declarative refresh steps"). The target is
    /// empty if the page only reloads itself. `nil` if the text is not a refresh.
    package static func refresh(_ content: String) -> (target: String, seconds: Double)? {
        var rest = content.unicodeScalars[...]
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { " \t\n\u{C}\r".unicodeScalars.contains(scalar) }
        func skipBlanks() { rest = rest.drop(while: isBlank) }
        /// Skips one character if it is among `wanted`; returns whether it skipped one.
        func skip(_ wanted: String) -> Bool {
            guard let first = rest.first, wanted.unicodeScalars.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        skipBlanks()
        let digits = rest.prefix { ("0"..."9").contains($0) }
        guard !digits.isEmpty || rest.first == "." else { return nil }
        // A number that is too large for an integer means an endless wait.
        let seconds = digits.isEmpty ? 0 : Int(String(digits)).map(Double.init) ?? .infinity
        rest = rest.drop { ("0"..."9").contains($0) || $0 == "." }
        guard let next = rest.first else { return ("", seconds) }
        guard isBlank(next) || next == ";" || next == "," else { return nil }
        skipBlanks()
        _ = skip(";,")
        skipBlanks()
        let whole = rest
        if skip("uU") {
            guard skip("rR"), skip("lL") else { return (String(whole), seconds) }
            skipBlanks()
            guard skip("=") else { return (String(whole), seconds) }
            skipBlanks()
        }
        if let quote = rest.first, skip("'\"") { rest = rest.prefix { $0 != quote } }
        return (String(rest), seconds)
    }

    static let errorElements: Set<String> = [
        "p", "div", "span", "li", "ul", "strong", "b", "td", "font", "label", "small", "h1", "h2", "h3", "h4", "h5",
    ]
    private static let errorMarks: Set<String> = [
        "error", "errors", "err", "errormsg", "errormessage", "danger", "warning", "fehler", "failed", "failure", "fail",
        "invalid",
        "alert", "erreur", "errore", "fout",
    ]
    private static let noErrorMarks = drawing.union([
        "info", "success", "primary", "secondary", "light", "dark", "cookie", "cookies", "consent", "no", "hide", "hidden",
        "dismissible",
    ])
    /// Words that describe how a box is drawn.
    private static let drawing: Set<String> = ["box", "wrapper", "container"]

    /// Returns whether an element's class, id or role marks an error message. `alert` and `warning` do not count beside a word such as `info`,
    /// because boxes for hints often have the role `alert`.
    static func marksError(_ node: Node) -> Bool {
        let (marks, words) = marks(of: node)
        guard !words.isDisjoint(with: errorMarks) || marks.contains("Error") else { return false }
        // `feedback` marks messages for single fields, which a script shows later.
        if words.contains("feedback") { return false }
        let strong = words.subtracting(["alert", "warning"])
        // With the role `alert`, words such as "box" only describe how the alert is drawn, so they do not rule out an error.
        let others = attribute(node, "role") == "alert" ? noErrorMarks.subtracting(drawing) : noErrorMarks
        return !strong.isDisjoint(with: errorMarks) || words.isDisjoint(with: others)
    }

    /// Returns whether an element that ``marksError(_:)`` accepts is only marked as a warning.
    static func marksWarning(_ node: Node) -> Bool { marks(of: node).words.intersection(errorMarks) == ["warning"] }

    private static func marks(of node: Node) -> (text: String, words: Set<String>) {
        let marks = ["class", "id", "role"].compactMap { attribute(node, $0) }.joined(separator: " ")
        // Words in names with capitals, such as standardSuccess, also count.
        let parted = marks.contains(where: \.isUppercase) ? " " + marks.partedAtCapitals : ""
        return (marks, Set((marks + parted).lowercased().split { !$0.isLetter }.map(String.init)))
    }
}
