import CXML
import ForeignText
import Glibc
import HotspotCore

extension HTMLPage {
    /// Reads a page from its octets, such as one that was saved to a file.
    ///
    /// - Parameters:
    ///   - octets: HTML; its encoding is detected as for a page from the network.
    ///   - url: the address that references are relative to.
    public static func read(_ octets: [UInt8], at url: WebURL) -> HTMLPage {
        HTMLReader.read(HTTPResponse(url: url, status: 200, body: octets))
    }
}

/// Reads a page with libxml2's HTML parser, without network access and with limits on octets, attributes, nodes and time.
struct HTMLReader {
    /// Milliseconds of processor time that parsing may take: parts of the parser take quadratic time.
    private static let cpuLimit = 2_000
    private static let nodeLimit = 40_000
    private static let formLimit = 20
    private static let controlLimit = 200
    private static let linkLimit = 200
    /// Octets of visible text that are kept by default.
    static let usualText = 8192

    private typealias Node = UnsafeMutablePointer<xmlNode>

    private var page: HTMLPage
    private var labels: [String: (text: String, links: [String])] = [:]
    private var scripts = ""
    private let textLimit: Int

    /// Reads an answer's body.
    static func read(_ response: HTTPResponse, textLimit: Int = usualText) -> HTMLPage {
        var reader = HTMLReader(base: response.url, isTruncated: response.isTruncated, textLimit: textLimit)
        // A compressed body was not asked for and is not unpacked.
        if !response.isEncoded { reader.parse(response.body, contentType: response["content-type"]) }
        if reader.page.refresh == nil, let header = response["refresh"] { reader.page.refresh = Self.refreshTarget(header) }
        return reader.page
    }

    private init(base: WebURL, isTruncated: Bool, textLimit: Int) {
        self.textLimit = textLimit
        page = HTMLPage(
            title: nil, base: base, forms: [], links: [], refresh: nil, scriptTarget: nil, submitsItself: false, text: "",
            errors: [], isTruncated: isTruncated)
    }

    private static let library: Void = {
        xmlInitParser()
        // The parser would write its complaints about pages to standard error.
        xmlSetGenericErrorFunc(nil, nil)
    }()

    private mutating func parse(_ body: [UInt8], contentType: String?) {
        _ = Self.library
        let (whole, encoding) = PageText.normalized(Array(body.prefix(HTTPRequest.pageLimit)), contentType: contentType)
        let length = PageText.cut(whole)
        if length < whole.count { page.isTruncated = true }
        guard length > 0 else { return }
        let kind = encoding == "UTF-8" ? XML_CHAR_ENCODING_UTF8 : XML_CHAR_ENCODING_NONE
        guard let parser = htmlCreatePushParserCtxt(nil, nil, nil, 0, nil, kind) else { return }
        defer {
            if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
            htmlFreeParserCtxt(parser)
        }
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue | HTML_PARSE_NONET.rawValue
        htmlCtxtUseOptions(parser, Int32(options))
        if kind == XML_CHAR_ENCODING_NONE, let handler = xmlFindCharEncodingHandler(encoding) {
            xmlSwitchToEncoding(parser, handler)
        }
        let began = Self.threadMilliseconds
        var offset = 0
        whole.withUnsafeBufferPointer { octets in
            octets.withMemoryRebound(to: CChar.self) { characters in
                while offset < length {
                    if Self.threadMilliseconds - began > Self.cpuLimit {
                        page.isTruncated = true
                        break
                    }
                    let count = min(4096, length - offset)
                    htmlParseChunk(parser, characters.baseAddress! + offset, Int32(count), 0)
                    offset += count
                }
                htmlParseChunk(parser, nil, 0, 1)
            }
        }
        if let document = parser.pointee.myDoc, let root = xmlDocGetRootElement(document) { walk(root) }
        finish()
    }

    private static var threadMilliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// The state that a node inherits from the elements around it.
    private struct Surroundings {
        var form: Int?
        var isInvisible = false
        var skipsText = false
    }

    /// Walks without recursion, because the page decides how deep it is.
    private mutating func walk(_ root: Node) {
        var stack: [(node: Node, around: Surroundings)] = [(root, Surroundings())]
        var visited = 0
        collectLabels(root)
        while let (node, around) = stack.popLast() {
            visited += 1
            guard visited <= Self.nodeLimit else {
                page.isTruncated = true
                return
            }
            if let next = node.pointee.next, visited > 1 { stack.append((next, around)) }
            var inner = around
            switch node.pointee.type {
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                if !around.skipsText, !around.isInvisible { addText(Self.content(node), form: around.form) }
            case XML_ELEMENT_NODE: element(node, &inner)
            default: break
            }
            if let child = node.pointee.children, node.pointee.type == XML_ELEMENT_NODE { stack.append((child, inner)) }
        }
    }

