import BoundHTTP
import CXML
import Glibc
import HotspotCore

extension HTMLPage {
    /// Reads a page from its octets, for example from a file.
    ///
    /// - Parameters:
    ///   - octets: HTML; its encoding is detected as for a page from the network.
    ///   - url: the address that references are relative to.
    public static func read(_ octets: [UInt8], at url: WebURL) -> HTMLPage {
        HTMLReader.read(HTTPResponse(url: url, status: 200, body: octets))
    }
}

/// Reads a page with libxml2's HTML parser, without network access and with limits on octets, attributes, nodes and time.
package struct HTMLReader {
    static let nodeLimit = 40_000
    private static let formLimit = 20
    static let controlLimit = 200
    private static let linkLimit = 200
    /// The longest value that becomes part of the name of a box, in octets.
    private static let boxValueLimit = 64
    static let frameLimit = 3
    /// The longest wait of a refresh that leads to another page, in seconds; a slower refresh only updates the page.
    private static let longestRefresh = 30.0
    private static let scriptLimit = 128 * 1024
    /// Octets of visible text that are kept by default.
    package static let usualText = 8192
    /// The size of terms at which reading them stops, in octets.
    private static let termsLimit = 32 * 1024
    private static let passageLimit = 100

    typealias Node = UnsafeMutablePointer<xmlNode>

    var page: HTMLPage
    /// The names by which scripts find the forms, in the forms' order.
    var clues: [FormScripts.Clues] = []
    /// Controls with a `form` attribute: the form's id, the control, and the names by which scripts find the control.
    var detached: [(form: String, control: HTMLControl, clues: FormScripts.Clues)] = []
    var labels: [String: (text: String, links: [String])] = [:]
    private var linkClues: [(code: String, names: Set<String>)] = []
    /// Whether there is a text field outside forms, and whether there is a button outside forms that needs a script.
    var (hasLooseField, hasLooseButton) = (false, false)
    private var hasFrame = false
    /// The disabled field sets whose first legend was read.
    private var legends: Set<Node> = []
    /// The last heading, until a form follows.
    private var heading: String?
    /// The target of a refresh, and the seconds before it is followed.
    private var refresh: (target: String, seconds: Double)?
    /// Whether there is an empty element in which a script may build the page.
    private var hasRoot = false
    private var scripts = ""
    /// Texts that are marked only as warnings. They are listed after the errors, because some pages always show them.
    private var warnings: [String] = []
    /// The addresses of scripts; empty for a script that is too long to read.
    private var sources: [String] = []
    private var styles = PageStyles()
    private var charset = "UTF-8"
    private var passageOctets = 0
    private let textLimit: Int
    private let budget: ProcessorBudget
    /// The query and the origin of the page's own address.
    private let (query, origin): (String?, String)

    package static let complicatedReason = "The page is too complicated for hotspotd."

    /// Reads an answer's body.
    package static func read(
        _ response: HTTPResponse, textLimit: Int = usualText, milliseconds: Int = ProcessorBudget.page
    ) -> HTMLPage {
        let budget = ProcessorBudget(milliseconds: milliseconds)
        var reader = HTMLReader(base: response.url, isTruncated: response.isTruncated, textLimit: textLimit, budget: budget)
        reader.parse(response.body, contentType: response["content-type"])
        if let refresh = response["refresh"].flatMap(Self.refresh) ?? reader.refresh {
            reader.page.reload = HTMLPage.Reload(reference: refresh.target, seconds: refresh.seconds)
            // The user may fill in the page's form before a slow refresh, so if a page asks for something, only a fast refresh counts.
            let asks = reader.hasLooseField || reader.page.forms.contains { TypedForm($0).asks }
            if !refresh.target.isEmpty, refresh.seconds <= (asks ? 1 : Self.longestRefresh) {
                reader.page.refresh = refresh.target
            }
        }
        return reader.page
    }

    private init(base: WebURL, isTruncated: Bool, textLimit: Int, budget: ProcessorBudget) {
        (self.textLimit, self.budget) = (textLimit, budget)
        (query, origin) = (base.query, base.origin)
        page = HTMLPage(
            title: nil, base: base, forms: [], links: [], refresh: nil, scriptTarget: nil, submitsItself: false, text: "",
            errors: [], isTruncated: isTruncated)
    }

    private static let library: Void = {
        xmlInitParser()
        // Without this, the parser would write its messages about pages to standard error.
        xmlSetGenericErrorFunc(nil, nil)
    }()

    private mutating func parse(_ body: [UInt8], contentType: String?) {
        _ = Self.library
        let text = PageText.normalized(Array(body.prefix(HTTPRequest.pageLimit)), contentType: contentType)
        charset = text.charset
        let scan = MarkupScan(text.octets)
        if scan.isCut {
            page.isTruncated = true
            sources.append("")
        }
        for script in scan.scripts {
            if scripts.utf8.count + script.utf8.count < Self.scriptLimit {
                scripts += script + "\n;\n"
            } else {
                sources.append("")
            }
        }
        for style in scan.styles where !budget.isSpent { styles.read(style) }
        guard !scan.markup.isEmpty else { return }
        guard let parser = htmlCreatePushParserCtxt(nil, nil, nil, 0, nil, XML_CHAR_ENCODING_UTF8) else { return }
        defer {
            if let document = parser.pointee.myDoc { xmlFreeDoc(document) }
            htmlFreeParserCtxt(parser)
        }
        // The text is UTF-8 here, whatever the page's tags say.
        let options =
            HTML_PARSE_IGNORE_ENC.rawValue | HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue
            | HTML_PARSE_NOWARNING.rawValue | HTML_PARSE_NONET.rawValue
        htmlCtxtUseOptions(parser, Int32(options))
        var offset = 0
        scan.markup.withUnsafeBufferPointer { octets in
            octets.withMemoryRebound(to: CChar.self) { characters in
                // Some parts of the parser take quadratic time, so it gets the page in pieces until the budget is spent.
                while offset < octets.count, !budget.isSpent {
                    let count = min(4096, octets.count - offset)
                    htmlParseChunk(parser, characters.baseAddress! + offset, Int32(count), 0)
                    offset += count
                }
                htmlParseChunk(parser, nil, 0, 1)
            }
        }
        if let document = parser.pointee.myDoc, let root = xmlDocGetRootElement(document) { walk(root) }
        finish()
    }

    /// The state that a node inherits from the elements around it.
    struct Surroundings {
        var form: Int?
        var isInvisible = false
        var skipsText = false
        /// Whether the node is within terms that were already read.
        var isTerms = false
        /// Whether the node is within a control or its label.
        var isControl = false
        /// The number of disabled field sets that disable the controls in the node.
        var disablingSets = 0
        /// Whether the node is within the page's head, foot or navigation, which do not count as content.
        var isFrame = false
    }

    /// Walks without recursion, because a page may be nested without limit.
    private mutating func walk(_ root: Node) {
        var stack: [(node: Node, around: Surroundings)] = [(root, Surroundings())]
        var visited = 0
        collectLabels(root)
        while let (node, around) = stack.popLast() {
            visited += 1
            guard visited <= Self.nodeLimit, !budget.isSpent else {
                page.isTruncated = true
                return
            }
            if let next = node.pointee.next, visited > 1 { stack.append((next, around)) }
            var inner = around
            switch node.pointee.type {
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                if !around.skipsText, !around.isInvisible { addText(Self.content(node), around) }
            case XML_ELEMENT_NODE: element(node, &inner)
            default: break
            }
            if let child = node.pointee.children, node.pointee.type == XML_ELEMENT_NODE { stack.append((child, inner)) }
        }
    }

    private mutating func element(_ node: Node, _ around: inout Surroundings) {
        let name = Self.name(node)
        if isInvisible(node) { around.isInvisible = true }
        notePassage(node, name, &around)
        switch name {
        case "title":
            if page.title == nil {
                let title = PageText.squeezed(Self.text(of: node), limit: 120)
                page.title = title.isEmpty ? nil : title
            }
            around.skipsText = true
        case "h1", "h2", "h3", "h4":
            let text = PageText.squeezed(Self.text(of: node), limit: 200)
            guard !text.isEmpty, !around.isInvisible else { break }
            heading = text
            if page.headings.count < 5, name == "h1" || name == "h2" { page.headings.append(text) }
        case "base":
            if let reference = Self.attribute(node, "href"), let base = WebURL(reference, relativeTo: page.base) {
                page.base = base
            }
        case "meta":
            if Self.attribute(node, "http-equiv")?.lowercased() == "refresh", refresh == nil {
                refresh = Self.attribute(node, "content").flatMap(Self.refresh)
            }
        case "script":
            if let source = Self.attribute(node, "src"), sources.count < 100 { sources.append(source) }
        case "header", "footer", "nav", "aside": around.isFrame = true
        case "body":
            if let handler = Self.attribute(node, "onload") { scripts += handler + "\n;\n" }
        case "form":
            guard page.forms.count < Self.formLimit else { return }
            page.forms.append(form(node, around))
            (page.forms[page.forms.count - 1].heading, heading) = (heading, nil)
            clues.append(formClues(node))
            around.form = page.forms.count - 1
        case "input", "select", "textarea", "button": control(node, name, around)
        case "fieldset": if Self.isDisabled(node) { around.disablingSets += 1 }
        case "legend":
            // A disabled field set does not disable the controls in its first legend.
            if let set = Self.ancestor(of: node, "fieldset", within: 1), Self.isDisabled(set), legends.insert(set).inserted {
                around.disablingSets -= 1
            }
        case "a": link(node, around)
        case "iframe", "frame": frame(node, around)
        case "div" where node.pointee.children == nil && ["app", "root", "__next"].contains(Self.attribute(node, "id")):
            hasRoot = true
        default: if Self.attribute(node, "onclick") != nil || Self.attribute(node, "role") == "button" { hasLooseButton = true }
        }
        noteMarks(of: node, name, &around)
    }

    /// Notes further roles of an element: terms, a picture, a captcha, an error.
    private mutating func noteMarks(of node: Node, _ name: String, _ around: inout Surroundings) {
        if !around.isTerms, page.terms.utf8.count < Self.termsLimit, let terms = Self.markedTerms(node, name) {
            page.terms += (page.terms.isEmpty ? "" : " ") + terms
            around.isTerms = true
        }
        if name == "img", !around.isInvisible { page.hasPicture = true }
        if let form = around.form, Self.isTest(node) {
            if name == "input", Self.attribute(node, "type")?.lowercased() == "hidden" {
                clues[form].hasTestResult = true
            } else {
                clues[form].hasTest = true
            }
        }
        if page.errors.count < 5, !around.isInvisible, Self.errorElements.contains(name), Self.marksError(node) {
            noteError(node)
        }
    }

    private mutating func noteError(_ node: Node) {
        let text = PageText.squeezed(Self.text(of: node), limit: 200).trimmingPrefix("× ")
        guard text.contains(where: \.isLetter) else { return }
        if !Self.marksWarning(node) {
            page.errors.append(String(text))
        } else if warnings.count < 5 {
            warnings.append(String(text))
        }
    }

    private func form(_ node: Node, _ around: Surroundings) -> HTMLForm {
        let encoding = Self.attribute(node, "enctype")?.lowercased() ?? ""
        let hints = ["id", "name", "class", "role"].compactMap { Self.attribute(node, $0) }.joined(separator: " ").lowercased()
        let accepted = Self.attribute(node, "accept-charset")?.split { $0 == " " || $0 == "," }
            .compactMap { CharacterSets.charset(named: $0) }
        return HTMLForm(
            action: Self.attribute(node, "action") ?? "",
            method: Self.attribute(node, "method")?.lowercased() == "post" ? .post : .get,
            encoding: HTMLForm.Encoding(rawValue: encoding) ?? .urlEncoded,
            charset: accepted.map { CharacterSets.forOutput($0.first ?? "UTF-8") } ?? charset, hints: hints,
            isInvisible: around.isInvisible,
            controls: [], text: "", drawn: Self.attribute(node, "data-drawn").flatMap(HTMLForm.Drawn.init))
    }

    /// Notes a frame of the page's own host. If the frame is visible, has the page's origin and may send forms, the login may also read the frame's
    /// page.
    private mutating func frame(_ node: Node, _ around: Surroundings) {
        guard let source = Self.attribute(node, "src").flatMap({ WebURL($0, relativeTo: page.base) }),
            source.host == page.base.host
        else { return }
        hasFrame = true
        let isFlat = ["width", "height"].contains { ["0", "1"].contains(Self.attribute(node, $0)) }
        let mayNotSend = Self.attribute(node, "sandbox").map { !$0.lowercased().contains("allow-forms") } ?? false
        guard source.origin == origin, !isFlat, !mayNotSend, !around.isInvisible, page.frames.count < Self.frameLimit else {
            return
        }
        page.frames.append(source)
    }

    private mutating func link(_ node: Node, _ around: Surroundings) {
        let (reference, handler) = (Self.attribute(node, "href"), Self.attribute(node, "onclick") ?? "")
        let text = PageText.squeezed(Self.text(of: node))
        let code = reference?.lowercased().hasPrefix("javascript:") == true ? (reference ?? "") + ";" + handler : handler
        if let form = around.form, !code.isEmpty { clues[form].links.append((text, code)) }
        guard let reference else {
            if around.form == nil, !around.isInvisible, !handler.isEmpty, Purposes(of: text).isOnwardButton {
                noteLooseButton(handler, text, node)
            }
            return
        }
        let leadsNowhere = reference.hasPrefix("#") || reference.isEmpty || reference.lowercased().hasPrefix("javascript:")
        addLink(
            HTMLPage.Hyperlink(text: text, reference: reference, isInert: around.isInvisible || around.skipsText || leadsNowhere),
            code, Self.scriptNames(node))
    }

    mutating func addLink(_ link: HTMLPage.Hyperlink, _ code: String, _ names: Set<String>) {
        guard page.links.count < Self.linkLimit else { return }
        page.links.append(link)
        linkClues.append((code, names))
    }

    /// Ends a passage at a heading, and at a control that the user fills in.
    private mutating func notePassage(_ node: Node, _ name: String, _ around: inout Surroundings) {
        switch name {
        case "h1", "h2", "h3", "h4", "h5", "h6": break
        case "label", "button": return around.isControl = true
        case "select", "textarea": around.isControl = true
        case "input": if around.isInvisible || !Self.isField(node) { return }
        default: return
        }
        if page.passages.last?.isEmpty == false, page.passages.count < Self.passageLimit { page.passages.append([]) }
    }

    private mutating func addText(_ text: String, _ around: Surroundings) {
        let form = around.form
        let piece = PageText.squeezed(text, limit: max(2000, textLimit / 4))
        guard !piece.isEmpty else { return }
        if page.text.utf8.count < textLimit {
            page.text += piece + " "
            if !around.isFrame { page.pieces.append(piece) }
        }
        if page.sentences.count < 100, piece.utf8.count <= 200 { page.sentences.append(piece) }
        if !around.isControl, !around.isTerms, passageOctets < Self.termsLimit {
            passageOctets += piece.utf8.count
            if page.passages.isEmpty { page.passages = [[]] }
            page.passages[page.passages.count - 1].append(piece)
        }
        if let form, page.forms[form].text.utf8.count < 2000 { page.forms[form].text += PageText.squeezed(text) + " " }
    }

    /// Notes the code with which a control's handlers write into other controls while the user types.
    mutating func noteHandlers(_ node: Node) {
        for name in ["oninput", "onchange", "onkeyup", "onkeydown", "onkeypress", "onblur"] {
            guard let code = Self.attribute(node, name), code.contains(".value"),
                scripts.utf8.count + code.utf8.count < Self.scriptLimit
            else { continue }
            scripts += "function hotspotHandler() {\n" + code + "\n}\n"
        }
    }

    private mutating func finish() {
        page.errors += warnings
        for (id, control, marks) in detached {
            guard let index = clues.firstIndex(where: { $0.id == id }), page.forms[index].controls.count < Self.controlLimit
            else {
                continue
            }
            page.forms[index].controls.append(control)
            clues[index].add(marks)
        }
        guard !budget.isSpent else { return giveUp() }
        let judge = FormScripts(scripts: scripts, sources: sources)
        let scan = ScriptScan(judge.tokens)
        page.scriptTarget = scan.target.map { $0 + (scan.addsQuery ? query.map { "?" + $0 } ?? "" : "") }
        findOwnSubmission(scan)
        page.text = PageText.squeezed(page.text, limit: textLimit)
        page.hasLooseField = hasLooseField
        for index in page.forms.indices {
            guard !budget.isSpent else { return giveUp() }
            finishForm(index, judge)
        }
        (page.hasScripts, page.loadsScripts) = (judge.hasScripts, judge.loadsOwnScripts)
        page.isScripted =
            judge.actsByItself || (hasRoot && judge.loadsOwnScripts) || (scan.leadsAway && scan.target == nil) || hasLooseField
            || hasLooseButton || hasFrame
            || page.forms.contains { form in form.controls.contains { $0.kind == .button } }
        for index in page.links.indices {
            guard !budget.isSpent else { return giveUp() }
            if !judge.leavesAlone(linkClues[index].code, linkClues[index].names) { page.links[index].isInert = true }
        }
    }

    /// Notes the effects of the page's scripts on a form.
    private mutating func finishForm(_ index: Int, _ judge: FormScripts) {
        findBoxes(of: index)
        if page.forms[index].submits.isEmpty, !isAside(index), let label = judge.sendingLabel(clues[index]) {
            page.forms[index].controls.append(HTMLControl(kind: .submit, name: "", label: label))
        }
        for control in page.forms[index].controls.indices {
            let copied = judge.copyOf(page.forms[index].controls[control], in: page.forms[index])
            page.forms[index].controls[control].copyOf = copied
        }
        page.forms[index].browserReason =
            page.submitsItself && page.forms[index].inputs.isEmpty ? nil : judge.reason(for: page.forms[index], clues[index])
    }

    /// Makes an unchecked radio button that is alone in its group a box. Names each box that shares its name with other controls by its value as
    /// well, and by its place if the value is another box's, or not plain.
    private mutating func findBoxes(of form: Int) {
        let inputs = page.forms[form].inputs
        let groups = Dictionary(inputs.filter { $0.kind == .radio }.map { ($0.name, 1) }, uniquingKeysWith: +)
        for (index, control) in page.forms[form].controls.enumerated()
        where control.kind == .radio && !control.isChecked && groups[control.name] == 1 {
            page.forms[form].controls[index].kind = .checkbox
        }
        let counts = Dictionary(inputs.map { ($0.name, 1) }, uniquingKeysWith: +)
        var names = DistinctNames(besides: counts.keys)
        for (index, control) in page.forms[form].controls.enumerated()
        where control.kind == .checkbox && counts[control.name, default: 0] > 1 {
            let value = Self.isPlain(control.value) ? "/" + control.value : ""
            page.forms[form].controls[index].boxName = names.add(control.name + value) { "/\($0)" }
        }
    }

    /// Returns whether a value may be part of a name that people type.
    private static func isPlain(_ value: String) -> Bool {
        (1...boxValueLimit).contains(value.utf8.count)
            && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// Leaves the forms and links of a page to a browser, because the reading budget is spent.
    private mutating func giveUp() {
        (page.isTruncated, page.isTooComplicated, page.submitsItself) = (true, true, false)
        for index in page.forms.indices { page.forms[index].browserReason = Self.complicatedReason }
        for index in page.links.indices { page.links[index].isInert = true }
    }

    /// Notes that a script submits the page's only form. Of several forms without inputs, keeps only the form that the script names. A text field
    /// outside forms means that the script waits for the user.
    private mutating func findOwnSubmission(_ scan: ScriptScan) {
        guard !scan.submitted.isEmpty, !hasLooseField else { return }
        if page.forms.count > 1, page.forms.allSatisfy(\.inputs.isEmpty) {
            let named = page.forms.indices.filter { index in
                scan.submitted.contains { !$0.isDisjoint(with: clues[index].names) }
            }
            guard named.count == 1 else { return }
            (page.forms, clues) = ([page.forms[named[0]]], [clues[named[0]]])
        }
        page.submitsItself = page.forms.count == 1
    }

    /// Returns whether only a link can send this form, and the page has another form to fill in. Then this form only leads to another page.
    private func isAside(_ index: Int) -> Bool {
        page.forms[index].inputs.isEmpty && !page.forms[index].controls.contains { $0.kind == .button }
            && page.forms.contains { !$0.isInvisible && !$0.submits.isEmpty && !$0.fields.isEmpty }
    }

    private func isInvisible(_ node: Node) -> Bool {
        if Self.attribute(node, "hidden") != nil { return true }
        if let style = Self.attribute(node, "style"), PageStyles.hides(style) { return true }
        return styles.hides(id: Self.attribute(node, "id"), classes: Self.attribute(node, "class") ?? "")
    }
}
