import CXML
import HotspotCore

/// Reads the controls of forms, their labels, and the names by which scripts find them.
extension HTMLReader {
    mutating func control(_ node: Node, _ element: String, _ around: Surroundings) {
        guard let kind = Self.kind(of: node, element) else { return }
        let isButton = kind == .submit || kind == .image || kind == .button
        noteHandlers(node)
        let isDisabled = around.disablingSets > 0 || Self.isDisabled(node)
        let number = Self.attribute(node, MarkupScan.formAttribute).flatMap(Int.init) ?? 0
        let owner = Self.attribute(node, "form")
        if owner == nil, number == 0 { noteLoose(node, kind) }
        guard !isDisabled || isButton, owner != nil || (1...max(1, page.forms.count)).contains(number),
            !page.forms.isEmpty || owner != nil
        else { return }
        let made = control(node, element, kind, around)
        if let owner {
            var marks = FormScripts.Clues()
            note(made, node, in: &marks)
            if detached.count < Self.controlLimit { detached.append((owner, made, marks)) }
            return
        }
        let form = number - 1
        guard page.forms[form].controls.count < Self.controlLimit else { return }
        page.forms[form].controls.append(made)
        if made.isField, Self.attribute(node, "type")?.lowercased() == "search" { page.forms[form].hints += " search" }
        note(made, node, in: &clues[form])
    }

    /// Notes the names by which scripts find a control, and its handlers.
    private func note(_ control: HTMLControl, _ node: Node, in clues: inout FormScripts.Clues) {
        switch control.kind {
        case .button, .submit, .image:
            let handler = Self.attribute(node, "onclick") ?? ""
            if control.kind == .button {
                clues.links.append((control.label, handler))
            } else {
                clues.handlers.append(handler)
                clues.buttons.formUnion(Self.scriptNames(node))
            }
            if Self.hasFrameworkHandler(node) { clues.hasFrameworkHandler = true }
        case .hidden where control.value.isEmpty: clues.emptyHidden.formUnion(Self.scriptNames(node).union([control.name]))
        default: break
        }
    }

    /// Notes a control outside forms, which only a script can use.
    private mutating func noteLoose(_ node: Node, _ kind: HTMLControl.InputType) {
        switch kind {
        case .text, .email, .telephone, .textarea, .password: hasLooseField = true
        case .submit, .image, .button:
            noteLooseButton(
                Self.attribute(node, "onclick") ?? "", kind == .button || kind == .submit ? Self.buttonLabel(node) : "", node)
        case .hidden, .checkbox, .radio, .select, .file: break
        }
    }

    /// Notes a button outside forms that logs off, leads to an address, or needs a script.
    mutating func noteLooseButton(_ handler: String, _ label: String, _ node: Node) {
        let leadsBack = ["history.", "location.reload", "window.close"].contains(where: handler.contains)
        if leadsBack || (handler.isEmpty && Self.isWithinLink(node)) { return }
        if Purposes(of: label).isLogout {
            page.offersLogoff = true
        } else if let target = ScriptScan.onlyTarget(of: handler) {
            addLink(HTMLPage.Hyperlink(text: label, reference: target), "", Self.scriptNames(node))
        } else {
            hasLooseButton = true
        }
    }

    private static func buttonLabel(_ node: Node) -> String {
        PageText.squeezed(name(node) == "button" ? text(of: node) : attribute(node, "value") ?? "", limit: 60)
    }

    private static func isWithinLink(_ node: Node) -> Bool {
        var parent = node.pointee.parent
        for _ in 0..<4 {
            guard let around = parent, around.pointee.type == XML_ELEMENT_NODE else { return false }
            if name(around) == "a", attribute(around, "href") != nil { return true }
            parent = around.pointee.parent
        }
        return false
    }