    private mutating func element(_ node: Node, _ around: inout Surroundings) {
        let name = String(cString: node.pointee.name).lowercased()
        if Self.isInvisible(node) { around.isInvisible = true }
        switch name {
        case "title":
            if page.title == nil {
                let title = PageText.squeezed(Self.text(of: node), limit: 120)
                page.title = title.isEmpty ? nil : title
            }
            around.skipsText = true
        case "base":
            if let reference = Self.attribute(node, "href"), let base = WebURL(reference, relativeTo: page.base) {
                page.base = base
            }
        case "meta":
            if Self.attribute(node, "http-equiv")?.lowercased() == "refresh", page.refresh == nil {
                page.refresh = Self.attribute(node, "content").flatMap(Self.refreshTarget)
            }
        case "script":
            if scripts.utf8.count < 65536 { scripts += Self.text(of: node, limit: 65536) + "\n" }
            around.skipsText = true
        case "style", "noscript", "template": around.skipsText = true
        case "body":
            if let handler = Self.attribute(node, "onload") { scripts += handler + "\n" }
        case "form":
            guard page.forms.count < Self.formLimit else { return }
            page.forms.append(form(node, around))
            around.form = page.forms.count - 1
        case "input", "select", "textarea", "button": control(node, name, around)
        case "a":
            if let reference = Self.attribute(node, "href"), page.links.count < Self.linkLimit {
                page.links.append(HTMLPage.Hyperlink(text: PageText.squeezed(Self.text(of: node)), reference: reference))
            }
        default: break
        }
        let marks =
            ((Self.attribute(node, "class") ?? "") + " " + (Self.attribute(node, "role") ?? "") + " "
            + (Self.attribute(node, "id") ?? "")).lowercased()
        if page.errors.count < 5, !around.isInvisible,
            ["p", "div", "span", "li", "strong", "td", "font", "label"].contains(name),
            marks.contains("error") || marks.contains("alert") || marks.contains("warning") || marks.contains("fehler")
        {
            let text = PageText.squeezed(Self.text(of: node), limit: 200)
            if !text.isEmpty { page.errors.append(text) }
        }
    }

    private func form(_ node: Node, _ around: Surroundings) -> HTMLForm {
        let encoding = Self.attribute(node, "enctype")?.lowercased() ?? ""
        let hints = ["id", "name", "class", "role"].compactMap { Self.attribute(node, $0) }.joined(separator: " ").lowercased()
        return HTMLForm(
            action: Self.attribute(node, "action") ?? "",
            method: Self.attribute(node, "method")?.lowercased() == "post" ? .post : .get,
            isPlain: encoding.isEmpty || encoding == "application/x-www-form-urlencoded", hints: hints,
            isInvisible: around.isInvisible, controls: [], text: "")
    }

    private mutating func control(_ node: Node, _ element: String, _ around: Surroundings) {
        guard let form = around.form, page.forms[form].controls.count < Self.controlLimit,
            Self.attribute(node, "disabled") == nil
        else { return }
        let kind = Self.kind(of: node, element)
        guard let kind else { return }
        var control = HTMLControl(
            kind: kind, name: Self.attribute(node, "name") ?? "", value: Self.attribute(node, "value") ?? "",
            isRequired: Self.attribute(node, "required") != nil || Self.attribute(node, "aria-required") == "true",
            isReadOnly: Self.attribute(node, "readonly") != nil, maxLength: Self.attribute(node, "maxlength").flatMap { Int($0) },
            isChecked: Self.attribute(node, "checked") != nil, isInvisible: around.isInvisible)
        switch kind {
        case .textarea: control.value = Self.text(of: node)
        case .select: control.options = Self.options(of: node)
        case .checkbox, .radio: if Self.attribute(node, "value") == nil { control.value = "on" }
        default: break
        }
        let own = Self.attribute(node, "id").flatMap { labels["#" + $0] } ?? Self.enclosingLabel(node)
        control.links = own?.links ?? []
        let candidates = [
            own?.text, Self.attribute(node, "aria-label"), Self.attribute(node, "placeholder"), Self.attribute(node, "title"),
        ]
        control.label = candidates.compactMap { $0 }.map { PageText.squeezed($0, limit: 120) }.first { !$0.isEmpty } ?? ""
        if element == "button" { control.label = PageText.squeezed(Self.text(of: node), limit: 60) }
        if kind == .submit, control.label.isEmpty { control.label = control.value }
        page.forms[form].controls.append(control)
    }

