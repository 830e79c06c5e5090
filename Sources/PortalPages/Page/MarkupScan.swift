/// Splits a page into markup for libxml2 and the sources of scripts and styles, as the HTML Standard's tokenizer does. libxml2 2.9 ends a script at a
/// `</` in its strings, or at the end of a chunk, and then reads the rest of the script as markup.
struct MarkupScan {
    /// The markup for libxml2. Scripts, styles, templates and parts for browsers without scripts are empty. Comments are left out, and a `<` that
    /// begins no tag is written as `&lt;`.
    private(set) var markup: [UInt8] = []
    /// The sources of the scripts, without templates and data.
    private(set) var scripts: [String] = []
    /// The sources of the styles.
    private(set) var styles: [String] = []
    /// Whether the page was cut before a tag with more than about 2000 attributes, because libxml2 compares attributes in quadratic time.
    private(set) var isCut = false

    /// The attribute that numbers forms and their controls; 0 means no form. A form ends where its end tag is in the text, even if tables change the
    /// tree; a form within a form is ignored (HTML Standard, "form element pointer").
    static let formAttribute = "hotspot-form"
    private static let separatorLimit = 2000
    private static let controls: Set<String> = ["input", "select", "textarea", "button"]
    private static let rawElements: Set<String> = ["script", "style", "xmp", "iframe", "noembed", "noframes", "noscript"]
    private static let textElements: Set<String> = ["textarea", "title"]

    private let octets: [UInt8]
    private var index = 0
    private var forms = 0
    private var openForm = 0
    /// The number of open templates, and the state before the outermost template.
    private var templates = 0
    private var beforeTemplate = (markup: 0, scripts: 0, styles: 0, forms: 0, openForm: 0)
    /// The places that a search for the end of an escaped script passed in vain. A later search that reaches such a place in the same state also
    /// fails.
    private var seenEscaped: Set<Int> = []
    private var seenInner: Set<Int> = []

    init(_ octets: [UInt8]) {
        self.octets = octets
        markup.reserveCapacity(octets.count)
        while index < octets.count, !isCut {
            let octet = octets[index]
            if octet == UInt8(ascii: "<") {
                openBracket()
            } else {
                markup.append(octet)
                index += 1
            }
        }
        if templates > 0 { dropTemplate() }
    }

    private mutating func openBracket() {
        switch octet(index + 1) {
        case UInt8(ascii: "!"): starts(with: "<!--", at: index) ? skipComment() : skip(past: ">")
        case UInt8(ascii: "?"): skip(past: ">")
        case UInt8(ascii: "/"):
            guard Self.isLetter(octet(index + 2)) else { return skip(past: ">") }
            switch name(at: index + 2) {
            case "form":
                openForm = 0
                _ = copyTag()
            // Text after the end of a page still belongs to its body (HTML Standard, "after body"); libxml2 drops it.
            case "body", "html": skipTag()
            case "template":
                _ = copyTag()
                if templates == 1 { dropTemplate() }
                templates = max(0, templates - 1)
            default: _ = copyTag()
            }
        case let letter where Self.isLetter(letter): startTag()
        default:
            markup += Array("&lt;".utf8)
            index += 1
        }
    }

    /// Drops the contents of a template, which are inert (HTML Standard, "the template element").
    private mutating func dropTemplate() {
        markup.removeLast(markup.count - beforeTemplate.markup)
        scripts.removeLast(scripts.count - beforeTemplate.scripts)
        styles.removeLast(styles.count - beforeTemplate.styles)
        (forms, openForm) = (beforeTemplate.forms, beforeTemplate.openForm)
    }

    private mutating func startTag() {
        let name = name(at: index + 1)
        let before = (markup.count, scripts.count, styles.count, forms, openForm)
        if name == "form" {
            if openForm > 0 { return skipTag() }
            forms += 1
            openForm = forms
        }
        let isNumbered = name == "form" || Self.controls.contains(name)
        guard let tag = copyTag(isNumbered ? " \(Self.formAttribute)=\(openForm)" : "", after: name) else { return }
        // The content of a template that declares a shadow tree is shown.
        if name == "template", templates > 0 || !tag.contains("shadowrootmode") {
            if templates == 0 { (beforeTemplate, openForm) = (before, 0) }
            templates += 1
        }
        if Self.rawElements.contains(name) {
            let end = name == "script" ? scriptEnd() : endTag(of: name, from: index)
            let source = String(decoding: octets[index..<end], as: UTF8.self)
            switch name {
            case "script": if !tag.contains("json"), !tag.contains("template") { scripts.append(source) }
            case "style": styles.append(source)
            default: break
            }
            markup += Array("</\(name)>".utf8)
            index = end
            skip(past: ">")
        } else if Self.textElements.contains(name) {
            let end = endTag(of: name, from: index)
            for octet in octets[index..<end] {
                if octet == UInt8(ascii: "<") { markup += Array("&lt;".utf8) } else { markup.append(octet) }
            }
            index = end
        }
    }