    private func control(_ node: Node, _ element: String, _ kind: HTMLControl.InputType, _ around: Surroundings) -> HTMLControl {
        var control = HTMLControl(
            kind: kind, name: Self.attribute(node, "name") ?? "", value: Self.attribute(node, "value") ?? "",
            isRequired: Self.attribute(node, "required") != nil || Self.attribute(node, "aria-required") == "true",
            isReadOnly: Self.attribute(node, "readonly") != nil, maxLength: Self.attribute(node, "maxlength").flatMap { Int($0) },
            isChecked: Self.attribute(node, "checked") != nil, isInvisible: around.isInvisible)
        control.isDisabled = around.disablingSets > 0 || Self.isDisabled(node)
        if kind == .text, Self.attribute(node, "type")?.lowercased() == "date" { control.isDate = true }
        switch kind {
        case .textarea: control.value = Self.text(of: node)
        case .select: control.options = Self.options(of: node)
        case .checkbox, .radio: if Self.attribute(node, "value") == nil { control.value = "on" }
        // Browsers label a button without a value with this text, and send it as the value.
        case .submit where element == "input" && Self.attribute(node, "value") == nil: control.value = "Submit"
        default: break
        }
        let own = Self.attribute(node, "id").flatMap { labels["#" + $0] } ?? Self.enclosingLabel(node)
        control.links = own?.links ?? []
        switch kind {
        case .submit, .image, .button:
            control.formAction = Self.attribute(node, "formaction")
            control.formMethod = Self.attribute(node, "formmethod").map { $0.lowercased() == "post" ? .post : .get }
            let texts = [
                element == "button" ? Self.text(of: node) : nil, kind == .image ? Self.attribute(node, "alt") : nil,
                control.value,
            ]
            control.label = Self.first(
                of: texts + [Self.attribute(node, "title"), Self.attribute(node, "aria-label")], limit: 60)
        case .hidden: break
        case .checkbox, .radio:
            control.label = Self.first(
                of: [own?.text, Self.attribute(node, "aria-label"), Self.text(after: node), Self.text(before: node)], limit: 300)
            if own == nil { control.links = Self.links(after: node) }
            // Without a field set, the text before the group's first button is often the question.
            if kind == .radio {
                control.legend =
                    Self.legend(around: node) ?? Self.text(before: node) ?? around.form.flatMap { page.forms[$0].heading }
            }
        case .text, .password, .email, .telephone, .select, .textarea, .file:
            control.label = Self.first(
                of: [
                    own?.text, Self.attribute(node, "aria-label"), Self.attribute(node, "placeholder"),
                    Self.attribute(node, "title"), Self.text(before: node), Self.prompt(of: control),
                ], limit: 120)
        }
        return control
    }

    mutating func collectLabels(_ root: Node) {
        var stack = [root]
        var visited = 0
        while let node = stack.popLast(), visited < Self.nodeLimit, labels.count < Self.controlLimit {
            visited += 1
            if node != root, let next = node.pointee.next { stack.append(next) }
            guard node.pointee.type == XML_ELEMENT_NODE else { continue }
            if let child = node.pointee.children { stack.append(child) }
            if Self.name(node) == "label", let target = Self.attribute(node, "for") {
                if labels["#" + target] == nil { labels["#" + target] = (Self.labelText(of: node), Self.links(in: node)) }
            }
        }
    }

    func formClues(_ node: Node) -> FormScripts.Clues {
        FormScripts.Clues(
            id: Self.attribute(node, "id") ?? "", name: Self.attribute(node, "name") ?? "",
            classes: (Self.attribute(node, "class") ?? "").split(separator: " ").map(String.init),
            handlers: [Self.attribute(node, "onsubmit")].compactMap { $0 }, hasFrameworkHandler: Self.hasFrameworkHandler(node))
    }

    /// Returns the words and selectors by which scripts find an element: its id with and without `#`, its name, and its classes
    /// with a dot.
    static func scriptNames(_ node: Node) -> Set<String> {
        var names: Set<String> = []
        if let id = attribute(node, "id"), !id.isEmpty { names.formUnion([id, "#" + id]) }
        if let name = attribute(node, "name"), !name.isEmpty { names.insert(name) }
        for word in (attribute(node, "class") ?? "").split(separator: " ") { names.insert("." + word) }
        return names
    }

    /// Returns whether an element is a captcha: a picture to read, or another test that only people pass.
    static func isTest(_ node: Node) -> Bool {
        ["class", "id", "name", "src"].contains { name in
            let value = attribute(node, name)?.lowercased() ?? ""
            return value.contains("captcha") || value.contains("cf-turnstile")
        }
    }

