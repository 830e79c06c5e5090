import CXML
import HotspotCore

/// Finds the text that a page marks as its terms.
extension HTMLReader {
    /// The largest size of an element's terms, in octets.
    private static let markedLimit = 32 * 1024
    private static let termsMarks: Set<String> = [
        "terms", "tos", "tou", "tnc", "agb", "aup", "eula", "cgu", "conditions", "legal", "disclaimer", "nutzungsbedingungen",
        "condiciones", "condizioni", "termini", "voorwaarden", "villkor", "regulamin",
    ]
    private static let textElements: Set<String> = [
        "div", "p", "section", "article", "pre", "blockquote", "ul", "ol", "td", "span",
    ]

    /// Returns the text of an element that its class or id marks as the terms, of a read-only field, or of a scrollable box that mentions terms.
    /// Excludes an element with something to fill in: it is part of the login, and its text differs at each visit.
    static func markedTerms(_ node: Node, _ name: String) -> String? {
        let isReadField = name == "textarea" && ["readonly", "disabled"].contains { attribute(node, $0) != nil }
        guard isReadField || textElements.contains(name) else { return nil }
        let isMarked = marksTerms(node)
        guard isReadField || isMarked || isScrollable(node), isReadField || !holdsField(node) else { return nil }
        let text = PageText.squeezed(text(of: node, limit: markedLimit), limit: markedLimit)
        return !text.isEmpty && (isMarked || isReadField || Purposes(of: text).isTerms) ? text : nil
    }

    private static func marksTerms(_ node: Node) -> Bool {
        ["class", "id"].contains { attribute in
            var words = ""
            for character in Self.attribute(node, attribute) ?? "" {
                words += character.isUppercase ? " " + character.lowercased() : String(character)
            }
            let parts = words.split { !$0.isLetter }.map(String.init)
            return parts.contains(where: termsMarks.contains) || termsMarks.contains(parts.joined())
        }
    }

    private static func isScrollable(_ node: Node) -> Bool {
        guard let style = attribute(node, "style")?.lowercased(), style.contains("overflow") else { return false }
        return style.contains("auto") || style.contains("scroll")
    }

    /// Returns whether a node contains something to type, tick or choose. Buttons do not count, because a button may only close the terms.
    private static func holdsField(_ node: Node) -> Bool {
        var holds = false
        visit(node) { inner in
            if inner.pointee.type == XML_ELEMENT_NODE {
                holds = ["form", "select", "textarea"].contains(name(inner)) || (name(inner) == "input" && isField(inner))
            }
            return !holds
        }
        return holds
    }

    static func isField(_ node: Node) -> Bool {
        switch kind(of: node, "input") {
        case .submit, .button, .image, .hidden, nil: false
        case .text, .password, .email, .telephone, .checkbox, .radio, .select, .textarea, .file: true
        }
    }
}