    private func name(at start: Int) -> String {
        let letters = octets[min(start, octets.count)...].prefix(20)
        return String(decoding: letters.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }, as: UTF8.self)
            .lowercased()
    }

    private mutating func skipTag() {
        let length = markup.count
        _ = copyTag()
        markup.removeLast(markup.count - length)
    }

    /// Copies the tag at the index and returns it in lower case; `nil` if it has no end or too many attributes.
    ///
    /// - Parameter attribute: the text to insert after the name.
    private mutating func copyTag(_ attribute: String = "", after name: String = "") -> String? {
        let start = index
        var (place, quote, isAfterEquals, separators) = (index + 1, UInt8(0), false, 0)
        var signs: [Int] = []
        while place < octets.count {
            let octet = octets[place]
            // The parser may reject a very long quoted value, so the blanks in it count as well.
            if octet <= 0x20, quote == 0 || place - start > 65536 { separators += 1 }
            if quote != 0 {
                if octet == quote { quote = 0 }
            } else {
                switch octet {
                case UInt8(ascii: ">"):
                    let split = attribute.isEmpty ? start : start + 1 + name.utf8.count
                    markup += octets[start..<split] + Array(attribute.utf8)
                    var rest = octets[split...place]
                    for sign in signs { rest[sign] = UInt8(ascii: "_") }
                    markup += rest
                    index = place + 1
                    return String(decoding: octets[start...place].prefix(200), as: UTF8.self).lowercased()
                case UInt8(ascii: "\"") where isAfterEquals, UInt8(ascii: "'") where isAfterEquals:
                    (quote, isAfterEquals) = (octet, false)
                case UInt8(ascii: "="): (separators, isAfterEquals) = (separators + 1, true)
                case 0...0x20: break
                // Writes `_` instead of `@` and `(` at the beginning of a framework's attribute, because the parser drops such attributes.
                case UInt8(ascii: "@") where !isAfterEquals && octets[place - 1] <= 0x20,
                    UInt8(ascii: "(") where !isAfterEquals && octets[place - 1] <= 0x20:
                    signs.append(place)
                case UInt8(ascii: "/"): (separators, isAfterEquals) = (separators + 1, false)
                default: isAfterEquals = false
                }
            }
            if separators > Self.separatorLimit {
                isCut = true
                return nil
            }
            place += 1
        }
        index = octets.count
        return nil
    }

    private mutating func skipComment() {
        let start = index + 4
        index = octets.count
        if octet(start) == UInt8(ascii: ">") { return index = start + 1 }
        if starts(with: "->", at: start) { return index = start + 2 }
        var place = start
        while let dashes = octets[min(place, octets.count)...].firstIndex(of: UInt8(ascii: "-")) {
            if starts(with: "-->", at: dashes) { return index = dashes + 3 }
            if starts(with: "--!>", at: dashes) { return index = dashes + 4 }
            place = dashes + 1
        }
    }

    private mutating func skip(past sign: Unicode.Scalar) {
        index = octets[min(index, octets.count)...].firstIndex(of: UInt8(ascii: sign)).map { $0 + 1 } ?? octets.count
    }

    /// Returns the place of the end tag of an element that contains only text.
    private func endTag(of name: String, from start: Int) -> Int {
        var place = start
        while let bracket = octets[min(place, octets.count)...].firstIndex(of: UInt8(ascii: "<")) {
            if isTag("</" + name, at: bracket) { return bracket }
            place = bracket + 1
        }
        return octets.count
    }

    /// Returns where a script ends. After `<!--`, a script within the script has its own end tag (HTML Standard, "script data double escaped state").
    /// If that search finds no end, an escaped script ends at its first end tag.
    private mutating func scriptEnd() -> Int {
        var (place, isEscaped, isInner) = (index, false, false)
        while place < octets.count {
            // Each place is scanned once in each state, so that a page of unclosed scripts takes linear time.
            if isEscaped, octet(place) == UInt8(ascii: "<") {
                guard isInner ? seenInner.insert(place).inserted : seenEscaped.insert(place).inserted else { break }
            }
            if starts(with: "<!--", at: place) {
                (isEscaped, place) = (true, place + 4)
            } else if isEscaped, starts(with: "-->", at: place) {
                (isEscaped, isInner, place) = (false, false, place + 3)
            } else if isTag("</script", at: place) {
                if !isInner { return place }
                (isInner, place) = (false, place + 8)
            } else {
                if isEscaped, isTag("<script", at: place) { isInner = true }
                place += 1
            }
        }
        return isEscaped ? endTag(of: "script", from: index) : octets.count
    }

    private func octet(_ index: Int) -> UInt8 { index < octets.count ? octets[index] : 0 }

    private func starts(with text: String, at index: Int) -> Bool {
        octet(index) == text.utf8.first && octets[index...].starts(with: text.utf8)
    }

    private func isTag(_ text: String, at index: Int) -> Bool {
        guard octet(index) == UInt8(ascii: "<"), octets.count - index > text.utf8.count else { return false }
        guard zip(octets[index...], text.utf8).allSatisfy({ Self.lowercased($0) == $1 }) else { return false }
        let next = octets[index + text.utf8.count]
        return next <= 0x20 || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 { (0x41...0x5A).contains(octet) ? octet | 0x20 : octet }

    private static func isLetter(_ octet: UInt8) -> Bool { (0x61...0x7A).contains(octet | 0x20) }
}