    private mutating func addText(_ text: String, form: Int?) {
        if page.text.utf8.count < textLimit {
            let piece = PageText.squeezed(text, limit: max(2000, textLimit / 4))
            if !piece.isEmpty { page.text += piece + " " }
        }
        if let form, page.forms[form].text.utf8.count < 2000 { page.forms[form].text += PageText.squeezed(text) + " " }
    }

    private mutating func collectLabels(_ root: Node) {
        var stack = [root]
        var visited = 0
        while let node = stack.popLast(), visited < Self.nodeLimit, labels.count < Self.controlLimit {
            visited += 1
            if node != root, let next = node.pointee.next { stack.append(next) }
            guard node.pointee.type == XML_ELEMENT_NODE else { continue }
            if let child = node.pointee.children { stack.append(child) }
            if String(cString: node.pointee.name).lowercased() == "label", let target = Self.attribute(node, "for") {
                if labels["#" + target] == nil { labels["#" + target] = (Self.text(of: node), Self.links(in: node)) }
            }
        }
    }

    private mutating func finish() {
        page.scriptTarget = ScriptScan.target(in: scripts)
        page.submitsItself = page.forms.count == 1 && ScriptScan.submits(scripts)
        page.text = PageText.squeezed(page.text, limit: textLimit)
    }
}

extension HTMLReader {
    private static func kind(of node: Node, _ element: String) -> HTMLControl.InputType? {
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

    private static func options(of select: Node) -> [HTMLControl.Option] {
        var options: [HTMLControl.Option] = []
        visit(select) { node in
            guard node.pointee.type == XML_ELEMENT_NODE, String(cString: node.pointee.name).lowercased() == "option" else {
                return true
            }
            let label = PageText.squeezed(text(of: node), limit: 120)
            options.append(
                HTMLControl.Option(
                    value: attribute(node, "value") ?? label, label: label, isSelected: attribute(node, "selected") != nil))
            return options.count < 300
        }
        return options
    }

    private static func enclosingLabel(_ node: Node) -> (text: String, links: [String])? {
        var parent = node.pointee.parent
        for _ in 0..<6 {
            guard let current = parent, current.pointee.type == XML_ELEMENT_NODE else { return nil }
            if String(cString: current.pointee.name).lowercased() == "label" { return (text(of: current), links(in: current)) }
            parent = current.pointee.parent
        }
        return nil
    }

    private static func links(in node: Node) -> [String] {
        var references: [String] = []
        visit(node) { inner in
            if inner.pointee.type == XML_ELEMENT_NODE, String(cString: inner.pointee.name).lowercased() == "a",
                let reference = attribute(inner, "href")
            {
                references.append(reference)
            }
            return references.count < 4
        }
        return references
    }

    private static func isInvisible(_ node: Node) -> Bool {
        if attribute(node, "hidden") != nil { return true }
        guard let style = attribute(node, "style")?.lowercased().filter({ !$0.isWhitespace }) else { return false }
        return ["display:none", "visibility:hidden", "opacity:0;", "left:-", "top:-", "text-indent:-", "height:0", "width:0"]
            .contains {
                style.contains($0)
            }
    }

    private static func attribute(_ node: Node, _ name: String) -> String? {
        guard let value = xmlGetProp(node, name) else { return nil }
        defer { cxml_free(value) }
        return StreamSafe.text(String(cString: value))
    }

    private static func content(_ node: Node) -> String {
        node.pointee.content.map { StreamSafe.text(String(cString: $0)) } ?? ""
    }

    /// Returns the text within, of at most 400 nodes.
    private static func text(of node: Node, limit: Int = 4096) -> String {
        var text = ""
        visit(node) { inner in
            if inner.pointee.type == XML_TEXT_NODE || inner.pointee.type == XML_CDATA_SECTION_NODE { text += content(inner) }
            return text.utf8.count < limit
        }
        return text
    }

    /// Visits the nodes within a node in document order, at most 400, until the body returns `false`.
    private static func visit(_ node: Node, _ body: (Node) -> Bool) {
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

    /// Returns the target of `5; url=/login`; `nil` if the wait is longer than 30 s.
    static func refreshTarget(_ content: String) -> String? {
        let parts = content.split(separator: ";", maxSplits: 1)
        guard parts.count == 2, let seconds = Double(PageText.squeezed(parts[0])), seconds >= 0, seconds <= 30 else { return nil }
        let rest = PageText.squeezed(parts[1], limit: WebURL.limit)
        guard rest.lowercased().hasPrefix("url"), let equals = rest.firstIndex(of: "=") else { return nil }
        var target = rest[rest.index(after: equals)...]
        while let first = target.first, first == " " || first == "\"" || first == "'" { target = target.dropFirst() }
        while let last = target.last, last == " " || last == "\"" || last == "'" { target = target.dropLast() }
        return target.isEmpty ? nil : String(target)
    }
}