    /// Returns whether an attribute shows that a framework's script sends the form: AngularJS, Angular, Vue, Alpine, htmx,
    /// Livewire, Rails, Stimulus.
    private static func hasFrameworkHandler(_ node: Node) -> Bool {
        var property = node.pointee.properties
        while let attribute = property {
            let name = String(cString: attribute.pointee.name).lowercased().trimmingPrefix("data-")
            if frameworkAttributes.contains(where: name.hasPrefix) { return true }
            property = attribute.pointee.next
        }
        return attribute(node, "data-action") != nil || ["data-remote", "data-ajax"].contains { attribute(node, $0) == "true" }
            || (attribute(node, "data-bind")?.contains("submit") ?? false)
    }

    /// The beginnings of the attributes with which frameworks send a form; `_` stands for `@` and `(`.
    private static let frameworkAttributes = [
        "ng-submit", "ng-click", "_ngsubmit", "v-on:submit", "v-on:click", "_submit", "_click", "x-on:submit",
        "x-on:click", "hx-post", "hx-get", "hx-put", "wire:submit", "wire:click", "on:submit", "on:click",
    ]

    /// Returns the text that a list shows before its choices, such as "Month"; `nil` if that text does not say what to choose.
    private static func prompt(of control: HTMLControl) -> String? {
        guard let first = control.options.first, first.value.isEmpty, !Purposes(of: first.label).isUndecided(first.label) else {
            return nil
        }
        return first.label
    }

    private static func first(of texts: [String?], limit: Int) -> String {
        texts.compactMap { $0 }.map { PageText.squeezed($0, limit: limit) }.first { !$0.isEmpty } ?? ""
    }

    /// Returns the text before a control: in the same line, otherwise in the cell, row or paragraph before it.
    private static func text(before node: Node) -> String? { text(beside: node, isAfter: false) }

    /// Returns the text after a box.
    private static func text(after node: Node) -> String? { text(beside: node, isAfter: true) }

    private static func text(beside node: Node, isAfter: Bool) -> String? {
        func step(_ node: Node) -> Node? { isAfter ? node.pointee.next : node.pointee.prev }
        var current = node
        for _ in 0..<4 {
            var texts: [String] = []
            var sibling = step(current)
            while let beside = sibling, !holdsControl(beside) {
                let text = PageText.squeezed(text(of: beside), limit: 200)
                if !text.isEmpty { texts.append(text) }
                // A line break ends the label, unless the label is still empty.
                if !texts.isEmpty, beside.pointee.type == XML_ELEMENT_NODE, lines.contains(name(beside)) { break }
                sibling = step(beside)
            }
            var label = (isAfter ? texts : texts.reversed()).joined(separator: " ")
            while let last = label.last, ": *".contains(last) { label.removeLast() }
            if !label.isEmpty { return label.count <= 200 ? label : nil }
            guard let parent = current.pointee.parent, parent.pointee.type == XML_ELEMENT_NODE, !ends.contains(name(parent)),
                sibling == nil
            else { return nil }
            current = parent
        }
        return nil
    }

    private static let ends: Set<String> = ["form", "body", "html", "table", "tbody", "fieldset"]

    private static func holdsControl(_ node: Node) -> Bool {
        func isControl(_ node: Node) -> Bool {
            ["input", "select", "textarea", "button"].contains(name(node)) && attribute(node, "type")?.lowercased() != "hidden"
        }
        guard node.pointee.type == XML_ELEMENT_NODE else { return false }
        var holds = isControl(node)
        visit(node) { inner in
            if inner.pointee.type == XML_ELEMENT_NODE, isControl(inner) { holds = true }
            return !holds
        }
        return holds
    }

    /// Returns the addresses of the links beside a box without a label.
    private static func links(after node: Node) -> [String] {
        var references: [String] = []
        var sibling = node.pointee.next
        while let beside = sibling, !holdsControl(beside), references.count < 4 {
            if beside.pointee.type == XML_ELEMENT_NODE {
                if name(beside) == "a", let reference = attribute(beside, "href") { references.append(reference) }
                references += links(in: beside)
            }
            sibling = beside.pointee.next
        }
        return references
    }
}
